/** What bodies with events take of memory, whatever they hold and however long they are (S-D1). */
import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { snappyCompress } from 'hysnappy';
import { protobufMessage } from '../../src/events/intake/wire/protobuf.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { forgetPeak, memoryOf, ownMemoryOfAll } from './process-memory.ts';

const MIB = 1024 * 1024;
const ROUTES = ['/api/events/', '/_bulk', '/services/collector/event', '/v1/logs'];
const MOST_MB = 256;

test('compressed bodies one after another take no more memory than a few', async () => {
  await using service = await startService({ config: { events: { min_free_bytes: 1 } } });
  await service.accounts.grant('writer', '@events', 'write');
  const writer = await service.as('writer');
  const objects = Buffer.from(`[${'{},'.repeat(9_000_000)}{}]`);
  const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
  const bodies = [gzipSync(objects), gzipSync(Buffer.alloc(100_000_000, '7'))];
  forgetPeak(service.pid);
  const before = memoryOf(service.pid)!.resident;
  for (const path of [...ROUTES, ...ROUTES, ...ROUTES]) {
    for (const body of bodies) {
      const answer = await writer.fetch(path, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      expect(answer.status).toBeLessThan(500);
    }
  }
  expect((memoryOf(service.pid)!.peak - before) / MIB).toBeLessThan(400);
});

/** What is repeated, and what stands around it. */
interface Body {
  readonly path: string;
  readonly type?: string;
  readonly bytes: number;
  readonly filler: string;
  readonly head?: string;
  readonly tail?: string;
  readonly status: number;
}

const OTLP = ['{"resourceLogs":[{"scopeLogs":[{"logRecords":', '}]}]}'] as const;
const LOKI = ['{"streams":[{"stream":{},"values":', '}]}'] as const;
const NDJSON = 'application/x-ndjson';
const large: Readonly<Record<string, Body>> = {
  'digits in REST': body('/api/events/', '7', 400, '[{"data":"x","extracted_fields":', '}]'),
  'digits in _bulk': body('/_bulk', '7', 200, '{"create":{}}\n{"a":', '}\n'),
  'digits in HEC': body('/services/collector/event', '7', 400, '{"event":"x","fields":', '}'),
  'a line of HEC': body('/services/collector/raw', '7', 400),
  'digits in OTLP': body('/v1/logs', '7', 400, ...OTLP),
  'digits in Loki': body('/loki/api/v1/push', '7', 400, ...LOKI),
  'depth in OTLP': body('/v1/logs', '[', 400, ...OTLP),
  'depth in REST': body('/api/events/', '[', 400),
  'records that are too long': {
    ...body('/v1/logs', 'x', 200),
    head: `${OTLP[0]}[`,
    filler: `{"body":{"stringValue":"${'x'.repeat(12_000_000)}"}},`,
    tail: `{}]${OTLP[1]}`,
  },
  'line ends of REST': { ...body('/api/events/', '\n', 201), type: NDJSON },
  'line ends of _bulk': body('/_bulk', '\n', 400),
  'line ends of HEC': body('/services/collector/raw', ' \r\n', 400),
  'long events, one a line': {
    ...body('/api/events/', `{"data":"${'x'.repeat(900_000)}"}\n`, 201),
    type: NDJSON,
  },
  'documents of _bulk': body('/_bulk', `{"create":{}}\n{"a":"${'x'.repeat(40_000)}"}\n`, 200),
  'records of OTLP': {
    ...body('/v1/logs', `{"body":{"stringValue":"${'x'.repeat(40_000)}"}},`, 200),
    head: `${OTLP[0]}[`,
    tail: `{}]${OTLP[1]}`,
  },
  'an array, all of which is answered': {
    ...body('/api/events/', `{"data":"${'x'.repeat(40_000)}"},`, 201),
    head: '[',
    tail: '{"data":"the last"}]',
  },
};

function body(path: string, filler: string, status: number, head = '', tail = ''): Body {
  return { path, filler, status, head, tail, bytes: 230 * MIB };
}

describe.skipIf(process.platform !== 'linux')('a long body', async () => {
  const service = await startService({ config: { events: { min_free_bytes: 1 } } });
  afterAll(() => service[Symbol.asyncDispose]());
  await service.accounts.grant('writer', '@events', 'write');
  const writer = await service.as('writer');
  await writer.fetch('/api/events/', { method: 'POST', body: '{"data":"first"}' });

  test.each(Object.entries(large))(
    'takes less than 256 MB of the server and its writer together: %s',
    async (_name, { path, type, bytes, filler, head = '', tail = '', status }) => {
      const count = Math.floor(bytes / filler.length);
      const body = gzipSync(
        Buffer.concat([
          Buffer.from(head),
          Buffer.alloc(count * filler.length, filler),
          Buffer.from(tail),
        ]),
        { level: 1 },
      );
      const headers = { 'Content-Type': type ?? 'application/json', 'Content-Encoding': 'gzip' };
      await expectModest(path, { headers, body }, status);
    },
  );

  test('takes less than that under snappy too', async () => {
    const line = protobufMessage([[2, 'x'.repeat(1_000_000)]]);
    const stream = [[1, '{a="b"}'], ...Array.from({ length: 230 }, () => [2, line] as const)];
    const body = snappyCompress(protobufMessage([[1, protobufMessage(stream as never)]]));
    const headers = { 'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'snappy' };
    await expectModest('/loki/api/v1/push', { headers, body }, 413);
  });

  async function expectModest(path: string, init: RequestInit, status: number): Promise<void> {
    const before = ownMemoryOfAll(service.pid);
    let peak = 0;
    const timer = setInterval(() => (peak = Math.max(peak, ownMemoryOfAll(service.pid))), 5);
    const started = performance.now();
    const answer = await writer.fetch(path, { method: 'POST', ...init });
    for await (const _ of answer.body ?? []);
    clearInterval(timer);
    expect(answer.status).toBe(status);
    expect((peak - before) / MIB).toBeLessThan(MOST_MB);
    expect(performance.now() - started).toBeLessThan(20_000);
  }

  test('is answered with all of its events, also when it is repeated (EV-49)', async () => {
    const sent = Array.from({ length: 3_000 }, (_, at) => `${at} ${'äx'.repeat(10_000)}`);
    const body = JSON.stringify(sent.map((data) => ({ data })));
    const first = [];
    for (const _twice of [1, 2]) {
      const answer = await writer.fetch('/api/events/', {
        method: 'POST',
        headers: { 'Content-Encoding': 'gzip', 'Idempotency-Key': 'long' },
        body: gzipSync(body, { level: 1 }),
      });
      expect(answer.status).toBe(201);
      expect(answer.headers.get('content-type')).toBe('application/json');
      const events = (await answer.json()) as { id: number; data: string }[];
      expect(events.map(({ data }) => data)).toEqual(sent);
      const ids = events.map(({ id }) => id);
      expect(ids).toEqual(ids.map((_id, at) => ids[0]! + at));
      first.push(ids[0]);
    }
    expect(first[1]).toBe(first[0]);
  });

  test('leaves nothing on the disk, also when the server is killed while it comes in', async () => {
    const folder = join(service.stateDir, 'tmp');
    const kept = (): string[] =>
      readdirSync(`/proc/${service.pid}/fd`)
        .map((fd) => targetOf(`/proc/${service.pid}/fd/${fd}`))
        .filter((path) => path.startsWith(join(folder, 'nameless-')));
    const send = (body: Bun.BodyInit): Promise<Response> =>
      writer.fetch('/services/collector/raw', { method: 'POST', body });
    expect((await send('a line\n'.repeat(500_000))).status).toBe(413);
    expect([kept(), readdirSync(folder)]).toEqual([[], []]);
    const array = `[${'{"data":"an event"},'.repeat(90_000)}{"data":"the last"}]`;
    const stopped = await writer.fetch('/api/events/', { method: 'POST', body: array });
    const reader = stopped.body!.getReader();
    await reader.read();
    await reader.cancel();
    await eventually(() => expect(kept()).toEqual([]));
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const sending = send(readable).catch(() => null);
    const sink = writable.getWriter();
    for (let at = 0; at < 4; at++) await sink.write(Buffer.alloc(MIB, 'a line\n'));
    // It has a name for a moment, which is long while the disk is busy.
    await eventually(() => expect([kept().length, readdirSync(folder)]).toEqual([1, []]));
    await service.kill('SIGKILL');
    await sending;
    expect(readdirSync(folder)).toEqual([]);
    await sink.abort().catch(() => undefined);
    await service.start();
  });
});

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    // It was closed meanwhile.
    return '';
  }
}
