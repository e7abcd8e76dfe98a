/** Sums of doubles have every digit, whatever the order, also past the range of doubles on the way. */
import { expect, test } from 'bun:test';
import { ExactSum } from '../../src/columns/exact-sum.ts';
import { randomFrom } from '../language/random-query.ts';
import { AWKWARD, exactTotal, shuffled } from './awkward.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_123);

test(`a sum is the nearest double to the true sum in any order (seed ${SEED})`, () => {
  const random = randomFrom(SEED);
  for (let round = 0; round < 3_000; round++) {
    const numbers = Array.from({ length: 1 + Math.floor(random() * 12) }, () => AWKWARD(random));
    const expected = exactTotal(numbers);
    for (const order of [numbers, shuffled(numbers, random)]) {
      const sum = new ExactSum();
      for (const x of order) sum.add(x);
      expect({ order, value: sum.value + 0 }).toEqual({ order, value: expected });
    }
    const weighted = new ExactSum();
    const times = 1 + Math.floor(random() * 9);
    for (const x of numbers) weighted.add(x, times);
    const repeated = exactTotal(numbers.flatMap((x) => Array<number>(times).fill(x)));
    expect({ numbers, times, value: weighted.value + 0 }).toEqual({
      numbers,
      times,
      value: repeated,
    });
  }
});

test('numbers that leave the range of doubles and come back', () => {
  const sum = new ExactSum();
  for (const x of [Number.MAX_VALUE, Number.MAX_VALUE, 1, -Number.MAX_VALUE]) sum.add(x);
  expect(sum.value).toBe(Number.MAX_VALUE);
  sum.add(-Number.MAX_VALUE);
  expect(sum.value).toBe(1);
});

test('a sum past the range is infinite, and infinities against each other are no number', () => {
  const sum = new ExactSum();
  sum.add(Number.MAX_VALUE, 2);
  expect(sum.value).toBe(Infinity);
  sum.add(-Infinity);
  expect(sum.value).toBe(-Infinity);
  sum.add(Infinity);
  expect(sum.value).toBeNaN();
});
