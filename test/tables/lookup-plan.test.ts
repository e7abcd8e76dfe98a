/**
 * A plan made from that of another number is the one the planner makes for its own.
 */
import { describe, expect, test } from 'bun:test';
import { lookupOf, lookupPattern, lookupPlan } from '../../src/tables/read/lookup-plan.ts';
import { cursorScope } from '../../src/tables/read/query-plan.ts';
import { tableColumns } from '../../src/tables/read/query-table.ts';
import { indexName } from '../../src/tables/copy/table-index.ts';
import { parametersOf, planFor, type Query, type TypedCopy, typedCopy } from './typed-copy.ts';

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

/** The pattern of a query with this number, and its plan. */
function patternOf(copy: TypedCopy, query: Query & { filter: string }, name?: string) {
  const plan = planFor(copy, query);
  const scope = cursorScope(copy.table, parametersOf(query));
  const lookup = lookupOf(query.filter) ?? { frame: '', name: '', number: Number.NaN };
  const asked = name === undefined ? lookup : { ...lookup, name };
  return { plan, pattern: lookupPattern(plan, scope, asked, tableColumns(copy.table.columns)) };
}

const QUERIES = [
  {},
  { columns: 'n,price' },
  { sort: '-price' },
  { sort: 'n', limit: 10 },
  { sort: 'n,-name', order: 'desc', limit: 10, offset: 20 },
  { offset: '3' },
  { limit: 5 },
];

describe('a lookup', () => {
  test.each(['_row_id', 'price', 'n'])('in column %s has the plan of the planner', (column) => {
    const whole = [0, 1, 29, 123_456, 999_999_999_999_999];
    const forms = [
      { filterOf: (number: number | string) => `{"${column}":${number}}`, numbers: whole },
      ...['$gt', '$gte', '$lt', '$lte'].map((operator) => ({
        filterOf: (number: number | string) => `{"${column}":{"${operator}":${number}}}`,
        numbers: [...whole, 0.5, '10.10', '2.0', '0.0', 99.999999, '999999999999999.999999'],
      })),
    ];
    for (const { filterOf, numbers } of forms) {
      for (const copy of [large, small]) {
        for (const query of QUERIES) {
          const { plan, pattern } = patternOf(copy, { ...query, filter: filterOf(7) });
          expect(lookupPlan(pattern!, 7, filterOf(7))).toEqual(plan);
          for (const number of numbers) {
            const filter = filterOf(number);
            const own = lookupPlan(pattern!, Number(number), filter);
            expect(own).toEqual(planFor(copy, { ...query, filter }));
          }
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
    expect(lookupOf('{"n":{"$gte": 1.50}}')).toEqual({
      frame: '{"n":{"$gte": ',
      name: 'n',
      number: 1.5,
    });
    for (const filter of [
      '',
      '{"n":-1}',
      '{"n":1.5}',
      '{"n":01}',
      '{"n":1e3}',
      '{"n":9007199254740993}',
      '{"n":"5"}',
      '{"n":{"$gt":-5}}',
      '{"n":{"$gt":1.1234567}}',
      '{"n":{"$gt":1e3}}',
      '{"n":{"$gt":05}}',
      '{"n":{"$gt":5}',
      '{"n":{"$ne":5}}',
      '{"n":{"$gt":5,"$lt":9}}',
      '{"n":{"$gt":9007199254740993}}',
      '{"n":5}}',
      '{"n":5,"price":5}',
      '{"a\\u0022":5}',
      '[{"n":5}]',
    ]) {
      expect(lookupOf(filter)).toBeNull();
    }
  });

  test('is no pattern when more was made of the number, or the list has more to it', () => {
    const isPattern = (query: Query & { filter: string }, name?: string): boolean =>
      patternOf(large, query, name).pattern !== null;
    expect(isPattern({ filter: '{"n":5}' })).toBe(true);
    expect(isPattern({ filter: '{"n":{"$gt":5}}' })).toBe(true);
    expect(isPattern({ filter: '{"flag":1}' })).toBe(false);
    expect(isPattern({ filter: '{"flag":{"$gte":1}}' })).toBe(false);
    expect(isPattern({ filter: '{"name":5}' })).toBe(false);
    expect(isPattern({ filter: '{"n":{"$gt":5,"$lt":9}}' }, 'n')).toBe(false);
    expect(isPattern({ filter: '' }, 'n')).toBe(false);
    const scope = cursorScope(large.table, parametersOf({ filter: '{"n":6}' }));
    const other = { frame: '', name: 'n', number: 5 };
    const columns = tableColumns(large.table.columns);
    expect(lookupPattern(planFor(large, { filter: '{"n":6}' }), scope, other, columns)).toBeNull();
    const continued = patternOf(large, { filter: '{"n":{"$gt":5}}', sort: 'n', limit: 5 }).plan;
    const isContinued = { ...continued, isContinued: true };
    expect(lookupPattern(isContinued, scope, other, columns)).toBeNull();
  });
});
