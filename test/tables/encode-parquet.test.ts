/** Lists as Parquet files: DS-44, read back by DuckDB. */
import { describe, expect, test } from 'bun:test';
import type { Row, RowShape } from '../../src/tables/encode/encode.ts';
import { encodeParquet } from '../../src/tables/encode/encode-parquet.ts';
import { wideKey } from '../../src/tables/values/wide-number.ts';
import { duckMetadata, duckRows, readTable } from '../plugins/parquet-table.ts';

// DuckDB and thousands of files on a busy machine take their time.

const shape: RowShape = {
  columns: [
    { name: 'i', type: 'integer' },
    { name: 'n', type: 'number' },
    { name: 'b', type: 'boolean' },
    { name: 's', type: 'string' },
  ],
  rowIdAt: null,
  blank: 'empty',
};

function encoded(rows: Iterable<Row>, of: RowShape = shape): Uint8Array {
  return new Uint8Array(Buffer.concat([...encodeParquet(of, rows)]));
}

describe('DS-44: lists as Parquet', () => {
  test('every type, with nulls, comes back as it was', async () => {
    const file = encoded([
      [1, 5, 1.5, 1, 'text'],
      [2, null, null, null, ''],
      [3, -9007199254740991, -0.1, 0, 'ünï 😀'],
      [4, 9223372036854775807n, 7, 1n, '=1+1'],
      [5, -9223372036854775808n, 2n, 0, null],
    ]);
    expect(await duckRows(file)).toEqual([
      ['5', 1.5, true, 'text'],
      [null, null, null, ''],
      ['-9007199254740991', -0.1, false, 'ünï 😀'],
      ['9223372036854775807', 7, true, '=1+1'],
      ['-9223372036854775808', 2, false, null],
    ]);
    const { names, columns } = await readTable(file);
    expect(names).toEqual(['i', 'n', 'b', 's']);
    expect(columns.map(({ type, isRequired }) => [type.kind, isRequired])).toEqual([
      ['integer', false],
      ['float', false],
      ['boolean', false],
      ['text', false],
    ]);
    expect((await duckMetadata(file, 'parquet_metadata', 'DISTINCT compression')).flat()).toEqual([
      'SNAPPY',
    ]);
  });

  test('DS-44: a column with cells that do not fit its declared type is one of texts', async () => {
    const columns = shape.columns.map((column) => ({ ...column, isText: true }));
    const rows: Row[] = [
      [1, 'n/a', 1.5, 1, 'x'],
      [2, 7, 'n/a', 'maybe', null],
    ];
    expect(await duckRows(encoded(rows, { ...shape, columns }))).toEqual([
      ['n/a', '1.5', 'true', 'x'],
      ['7', 'n/a', 'maybe', null],
    ]);
  });

  test('DS-45: the row id is a column where it is asked for', async () => {
    const file = encoded([[7, 1, 2, 0, 'x']], { ...shape, rowIdAt: 2 });
    // Read again, the column has to make room for the file's own row ids (DS-50).
    expect((await readTable(file)).names).toEqual(['i', 'n', '_row_id_2', 'b', 's']);
    expect((await readTable(file)).rows).toEqual([[1, 2, 7, false, 'x']]);
  });

  test('numbers beyond doubles and 64 bits keep all their digits', async () => {
    const decimal = { digits: 38, scale: 2 };
    const wide: RowShape = {
      columns: [
        {
          name: 'd',
          type: 'number',
          file: { type: { kind: 'decimal', precision: 38, scale: 2 }, isRequired: false },
        },
        {
          name: 'u',
          type: 'integer',
          file: { type: { kind: 'integer', bits: 64, isSigned: false }, isRequired: false },
        },
      ],
      rowIdAt: null,
      blank: 'null',
    };
    const file = encoded(
      [
        [
          1,
          wideKey(12345678901234567890123456789012345678n, decimal),
          wideKey(18446744073709551615n, { digits: 20, scale: 0 }),
        ],
        [2, wideKey(-1n, decimal), wideKey(0n, { digits: 20, scale: 0 })],
        [3, null, null],
      ],
      wide,
    );
    expect(await duckRows(file)).toEqual([
      ['123456789012345678901234567890123456.78', '18446744073709551615'],
      ['-0.01', '0'],
      [null, null],
    ]);
    expect((await readTable(file)).rows).toEqual([
      ['123456789012345678901234567890123456.78', '18446744073709551615'],
      ['-0.01', '0'],
      [null, null],
    ]);
  });

  test('row groups have at most 65,536 rows, and fewer where texts are long', async () => {
    const file = encoded(
      Array.from({ length: 70_000 }, (_, index): Row => [
        index + 1,
        index,
        index / 4,
        index % 2,
        `c${index % 9}`,
      ]),
    );
    const groups = await duckMetadata(
      file,
      'parquet_metadata',
      'DISTINCT row_group_id, row_group_num_rows',
    );
    expect(groups.map(([, rows]) => Number(rows)).sort((a, b) => b - a)).toEqual([65_536, 4_464]);
    const sums = await duckRows(
      file,
      'SELECT count(*)::INT, sum(i)::BIGINT, count(DISTINCT s)::INT, count(*) FILTER (b)::INT FROM file WHERE i >= 0',
    );
    expect(sums[0]).toEqual([70_000, '2449965000', 9, 35_000]);
    const long = 'x'.repeat(100_000);
    const heavy = encoded(
      Array.from({ length: 800 }, (_, index): Row => [index + 1, index, null, null, long + index]),
    );
    const parts = await duckMetadata(heavy, 'parquet_metadata', 'DISTINCT row_group_id');
    expect(parts.length).toBeGreaterThan(1);
    expect(
      (await duckRows(heavy, `SELECT count(*)::INT, max(length(s))::INT FROM file`))[0],
    ).toEqual([800, 100_003]);
  });

  test('a list without rows still has its columns', async () => {
    const file = encoded([]);
    expect((await readTable(file)).names).toEqual(['i', 'n', 'b', 's']);
    expect(await duckRows(file)).toEqual([]);
  });

  test('least and greatest values let a reader skip row groups without losing rows', async () => {
    const file = encoded(
      Array.from({ length: 70_000 }, (_, index): Row => [
        index + 1,
        index - 100,
        index === 0 ? -0 : index,
        0,
        'x',
      ]),
    );
    const stats = await duckMetadata(
      file,
      'parquet_metadata',
      `stats_min_value, stats_max_value, stats_null_count`,
    );
    expect(stats[0]).toEqual(['-100', '65435', '0']);
    expect((await duckRows(file, 'SELECT count(*)::INT FROM file WHERE i > 69890'))[0]).toEqual([
      9,
    ]);
    expect((await duckRows(file, 'SELECT count(*)::INT FROM file WHERE n = 0'))[0]).toEqual([1]);
  });

  test('a failure of the rows comes through', () => {
    const failing = (function* (): Generator<Row> {
      yield [1, 1, 1, 1, 'x'];
      throw new Error('the copy is gone');
    })();
    expect(() => encoded(failing)).toThrow('the copy is gone');
  });
});
