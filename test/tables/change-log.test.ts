/** What is kept of changes, and several changes of a row taken as one (DS-250, DS-252). */
import { describe, expect, test } from 'bun:test';
import {
  ChangeLog,
  type HistoryLimits,
  type NewEntry,
} from '../../src/tables/history/change-log.ts';
import {
  decodeChanges,
  encodeChanges,
  mergeChanges,
  type RowChange,
} from '../../src/tables/history/row-change.ts';
import type { StoredValue } from '../../src/tables/types.ts';
import type { Table } from '../../src/tables/copy/table.ts';
import { temporaryDatabase } from '../support/database.ts';
import { randomFrom } from '../language/random-query.ts';

const DAY_MS = 86_400_000;
const limits: HistoryLimits = {
  enabled: true,
  required: true,
  max_age_days: 30,
  max_changes_per_table: 1_000,
  max_bytes_per_table: 1_000_000,
  max_bytes: 1_000_000,
};
const cells = (values: Record<string, StoredValue>) => new Map(Object.entries(values));
const entry = (text: string): NewEntry => ({
  userId: 1,
  username: 'ada',
  action: 'update',
  changes: [{ rowId: 1, before: cells({ v: '' }), after: cells({ v: text }) }],
});

async function logOf(own: Partial<HistoryLimits> = {}) {
  const database = await temporaryDatabase();
  const clock = { now: Date.UTC(2026, 10, 1) };
  const log = new ChangeLog(
    database.db,
    () => ({ ...limits, ...own }),
    () => clock.now,
  );
  const add = async (rel: string, text: string): Promise<void> => {
    // No entry is open, so no row is looked at.
    const ids = await log.begin({ numbering: 'n' } as Table, { rel, sheet: null }, [entry(text)]);
    await log.close(ids, true);
  };
  const texts = async (rel: string) => {
    const entries = await log.list({ rel, sheet: null }, {}, 10_000);
    const rows = await Promise.all(entries.map(({ id }) => log.rowsOf(id, 10)));
    return rows.flat().map(({ after }) => after!.get('v'));
  };
  return { log, clock, add, texts, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}

describe('what is kept', () => {
  test('is not older than the limit, but for the newest of a table', async () => {
    await using at = await logOf();
    await at.add('a.csv', 'old');
    await at.add('a.csv', 'newest of a');
    await at.add('b.csv', 'old b');
    at.clock.now += 31 * DAY_MS;
    await at.add('b.csv', 'new b');
    await at.log.prune();
    expect(await at.texts('a.csv')).toEqual(['newest of a']);
    expect(await at.texts('b.csv')).toEqual(['new b']);
  });

  test('is so much of a table, the oldest going first', async () => {
    await using at = await logOf({ max_changes_per_table: 50 });
    for (let number = 0; number < 100; number++) await at.add('a.csv', String(number));
    await at.add('b.csv', 'other');
    expect(await at.texts('a.csv')).toEqual(Array.from({ length: 51 }, (_, at) => String(99 - at)));
    expect(await at.texts('b.csv')).toEqual(['other']);
  });

  test('takes no more room than it may, all together and of a table', async () => {
    await using at = await logOf({ max_bytes: 50_000 });
    const long = 'x'.repeat(300);
    for (let number = 0; number < 400; number++)
      await at.add(`${number % 3}.csv`, `${number}${long}`);
    await at.log.prune();
    const left = (await Promise.all(['0.csv', '1.csv', '2.csv'].map(at.texts))).flat();
    expect(left.length).toBeLessThan(160);
    expect(left.length).toBeGreaterThan(20);
    expect(left).toContain(`399${long}`);
  });

  test('is nothing while it is switched off', async () => {
    await using at = await logOf({ enabled: false });
    await at.add('a.csv', 'x');
    expect(await at.texts('a.csv')).toEqual([]);
  });
});

/** A row through random changes: what they did together leads from its first state to its last, and back. */
test('changes of a row taken as one', () => {
  const random = randomFrom(20261123);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const values: readonly StoredValue[] = ['', 'x', 1, 7.5, null, 2n ** 60n];
  const names = ['a', 'b', 'c'];
  for (let round = 0; round < 3_000; round++) {
    const full = (): Map<string, StoredValue> => new Map(names.map((name) => [name, pick(values)]));
    const first = random() < 0.3 ? null : full();
    let state = first;
    let net: RowChange | null = null;
    let isBegun = false;
    for (let step = 0; step < 4; step++) {
      // A row that is gone does not come back under its id.
      if (state === null && isBegun) break;
      const before: RowChange['before'] = state;
      const next: Map<string, StoredValue> | null =
        state === null
          ? full()
          : random() < 0.2
            ? null
            : new Map([...state, [pick(names), pick(values)]]);
      const changed = names.filter((name) => state?.get(name) !== next?.get(name));
      const only = (from: Map<string, StoredValue>) =>
        new Map(changed.map((name) => [name, from.get(name)!]));
      const change: RowChange =
        before === null || next === null
          ? { rowId: 1, before, after: next }
          : { rowId: 1, before: only(state!), after: only(next) };
      state = next;
      if (before !== null && next !== null && changed.length === 0) continue;
      const [read] = decodeChanges(encodeChanges([change]));
      net = isBegun && net !== null ? mergeChanges(net, read!) : read!;
      isBegun = true;
    }
    const apply = (base: Map<string, StoredValue> | null, to: RowChange['before']) =>
      to === null ? null : new Map([...(base ?? []), ...to]);
    if (net === null) expect(state).toEqual(first);
    else {
      expect(apply(first, net.after)).toEqual(state);
      expect(apply(state, net.before)).toEqual(first);
    }
  }
});
