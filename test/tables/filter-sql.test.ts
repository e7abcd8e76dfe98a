/**
 * Every operator over every interesting cell and operand, in SQL and in memory (DS-52 to DS-54).
 */
import { describe, expect, test } from 'bun:test';
import { parseFilter } from '../../src/tables/filter/filter.ts';
import { matchesFilter } from './filter-match.ts';
import { tableColumns } from '../../src/tables/read/query-table.ts';
import { indexName } from '../../src/tables/copy/table-index.ts';
import type { Cell } from '../../src/tables/types.ts';
import { TEXTS } from './query-arbitraries.ts';
import { read, type TypedCopy, typedCopy } from './typed-copy.ts';
import type { ColumnType } from '../../src/tables/infer/file-type.ts';

const RANGES = ['$gt', '$gte', '$lt', '$lte'];
const EQUALITIES = ['$eq', '$ne'];
const TEXT_OPERATORS = ['$contains', '$icontains', '$startswith', '$endswith'];

function copyOf(
  type: ColumnType,
  cells: readonly Cell[],
  blank: 'empty' | 'null',
  indexed: boolean,
): TypedCopy {
  const indexes = indexed ? [indexName(0, false)] : [];
  return typedCopy({
    columns: [{ name: 'a', type }],
    rows: cells.map((cell) => [cell]),
    blank,
    indexes,
  });
}

function expectAgreement(copy: TypedCopy, filter: string): void {
  const columns = tableColumns(copy.table.columns);
  const tree = parseFilter(filter, columns)!;
  const matching = copy.presented.filter((row) => matchesFilter(tree, columns, row));
  expect([filter, read(copy, { filter }).ids]).toEqual([
    filter,
    matching.map(([id]) => Number(id)),
  ]);
}

describe.each([
  ['empty', false],
  ['empty', true],
  ['null', false],
  ['null', true],
] as const)('in a table whose blanks are %p, indexed: %p', (blank, indexed) => {
  test('numbers compare exactly, whatever their size', () => {
    const cells: Cell[] = [
      null,
      0,
      -0,
      1.5,
      2 ** 53 - 1,
      2 ** 53,
      9007199254740993n,
      2n ** 63n - 1n,
      -(2n ** 63n),
      2 ** 63,
      2 ** 64,
      1e19,
      1e21,
      -1e21,
      Number.MAX_VALUE,
      -Number.MAX_VALUE,
      5e-324,
      0.1,
      'misfit',
    ];
    const operands = [
      '0',
      '-0',
      '0.1',
      '1.5',
      '1e-400',
      '9007199254740991',
      '9007199254740992',
      '9007199254740993',
      '9007199254740993.0',
      '9.007199254740993e15',
      '9223372036854775807',
      '9223372036854775808',
      '-9223372036854775808',
      '-9223372036854775809',
      '18446744073709551615',
      '18446744073709551616',
      '18446744073709551617',
      '10000000000000000001',
      '1e21',
      '1000000000000000000001',
      '999999999999999999999',
      '1e308',
      '1e309',
      '-1e309',
      '1e99999',
      '"1e21"',
    ];
    for (const type of ['integer', 'number'] as const) {
      const copy = copyOf(type, cells, blank, indexed);
      for (const operator of [...EQUALITIES, ...RANGES]) {
        for (const operand of operands) expectAgreement(copy, `{"a":{"${operator}":${operand}}}`);
      }
      expectAgreement(copy, `{"a":{"$in":[${operands.join(',')}]}}`);
      for (const operator of TEXT_OPERATORS) {
        for (const operand of [
          '"1"',
          '"e+"',
          '"e"',
          '""',
          '"0.1"',
          '"7"',
          '"mis"',
          '".0"',
          '1e21',
        ]) {
          expectAgreement(copy, `{"a":{"${operator}":${operand}}}`);
        }
      }
    }
  });

  test('texts compare by code points and match as they are', () => {
    const copy = copyOf(
      'string',
      [...TEXTS, null, '\u{10ffff}\u{10ffff}', '\ue001', '\ud7ffa'],
      blank,
      indexed,
    );
    for (const operand of [...TEXTS, '\u{10ffff}\u{10ffff}'].map((text) => JSON.stringify(text))) {
      for (const operator of [...EQUALITIES, ...RANGES, ...TEXT_OPERATORS]) {
        expectAgreement(copy, `{"a":{"${operator}":${operand}}}`);
        expectAgreement(copy, `{"a":{"$not":{"${operator}":${operand}}}}`);
      }
    }
  });

  test('booleans, blanks and nulls are told apart', () => {
    const cells: Cell[] = [
      'true',
      'false',
      'TRUE',
      null,
      ...(blank === 'empty' ? ['', 'maybe'] : []),
    ];
    const copy = copyOf('boolean', cells, blank, indexed);
    for (const operand of ['true', 'false', '0', '1', '"Yes"', '"no"']) {
      for (const operator of [...EQUALITIES, ...RANGES]) {
        expectAgreement(copy, `{"a":{"${operator}":${operand}}}`);
      }
    }
    for (const operator of ['$eq', '$ne']) {
      for (const operand of ['null', '""'])
        expectAgreement(copy, `{"a":{"${operator}":${operand}}}`);
    }
    for (const filter of [
      '{"a":{"$in":[null,"",true]}}',
      '{"a":{"$nin":[null]}}',
      '{"a":{"$in":[]}}',
      '{"a":{"$nin":[]}}',
      '{"a":{"$null":true}}',
      '{"a":{"$null":false}}',
      '{"a":{"$contains":""}}',
      '{"a":{"$startswith":"t","$endswith":"e"}}',
      '{"a":{"$icontains":"RU"}}',
      '{"a":{"$regex":"^(true|)$"}}',
    ]) {
      expectAgreement(copy, filter);
    }
  });
});

test('Parquet nulls match null and not "", CSV blanks the other way round (DS-53)', () => {
  const parquet = copyOf('integer', [1, null], 'null', false);
  expect(read(parquet, { filter: '{"a":null}' }).ids).toEqual([2]);
  expect(read(parquet, { filter: '{"a":""}' }).ids).toEqual([]);
  const csv = copyOf('integer', ['1', ''], 'empty', false);
  expect(read(csv, { filter: '{"a":null}' }).ids).toEqual([]);
  expect(read(csv, { filter: '{"a":""}' }).ids).toEqual([2]);
  expect(read(csv, { filter: '{"a":{"$ne":1}}' }).ids).toEqual([2]);
  expect(read(csv, { filter: '{"a":{"$lte":1}}' }).ids).toEqual([1]);
});

test('thousands of conditions in every shape are answered', () => {
  const copy = copyOf('integer', [1, 2, 3, null], 'empty', true);
  const many = (count: number, of: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => of(index)).join(',');
  const all = [1, 2, 3, 4];
  expect(
    read(copy, { filter: `{"$and":[${many(1_200, (n) => `{"a":{"$ne":${n + 5}}}`)}]}` }).ids,
  ).toEqual(all);
  expect(read(copy, { filter: `{"$or":[${many(2_500, (n) => `{"a":${n + 3}}`)}]}` }).ids).toEqual([
    3,
  ]);
  expect(
    read(copy, { filter: `{"$and":[${many(1_000, () => '{"a":{"$in":[1,""]}}')}]}` }).ids,
  ).toEqual([1, 4]);
  const deep = `${'{"$not":'.repeat(16)}{"a":1}${'}'.repeat(16)}`;
  expect(read(copy, { filter: deep }).ids).toEqual([1]);
});

test('names and values that look like SQL are only names and values', () => {
  const evil = 'x"; DROP TABLE rows; --';
  const copy = typedCopy({
    columns: [
      { name: evil, type: 'string' },
      { name: 'c0', type: 'string' },
      { name: 'rowid', type: 'string' },
    ],
    rows: [
      ["' OR 1=1 --", 'b', 'r'],
      ['%', 'a', 'q'],
    ],
  });
  expect(read(copy, { filter: JSON.stringify({ [evil]: "' OR 1=1 --" }) }).ids).toEqual([1]);
  expect(read(copy, { filter: JSON.stringify({ [evil]: { $contains: '%' } }) }).ids).toEqual([2]);
  expect(read(copy, { sort: 'c0', columns: 'rowid,c0' }).rows).toEqual([
    [2, 'q', 'a'],
    [1, 'r', 'b'],
  ]);
  expect(read(copy, { sort: `"${evil.replaceAll('"', '""')}"` }).ids).toEqual([2, 1]);
  expect(() => read(copy, { sort: '(select 1)' })).toThrow(
    "Invalid sort: unknown column '(select 1)'",
  );
});
