/**
 * Totals of one-sided ranges told from one another (DS-40), against counting.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { indexName } from '../../src/tables/copy/table-index.ts';
import { countRows, runCount } from '../../src/tables/read/query-run.ts';
import { type OpenRange, RangeCounts } from '../../src/tables/read/range-count.ts';
import { planFor, typedCopy, type TypedCopy } from './typed-copy.ts';

const NUMBERS = ['3', '1', '', '1', '-2.5', 'n/a', '7', '3', '3', '', '0', '8.25'];
const TEXTS = ['b', '', 'a', 'é', 'b', 'zz', '😀', '\uffff', '', 'a', 'B', 'ab'];

const copy = typedCopy({
  columns: [
    { name: 'n', type: 'number' },
    { name: 't', type: 'string' },
  ],
  rows: NUMBERS.map((number, index) => [number, TEXTS[index]!]),
  indexes: [indexName(0, false), indexName(1, false)],
});

const operators = fc.constantFrom('$gt', '$gte', '$lt', '$lte');
const ranges = fc.oneof(
  fc.tuple(fc.constant('n'), operators, fc.constantFrom(-9, -2.5, 0, 1, 2, 3, 7.5, 8.25, 9)),
  fc.tuple(
    fc.constant('t'),
    operators,
    fc.constantFrom('', 'a', 'aa', 'b', 'z', 'é', '😀', '\uffff'),
  ),
  fc.tuple(fc.constant('_row_id'), operators, fc.constantFrom(0, 1, 5, 12, 13)),
);

test('a total is the same whether counted or told from those of other ranges', () => {
  fc.assert(
    fc.property(fc.array(ranges, { minLength: 2, maxLength: 20 }), (asked) => {
      const known = new RangeCounts();
      for (const [column, operator, value] of asked) {
        const filter = JSON.stringify({ [column]: { [operator]: value } });
        const plan = planFor(copy, { filter });
        const total = runCount(copy.db, plan);
        const range = plan.range!;
        const told = tell(known, copy, range);
        if (told !== null) expect([filter, told.total]).toEqual([filter, total]);
        if (told !== null) expect(told.read).toBeLessThanOrEqual(told.atMost);
        known.note(range, total);
        expect(known.stepTo(range, copy.table.rowCount)).toMatchObject({ known: total, atMost: 0 });
      }
    }),
    { seed: Number(process.env['SEED'] ?? 20261121), numRuns: 300 },
  );
});

test('only one range of an indexed column is one', () => {
  expect(planFor(copy, { filter: '{"n":{"$gt":1}}' }).range).toMatchObject({ isAbove: true });
  const others = ['', '{"n":1}', '{"n":{"$gt":1,"$lt":3}}', '{"n":{"$not":{"$gt":1}}}'];
  for (const filter of [...others, '{"n":{"$gt":9007199254740993}}'])
    expect([filter, planFor(copy, { filter }).range]).toEqual([filter, null]);
  expect(planFor(copy, { filter: '{"n":{"$gt":1}}', q: 'b' }).range).toBeNull();
  const unindexed = typedCopy({ columns: [{ name: 'n', type: 'number' }], rows: [['1']] });
  expect(planFor(unindexed, { filter: '{"n":{"$gt":1}}' }).range).toBeNull();
});

test('many ranges are remembered thinned out, and still tell the truth', () => {
  const known = new RangeCounts();
  const at = (value: number): OpenRange => ({ sql: 'c', isAbove: true, value, isAfterEqual: true });
  for (let value = 0; value < 10_000; value++) known.note(at(value), 10_000 - value);
  for (const value of [-1, 0.5, 5_000.5, 9_999.5, 20_000]) {
    const step = known.stepTo(at(value), 10_000)!;
    expect(step.atMost).toBeLessThan(1_000);
  }
  known.clear();
  expect(known.stepTo(at(1), 10_000)).toBeNull();
});

function tell(
  known: RangeCounts,
  { db, table }: TypedCopy,
  range: OpenRange,
): { total: number; read: number; atMost: number } | null {
  const step = known.stepTo(range, table.rowCount);
  if (step === null) return null;
  const read = countRows(db, step.between);
  return { total: step.known + step.sign * read, read, atMost: step.atMost };
}
