/**
 * Rebuilds of the index that nobody waits for: one at a time, with progress, an end and a way to stop.
 */
import { expect, test } from 'bun:test';
import { AppError } from '../../src/base/errors.ts';
import { createLog } from '../../src/base/log.ts';
import { Rebuilds } from '../../src/fulltext/rebuilds.ts';

const COUNTS = { indexed: 2, documents: 5, skipped: 0, pruned: 1 };
const clock = { now: () => Date.UTC(2026, 10, 20) };
const log = createLog({ level: 'error', format: 'json', write: () => undefined });
const at = '2026-11-20T00:00:00.000Z';

test('one at a time, with its progress and what it came to', async () => {
  const end = Promise.withResolvers<typeof COUNTS>();
  let tell: (done: number, total: number) => void = () => undefined;
  const rebuilds = new Rebuilds({
    clock,
    log,
    rebuild: (isForced, onProgress) => {
      expect(isForced).toBe(true);
      tell = onProgress;
      return end.promise;
    },
  });
  expect([rebuilds.state, rebuilds.stop()]).toEqual([null, false]);
  expect([rebuilds.start(true), rebuilds.start(false)]).toEqual([true, false]);
  tell(1, 2);
  expect(rebuilds.state).toMatchObject({ startedAt: at, endedAt: null, done: 1, total: 2 });
  end.resolve(COUNTS);
  await end.promise;
  await Promise.resolve();
  expect(rebuilds.state).toMatchObject({ endedAt: at, counts: COUNTS, isStopped: false });
});

test('stopped, it says so; another one can be started', async () => {
  const rebuilds = new Rebuilds({
    clock,
    log,
    rebuild: async (_isForced, _onProgress, signal) => {
      const stopped = Promise.withResolvers<void>();
      signal!.addEventListener('abort', () => stopped.resolve());
      await stopped.promise;
      return COUNTS;
    },
  });
  rebuilds.start(false);
  expect(rebuilds.stop()).toBe(true);
  while (rebuilds.state?.endedAt === null) await new Promise(setImmediate);
  expect(rebuilds.state).toMatchObject({ isStopped: true, counts: COUNTS });
  expect(rebuilds.start(false)).toBe(true);
  rebuilds.stop();
});

test.each([
  [new AppError('unavailable', 'the index is out of reach'), 'the index is out of reach'],
  [new Error('/secret/path'), 'It failed; see the log'],
])('a failure is told without secrets', async (failure, problem) => {
  const rebuild = (): Promise<never> => Promise.reject(failure);
  const rebuilds = new Rebuilds({ clock, log, rebuild });
  rebuilds.start(false);
  while (rebuilds.state?.endedAt === null) await new Promise(setImmediate);
  expect(rebuilds.state).toMatchObject({ problem, counts: null });
});
