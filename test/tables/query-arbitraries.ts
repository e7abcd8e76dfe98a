/**
 * Random tables, filters and sorts for the property tests of queries: few values, so that they meet often.
 */
import fc from 'fast-check';
import type { Blank } from '../../src/tables/read/query-table.ts';
import { indexName } from '../../src/tables/copy/table-index.ts';
import type { Cell } from '../../src/tables/types.ts';
import type { TableSketch } from './typed-copy.ts';
import type { ColumnType } from '../../src/tables/infer/file-type.ts';

export const TEXTS = [
  '',
  'a',
  'A',
  'ab',
  'aB',
  'abc',
  'b',
  'é',
  'É',
  'e\u0301',
  'ß',
  'ss',
  'SS',
  'zß',
  'ς',
  'Σ',
  'σς',
  'ﬀ',
  'K',
  '\u{10ffff}',
  '\u{10ffff}a',
  '😀',
  '\ue000',
  '\ud7ff',
  'a\0b',
  'a\0',
  '"q"',
  'a,b',
  '10',
  '5',
  '1.5',
  '-0',
  '0x',
  '  x',
  ' ',
  'true',
  'TRUE',
  '\n',
  'a\nb',
  '%',
  '_',
  'a%',
  '*',
  '[',
  "'",
  '\\',
];
const NUMBERS = [
  '0',
  '-0',
  '1',
  '5',
  '-3',
  '10',
  '2147483648',
  '9007199254740991',
  '1.5',
  '-0.1',
  '1e21',
  '5e-324',
  '0.1',
  '123456.789',
];
const INTEGERS = ['0', '1', '5', '-3', '10', '2147483648', '9007199254740991', ' 7 '];
const BOOLEANS = ['true', 'FALSE', 'false', 'True'];
const WIDE = [9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n), 9007199254740992n];

function cellOf(type: ColumnType, blank: Blank): fc.Arbitrary<Cell> {
  const own = { integer: INTEGERS, number: NUMBERS, boolean: BOOLEANS, string: TEXTS }[type];
  const parts: fc.WeightedArbitrary<Cell>[] = [{ arbitrary: fc.constantFrom(...own), weight: 6 }];
  if (blank === 'empty') parts.push({ arbitrary: fc.constantFrom('', '  '), weight: 2 });
  else parts.push({ arbitrary: fc.constant(null), weight: 2 });
  if (type !== 'string' && blank === 'empty') {
    parts.push({ arbitrary: fc.constantFrom('n/a', 'x', 'é', '1_000'), weight: 1 });
  }
  if (type === 'integer' && blank === 'null') {
    parts.push({ arbitrary: fc.constantFrom(...WIDE), weight: 3 });
  }
  return fc.oneof(...parts);
}

const typeArbitrary = fc.constantFrom<ColumnType>('integer', 'number', 'boolean', 'string');

/** Up to 30 rows of one (often) to four columns `a`, `b`…, with missing ids, misfits and any set of indexes. */
export const sketches: fc.Arbitrary<TableSketch> = fc
  .tuple(
    fc.array(typeArbitrary, { minLength: 1, maxLength: 4 }),
    fc.constantFrom<Blank>('empty', 'null'),
  )
  .chain(([types, blank]) => {
    const columns = types.map((type, index) => ({ name: 'abcd'[index]!, type }));
    const names = types.flatMap((_, position) => [
      indexName(position, false),
      indexName(position, true),
    ]);
    return fc
      .array(
        fc.tuple(fc.integer({ min: 1, max: 3 }), ...types.map((type) => cellOf(type, blank))),
        {
          maxLength: 30,
        },
      )
      .chain((drawn) => {
        let id = 0;
        const ids = drawn.map(([step]) => (id += step));
        const rows = drawn.map(([, ...cells]) => cells);
        return fc.record({
          columns: fc.constant(columns),
          rows: fc.constant(rows),
          ids: fc.constantFrom(
            ids,
            ids.map((_, index) => index + 1),
          ),
          blank: fc.constant(blank),
          indexes: fc.subarray(names),
        });
      });
  });

const RAW_NUMBERS = [
  ...NUMBERS,
  '9007199254740993',
  '-9223372036854775809',
  '9223372036854775807',
  '1e400',
  '-1e400',
  '10000000000000000000001',
  '5.0',
  '1E1',
];

/** JSON text of an operand that a column of the type takes for the operator. */
function operandOf(type: ColumnType, operator: string): fc.Arbitrary<string> {
  const quoted = (texts: readonly string[]) =>
    fc.constantFrom(...texts.map((text) => JSON.stringify(text)));
  const isRange = /^\$(gt|gte|lt|lte)$/.test(operator);
  const special = isRange ? [] : [fc.constantFrom('null', '""')];
  switch (type) {
    case 'integer':
    case 'number':
      return fc.oneof(fc.constantFrom(...RAW_NUMBERS), quoted([' 5 ', '1.5', '-3']), ...special);
    case 'boolean':
      return fc.oneof(
        fc.constantFrom('true', 'false', '0', '1'),
        quoted(['yes', 'NO', 'True']),
        ...special,
      );
    case 'string':
      return isRange
        ? quoted(TEXTS)
        : fc.oneof(quoted(TEXTS), fc.constantFrom('10', '1.5', 'true', '-0'), ...special);
  }
}

function testOf(type: ColumnType): fc.Arbitrary<string> {
  const comparison = fc
    .constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte')
    .chain((operator) => operandOf(type, operator).map((operand) => `"${operator}":${operand}`));
  const list = fc
    .tuple(fc.constantFrom('$in', '$nin'), fc.array(operandOf(type, '$eq'), { maxLength: 4 }))
    .map(([operator, operands]) => `"${operator}":[${operands.join(',')}]`);
  const text = fc
    .tuple(
      fc.constantFrom('$contains', '$icontains', '$startswith', '$endswith'),
      fc.constantFrom(
        ...TEXTS.map((value) => JSON.stringify(value)),
        '1',
        '0',
        '1.5',
        '"tr"',
        '"e"',
        '"N"',
      ),
    )
    .map(([operator, operand]) => `"${operator}":${operand}`);
  const regex = fc
    .constantFrom(
      '',
      '^$',
      '^a',
      'b$',
      '.',
      '(?i)A',
      '\\d+',
      '^.$',
      '[^a-z]',
      'x|y',
      '\\pL',
      '(?s)a.b',
    )
    .map((pattern) => `"$regex":${JSON.stringify(pattern)}`);
  const absent = fc.boolean().map((value) => `"$null":${value}`);
  return fc.oneof(comparison, comparison, list, text, regex, absent);
}

/** A filter over the columns of a sketch, as JSON text. */
export function filtersFor(sketch: TableSketch): fc.Arbitrary<string> {
  const columns = [{ name: '_row_id', type: 'integer' as ColumnType }, ...sketch.columns];
  return fc.letrec<{ filter: string; operators: string; test: string }>((tie) => ({
    operators: fc.constantFrom(...columns).chain(({ name, type }) =>
      fc
        .tuple(fc.array(testOf(type), { minLength: 1, maxLength: 2 }), fc.boolean())
        .map(([tests, isNegated]) => {
          const body = `{${tests.join(',')}}`;
          return `"${name}":${isNegated ? `{"$not":${body}}` : body}`;
        }),
    ),
    test: fc.oneof(
      { depthIdentifier: 'filter', maxDepth: 3 },
      { weight: 6, arbitrary: tie('operators') },
      {
        weight: 3,
        arbitrary: fc
          .tuple(
            fc.constantFrom('$and', '$or'),
            fc.array(tie('filter'), { maxLength: 3, depthIdentifier: 'filter' }),
          )
          .map(([key, filters]) => `"${key}":[${filters.join(',')}]`),
      },
      { weight: 1, arbitrary: tie('filter').map((filter) => `"$not":${filter}`) },
    ),
    filter: fc
      .array(tie('test'), { maxLength: 2, depthIdentifier: 'filter' })
      .map((tests) => `{${tests.join(',')}}`),
  })).filter;
}

/** A sort parameter over the columns of a sketch; may be empty. */
export function sortsFor(sketch: TableSketch): fc.Arbitrary<string> {
  const names = ['_row_id', ...sketch.columns.map(({ name }) => name)];
  return fc
    .array(fc.tuple(fc.constantFrom('', '-'), fc.constantFrom(...names)), { maxLength: 3 })
    .map((terms) => terms.map(([sign, name]) => sign + name).join(','));
}
