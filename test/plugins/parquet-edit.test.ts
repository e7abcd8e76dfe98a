/** Edits of Parquet files: DS-88, proven by DuckDB reading the result. */
import { describe, expect, test } from 'bun:test';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { editParquet } from '../../plugins/parquet/editor.ts';
import { readFooter } from '../../plugins/parquet/footer.ts';
import type { AppError } from '../../src/base/errors.ts';
import { ChunkField, GroupField, MetaField, Physical } from '../../src/tables/parquet/format.ts';
import type { Cell, EditPlan, TableChanges } from '../../src/tables/types.ts';
import { craftedFile, craftedPage, int32Column } from './parquet-crafted.ts';
import { duckMetadata, duckRows, parquetFile, readTable } from './parquet-table.ts';
import { applied, sourceOf } from './byte-source.ts';

// DuckDB and thousands of files on a busy machine take their time.

type Cells = Record<number, Cell>;

/** Rows by place, cells by position. */
function changes({
  updates = {},
  deletes = [],
  creates = [],
}: {
  updates?: Record<number, Cells>;
  deletes?: number[];
  creates?: Cells[];
}): TableChanges {
  const cellsOf = (cells: Cells): Map<number, Cell> =>
    new Map(Object.entries(cells).map(([position, cell]) => [Number(position), cell]));
  return {
    updates: new Map(Object.entries(updates).map(([row, cells]) => [Number(row), cellsOf(cells)])),
    deletes: new Set(deletes),
    creates: creates.map(cellsOf),
  };
}

async function edited(
  file: Uint8Array,
  change: TableChanges,
): Promise<{ plan: EditPlan; bytes: Uint8Array }> {
  const { layout } = await readTable(file);
  const plan = await editParquet(sourceOf(file), layout, change);
  return { plan, bytes: new Uint8Array(applied(plan, file)) };
}

const SCHEMA =
  'name, type, type_length, repetition_type, num_children, converted_type, scale, precision, logical_type';

/** Everything about a file that an edit must leave. */
async function frame(file: Uint8Array): Promise<unknown> {
  return {
    schema: await duckMetadata(file, 'parquet_schema', SCHEMA),
    keyValues: await duckMetadata(file, 'parquet_kv_metadata', 'key, value'),
    codecs: [...new Set((await duckMetadata(file, 'parquet_metadata', 'compression')).flat())],
  };
}

/** One row of every type; positions 0 to 14 can be written. */
const EVERY_TYPE = `SELECT i::INTEGER AS i, i * 1000000007 AS big, i::UBIGINT AS ubig, (i % 250)::UTINYINT AS tiny, i / 4 AS d,
  (i / 4)::FLOAT AS f, (i / 100)::DECIMAL(9,2) AS d9, (i / 1000)::DECIMAL(18,3) AS d18,
  ('1234567890123456789012345678901' || i % 10)::DECIMAL(38,4) AS d38, 'word ' || i % 5 AS word, i % 2 = 0 AS flag,
  DATE '2024-01-01' + i::INTEGER AS day, TIME '12:00:00' + to_seconds(i) AS clock,
  TIMESTAMP_NS '2024-01-01 00:00:00.123456789' AS ns, TIMESTAMPTZ '2024-01-01 00:00:00+00' + to_seconds(i) AS utc,
  CASE WHEN i % 3 = 0 THEN NULL ELSE [i, NULL] END AS list, {'a': i, 'b': ['x']} AS pair, MAP {'k': i} AS map,
  to_days(i::INTEGER) AS span, '\\xFF'::BLOB AS raw, 'text ' || i AS t FROM range(ROWS) t(i)`;

const everyType = (rows: number): string => EVERY_TYPE.replace('ROWS', String(rows));

/** Cells for the writable positions of EVERY_TYPE, as they read back. */
const NEW_CELLS: Cells = {
  0: -2147483648,
  1: -9223372036854775808n,
  2: '18446744073709551615',
  3: 255,
  4: 1e300,
  5: 0.1,
  6: -9999999.99,
  7: '-123456789012345.678',
  8: '9999999999999999999999999999999999.9999',
  9: 'a new wörd',
  10: true,
  11: '1969-12-31',
  12: '23:59:59.999999',
  13: '2262-04-11T23:47:16.854775807',
  14: '1900-01-01T00:00:00.000001Z',
};

describe('DS-88: what was not touched stays exactly', () => {
  for (const codec of ['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4_raw']) {
    for (const version of ['V1', 'V2']) {
      test(`${codec}, ${version}: updates, deletes and creates`, async () => {
        const file = await parquetFile(
          everyType(2_500),
          `CODEC '${codec}', PARQUET_VERSION '${version}', ROW_GROUP_SIZE 2048, KV_METADATA {origin: 'test'}`,
        );
        const before = await readTable(file);
        const duckBefore = await duckRows(file);
        const { plan, bytes } = await edited(
          file,
          changes({
            updates: { 0: NEW_CELLS, 2047: { 9: null }, 2400: { 20: 'changed' } },
            deletes: [1, 2046, 2048, 2499],
            creates: [NEW_CELLS, { 9: 'word 1' }],
          }),
        );
        const expected = before.rows.map((row) => [...row]);
        Object.assign(expected[0]!, NEW_CELLS);
        expected[2047]![9] = null;
        expected[2400]![20] = 'changed';
        const isKept = (_: unknown, row: number): boolean => ![1, 2046, 2048, 2499].includes(row);
        const nulls = before.names.map(() => null);
        const created = [
          Object.assign([...nulls], NEW_CELLS),
          Object.assign([...nulls], { 9: 'word 1' }),
        ];
        const after = await readTable(bytes);
        expect(after.rows).toEqual([...expected.filter(isKept), ...(created as Cell[][])]);

        const duckAfter = await duckRows(bytes);
        expect(duckAfter).toHaveLength(2_498);
        const untouched = duckBefore.filter(
          (row, index) => isKept(row, index) && ![0, 2047, 2400].includes(index),
        );
        expect(
          duckAfter.filter((_, index) => index < 2_496 && ![0, 2045, 2397].includes(index)),
        ).toEqual(untouched);
        expect(duckAfter.at(-2)!.slice(0, 4)).toEqual([
          -2147483648,
          '-9223372036854775808',
          '18446744073709551615',
          255,
        ]);
        expect(duckAfter.at(-1)!.filter((cell) => cell !== null)).toEqual(['word 1']);
        expect(await frame(bytes)).toEqual(await frame(file));
        expect(plan.layout.segments.reduce((sum, { rows }) => sum + rows, 0)).toBe(2_498);
        expect(plan.layout.segments.length).toBe(before.layout.segments.length);
      });
    }
  }

  test('an update rewrites one page of one column and keeps the bytes of the others', async () => {
    const file = await parquetFile(everyType(6_000), `CODEC 'zstd', ROW_GROUP_SIZE 4096`);
    const { layout } = await readTable(file);
    const plan = await editParquet(
      sourceOf(file),
      layout,
      changes({ updates: { 5_000: { 9: 'word 3x' } } }),
    );
    const kept = plan.pieces.reduce(
      (sum, piece) => sum + (piece instanceof Uint8Array ? 0 : piece.to - piece.from),
      0,
    );
    expect(kept / file.length).toBeGreaterThan(0.9);
  });

  test('row groups stay as they are, and one without rows is gone', async () => {
    const file = await parquetFile('SELECT i FROM range(6144) t(i)', 'ROW_GROUP_SIZE 2048');
    const middle = Array.from({ length: 2048 }, (_, index) => 2048 + index);
    const { bytes } = await edited(file, changes({ deletes: [...middle, 0] }));
    const groups = await duckMetadata(
      bytes,
      'parquet_metadata',
      'row_group_id, row_group_num_rows',
    );
    expect(groups).toEqual([
      ['0', '2047'],
      ['1', '2048'],
    ]);
  });

  test('all rows can be deleted, and rows created again', async () => {
    const file = await parquetFile(everyType(3));
    const empty = (await edited(file, changes({ deletes: [0, 1, 2] }))).bytes;
    expect((await readTable(empty)).rows).toEqual([]);
    expect(await duckRows(empty)).toEqual([]);
    const { bytes } = await edited(empty, changes({ creates: [NEW_CELLS] }));
    expect((await readTable(bytes)).rows[0]!.slice(0, 15)).toEqual(Object.values(NEW_CELLS));
    expect((await duckMetadata(bytes, 'parquet_schema', SCHEMA)).length).toBe(
      (await duckMetadata(file, 'parquet_schema', SCHEMA)).length,
    );
  });

  test('new rows join a small last row group, and make their own after a large one', async () => {
    const small = await parquetFile('SELECT i FROM range(100) t(i)');
    const large = await parquetFile('SELECT i FROM range(70000) t(i)');
    const groupsOf = async (file: Uint8Array): Promise<number[]> =>
      (await readFooter(sourceOf(file))).groups.map(({ rows }) => rows);
    const creates = Array.from({ length: 20_000 }, (_, index) => ({ 0: index }));
    expect(await groupsOf((await edited(small, changes({ creates }))).bytes)).toEqual([20_100]);
    expect(await groupsOf((await edited(large, changes({ creates }))).bytes)).toEqual([
      70_000, 20_000,
    ]);
  });

  test('rows created one by one do not pile up as pages', async () => {
    let file = await parquetFile(`SELECT 0 AS i, 'a' AS s`);
    for (let count = 1; count <= 60; count++) {
      file = (await edited(file, changes({ creates: [{ 0: count, 1: count % 2 ? 'a' : null }] })))
        .bytes;
    }
    expect(
      (await duckRows(file, 'SELECT count(*)::INT, sum(i)::INT, count(s)::INT FROM file'))[0],
    ).toEqual([61, 1830, 31]);
    expect(file.length).toBeLessThan(1_500);
  });

  test('pages of many rows each, with page indexes and a Bloom filter', async () => {
    const numbers = Array.from({ length: 5_000 }, (_, index) => index);
    const file = new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          {
            name: 'id',
            data: numbers,
            type: 'INT32',
            nullable: false,
            columnIndex: true,
            bloomFilter: true,
          },
          {
            name: 'name',
            data: numbers.map((n) => `name ${n}`),
            type: 'STRING',
            columnIndex: true,
          },
        ],
        pageSize: 2_000,
        rowGroupSize: 2_500,
      }),
    );
    const { bytes } = await edited(
      file,
      changes({ updates: { 1: { 1: 'a longer name than before' } } }),
    );
    const old = await readFooter(sourceOf(file));
    const now = await readFooter(sourceOf(bytes));
    const touched = now.groups[0]!.chunks[1]!;
    for (const field of [ChunkField.columnIndexOffset, ChunkField.offsetIndexOffset]) {
      expect(touched.struct.get(field)).toBeNull();
    }
    expect(touched.meta.get(MetaField.statistics)).toBeNull();
    for (const [group, chunk] of [
      [0, 0],
      [1, 0],
      [1, 1],
    ] as const) {
      const before = old.groups[group]!.chunks[chunk]!;
      const after = now.groups[group]!.chunks[chunk]!;
      const index = (source: Uint8Array, { struct }: typeof before): Uint8Array => {
        const from = struct.int(ChunkField.columnIndexOffset)!;
        return source.slice(from, from + struct.int(ChunkField.columnIndexLength)!);
      };
      expect(index(bytes, after)).toEqual(index(file, before));
      const filter = (source: Uint8Array, { meta }: typeof before): Uint8Array => {
        const from = meta.int(MetaField.bloomOffset) ?? 0;
        return source.slice(from, from + (meta.int(MetaField.bloomLength) ?? 0));
      };
      expect(filter(bytes, after)).toEqual(filter(file, before));
      expect(bytes.slice(after.start, after.end)).toEqual(file.slice(before.start, before.end));
    }
    expect((await duckRows(bytes, `SELECT name FROM file WHERE id = 4321`))[0]).toEqual([
      'name 4321',
    ]);
    expect(
      (await duckRows(bytes, `SELECT id FROM file WHERE name = 'a longer name than before'`))[0],
    ).toEqual([1]);
    expect(now.groups.map(({ struct }) => struct.int(GroupField.rows))).toEqual([2_500, 2_500]);
  });

  test('a dictionary grows by the new value and its column stays small', async () => {
    const file = await parquetFile(
      `SELECT 'category ' || i % 4 AS c FROM range(50000) t(i)`,
      `CODEC 'uncompressed'`,
    );
    const { bytes } = await edited(file, changes({ updates: { 7: { 0: 'new category' } } }));
    expect(bytes.length).toBeLessThan(file.length * 1.1);
    expect((await duckRows(bytes, 'SELECT count(DISTINCT c)::INT FROM file'))[0]).toEqual([5]);
  });
});

describe('what cannot be written is refused', () => {
  async function refusal(file: Uint8Array, change: TableChanges): Promise<[string, string]> {
    try {
      await edited(file, change);
    } catch (error) {
      const { code, message } = error as AppError;
      return [code, message];
    }
    throw new Error('the edit was made');
  }

  test('values of nested columns, intervals and bytes', async () => {
    const file = await parquetFile(everyType(2));
    for (const [position, name] of [
      [15, 'list'],
      [16, 'pair'],
      [17, 'map'],
      [18, 'span'],
      [19, 'raw'],
    ] as const) {
      expect(await refusal(file, changes({ updates: { 0: { [position]: 'x' } } }))).toEqual([
        'unreadable-file',
        `values of column '${name}' cannot be written`,
      ]);
    }
  });

  test('yet they can be set to null, whatever they held', async () => {
    const file = await parquetFile(everyType(4));
    const nulls = { 15: null, 16: null, 17: null, 18: null, 19: null };
    const { bytes } = await edited(file, changes({ updates: { 1: nulls, 3: nulls } }));
    const expected = (await readTable(file)).rows;
    for (const row of [1, 3]) Object.assign(expected[row]!, nulls);
    expect((await readTable(bytes)).rows).toEqual(expected);
    expect((await duckRows(bytes, 'SELECT list, pair, map, span, raw FROM file'))[3]).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
    expect((await duckRows(bytes))[2]).toEqual((await duckRows(file))[2]!);
  });

  test('DS-78: null in a required column', async () => {
    const file = craftedFile(2, [int32Column('a', 1, 2)]);
    const wanted = [
      'schema-mismatch',
      "Schema validation failed: column 'a': expected integer, received null",
    ];
    expect(await refusal(file, changes({ updates: { 0: { 0: null } } }))).toEqual(
      wanted as [string, string],
    );
    expect(await refusal(file, changes({ creates: [{}] }))).toEqual(wanted as [string, string]);
  });

  test('cells a column cannot hold', async () => {
    const file = await parquetFile(everyType(2));
    const wrong: [number, Cell, string][] = [
      [0, 2147483648, 'integer'],
      [0, 1.5, 'integer'],
      [2, -1, 'integer'],
      [3, 256, 'integer'],
      [5, 1e39, 'number'],
      [6, 0.001, 'number'],
      [6, 10_000_000, 'number'],
      [8, '1e40', 'number'],
      [9, 5, 'string'],
      [10, 'true', 'boolean'],
      [11, '2024-02-30', 'date'],
      [12, '24:00:00', 'time'],
      [14, 'yesterday', 'timestamp'],
      [13, '2300-01-01T00:00:00', 'timestamp'],
    ];
    for (const [position, cell, expected] of wrong) {
      const [code, message] = await refusal(
        file,
        changes({ updates: { 0: { [position]: cell } } }),
      );
      expect([code, message.includes(`expected ${expected}, received`)]).toEqual([
        'schema-mismatch',
        true,
      ]);
    }
  });

  test('DS-143: a file that is not the one the layout describes', async () => {
    const { layout } = await readTable(await parquetFile('SELECT i FROM range(5) t(i)'));
    const other = await parquetFile('SELECT i FROM range(6) t(i)');
    const edit = editParquet(sourceOf(other), layout, changes({ deletes: [0] }));
    await expect(edit).rejects.toMatchObject({ code: 'conflict' });
  });

  test('moments of INT96 are written as such', async () => {
    const legacy = craftedPage({ count: 1, body: new Uint8Array(12) });
    const file = craftedFile(1, [{ name: 'a', physical: Physical.int96, pages: [legacy] }]);
    const { bytes } = await edited(
      file,
      changes({ updates: { 0: { 0: '1969-12-31T23:59:59.999999999' } } }),
    );
    expect((await readTable(bytes)).rows).toEqual([['1969-12-31T23:59:59.999999999']]);
    expect(await duckRows(bytes, 'SELECT a::VARCHAR FROM file')).toEqual([
      ['1969-12-31 23:59:59.999999'],
    ]);
  });
});
