/** Lists of Parquet tables: operands of DS-53 for types that only Parquet has, text forms, order and display (DS-54, DS-58, DS-67). */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readParquet } from '../../plugins/parquet/reader.ts';
import { encoders } from '../../src/tables/encode/encode.ts';
import type { Format } from '../../src/tables/read/format.ts';
import { loadTable } from '../../src/tables/copy/load.ts';
import { parseMutation } from '../../src/tables/edit/change-request.ts';
import { planQuery } from '../../src/tables/read/query-plan.ts';
import { runPage } from '../../src/tables/read/query-run.ts';
import type { Column } from '../../src/tables/types.ts';
import { parquetFile } from '../plugins/parquet-table.ts';
import { sourceOf } from '../plugins/byte-source.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts';
import { parametersOf, type Query } from './typed-copy.ts';

// DuckDB on a busy machine takes its time.

const ROWS = `SELECT * FROM (VALUES
  (1::BIGINT, 1.5::DECIMAL(38,2), 10::UBIGINT, TIMESTAMP '2024-01-01 00:00:00', TIMESTAMPTZ '2024-01-01 00:00:00+00', DATE '2024-01-01', [1, 2], {'a': 'x'}, 'text', '\\xFF\\xFE'::BLOB),
  (9007199254740993, '-20000000000000000000.25', '18446744073709551615', '2024-01-01 00:00:00.5', '2024-01-01 00:00:00.5+00', '2023-12-31', [], NULL, '', 'plain'::BLOB),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (-5, 12345678901234567890.12, 9223372036854775808, '1999-12-31 23:59:59', '1999-12-31 23:59:59+00', '1970-01-01', [NULL], {'a': NULL}, 'a "quoted" text', NULL)
  ) t(i, d, u, moment, utc, day, list, pair, text, raw)`;

let folder: TemporaryFolder;
let db: Database;
let columns: readonly Column[] = [];

beforeAll(async () => {
  folder = temporaryFolder();
  const path = folder.at('copy.sqlite');
  const file = await parquetFile(ROWS);
  const loaded = await loadTable({
    path,
    read: (sink) => readParquet(sourceOf(file), { learned: { base64: [9] } }, sink),
    companion: null,
    blank: 'null',
  });
  columns = loaded.columns;
  db = new Database(path);
});

afterAll(() => {
  db.close();
  folder[Symbol.dispose]();
});

function body(query: Query, format: Format = 'json'): string {
  const plan = planQuery(
    {
      list: 'things.parquet',
      columns,
      rowCount: 4,
      lastRowId: 4,
      blank: 'null',
      indexes: new Set(),
      bytes: 1_000,
    },
    parametersOf(query),
  );
  const page = runPage(db, JSON.parse(JSON.stringify(plan)));
  const text = Buffer.concat([...encoders[format]!(plan.shape, page.rows)]).toString();
  page.close();
  return text;
}

function idsOf(query: Query): number[] {
  return (JSON.parse(body(query)) as { _row_id: number }[]).map((row) => row._row_id);
}

const filtered = (filter: unknown): number[] => idsOf({ filter: JSON.stringify(filter) });

describe('DS-67: display', () => {
  test('JSON has numbers with all digits, nested values as they are, nulls', () => {
    const rows = body({})
      .slice(1, -1)
      .split(/,(?=\{"_row_id")/);
    expect(rows[0]).toBe(
      '{"_row_id":1,"i":1,"d":1.5,"u":10,"moment":"2024-01-01T00:00:00","utc":"2024-01-01T00:00:00Z",' +
        '"day":"2024-01-01","list":[1,2],"pair":{"a":"x"},"text":"text","raw":"//4="}',
    );
    expect(rows[1]).toBe(
      '{"_row_id":2,"i":9007199254740993,"d":-20000000000000000000.25,"u":18446744073709551615,' +
        '"moment":"2024-01-01T00:00:00.500","utc":"2024-01-01T00:00:00.500Z","day":"2023-12-31","list":[],"pair":null,' +
        '"text":"","raw":"cGxhaW4="}',
    );
    expect(JSON.parse(rows[2]!)).toMatchObject({
      i: null,
      d: null,
      u: null,
      moment: null,
      list: null,
    });
  });

  test('CSV has nested values as JSON text and blank for null', () => {
    const lines = body({ columns: 'd,list,text' }, 'csv').split('\n');
    expect(lines).toEqual([
      'd,list,text',
      '1.5,"[1,2]",text',
      '-20000000000000000000.25,[],',
      ',,',
      '12345678901234567890.12,[null],"a ""quoted"" text"',
      '',
    ]);
  });
});

describe('DS-53: operands', () => {
  test('wide numbers compare exactly, with numbers of any spelling', () => {
    const cases: [filter: string, ids: number[]][] = [
      ['{"d": 1.5}', [1]],
      ['{"d": "1.50"}', [1]],
      ['{"d": 15e-1}', [1]],
      ['{"d": 1.501}', []],
      ['{"d": {"$ne": 1.5}}', [2, 3, 4]],
      ['{"d": 12345678901234567890.12}', [4]],
      ['{"d": 12345678901234567890}', []],
      ['{"d": {"$gt": 12345678901234567890.119}}', [4]],
      ['{"d": {"$gt": 12345678901234567890.12}}', []],
      ['{"d": {"$gte": 12345678901234567890.12}}', [4]],
      ['{"d": {"$lt": 1.499999}}', [2]],
      ['{"d": {"$lte": 1.5}}', [1, 2]],
      ['{"d": {"$lt": 1e300}}', [1, 2, 4]],
      ['{"d": {"$gt": -1e300}}', [1, 2, 4]],
      ['{"d": {"$in": [1.5, -20000000000000000000.25, null]}}', [1, 2, 3]],
      ['{"u": 18446744073709551615}', [2]],
      ['{"u": 9223372036854775808}', [4]],
      ['{"u": {"$gt": 9223372036854775807.5}}', [2, 4]],
      ['{"u": {"$lt": 11}}', [1]],
      ['{"u": {"$gte": 0}}', [1, 2, 4]],
      ['{"u": -1}', []],
      ['{"i": 9007199254740993}', [2]],
      ['{"i": 9007199254740992}', []],
    ];
    for (const [filter, ids] of cases) expect([filter, idsOf({ filter })]).toEqual([filter, ids]);
  });

  test('moments and dates compare in time, whatever the spelling', () => {
    expect(filtered({ moment: '2024-01-01T00:00:00Z' })).toEqual([1]);
    expect(filtered({ moment: '2024-01-01T01:00:00+01:00' })).toEqual([1]);
    expect(filtered({ moment: { $gt: '2024-01-01T00:00:00' } })).toEqual([2]);
    expect(filtered({ utc: { $gte: '2024-01-01' } })).toEqual([1, 2]);
    expect(filtered({ utc: { $lt: '2000-01-01T00:00:00Z' } })).toEqual([4]);
    expect(filtered({ day: '2023-12-31' })).toEqual([2]);
    expect(filtered({ day: { $lt: '2024-01-01' } })).toEqual([2, 4]);
    expect(() => filtered({ day: 5 })).toThrow(
      "Invalid filter: column 'day': operator $eq expects a date-time, received integer",
    );
  });

  test('nested columns know null and text alone', () => {
    expect(filtered({ list: { $null: true } })).toEqual([3]);
    expect(filtered({ pair: { $contains: '"x"' } })).toEqual([1]);
    expect(filtered({ list: null })).toEqual([3]);
    expect(() => filtered({ list: 1 })).toThrow(
      "column 'list': operator $eq expects a scalar, received",
    );
  });
});

describe('DS-54, DS-58: text forms and order', () => {
  test('text operators see what JSON shows', () => {
    expect(filtered({ d: { $startswith: '123456789012345678' } })).toEqual([4]);
    expect(filtered({ u: { $endswith: '551615' } })).toEqual([2]);
    expect(filtered({ d: { $contains: '.' } })).toEqual([1, 2, 4]);
    expect(idsOf({ q: '18446744073709551615' })).toEqual([2]);
    expect(filtered({ text: { $null: true } })).toEqual([2, 3]);
  });

  test('wide numbers sort by value, nulls last', () => {
    expect(idsOf({ sort: 'd' })).toEqual([2, 1, 4, 3]);
    expect(idsOf({ sort: '-u' })).toEqual([2, 4, 1, 3]);
    expect(idsOf({ sort: 'i' })).toEqual([4, 1, 2, 3]);
  });
});

describe('DS-77, DS-78: changes', () => {
  test('values are brought to the form the file will show', async () => {
    const body = {
      action: 'create',
      data: [
        { d: '1.10', u: 7, moment: '2024-05-05 10:00:00', day: '2024-05-05', text: '', i: '5' },
      ],
    };
    const mutation = await parseMutation('POST', body, columns);
    const [step] = mutation.steps;
    const [row] = step?.action === 'create' ? step.rows : [];
    expect([...row!.values()]).toEqual([5, '1.1', '7', '2024-05-05T10:00:00', '2024-05-05', '']);
  });

  test('what does not fit is named', async () => {
    const refusal = (values: Record<string, unknown>): Promise<unknown> =>
      parseMutation('PATCH', { action: 'update', data: { _row_id: 1, ...values } }, columns);
    const start = 'Schema validation failed: column ';
    await expect(refusal({ day: 'soon' })).rejects.toThrow(
      `${start}'day': expected date, received string`,
    );
    await expect(refusal({ moment: 5 })).rejects.toThrow(
      `${start}'moment': expected timestamp, received integer`,
    );
    await expect(refusal({ d: 1.005 })).rejects.toThrow(
      `${start}'d': expected number, received number`,
    );
    await expect(refusal({ u: -1 })).rejects.toThrow(
      `${start}'u': expected integer, received integer`,
    );
    await expect(refusal({ text: 5 })).rejects.toThrow(
      `${start}'text': expected string, received integer`,
    );
  });

  test('a required column must be given, and not as null', async () => {
    const required = columns.map((column) => ({
      ...column,
      file: { ...column.file!, isRequired: column.name === 'day' },
    }));
    const create = (row: Record<string, unknown>): Promise<unknown> =>
      parseMutation('POST', { action: 'create', data: [row] }, required);
    const text = "Schema validation failed: column 'day': expected date, received null";
    await expect(create({ i: 1 })).rejects.toThrow(text);
    await expect(create({ day: null })).rejects.toThrow(text);
    expect(await create({ day: '2024-01-01' })).toBeDefined();
  });
});
