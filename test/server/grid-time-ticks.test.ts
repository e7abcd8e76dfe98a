/**
 * Marks of an axis of times: each text once, and at beginnings that people know.
 */
import { expect, test } from 'bun:test';
import { timeTicks } from '../../src/browser/grid/view/ticks.ts';

function texts(from: string, to: string, count = 6): string[] {
  const { ticks, textOf } = timeTicks(Date.parse(from), Date.parse(to), count, 'en-US');
  return ticks.map(textOf).map((text) => text.replaceAll(/[^\S\n]/g, ' '));
}

test.each([
  ['2001-05-01', '2024-02-01', ['2005', '2010', '2015', '2020']],
  [
    '2024-01-01',
    '2024-12-31',
    ['Jan 2024', 'Mar 2024', 'May 2024', 'Jul 2024', 'Sep 2024', 'Nov 2024'],
  ],
  ['2024-01-05', '2024-01-09', ['Jan 5, 2024', 'Jan 6', 'Jan 7', 'Jan 8', 'Jan 9']],
  ['2023-12-30', '2024-01-02', ['Dec 30, 2023', 'Dec 31, 2023', 'Jan 1, 2024', 'Jan 2, 2024']],
  [
    '2024-01-05',
    '2024-01-06',
    ['12:00 AM\nJan 5, 2024', '6:00 AM', '12:00 PM', '6:00 PM', '12:00 AM\nJan 6'],
  ],
  ['2024-01-05T10:00:00Z', '2024-01-05T10:00:00Z', ['10:00 AM\nJan 5, 2024']],
  ['2024-01-05', '2024-01-05', ['Jan 5, 2024']],
  [
    '2024-01-05T10:00:01Z',
    '2024-01-05T10:00:04Z',
    ['10:00:01 AM\nJan 5, 2024', '10:00:02 AM', '10:00:03 AM', '10:00:04 AM'],
  ],
])('from %s to %s', (from, to, expected) => {
  expect(texts(from, to)).toEqual(expected);
});

test('no span has more marks than there is room for, or two beside each other with the same text', () => {
  const start = Date.parse('1969-12-30T23:59:59.998Z');
  for (let span = 0; span < 9_000 * 365 * 86_400_000; span = Math.ceil(span * 1.7) + 1) {
    for (const count of [2, 3, 7, 12]) {
      const { ticks, textOf } = timeTicks(start, start + span, count, 'en-US');
      expect(ticks.length).toBeLessThanOrEqual(count);
      expect(ticks.length).toBeGreaterThan(0);
      const shown = ticks.map(textOf);
      expect(shown.filter((text, at) => text === shown[at + 1])).toEqual([]);
    }
  }
});
