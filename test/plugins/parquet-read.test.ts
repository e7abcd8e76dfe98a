/** Reading Parquet files: DS-67, with files of other writers. */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { readParquet, SEGMENT_ROWS } from '../../plugins/parquet/reader.ts';
import { loadTable } from '../../src/tables/copy/load.ts';
import { Converted, Encoding, Physical } from '../../src/tables/parquet/format.ts';
import { ThriftStruct, ThriftType } from '../../src/tables/parquet/thrift.ts';
import type { Cell } from '../../src/tables/types.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  craftedDictionary,
  craftedFile,
  craftedPage,
  int32Column,
  int32s,
} from './parquet-crafted.ts';
import { duckRows, parquetFile, readTable } from './parquet-table.ts';
import { sourceOf } from './byte-source.ts';

// DuckDB and thousands of files on a busy machine take their time.

/** The only row of a query. */
async function rowOf(query: string): Promise<Cell[]> {
  return (await readTable(await parquetFile(query))).rows[0]!;
}

/** Presented type and kind of each column of a query. */
async function kindsOf(query: string): Promise<string[]> {
  return (await readTable(await parquetFile(query))).columns.map(({ type }) => type.kind);
}

describe('DS-67: types and display', () => {
  test('integers of every width come with all digits', async () => {
    const row = await rowOf(
      `SELECT (-128)::TINYINT, 255::UTINYINT, (-32768)::SMALLINT, 65535::USMALLINT, (-2147483648)::INTEGER,
       4294967295::UINTEGER, (-9223372036854775808)::BIGINT, 9007199254740991::BIGINT,
       (-9007199254740992)::BIGINT, '18446744073709551615'::UBIGINT, 7::UBIGINT`,
    );
    expect(row).toEqual([
      -128,
      255,
      -32768,
      65535,
      -2147483648,
      4294967295,
      -9223372036854775808n,
      9007199254740991,
      -9007199254740992n,
      '18446744073709551615',
      '7',
    ]);
  });

  test('floats are finite numbers in their shortest form, NaN and infinities null', async () => {
    const row = await rowOf(
      `SELECT 0.1::DOUBLE, 0.1::FLOAT, 16777216::FLOAT, 1e-40::FLOAT, -0.0::DOUBLE, 'NaN'::DOUBLE, 'Infinity'::FLOAT`,
    );
    expect(row).toEqual([0.1, 0.1, 16777216, 1e-40, 0, null, null]);
  });

  test('decimals are numbers as far as doubles have their digits, else digits', async () => {
    const row = await rowOf(
      `SELECT 1.50::DECIMAL(4,2), -0.01::DECIMAL(9,2), 123456789012.345::DECIMAL(15,3),
       123456789012345.678::DECIMAL(18,3), -0.5::DECIMAL(18,3),
       '12345678901234567890123456789012345678'::DECIMAL(38,0), '-1.2345678901234567890123456789012345678'::DECIMAL(38,37)`,
    );
    expect(row).toEqual([
      1.5,
      -0.01,
      123456789012.345,
      '123456789012345.678',
      '-0.5',
      '12345678901234567890123456789012345678',
      '-1.2345678901234567890123456789012345678',
    ]);
  });

  test('moments keep the digits of their unit and say when they are in UTC', async () => {
    const row = await rowOf(
      `SELECT TIMESTAMP_S '2024-01-01 00:00:00', TIMESTAMP_MS '1969-12-31 23:59:59.999',
       TIMESTAMP '2024-02-29 12:30:00.000001', TIMESTAMP_NS '2024-01-01 00:00:00.123456789',
       TIMESTAMPTZ '2024-01-01 02:00:00.5+02', TIMESTAMP '0001-01-01 00:00:00', TIMESTAMP '12345-06-07 00:00:00'`,
    );
    expect(row).toEqual([
      '2024-01-01T00:00:00',
      '1969-12-31T23:59:59.999',
      '2024-02-29T12:30:00.000001',
      '2024-01-01T00:00:00.123456789',
      '2024-01-01T00:00:00.500Z',
      '0001-01-01T00:00:00',
      '12345-06-07T00:00:00',
    ]);
  });

  test('dates, times, texts, booleans, UUIDs and bytes', async () => {
    const row = await rowOf(
      `SELECT DATE '1969-12-31', TIME '23:59:59.25', 'ünïcode 😀', '', true,
       '123e4567-e89b-12d3-a456-426614174000'::UUID, '\\xFF\\xFE'::BLOB, 'plain'::BLOB, NULL::INTEGER`,
    );
    expect(row).toEqual([
      '1969-12-31',
      '23:59:59.250',
      'ünïcode 😀',
      '',
      true,
      '123e4567-e89b-12d3-a456-426614174000',
      '//4=',
      'plain',
      null,
    ]);
  });

  test('lists, structs and maps are compact JSON with all digits', async () => {
    const row = await rowOf(
      `SELECT [1, NULL, 3], []::INT[], NULL::INT[], {'a': 1, 'b': {'c': ['x', NULL]}}, MAP {'k': 1.5::DOUBLE, 'l': NULL},
       [[1], [], NULL], [{'t': TIMESTAMP '2024-01-01 00:00:00', 'n': 9007199254740993::BIGINT, 'd': 0.10::DECIMAL(38,2)}],
       MAP {1: 'one'}`,
    );
    expect(row).toEqual([
      '[1,null,3]',
      '[]',
      null,
      '{"a":1,"b":{"c":["x",null]}}',
      '{"k":1.5,"l":null}',
      '[[1],[],null]',
      '[{"t":"2024-01-01T00:00:00","n":9007199254740993,"d":0.1}]',
      '{"1":"one"}',
    ]);
  });

  test('types come from the schema, not from the cells', async () => {
    const kinds = await kindsOf(
      `SELECT NULL::BIGINT, 1::DOUBLE, '1'::VARCHAR, true, DATE '2024-01-01', [1], {'a': 1}, 'x'::BLOB,
       TIMESTAMP '2024-01-01 00:00:00', TIME '00:00:00', 1::DECIMAL(4,1)`,
    );
    expect(kinds).toEqual([
      'integer',
      'float',
      'text',
      'boolean',
      'date',
      'nested',
      'nested',
      'opaque',
      'timestamp',
      'time',
      'decimal',
    ]);
  });

  test('an interval is a duration of ISO 8601', async () => {
    const row = await rowOf(`SELECT INTERVAL '14 months 3 days 1.5 seconds', INTERVAL '0 days'`);
    expect(row).toEqual(['P14M3DT1.5S', 'PT0S']);
  });

  test('moments of INT96, and of the older annotations, which are in UTC', async () => {
    const legacy = new Uint8Array(12);
    new DataView(legacy.buffer).setBigInt64(0, 1_000_000_001n, true);
    new DataView(legacy.buffer).setInt32(8, 2_440_589, true);
    const millis = new Uint8Array(BigInt64Array.of(1n).buffer);
    const { rows } = await readTable(
      craftedFile(1, [
        { name: 'a', physical: Physical.int96, pages: [craftedPage({ count: 1, body: legacy })] },
        {
          name: 'b',
          physical: Physical.int64,
          converted: Converted.timestampMillis,
          pages: [craftedPage({ count: 1, body: millis })],
        },
      ]),
    );
    expect(rows).toEqual([['1970-01-02T00:00:01.000000001', '1970-01-01T00:00:00.001Z']]);
  });

  test('an annotation that does not fit the physical type is passed over', async () => {
    const bogus = new ThriftStruct().set(14, ThriftType.struct, new ThriftStruct());
    const file = craftedFile(1, [
      { ...int32Column('a', 7), logical: bogus, converted: Converted.json },
    ]);
    expect((await readTable(file)).rows).toEqual([[7]]);
  });

  test('DS-50, DS-63: names are cleaned', async () => {
    const file = craftedFile(1, [
      int32Column(' a ', 1),
      int32Column('a', 2),
      int32Column('', 3),
      int32Column('_row_id', 4),
    ]);
    expect((await readTable(file)).names).toEqual(['a', 'a_2', 'column_3', '_row_id_2']);
  });
});

const EVERYTHING = `SELECT i::INTEGER AS id, i * 1000000007 AS big, 'name ' || (i % 13) AS name,
  CASE WHEN i % 3 = 0 THEN NULL ELSE 'unique ' || i END AS maybe, i / 7.0 AS ratio, (i / 8)::FLOAT AS small, i % 2 = 0 AS flag,
  TIMESTAMP '2024-01-01 00:00:00' + to_seconds(i) AS moment, DATE '2024-01-01' + (i % 500)::INTEGER AS day,
  CASE WHEN i % 5 = 0 THEN NULL ELSE [i, i + 1] END AS list, {'a': i, 'b': 'x' || i} AS pair
  FROM range(3000) t(i)`;

/** The same values as DuckDB gives them as JSON. */
async function expectLikeDuck(file: Uint8Array): Promise<void> {
  const { rows } = await readTable(file);
  const texts = await duckRows(
    file,
    `SELECT id, big, name, maybe, ratio, small, flag, strftime(moment, '%Y-%m-%dT%H:%M:%S'), strftime(day, '%Y-%m-%d'),
     replace(list::VARCHAR, ', ', ','), to_json(pair)::VARCHAR FROM file`,
  );
  // DuckDB gives 64-bit integers as text.
  const theirs = texts.map((row) => row.map((cell, place) => (place === 1 ? Number(cell) : cell)));
  expect<unknown[][]>(rows).toEqual(theirs);
}

describe('every way a writer may lay out the same table', () => {
  for (const codec of ['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4_raw']) {
    for (const version of ['V1', 'V2']) {
      test(`${codec}, encodings of ${version}, several row groups`, async () => {
        await expectLikeDuck(
          await parquetFile(
            EVERYTHING,
            `CODEC '${codec}', PARQUET_VERSION '${version}', ROW_GROUP_SIZE 2048`,
          ),
        );
      });
    }
  }

  const many = Array.from({ length: 5000 }, (_, index) => index);
  const encodings: [encoding: string, type: string, data: unknown[]][] = [
    ['PLAIN', 'INT32', many],
    ['RLE_DICTIONARY', 'STRING', many.map((value) => `v${value % 40}`)],
    ['DELTA_BINARY_PACKED', 'INT32', many.map((value) => (value * 7919) % 1009)],
    ['DELTA_BINARY_PACKED', 'INT64', many.map((value) => BigInt(value) ** 4n - 5n)],
    ['DELTA_LENGTH_BYTE_ARRAY', 'STRING', many.map((value) => 'x'.repeat(value % 17))],
    ['DELTA_BYTE_ARRAY', 'STRING', many.map((value) => `shared prefix ${value}`)],
    ['BYTE_STREAM_SPLIT', 'DOUBLE', many.map((value) => value / 3)],
    ['BYTE_STREAM_SPLIT', 'INT32', many],
    ['RLE', 'BOOLEAN', many.map((value) => value % 3 === 0)],
  ];
  test.each(encodings)(
    '%s of %s in pages of the second version, nulls in between',
    async (encoding, type, data) => {
      const withNulls = data.map((value, index) => (index % 11 === 0 ? null : value));
      const file = parquetWriteBuffer({
        columnData: [
          {
            name: 'full',
            data: data as never,
            type: type as never,
            nullable: false,
            encoding: encoding as never,
          },
          {
            name: 'holes',
            data: withNulls as never,
            type: type as never,
            encoding: encoding as never,
          },
        ],
        pageSize: 4000,
        rowGroupSize: 3000,
      });
      const { rows } = await readTable(new Uint8Array(file));
      const shown = (value: unknown): unknown =>
        typeof value === 'bigint' && value <= BigInt(Number.MAX_SAFE_INTEGER)
          ? Number(value)
          : value;
      expect<unknown[][]>(rows).toEqual(
        data.map((value, index) => [shown(value), shown(withNulls[index])]),
      );
    },
  );

  test('a file without rows, and one without row groups', async () => {
    expect((await readTable(await parquetFile('SELECT 1 AS a WHERE false'))).rows).toEqual([]);
    const empty = await readTable(
      new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'a', data: [], type: 'INT32' }] })),
    );
    expect([empty.names, empty.rows, empty.layout.segments]).toEqual([['a'], [], []]);
  });

  test('a dictionary of one value needs no bits for its indexes', async () => {
    const column = {
      name: 'a',
      physical: Physical.int32,
      pages: [
        craftedDictionary(1, int32s(42)),
        craftedPage({ count: 3, body: new Uint8Array([0]), encoding: Encoding.dictionary }),
      ],
    };
    expect((await readTable(craftedFile(3, [column]))).rows).toEqual([[42], [42], [42]]);
  });

  test('rows come in segments that are no larger than an edit may count through', async () => {
    const { layout, rows } = await readTable(await parquetFile('SELECT i FROM range(20000) t(i)'));
    expect(rows.length).toBe(20_000);
    expect(Math.max(...layout.segments.map((segment) => segment.rows))).toBe(SEGMENT_ROWS);
    expect(layout.segments.every(({ bytes }) => bytes === 0)).toBe(true);
  });
});

describe('the typed copy', () => {
  test('DS-59, DS-64, DS-67: schema types, nulls in every column, wide numbers in order', async () => {
    using folder = temporaryFolder();
    const file = await parquetFile(
      `SELECT * FROM (VALUES (1::BIGINT, 'a', 2::UBIGINT, 1.5::DECIMAL(38,2)), (NULL, NULL, NULL, NULL),
       (9007199254740993, '', 18446744073709551615, -20.25)) t(i, s, u, d)`,
    );
    const path = folder.at('copy.sqlite');
    const loaded = await loadTable({
      path,
      read: (sink) => readParquet(sourceOf(file), {}, sink),
      companion: null,
      blank: 'null',
    });
    expect(loaded.columns.map(({ type }) => type)).toEqual([
      'integer',
      'string',
      'integer',
      'number',
    ]);
    expect(loaded.columns[0]!.file).toEqual({
      type: { kind: 'integer', bits: 64, isSigned: true },
      isRequired: false,
    });
    using db = new Database(path, { safeIntegers: true });
    const stored = db.query('SELECT c0, c1, c2, c3 FROM rows ORDER BY _row_id').values();
    expect(stored[1]).toEqual([null, null, null, null]);
    expect([stored[0]![0], stored[2]![0], stored[2]![1]]).toEqual([1n, 9007199254740993n, '']);
    expect(db.query('SELECT _row_id FROM rows WHERE c2 IS NOT NULL ORDER BY c2').values()).toEqual([
      [1n],
      [3n],
    ]);
    expect(db.query('SELECT _row_id FROM rows WHERE c3 IS NOT NULL ORDER BY c3').values()).toEqual([
      [3n],
      [1n],
    ]);
  });

  test('DS-61: a companion type wins over the one in the file', async () => {
    using folder = temporaryFolder();
    const file = await parquetFile('SELECT 7 AS a, 8 AS b');
    const loaded = await loadTable({
      path: folder.at('copy.sqlite'),
      read: (sink) => readParquet(sourceOf(file), {}, sink),
      companion: { columns: new Map([['a', { type: 'string' }]]) },
      blank: 'null',
    });
    expect(
      loaded.columns.map(({ type, declared, file: inFile }) => [
        type,
        declared,
        inFile === undefined,
      ]),
    ).toEqual([
      ['string', true, true],
      ['integer', false, false],
    ]);
  });
});
