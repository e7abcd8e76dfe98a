/** Bodies of events in pieces of any size and speed: what they take of the queue, and how many events are in them (EV-50). */
import { readdirSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'bun:test';
import { QueueRoom } from '../../src/events/intake/queue-room.ts';
import { ByteBlocks } from '../../src/http/reply/byte-blocks.ts';
import { gathered, joined, MarkCounter, readInTime } from '../../src/api/events/body.ts';
import { SpoolFile } from '../../src/base/files/spool-file.ts';
import { testClock } from '../support/database.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MIB = 2 ** 20;
const MINUTE_MS = 60_000;

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

function room(bytes = 64 * MIB): QueueRoom {
  const clock = testClock();
  const limits = () => ({ events: 1_000, bytes, waitMs: 0 });
  return new QueueRoom({
    clock,
    limits,
    retrySeconds: () => 1,
    folder: folder.path,
    requireDisk: () => {},
  });
}

const marks = (most = 100_000): MarkCounter => new MarkCounter('"data"', most);

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

describe('pieces', () => {
  test.each([1, 7, 4_096, 65_535, 65_536, 65_537, 200_000])(
    'of %d bytes are gathered into few blocks, whole and charged exactly',
    async (size) => {
      const body = Buffer.from('{"data":"äöü"}\n'.repeat(10_000));
      const place = room().place('anna');
      const order = { maxBytes: MIB, place, clock: testClock(), marks: marks() };
      const { pieces, events } = await gathered(cut(body, size), order);
      expect(Buffer.from(joined(pieces)).equals(body)).toBe(true);
      expect((pieces as Uint8Array[]).length).toBeLessThan(16);
      expect(place.bytes).toBe(body.length);
      expect(events).toBe(10_000);
    },
  );

  test.each([1_000, 65_536, 3_000_000])(
    'of %d bytes that are more than fits into memory stand in a file without a name',
    async (size) => {
      const body = Buffer.from('{"data":"äöü"}\n'.repeat(400_000));
      const own = room();
      {
        using place = own.place('anna');
        const order = { maxBytes: 64 * MIB, place, clock: testClock(), marks: marks(1_000_000) };
        const { pieces, events } = await gathered(cut(body, size), order);
        expect(pieces).toBeInstanceOf(SpoolFile);
        expect(readdirSync(folder.path)).toEqual([]);
        expect(Buffer.from(joined(pieces)).equals(body)).toBe(true);
        expect([events, place.bytes, own.held.bytes]).toEqual([400_000, body.length, body.length]);
      }
      expect(own.held.bytes).toBe(0);
    },
  );

  test('take room before they are kept: what has none is refused', async () => {
    const own = room(100_000);
    using other = own.place('bob');
    await other.take({ bytes: 60_000 });
    const order = { maxBytes: MIB, place: own.place('anna'), clock: testClock(), marks: marks() };
    const failure = await gathered(cut(Buffer.alloc(90_000), 1), order).catch((error) => error);
    expect(failure).toMatchObject({ code: 'unavailable' });
    expect(own.held.bytes).toBeLessThanOrEqual(100_000);
  });

  test('of many bodies of one credential leave room for others; one body alone may have it all', async () => {
    const own = room(100_000);
    const bodies = Array.from({ length: 8 }, () => own.place('anna'));
    const taken = await Promise.allSettled(bodies.map((place) => place.take({ bytes: 10_000 })));
    expect(taken.map(({ status }) => status)).toEqual([
      ...Array<'fulfilled'>(6).fill('fulfilled'),
      ...Array<'rejected'>(2).fill('rejected'),
    ]);
    expect((taken[7] as PromiseRejectedResult).reason).toMatchObject({ code: 'throttled' });
    using other = own.place('bob');
    await other.take({ bytes: 40_000 });
    for (const place of bodies) place.leave();
    using large = own.place('anna');
    await large.take({ bytes: 30_000 });
    await large.take({ bytes: 30_000 });
    expect(own.held.bytes).toBe(100_000);
  });

  test('can be read from any place while more is added', () => {
    const blocks = new ByteBlocks();
    const all: number[] = [];
    for (let at = 0; at < 10_000; at += 1) {
      blocks.add(Uint8Array.of(at % 251));
      all.push(at % 251);
      if (at % 999 === 0) expect([...blocks.from(at)!]).toEqual([at % 251]);
    }
    const read: number[] = [];
    for (let next = blocks.from(0); next !== null; next = blocks.from(read.length))
      read.push(...next);
    expect(read).toEqual(all);
  });
});

test('marks that are cut by the ends of pieces count', () => {
  const text = Buffer.from('{"data":1}{"data":2}x{"data":3}');
  for (let size = 1; size <= text.length; size += 1) {
    const [members, braces] = [marks(100), new MarkCounter('{', 2)];
    for (let at = 0; at < text.length; at += size) {
      members.add(text.subarray(at, at + size));
      braces.add(text.subarray(at, at + size));
    }
    expect([size, members.events, braces.events]).toEqual([size, 3, 2]);
  }
});

describe('less than 4 KiB a second for more than a minute is too slow', () => {
  async function sent(bytesPerSecond: number, seconds: number): Promise<string> {
    const clock = testClock();
    let wasLeft = false;
    const place = room().place('anna');
    const stream = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for (let second = 0; second < seconds; second += 1) {
          clock.pass(1_000);
          yield new Uint8Array(bytesPerSecond);
        }
      } finally {
        wasLeft = place.bytes > 0;
      }
    };
    const reading = gathered(stream(), { maxBytes: 64 * MIB, place, clock, marks: marks() });
    const message = await reading.then(
      () => 'read',
      (error: Error) => error.message,
    );
    expect(wasLeft).toBe(true);
    return message;
  }

  test('in pieces', async () => {
    expect(await sent(16 * 1024, 64)).toBe('read');
    expect(await sent(4 * 1024, 600)).toBe('read');
    expect(await sent(100, 60)).toBe('read');
    expect(await sent(100, 90)).toBe('The request body came too slowly');
  });

  test('of a body read in one go its size counts, and its room stays taken until the reading ends', async () => {
    const own = room();
    const place = own.place('anna');
    await place.take({ bytes: MIB });
    const body = Promise.withResolvers<Uint8Array>();
    const patience = Promise.withResolvers<void>();
    let asked = 0;
    const reading = readInTime(body.promise, MIB, place, (ms) => {
      asked = ms;
      return patience.promise;
    });
    // 64 s at 16 KiB a second.
    expect(asked).toBe(MINUTE_MS + MIB / 4);
    patience.resolve();
    expect(await reading.catch((error: Error) => error.message)).toBe(
      'The request body came too slowly',
    );
    place.leave();
    expect(own.held.bytes).toBe(MIB);
    body.reject(new Error('cut off'));
    await body.promise.catch(() => undefined);
    expect(own.held.bytes).toBe(0);
  });
});
