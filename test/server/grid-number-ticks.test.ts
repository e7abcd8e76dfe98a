/**
 * Marks of an axis of numbers.
 */
import { expect, test } from 'bun:test';
import { numberTicks } from '../../src/browser/grid/view/ticks.ts';

test.each([
  [2001, 2024, 5, true, [2005, 2010, 2015, 2020]],
  [-5, 1_000_000, 6, true, [0, 200_000, 400_000, 600_000, 800_000, 1_000_000]],
  [0.5, 99.5, 6, false, [20, 40, 60, 80]],
  [0.1, 0.3, 5, false, [0.1, 0.15, 0.2, 0.25, 0.3]],
  [1, 3, 9, true, [1, 2, 3]],
  [3, 3, 9, false, [3]],
  [0.2, 0.9, 5, true, [0.2, 0.9]],
  [-3, 3, 4, true, [-2, 0, 2]],
])('from %d to %d, %d at most', (min, max, count, isWhole, expected) => {
  expect(numberTicks(min, max, count, isWhole)).toEqual(expected);
});

test('no span has more marks than there is room for', () => {
  for (let power = -300; power <= 300; power += 7) {
    for (const start of [-1, 0, 0.3, 1]) {
      const min = start * 10 ** power;
      const ticks = numberTicks(min, min + 10 ** power, 7, false);
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.length).toBeLessThanOrEqual(7);
      expect(ticks).toEqual(ticks.toSorted((a, b) => a - b));
    }
  }
});
