/** What holds, and what follows from the runs before: for how long, how often again, and when it is over. */
import { describe, expect, test } from 'bun:test';
import { type AlertResult, judge, type KeyState } from '../../src/alerts/condition.ts';
import { type AlertDefinition, checkDefinition } from '../../src/alerts/definition.ts';

const START = Date.parse('2026-11-20T12:00:00Z');
const base = { title: 'x', query: '*', schedule: 'every 1m' } as const;

const result = (...rows: AlertResult['rows']): AlertResult => ({
  columns: Object.keys(rows[0] ?? {}),
  rows,
  isCut: false,
});
const rows = (n: number) => result(...Array.from({ length: n }, (_, at) => ({ at })));

/** Runs one after the other, a minute apart; what each of them did. */
function play(more: Partial<AlertDefinition>, results: readonly AlertResult[]): string[] {
  const definition = { ...base, ...more };
  expect(checkDefinition(definition)).toEqual({ definition });
  let states: ReadonlyMap<string, KeyState> = new Map();
  return results.map((one, run) => {
    const judged = judge(definition, one, states, START + run * 60_000);
    states = new Map(judged.states.map((state) => [state.key, state]));
    return [
      ...judged.fired.map(({ key, rows: found }) => `${key}!${found.length}`),
      ...judged.resolved.map((key) => `${key}.`),
      ...(judged.quiet > 0 ? [`quiet ${judged.quiet}`] : []),
    ].join(' ');
  });
}

describe('conditions', () => {
  test.each([
    ['more rows', { type: 'rows', more_than: 2 }, [rows(2), rows(3)], ['', '!3']],
    ['fewer rows', { type: 'rows', less_than: 2 }, [rows(2), rows(1), rows(0)], ['', '!1', '!0']],
    ['no data', { type: 'no data' }, [rows(1), rows(0)], ['', '!0']],
    [
      'a value of any row',
      { type: 'value', column: 'n', more_than: 5 },
      [result({ n: 5 }, { n: '6' }, { n: null }, { n: 7 })],
      ['!2'],
    ],
    [
      'a text',
      { type: 'value', column: 'n', equals: 'down' },
      [result({ n: 'up' }, { n: 'down' })],
      ['!1'],
    ],
    [
      'another text',
      { type: 'value', column: 'n', not_equals: 'up' },
      [result({ n: 'up' }), result({ n: 'x' })],
      ['', '!1'],
    ],
    [
      'a change of the number of rows',
      { type: 'change', more_than: 2, direction: 'up' },
      [rows(9), rows(10), rows(13), rows(1)],
      ['', '', '!13', ''],
    ],
    [
      'a change in percent',
      { type: 'change', column: 'n', more_than: 50, percent: true },
      [
        result({ n: 100 }),
        result({ n: 150 }),
        result({ n: 50 }),
        result({ n: 0 }),
        result({ n: 1 }),
      ],
      ['', '', '!1', '!1', '!1'],
    ],
  ] as const)('%s', (_, when, results, expected) => {
    expect(play({ when } as Partial<AlertDefinition>, results)).toEqual([...expected]);
  });
});

const busy = (...hosts: string[]) => result(...hosts.map((host) => ({ host, n: 9 })));
const when = { type: 'value', column: 'n', more_than: 5 } as const;
const none = { columns: ['host', 'n'], rows: [], isCut: false };

describe('over several runs', () => {
  test('each value of the fields counts for itself', () => {
    expect(
      play({ when, by: ['host'], for: 2 }, [busy('a'), busy('a', 'b'), busy('b'), busy('a')]),
    ).toEqual(['', 'a!1', 'b!1', '']);
  });

  test('it is silent for the time of the throttle, by value', () => {
    expect(
      play({ when, by: ['host'], throttle: '2m' }, [busy('a'), busy('a', 'b'), busy('a')]),
    ).toEqual(['a!1', 'b!1 quiet 1', 'a!1']);
  });

  test('it resolves after so many runs without it, once', () => {
    expect(
      play({ when, by: ['host'], resolve: 2 }, [busy('a'), none, busy('a'), none, none, none]),
    ).toEqual(['a!1', '', 'a!1', '', 'a.', '']);
  });

  test('what people resolve is forgotten when it is over', () => {
    const judged = judge(
      { ...base, when },
      none,
      new Map([['', { key: '', held: 1, missed: 0, isFiring: true, firedAt: null, value: null }]]),
      START,
    );
    expect(judged).toEqual({ fired: [], resolved: [], quiet: 0, states: [] });
  });

  test.each([
    ['at that time of day', { from: '11:00', to: '12:01' }, ['quiet 1', '!1']],
    [
      'over midnight, by the day on which it began',
      { days: ['thu'], from: '22:00', to: '12:01' },
      ['quiet 1', '!1'],
    ],
    ['on another day', { days: ['sat'], from: '11:00', to: '13:00' }, ['!1', '!1']],
    ['once', { from: '2026-11-20T11:00:00Z', to: '2026-11-20T12:01:00Z' }, ['quiet 1', '!1']],
  ])('muted %s', (_, window, expected) => {
    expect(play({ when, mute: [window as never] }, [busy('a'), busy('a')])).toEqual(expected);
  });

  test('the clock of mute windows is that of the zone', () => {
    const mute = [{ from: '13:00', to: '13:01' }];
    expect(play({ when, mute, timezone: 'Europe/Vienna' }, [busy('a'), busy('a')])).toEqual([
      'quiet 1',
      '!1',
    ]);
  });
});

describe('what cannot be judged is an error of the run', () => {
  const cut = { ...rows(1000), isCut: true };
  test.each([
    [
      'rows that were not seen',
      { when: { type: 'value', column: 'at', more_than: 1 } },
      cut,
      /more than 1000 rows/,
    ],
    [
      'a column that is not there',
      { when: { type: 'value', column: 'm', more_than: 1 } },
      rows(1),
      /no column 'm'; it has at/,
    ],
    ['a field that is not there', { when, by: ['who'] }, busy('a'), /no column 'who'/],
    [
      'a change of a text',
      { when: { type: 'change', column: 'at', more_than: 1 } },
      result({ at: 'x' }),
      /is x, which is no number/,
    ],
  ])('%s', (_, more, given, reason) => {
    expect(() => judge({ ...base, ...more } as AlertDefinition, given, new Map(), START)).toThrow(
      reason,
    );
  });
});

describe('a wrong definition is told whole', () => {
  test.each([
    [[], /must be an object/],
    [{ ...base, titel: 'y' }, /titel is no member that is known here; did you mean 'title'\?/],
    [{ title: 'x', schedule: 'every 1m' }, /needs either query or savedsearch/],
    [{ ...base, savedsearch: 'y' }, /needs either/],
    [{ ...base, schedule: '* * *' }, /schedule '\* \* \*' has 3 fields/],
    [{ ...base, timezone: 'Vienna' }, /timezone 'Vienna' is no time zone/],
    [{ ...base, window: '5 min' }, /window '5 min' is no duration; write 30s, 5m, 24h or 7d/],
    [
      { ...base, when: { type: 'row', more_than: 1 } },
      /when\.type must be one of rows, value, change, no data; did you mean 'rows'\?/,
    ],
    [{ ...base, when: { type: 'rows' } }, /when needs exactly one of more_than, less_than/],
    [
      { ...base, when: { type: 'rows', more_than: 5000 } },
      /from 0 to 999; for more count in the query/,
    ],
    [{ ...base, when: { type: 'rows', more_than: '5' } }, /when\.more_than must be: number/],
    [
      { ...base, when, severity: 'hihg' },
      /severity must be one of .*critical; did you mean 'high'\?/,
    ],
    [{ ...base, severity: 'high' }, /severity belongs to an alert, which has 'when'/],
    [{ ...base, when: { type: 'no data' }, by: ['host'] }, /by means nothing for 'no data'/],
    [{ ...base, when, mute: [{ from: '25:00', to: '06:00' }] }, /mute\.0 from and to are either/],
    [
      { ...base, when, deliveries: [{ type: 'sms' }] },
      /deliveries\.0\.type must be one of webhook, email, index, dataset/,
    ],
    [
      { ...base, when, deliveries: [{ type: 'email', two: [] }] },
      /deliveries\.0\.two is no member .*'to'.*deliveries\.0 lacks 'to'/,
    ],
  ])('%j', (given, reason) => {
    const checked = checkDefinition(given);
    const told =
      'problems' in checked
        ? checked.problems.map(({ path, text }) => `${path.join('.')} ${text}`).join(' | ')
        : 'right';
    expect(told).toMatch(reason);
  });
});
