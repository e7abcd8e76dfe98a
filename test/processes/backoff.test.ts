import { expect, test } from 'bun:test';
import { Backoff } from '../../src/processes/backoff.ts';

test('pauses grow 1, 2, 4 … 30 seconds after the free failures, and end with a success (DS-170)', () => {
  const backoff = new Backoff(2);
  const pauses: number[] = [];
  for (let i = 0; i < 9; i += 1) {
    backoff.failed(1_000);
    pauses.push(backoff.remainingMs(1_000) / 1_000);
  }
  expect(pauses).toEqual([0, 0, 1, 2, 4, 8, 16, 30, 30]);
  expect(backoff.remainingMs(21_000)).toBe(10_000);
  expect(backoff.remainingMs(99_000)).toBe(0);
  backoff.succeeded();
  backoff.failed(99_000);
  expect(backoff.remainingMs(99_000)).toBe(0);
});
