/** When alerts run: intervals, cron on the clocks of a zone, and what is refused. */
import { describe, expect, test } from 'bun:test';
import { BadSchedule, durationMs, scheduleOf } from '../../src/alerts/schedule.ts';

const at = (text: string): number => Date.parse(text);
const times = (line: string, zone: string, from: string, n: number): string[] => {
  const schedule = scheduleOf(line, zone);
  const found: string[] = [];
  for (let time = at(from); found.length < n;) {
    time = schedule.after(time);
    found.push(new Date(time).toISOString().slice(0, 16));
  }
  return found;
};

describe('cron in a zone whose clocks change', () => {
  test.each([
    [
      'a skipped time counts on from the change',
      '30 2 * * *',
      '2026-03-27T12:00Z',
      ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    [
      'a fixed hour that comes twice is met once',
      '30 2 * * *',
      '2026-10-24T12:00Z',
      ['2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    [
      'every half hour goes on through the night of the change',
      '*/30 * * * *',
      '2026-10-25T00:10Z',
      ['2026-10-25T00:30', '2026-10-25T01:00', '2026-10-25T01:30', '2026-10-25T02:00'],
    ],
    ['days of the week', '0 9 * * mon-fri', '2026-11-20T09:00Z', ['2026-11-23T08:00']],
    ['a leap day', '0 0 29 2 *', '2026-11-20T09:00Z', ['2028-02-28T23:00']],
  ])('%s', (_, line, from, expected) => {
    expect(times(line, 'Europe/Vienna', from, expected.length)).toEqual(expected);
  });
});

test('an interval counts from the epoch, so that a restart changes nothing', () => {
  expect(times('every 15m', 'UTC', '2026-11-20T12:07:03Z', 2)).toEqual([
    '2026-11-20T12:15',
    '2026-11-20T12:30',
  ]);
});

test.each(['every 1m', '* * * * *'])(
  'of the times that passed the last one is told, and how many before it: %s',
  (line) => {
    const schedule = scheduleOf(line, 'UTC');
    expect(schedule.latest(at('2026-11-20T12:00Z'), at('2026-11-20T12:00:30Z'))).toEqual({
      slot: at('2026-11-20T12:00Z'),
      missed: 0,
    });
    expect(schedule.latest(at('2026-11-20T12:00Z'), at('2026-11-20T14:00:59Z'))).toEqual({
      slot: at('2026-11-20T14:00Z'),
      missed: 120,
    });
    // After a year the last one is still the last one.
    expect(schedule.latest(at('2025-11-20T12:00Z'), at('2026-11-20T14:00:59Z')).slot).toBe(
      at('2026-11-20T14:00Z'),
    );
  },
);

test.each([
  ['* * * *', 'UTC', /has 4 fields; cron takes five: minute, hour, day of month/],
  ['0 * * * * *', 'UTC', /has 6 fields/],
  ['@daily', 'UTC', /has 1 field; .*or write every 5m/],
  ['61 * * * *', 'UTC', /minute: 61; minutes are 0-59/],
  ['0 0 31 2 *', 'UTC', /never comes/],
  ['0 0 * * *', 'Mars/Olympus', /'Mars\/Olympus' is no time zone; write UTC or a name/],
  ['every 5 minutes', 'UTC', /write for example every 5m/],
  ['every 1s', 'UTC', /10 seconds at least/],
])('%s (%s) is refused with what would be right', (line, zone, reason) => {
  expect(() => scheduleOf(line, zone)).toThrow(BadSchedule);
  expect(() => scheduleOf(line, zone)).toThrow(reason);
});

test('durations', () => {
  expect(['30s', '5m', '2h', '7d', '1w'].map(durationMs)).toEqual([3e4, 3e5, 72e5, 6048e5, 6048e5]);
  expect(['', '5', 'm', '-5m', '1.5h', '5 m'].map(durationMs)).toEqual([
    null,
    null,
    null,
    null,
    null,
    null,
  ]);
});
