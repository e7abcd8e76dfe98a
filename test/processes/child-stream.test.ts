import { expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../src/base/errors.ts';
import { createLog } from '../../src/base/log.ts';
import type { ChildPool } from '../../src/processes/child-pool.ts';
import { Spool, SpoolRoom } from '../../src/processes/spool.ts';
import { childPid, startPool, until } from './pool-fixture.ts';
import { onSharedCores } from '../support/patience.ts';

const LIMIT = { timeoutMs: 60_000 };
const MEGABYTE = 1_000_000;

async function produced(pool: ChildPool): Promise<number> {
  return (await (await pool.request('produced', null, LIMIT)).json()) as number;
}

async function readAll(response: Response): Promise<number> {
  let bytes = 0;
  for await (const chunk of response.body ?? []) bytes += chunk.byteLength;
  return bytes;
}

interface ByteReader {
  read(): Promise<{ done: boolean; value?: Uint8Array }>;
  cancel(): Promise<void>;
}

/** Reads about `bytes` and leaves the rest of the answer alone. */
async function readSome(response: Response, bytes: number): Promise<ByteReader> {
  const reader: ByteReader = (response.body as ReadableStream<Uint8Array>).getReader();
  for (let seen = 0; seen < bytes;) {
    const { done, value } = await reader.read();
    if (done) break;
    seen += value?.byteLength ?? 0;
  }
  return reader;
}

/** Room for spools in a folder of its own. */
function spoolRoom(maxBytes: number) {
  const directory = mkdtempSync(join(tmpdir(), 'svc-spool-'));
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'text', write: (line) => lines.push(line) });
  const options = { directory, maxBytes: () => maxBytes, minFreeBytes: () => 0, log };
  const room = new SpoolRoom(options);
  return {
    room,
    options,
    directory,
    kept: () => room.held,
    lines: () => lines.join(''),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

test('a long answer arrives whole and frees its child', async () => {
  await using fixture = startPool();
  const { pool } = fixture;
  const pid = await childPid(pool);
  const response = await pool.request('stream', { bytes: 100 * MEGABYTE }, LIMIT);
  expect(pool.stats().busy).toBe(1);
  const bytes = await readAll(response);
  expect(bytes).toBeGreaterThanOrEqual(100 * MEGABYTE);
  expect(bytes).toBe(await produced(pool));
  expect(await childPid(pool)).toBe(pid);
});

test('an answer below the read-ahead frees its child although nobody reads it', async () => {
  await using fixture = startPool();
  const { pool } = fixture;
  const response = await pool.request('stream', { bytes: 500_000 }, LIMIT);
  await until(() => pool.stats().busy === 0);
  expect(await produced(pool)).toBe(await readAll(response));
});

test('a slow reader slows the producer down; neither side buffers the answer (F20)', async () => {
  await using fixture = startPool({ maxRssBytes: 250e6 });
  const { pool } = fixture;
  await childPid(pool);
  const before = process.memoryUsage().rss;
  const timeoutMs = onSharedCores(1_500);
  const response = await pool.request('stream', { bytes: 2_000 * MEGABYTE }, { timeoutMs });
  const reader = await readSome(response, 5 * MEGABYTE);
  // Longer than the time limit: a reader that wants nothing is not a child that makes no progress.
  await Bun.sleep(timeoutMs * 1.5);
  expect(process.memoryUsage().rss - before).toBeLessThan(64e6);
  expect((await reader.read()).done).toBe(false);
  expect(pool.stats()).toMatchObject({ busy: 1, killed: 0 });
  await reader.cancel();
  await until(() => pool.stats().busy === 0);
  expect(await produced(pool)).toBeLessThan(40 * MEGABYTE);
});

test('an answer that stands still while it is wanted is stopped at the limit', async () => {
  await using fixture = startPool();
  const { pool } = fixture;
  // The limit is about the answer, not about the start of the child.
  await (await pool.request('echo', 1, LIMIT)).text();
  const body = { bytes: 100 * MEGABYTE, hangAfter: 5 * MEGABYTE };
  const reading = pool.request('stream', body, { timeoutMs: 300 }).then(readAll);
  const error = await reading.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).code).toBe('timed-out');
  expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
});

test('a crash half-way is an error, never a short answer', async () => {
  await using fixture = startPool();
  const { pool } = fixture;
  const body = { bytes: 100 * MEGABYTE, crashAfter: 5 * MEGABYTE };
  const response = await pool.request('stream', body, LIMIT);
  const error = await readAll(response).catch((reason: unknown) => reason);
  expect((error as AppError).code).toBe('unavailable');
  expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
  expect(pool.stats().restarts).toBe(1);
});

test('an exception half-way reaches the reader and the log, and costs no child', async () => {
  await using fixture = startPool();
  const { pool } = fixture;
  const pid = await childPid(pool);
  const body = { bytes: 100 * MEGABYTE, failAfter: 5 * MEGABYTE };
  const response = await pool.request('stream', body, LIMIT);
  await expect(readAll(response)).rejects.toThrow('the disk went away');
  expect(fixture.lines.join('')).toContain('fixture-child.ts');
  for (const failAfter of [0, 100_000]) {
    const early = pool.request('stream', { ...body, failAfter }, LIMIT);
    await expect(early).rejects.toThrow('the disk went away');
  }
  expect(await childPid(pool)).toBe(pid);
});

test('a caller that goes away half-way ends the production', async () => {
  await using fixture = startPool();
  const { pool } = fixture;
  const caller = new AbortController();
  const options = { ...LIMIT, signal: caller.signal };
  const response = await pool.request('stream', { bytes: 5_000 * MEGABYTE }, options);
  const reader = await readSome(response, 5 * MEGABYTE);
  caller.abort(new Error('left'));
  const rest = (async () => {
    for (;;) if ((await reader.read()).done) return;
  })();
  await expect(rest).rejects.toThrow('left');
  await until(() => pool.stats().busy === 0);
  expect(await produced(pool)).toBeLessThan(100 * MEGABYTE);
});

test('what a slow reader leaves goes to the disk at once when others wait, and frees the child', async () => {
  using disk = spoolRoom(1e9);
  await using fixture = startPool({ spoolRoom: disk.room });
  const { pool } = fixture;
  const first = await pool.request('stream', { bytes: 50 * MEGABYTE }, LIMIT);
  expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
  expect(disk.kept()).toBeGreaterThan(40 * MEGABYTE);
  expect(await readAll(first)).toBe(await produced(pool));
  expect([disk.kept(), readdirSync(disk.directory)]).toEqual([0, []]);
  expect(pool.stats()).toMatchObject({ busy: 0, killed: 0 });
});

test('bytes come in their order, however the reader and the disk take turns', async () => {
  using disk = spoolRoom(20 * MEGABYTE);
  const spool = new Spool(disk.room, 'a', () => {});
  spool.useDisk();
  let random = 1;
  const next = (most: number): number => (random = (random * 48_271) % 2_147_483_647) % most;
  const COUNT = 2_000;
  const adding = (async () => {
    for (let at = 0; at < COUNT; at++) {
      if (next(100) === 0) await Bun.sleep(1);
      const piece = new Uint8Array(new Uint32Array(1 + next(8_000)).fill(at).buffer);
      expect(await spool.add(piece)).toBe(true);
    }
    spool.complete();
  })();
  let last = 0;
  let left = new Uint8Array();
  for await (const chunk of spool.body) {
    const bytes = Buffer.concat([left, chunk]);
    const whole = bytes.length - (bytes.length % 4);
    for (let at = 0; at < whole; at += 4) {
      const value = bytes.readUInt32LE(at);
      if (value !== last && value !== last + 1) throw new Error(`${value} comes after ${last}`);
      last = value;
    }
    left = bytes.subarray(whole);
    if (next(50) === 0) await Bun.sleep(2);
  }
  await adding;
  expect([last, left.length, disk.kept()]).toEqual([COUNT - 1, 0, 0]);
});

test('one person has half of the disk, and a reader that is too slow beyond it loses its answer to who waits', async () => {
  using disk = spoolRoom(20 * MEGABYTE);
  await using fixture = startPool({ spoolRoom: disk.room, readerPatienceMs: 300 });
  const { pool } = fixture;
  const first = await pool.request('stream', { bytes: 200 * MEGABYTE }, LIMIT);
  expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
  expect(pool.stats()).toMatchObject({ killed: 1, queued: 0 });
  expect(fixture.lines.join('')).toContain('bytes a second while others waited');
  const error = await readAll(first).catch((reason: unknown) => reason);
  expect((error as AppError).code).toBe('timed-out');
  expect(disk.kept()).toBe(0);
});

test('a reader that stands still keeps its answer while nobody waits', async () => {
  await using fixture = startPool({ readerPatienceMs: 100 });
  const { pool } = fixture;
  const first = await pool.request('stream', { bytes: 50 * MEGABYTE }, LIMIT);
  await Bun.sleep(500);
  expect(pool.stats()).toMatchObject({ busy: 1, killed: 0 });
  expect(await readAll(first)).toBe(await produced(pool));
});

test('a disk that takes nothing makes the child wait, and nothing is lost', async () => {
  using disk = spoolRoom(1e9);
  rmSync(disk.directory, { recursive: true });
  const spool = new Spool(
    new SpoolRoom({ ...disk.options, directory: tmpdir() + '/missing' }),
    'a',
    () => {},
  );
  spool.useDisk();
  const adding = (async () => {
    for (let at = 0; at < 40; at++) await spool.add(new Uint8Array(100_000));
    spool.complete();
  })();
  await until(() => spool.isFull);
  expect(await readAll(new Response(spool.body))).toBe(4_000_000);
  await adding;
  expect(disk.lines()).toContain('could not be kept on disk');
});

test('dedicated jobs have their own places and leave no more children than the pool keeps', async () => {
  await using fixture = startPool({ maxDedicated: 2 });
  const { pool } = fixture;
  const dedicated = { ...LIMIT, dedicated: true };
  const exports = [1, 2].map(() => pool.request('stream', { bytes: 50 * MEGABYTE }, dedicated));
  const answers = await Promise.all(exports);
  expect(pool.stats()).toMatchObject({ busy: 2, running: 2, queued: 0 });
  const third = pool.request('stream', { bytes: 50 * MEGABYTE }, dedicated);
  expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
  expect(pool.stats()).toMatchObject({ queued: 1, running: 3 });
  await Promise.all(answers.map(readAll));
  await readAll(await third);
  await until(() => pool.stats().running === 1);
  expect(pool.stats()).toMatchObject({ busy: 0, killed: 0, restarts: 0 });
});
