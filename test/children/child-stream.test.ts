import { expect, test } from 'bun:test';
import { AppError } from '../../src/base/errors.ts';
import type { ChildPool } from '../../src/children/child-pool.ts';
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

test('a stream moves out of the way of waiting jobs, up to the dedicated places', async () => {
  await using fixture = startPool({ maxDedicated: 1 });
  const { pool } = fixture;
  const stream = { bytes: 200 * MEGABYTE };
  const first = await pool.request('stream', stream, LIMIT);
  expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
  const second = await pool.request('stream', stream, LIMIT);
  expect(pool.stats()).toMatchObject({ busy: 2, running: 2 });
  const refused = await pool.request('echo', 2, { timeoutMs: 50 }).catch((e: unknown) => e);
  expect((refused as AppError).code).toBe('unavailable');
  await first.body?.cancel();
  expect(await (await pool.request('echo', 3, LIMIT)).json()).toBe(3);
  expect(await readAll(second)).toBeGreaterThanOrEqual(stream.bytes);
  await until(() => pool.stats().busy === 0);
});

test('a reader that stands still loses its stream only when others wait and no place is left', async () => {
  await using fixture = startPool({ maxDedicated: 1, readerPatienceMs: 100 });
  const { pool } = fixture;
  const stream = { bytes: 200 * MEGABYTE };
  const first = await pool.request('stream', stream, LIMIT);
  const second = await pool.request('stream', stream, LIMIT);
  await Bun.sleep(200);
  expect(pool.stats()).toMatchObject({ busy: 2, killed: 0 });
  expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
  expect(pool.stats().killed).toBe(1);
  const outcomes = await Promise.allSettled([first, second].map(readAll));
  expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
});

test('a reader that stands still loses its stream to a job that already waits, once it has been patient', async () => {
  await using fixture = startPool({ maxDedicated: 1, readerPatienceMs: 100 });
  const { pool } = fixture;
  const stream = { bytes: 200 * MEGABYTE };
  for (const _ of [1, 2]) await pool.request('stream', stream, LIMIT);
  // Both have just been read from, and nothing happens from here on but that time passes.
  expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
  expect(pool.stats()).toMatchObject({ killed: 1, queued: 0 });
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
