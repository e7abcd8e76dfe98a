/** Operators over batches of columns give what a loop over rows gives. */
import { expect, test } from 'bun:test';
import { columnOf, dictionaryColumn, entryAt, type Entry } from '../../src/columns/column.ts';
import { ExactSum, PackedNumbers } from '../../src/columns/exact-sum.ts';
import { Grouping } from '../../src/columns/grouping.ts';
import { floored, TopRows } from '../../src/columns/order.ts';
import { EntryTest, selectRange } from '../../src/columns/select.ts';
import { randomFrom } from '../language/random-query.ts';
import { AWKWARD, exactTotal } from './awkward.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_123);
const TEXTS = ['a', 'A', 'ä', '', '1', 'null', 'a\0b'];

type Random = () => number;
const oneOf = <Item>(random: Random, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)]!;

/** Cells of one kind, so that both kinds of column and all widths occur. */
function cells(random: Random, rows: number): Entry[] {
  const make = oneOf<() => Entry>(random, [
    () => AWKWARD(random),
    () => Math.floor(random() * 2 ** 32) - 2 ** 31,
    () => random() * 100,
    () => Math.floor(random() * 3),
    () => oneOf(random, TEXTS),
    () => oneOf(random, [true, false]),
    () => oneOf<Entry>(random, [...TEXTS, 1, 1.5, Infinity, 2n ** 60n, true, null]),
  ]);
  const blanks = oneOf(random, [0, 0, 0.3, 1]);
  return Array.from({ length: rows }, () => (random() < blanks ? null : make()));
}

const isFolded = (cell: Entry): cell is number => typeof cell === 'number' && Number.isFinite(cell);
/** Columns know no minus zero. */
const plain = (cell: Entry): Entry => (cell === 0 ? 0 : cell);
const textOf = (cell: Entry): string => `${typeof cell}:${String(cell)}`;

interface Told {
  count: number;
  /** Per measure. */
  readonly numbers: number[][];
}

function told(measure: PackedNumbers | Entry): string {
  return measure instanceof PackedNumbers ? 'numbers' : textOf(measure);
}

test(`groups, counts, sums, ends and values are those of the rows (seed ${SEED})`, () => {
  const random = randomFrom(SEED);
  let folded = 0;
  for (let round = 0; round < 400; round++) {
    const keyCount = oneOf(random, [0, 1, 1, 2, 3]);
    const measureCount = oneOf(random, [0, 1, 1, 2]);
    const grouping = new Grouping(
      keyCount,
      Array.from({ length: measureCount }, () => ({ isCompared: true, keepsValues: true })),
    );
    const expected = new Map<string, Told>();
    const found = new Map<string, Told>();
    const collect = (): void => {
      for (const group of grouping.take()) {
        const key = [...group.keys.map(textOf), ...group.measures.map(told)].join('|');
        const known = found.get(key) ?? { count: 0, numbers: group.measures.map(() => []) };
        found.set(key, known);
        known.count += group.count;
        group.measures.forEach((measure, at) => {
          if (!(measure instanceof PackedNumbers)) return;
          folded++;
          expect(measure.count).toBe(group.count);
          expect(measure.values.length).toBe(group.count);
          const sum = new ExactSum();
          sum.addPacked(measure);
          expect(sum.value + 0).toBe(exactTotal(measure.values) + 0);
          expect(measure.least).toBe(Math.min(...measure.values));
          expect(measure.most).toBe(Math.max(...measure.values));
          known.numbers[at]!.push(...measure.values);
        });
      }
    };
    for (let batch = oneOf(random, [0, 1, 3]); batch >= 0; batch--) {
      const rows = oneOf(random, [1, 5, 40, 300]);
      const given = Array.from({ length: keyCount + measureCount }, () => cells(random, rows));
      const columns = given.map((list) =>
        random() < 0.2 ? dictionaryColumn(list) : columnOf(list),
      );
      columns.forEach((column, at) => {
        for (let row = 0; row < rows; row++)
          expect(entryAt(column, row)).toEqual(plain(given[at]![row]!));
      });
      const selection =
        random() < 0.5 ? null : Uint8Array.from({ length: rows }, () => (random() < 0.7 ? 1 : 0));
      grouping.push(rows, columns, selection);
      for (let row = 0; row < rows; row++) {
        if (selection?.[row] === 0) continue;
        const own = given.map((list) => plain(list[row]!));
        const key = own
          .map((cell, at) => (at >= keyCount && isFolded(cell) ? 'numbers' : textOf(cell)))
          .join('|');
        const known = expected.get(key) ?? {
          count: 0,
          numbers: Array.from({ length: measureCount }, (): number[] => []),
        };
        expected.set(key, known);
        known.count++;
        known.numbers.forEach((list, at) => {
          const cell = own[keyCount + at]!;
          if (isFolded(cell)) list.push(cell);
        });
      }
      if (random() < 0.2) collect();
    }
    collect();
    const order = (numbers: number[][]): number[][] =>
      numbers.map((list) => list.sort((a, b) => a - b));
    const shown = (groups: Map<string, Told>) =>
      [...groups]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, { count, numbers }]) => ({ key, count, numbers: order(numbers) }));
    expect(shown(found)).toEqual(shown(expected));
  }
  expect(folded).toBeGreaterThan(400);
});

test('sums of more rows than the halves of doubles can hold without a carry', () => {
  const grouping = new Grouping(1, [{ isCompared: false, keepsValues: false }]);
  const rows = 65_536;
  // All bits of the low half are set: 2^32 - 1 a row.
  const value = 2 ** 52 + 2 ** 32 - 1 + 0.5;
  const values = new Float64Array(rows).fill(value);
  const keys = dictionaryColumn(Array.from({ length: rows }, (_, row) => row % 2));
  for (let batch = 0; batch < 70; batch++) {
    const column = { kind: 'numbers', values, nulls: null, least: value, most: value } as const;
    grouping.push(rows, [keys, column], null);
  }
  for (const { measures } of grouping.take()) {
    const sum = new ExactSum();
    sum.addPacked(measures[0] as PackedNumbers);
    expect(sum.value).toBe(Number(BigInt(value * 2) * BigInt(rows * 35)) / 2);
  }
});

test('a full grouping is taken in parts, which hold every row once', () => {
  const grouping = new Grouping(1, [{ isCompared: false, keepsValues: false }]);
  let seen = 0;
  let parts = 0;
  const take = (): void => {
    parts++;
    for (const { count } of grouping.take()) seen += count;
  };
  for (let batch = 0; batch < 6; batch++) {
    const ids = Float64Array.from({ length: 65_536 }, (_, row) => batch * 65_536 + row + 0.5);
    const column = { kind: 'numbers', values: ids, nulls: null, least: 0, most: Infinity } as const;
    grouping.push(ids.length, [column, column], null);
    if (grouping.isFull) take();
  }
  take();
  expect(parts).toBeGreaterThan(1);
  expect(seen).toBe(6 * 65_536);
});

test(`selected rows are those that pass (seed ${SEED})`, () => {
  const random = randomFrom(SEED + 1);
  for (let round = 0; round < 300; round++) {
    const given = cells(random, 100);
    const column = columnOf(given);
    const before = Uint8Array.from(given, () => (random() < 0.8 ? 1 : 0));
    const passes = (cell: Entry): boolean => cell === null || textOf(cell).length % 2 === 0;
    expect([...new EntryTest(passes).select(column, before)!]).toEqual(
      given.map((cell, row) => (before[row] === 1 && passes(plain(cell)) ? 1 : 0)),
    );
    if (column.kind !== 'numbers') continue;
    const [from, to] = [AWKWARD(random), AWKWARD(random)];
    const isOpenEnded = random() < 0.5;
    const isIn = (cell: Entry): boolean =>
      typeof cell === 'number' && cell >= from && (isOpenEnded ? cell < to : cell <= to);
    expect([...(selectRange(column, { from, to, isOpenEnded }, before) ?? before)]).toEqual(
      given.map((cell, row) => (before[row] === 1 && isIn(cell) ? 1 : 0)),
    );
  }
});

test('steps of times of all years are those of whole numbers', () => {
  const random = randomFrom(SEED + 3);
  for (const around of [0, 1.8e15, -6e16, 9_007_199_254_740_000, 2.5e17]) {
    for (const step of [1_000_000, 900_000_000, 86_400_000_000]) {
      // Doubles, as times are stored.
      const given = Array.from({ length: 300 }, () => Math.round(around + random() * 3e11)).sort(
        (a, b) => a - b,
      );
      const column = columnOf(given);
      if (column.kind !== 'numbers') throw new Error('expected numbers');
      const steps = floored(column, step);
      given.forEach((cell, row) => {
        const [exact, size] = [BigInt(cell), BigInt(step)];
        const start = exact - (((exact % size) + size) % size);
        expect([cell, step, entryAt(steps, row)]).toEqual([cell, step, Number(start)]);
      });
    }
  }
});

test('steps of time, and the newest rows', () => {
  const random = randomFrom(SEED + 2);
  const given = Array.from({ length: 500 }, () =>
    random() < 0.1 ? null : Math.floor(random() * 1e6) - 3e5,
  );
  const column = columnOf(given);
  if (column.kind !== 'numbers') throw new Error('expected numbers');
  const steps = floored(column, 3_600, 100);
  given.forEach((cell, row) =>
    expect(entryAt(steps, row)).toBe(
      cell === null ? null : Math.floor((cell - 100) / 3_600) * 3_600 + 100,
    ),
  );
  const newest = new TopRows(7);
  newest.push(column, null, 1_000);
  newest.push(
    column,
    Uint8Array.from(given, () => 0),
    2_000,
  );
  newest.push(column, null, 3_000);
  const ranked = [1_000, 3_000]
    .flatMap((first) => given.map((value, row) => ({ value, row: first + row })))
    .filter(({ value }) => value !== null)
    .sort((a, b) => b.value! - a.value!)
    .slice(0, 7);
  expect(newest.rows()).toEqual(ranked as { value: number; row: number }[]);
  expect(newest.mayTake({ ...column, most: ranked.at(-1)!.value! })).toBe(false);
});
