import { expect, test } from 'bun:test';
import { Mutex, Semaphore } from '../../src/base/scheduling/semaphore.ts';

test('no more than the limit runs at once, and waiters start in order', async () => {
  const semaphore = new Semaphore(2);
  const started: number[] = [];
  let most = 0;
  await Promise.all(
    [0, 1, 2, 3, 4].map((n) =>
      semaphore.run(async () => {
        started.push(n);
        most = Math.max(most, semaphore.running);
        await Bun.sleep(1);
      }),
    ),
  );
  expect([started, most]).toEqual([[0, 1, 2, 3, 4], 2]);
  expect([semaphore.running, semaphore.queued]).toEqual([0, 0]);
});

test('a waiter that gives up leaves its place to the next', async () => {
  const mutex = new Mutex();
  const release = await mutex.acquire();
  const abort = new AbortController();
  const givenUp = mutex.acquire(abort.signal);
  const next = mutex.run(() => 'ran');
  abort.abort(new Error('gave up'));
  await expect(givenUp).rejects.toThrow('gave up');
  release();
  expect(await next).toBe('ran');
});

test('a place is given back when work throws, and only once', async () => {
  const mutex = new Mutex();
  await expect(mutex.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const release = await mutex.acquire();
  const waiting = mutex.acquire();
  release();
  release();
  const second = await waiting;
  await expect(mutex.running).toBe(1);
  second();
  await expect(mutex.running).toBe(0);
});

test('an aborted signal keeps work from starting', async () => {
  const run = new Semaphore(1).run(() => 'ran', AbortSignal.abort(new Error('late')));
  await expect(run).rejects.toThrow('late');
});
