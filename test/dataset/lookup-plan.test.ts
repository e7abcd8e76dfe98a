/**
 * A plan made from that of another number is the one the planner makes for its own.
 */
import { describe, expect, test } from 'bun:test';
import { lookupOf, lookupPattern, lookupPlan } from '../../src/dataset/lookup-plan.ts';
import { tableColumns } from '../../src/dataset/query-table.ts';
import { indexName } from '../../src/dataset/table-index.ts';
import { planFor, type TypedCopy, typedCopy } from './typed-copy.ts';

const COLUMNS = [
  { name: 'price', type: 'number' as const },
  { name: 'name', type: 'string' as const },
  { name: 'n', type: 'integer' as const },
  { name: 'flag', type: 'boolean' as const },
];
const ROWS = Array.from({ length: 30 }, (_, index) => [
  String(index),
  `n${index}`,
  String(index),
  'true',
]);

const large = copyWith(1_000_000, [indexName(2, false)]);
const small = copyWith(30, []);

function copyWith(rowCount: number, indexes: readonly string[]): TypedCopy {
  const figures = { rowCount, lastRowId: rowCount, bytes: rowCount * 63 };
  return typedCopy({ columns: COLUMNS, rows: ROWS, indexes, figures });
}

describe('a lookup', () => {
  test.each(['_row_id', 'price', 'n'])('in column %s has the plan of the planner', (column) => {
    const filterOf = (number: number): string => `{"${column}":${number}}`;
    for (const copy of [large, small]) {
      for (const query of [{}, { columns: 'n,price' }, { sort: '-price' }, { offset: '3' }]) {
        const first = lookupOf(filterOf(7))!;
        const plan = planFor(copy, { ...query, filter: filterOf(7) });
        const pattern = lookupPattern(plan, first, tableColumns(copy.table.columns))!;
        expect(lookupPlan(pattern, 7)).toEqual(plan);
        for (const number of [0, 1, 29, 123_456, 999_999_999_999_999]) {
          const expected = planFor(copy, { ...query, filter: filterOf(number) });
          expect(lookupPlan(pattern, number)).toEqual(expected);
        }
      }
    }
  });

  test('is told by its filter alone', () => {
    expect(lookupOf('{"_row_id":5}')).toEqual({
      frame: '{"_row_id":',
      name: '_row_id',
      number: 5,
    });
    expect(lookupOf('{"n": 120}')).toEqual({ frame: '{"n": ', name: 'n', number: 120 });
    for (const filter of [
      '',
      '{"n":-1}',
      '{"n":1.5}',
      '{"n":01}',
      '{"n":1e3}',
      '{"n":9007199254740993}',
      '{"n":"5"}',
      '{"n":{"$gt":5}}',
      '{"n":5,"price":5}',
      '{"a\\u0022":5}',
      '[{"n":5}]',
    ]) {
      expect(lookupOf(filter)).toBeNull();
    }
  });

  test('is no pattern when more was made of the number, or the list has more to it', () => {
    const columns = tableColumns(large.table.columns);
    const patternFor = (query: Record<string, string | number>, name = 'n', number = 5) =>
      lookupPattern(planFor(large, query), { frame: '', name, number }, columns);
    expect(patternFor({ filter: '{"n":5}' })).not.toBeNull();
    expect(patternFor({ filter: '{"flag":1}' }, 'flag', 1)).toBeNull();
    expect(patternFor({ filter: '{"name":5}' }, 'name')).toBeNull();
    expect(patternFor({ filter: '{"n":5}', limit: 10 })).toBeNull();
    expect(patternFor({ filter: '{"n":{"$gt":5}}' })).toBeNull();
    expect(patternFor({ filter: '{"n":6}' })).toBeNull();
    expect(patternFor({})).toBeNull();
  });
});
