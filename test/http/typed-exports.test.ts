/** What a file declares stays declared in exports of rows and of queries (DS-44, EV-97), read back by DuckDB and SheetJS. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import { duckMetadata, duckRows, parquetFile } from '../plugins/parquet-table.ts';
import { startService, type Client, type Service } from '../support/service.ts';

const TYPES: readonly (readonly [name: string, type: string, ...values: string[]])[] = [
  ['ts_ms', 'TIMESTAMP_MS', '2024-01-31 23:59:59.123', '1901-02-03 04:05:06'],
  ['ts_us', 'TIMESTAMP', '2024-01-31 23:59:59.123456', '0044-03-15 00:00:00'],
  ['ts_ns', 'TIMESTAMP_NS', '2024-01-31 23:59:59.123456789', '1970-01-01 00:00:00'],
  ['ts_utc', 'TIMESTAMPTZ', '2024-01-31 23:59:59.5+00', '1999-12-31 23:59:59+00'],
  ['day', 'DATE', '2024-02-29', '1899-12-31'],
  ['clock', 'TIME', '23:59:59.000001', '00:00:00'],
  ['price', 'DECIMAL(9,2)', '1234567.89', '-0.05'],
  ['rate', 'DECIMAL(15,6)', '123456789.000001', '0.1'],
  ['wide', 'DECIMAL(38,10)', '12345678901234567890.0123456789', '-0.5'],
  ['big', 'UBIGINT', '18446744073709551615', '0'],
  ['id', 'UUID', '6f2a7c1e-8c5f-4a34-9c29-0d5b7a6c1f00', '00000000-0000-0000-0000-000000000001'],
  ['n', 'INTEGER', '7', '-7'],
  ['x', 'DOUBLE', '0.5', '-1e100'],
  ['s', 'VARCHAR', '2024-01-31', '=1+1'],
];
const ROWS = [2, 3].map((at) =>
  TYPES.map((one) => `CAST('${one[at]}' AS ${one[1]}) AS ${one[0]}`).join(', '),
);
const NULLS = TYPES.map(([name]) => `NULL AS ${name}`).join(', ');
/** In the language numbers are doubles. */
const ROUNDED = ['wide'];

let service: Service;
let client: Client;

beforeAll(async () => {
  const made = await parquetFile(
    `SELECT * FROM (SELECT ${ROWS[0]} UNION ALL SELECT ${ROWS[1]} UNION ALL SELECT ${NULLS})`,
  );
  service = await startService({ files: { 'types.parquet': made, 'other.csv': 'day\nnever\n' } });
  await service.accounts.user('boss', { superuser: true });
  client = await service.as('boss');
});
afterAll(() => service[Symbol.asyncDispose]());

async function bytesOf(answer: Response): Promise<Uint8Array> {
  expect(answer.status).toBe(200);
  return new Uint8Array(await answer.arrayBuffer());
}

async function rows(format: string, query = ''): Promise<Uint8Array> {
  return bytesOf(await client.fetch(`/api/types/?format=${format}${query}`));
}

async function result(format: string, query: string): Promise<Uint8Array> {
  const body = JSON.stringify({ query, format });
  return bytesOf(await client.fetch('/search2/api/run/', { method: 'POST', body }));
}

async function typesIn(file: Uint8Array): Promise<unknown[][]> {
  return (await duckRows(file, 'DESCRIBE SELECT * FROM file')).map(([name, type]) => [name, type]);
}

/** As DuckDB calls what it read of the column. */
function expected(names = TYPES.map(([name]) => name)): string[][] {
  return TYPES.filter(([name]) => names.includes(name)).map(([name, type]) => [
    name,
    { TIMESTAMP_MS: 'TIMESTAMP', TIMESTAMPTZ: 'TIMESTAMP WITH TIME ZONE', INTEGER: 'BIGINT' }[
      type
    ] ?? type,
  ]);
}

describe('Parquet', () => {
  test('of a Parquet file has the same types and values, nulls too', async () => {
    const original = await bytesOf(await client.fetch('/api/types/?format=parquet'));
    expect(await typesIn(original)).toEqual(expected());
    const texts = TYPES.map(([name]) => `CAST(${name} AS VARCHAR)`).join(', ');
    const [first, second, third] = await duckRows(original, `SELECT ${texts} FROM file`);
    const source = await parquetFile(`SELECT ${ROWS[0]} UNION ALL SELECT ${ROWS[1]}`);
    expect([first, second]).toEqual(await duckRows(source, `SELECT ${texts} FROM file`));
    expect(third).toEqual(TYPES.map(() => null));
  });

  test('keeps units, the mark of UTC and the annotations that old readers go by', async () => {
    const of = (file: Uint8Array): Promise<unknown[][]> =>
      duckMetadata(file, 'parquet_schema', 'name, logical_type, converted_type');
    const isMoment = ([name]: unknown[]): boolean => /^(ts_|day|clock)/.test(String(name));
    const source = await parquetFile(`SELECT ${ROWS[0]}`);
    const exported = (await of(await rows('parquet'))).filter(isMoment);
    // DuckDB itself writes only the old annotation of a date.
    expect(exported.map(([name, logical]) => [name, logical])).toEqual(
      (await of(source))
        .filter(isMoment)
        .map(([name, logical]) => [name, name === 'day' ? 'DateType()' : logical]),
    );
    expect(exported.map((one) => one[2])).toEqual([
      'TIMESTAMP_MILLIS',
      'TIMESTAMP_MICROS',
      null,
      'TIMESTAMP_MICROS',
      'DATE',
      'TIME_MICROS',
    ]);
  });

  test('statistics of moments let readers skip without losing rows', async () => {
    const file = await rows('parquet');
    const found = await duckRows(
      file,
      `SELECT n FROM file WHERE day > DATE '2024-02-28' AND ts_us > TIMESTAMP '2024-01-01'`,
    );
    expect(found).toEqual([['7']]);
    expect(await duckRows(file, `SELECT n FROM file WHERE day < DATE '1900-01-01'`)).toEqual([
      ['-7'],
    ]);
  });

  test('of a query over it keeps the types of the columns it shows', async () => {
    const names = TYPES.map(([name]) => name).filter(
      (name) => !['n', 'x', 's', 'id'].includes(name),
    );
    const all = await result('parquet', `from types | table ${names.join(', ')}`);
    expect(await typesIn(all)).toEqual(expected(names));
    const exact = names.filter((name) => !ROUNDED.includes(name));
    const texts = exact.map((name) => `CAST(${name} AS VARCHAR)`).join(', ');
    expect(await duckRows(all, `SELECT ${texts} FROM file`)).toEqual(
      await duckRows(await rows('parquet'), `SELECT ${texts} FROM file`),
    );
    const shaped = await result(
      'parquet',
      'from types | where isnotnull(day) | rename day AS d | stats count, sum(price) AS price BY d',
    );
    expect(await typesIn(shaped)).toEqual([
      ['d', 'DATE'],
      ['count', 'BIGINT'],
      ['price', 'DOUBLE'],
    ]);
    const flag = await result(
      'parquet',
      `search --model=dataset.types --select='["p=price","ts_utc"]' | unique --fields='["p","ts_utc"]'`,
    );
    expect((await typesIn(flag)).map(([, type]) => type)).toEqual([
      'DECIMAL(9,2)',
      'TIMESTAMP WITH TIME ZONE',
    ]);
  });

  test('of a query where other values are among them has texts', async () => {
    const mixed = await result('parquet', 'from types | table day | append [ from other ]');
    expect(await typesIn(mixed)).toEqual([['day', 'VARCHAR']]);
    const changed = await result('parquet', 'from types | eval price=price/3 | table price');
    expect(await typesIn(changed)).toEqual([['price', 'DOUBLE']]);
  });
});

describe('a workbook', () => {
  const read = async (file: Uint8Array): Promise<ExcelJS.Worksheet> => {
    const book = new ExcelJS.Workbook();
    await book.xlsx.load(Buffer.from(file) as unknown as ArrayBuffer);
    return book.worksheets[0]!;
  };

  test.each([
    ['rows', () => rows('xlsx')],
    ['a query', () => result('xlsx', 'from types')],
  ])(
    'of %s has cells that are dates, and texts where a serial number would lose something',
    async (_of, make) => {
      const sheet = await read(await make());
      const column = (name: string): number => TYPES.findIndex(([one]) => one === name) + 1;
      const cell = (row: number, name: string): ExcelJS.Cell => sheet.getCell(row, column(name));
      const moment = (row: number, name: string): unknown => {
        const { value, numFmt } = cell(row, name);
        return value instanceof Date ? [value.toISOString(), numFmt] : value;
      };
      expect(moment(2, 'ts_ms')).toEqual(['2024-01-31T23:59:59.123Z', 'yyyy-mm-dd hh:mm:ss.000']);
      expect(moment(3, 'ts_ms')).toEqual(['1901-02-03T04:05:06.000Z', 'yyyy-mm-dd hh:mm:ss']);
      expect(moment(2, 'ts_us')).toEqual(['2024-01-31T23:59:59.123Z', 'yyyy-mm-dd hh:mm:ss.000']);
      expect(moment(3, 'ts_us')).toBe('0044-03-15T00:00:00');
      expect(moment(2, 'ts_ns')).toBe('2024-01-31T23:59:59.123456789');
      expect(moment(3, 'ts_ns')).toEqual(['1970-01-01T00:00:00.000Z', 'yyyy-mm-dd hh:mm:ss']);
      expect(moment(2, 'ts_utc')).toEqual(['2024-01-31T23:59:59.500Z', 'yyyy-mm-dd hh:mm:ss.000']);
      expect(moment(2, 'day')).toEqual(['2024-02-29T00:00:00.000Z', 'yyyy-mm-dd']);
      expect(moment(3, 'day')).toBe('1899-12-31');
      expect(cell(3, 'clock').numFmt).toBe('hh:mm:ss');
      expect(cell(2, 'price').value).toBe(1234567.89);
      expect(moment(2, 's')).toBe('2024-01-31');
      expect([cell(4, 'day').value, cell(4, 'ts_ms').value]).toEqual([null, null]);
      expect(sheet.getColumn(column('ts_ms')).width).toBeGreaterThan(20);
    },
  );
});

describe('times of a Parquet file in the language', () => {
  const rowsOf = async (query: string): Promise<unknown> => {
    const body = JSON.stringify({ query });
    const answer = await client.fetch('/search2/api/run/', { method: 'POST', body });
    const { rows: found, error } = (await answer.json()) as { rows?: unknown; error?: string };
    return found ?? error;
  };

  test('are what timechart and bin go by (SL-120)', async () => {
    expect(
      await rowsOf(
        'from types | where isnotnull(n) | timechart span=1y field=ts_utc sum(n) AS n | where n!=0',
      ),
    ).toEqual([
      { _time: '1999-01-01T00:00:00.000000Z', n: -7 },
      { _time: '2024-01-01T00:00:00.000000Z', n: 7 },
    ]);
    expect(
      await rowsOf('from types | table day, n | timechart span=1y max(n) AS m | tail 1'),
    ).toEqual([{ _time: '2024-01-01T00:00:00.000000Z', m: 7 }]);
    expect(await rowsOf('from types | timechart count')).toBe(
      'timechart needs field=, one of ts_ms, ts_us, ts_ns, ts_utc, day [stage 2, column 14]',
    );
    expect(await rowsOf('from types | bin span=1mon day AS m | stats count BY m | tail 1')).toEqual(
      [{ m: '2024-02-01T00:00:00.000000Z', count: 1 }],
    );
    expect(
      await rowsOf('from types | where ts_utc >= "2024-01-01" AND day < "2024-03-01" | table n'),
    ).toEqual([{ n: 7 }]);
  });
});

/** One column of each nesting that is kept, with nulls and nothing at every level. */
const NESTED: readonly (readonly [name: string, type: string, ...values: string[]])[] = [
  ['tags', 'VARCHAR[]', "['a', NULL, 'ü']", '[]'],
  ['longs', 'BIGINT[]', '[9007199254740993, -1]', 'NULL'],
  ['grid', 'DOUBLE[][]', '[[1.5], [], NULL, [2, 3]]', '[[]]'],
  [
    'who',
    'STRUCT(id BIGINT, "name" VARCHAR, born DATE)',
    "{'id': 7, 'name': 'Ada', 'born': DATE '1815-12-10'}",
    "{'id': NULL, 'name': NULL, 'born': NULL}",
  ],
  [
    'orders',
    'STRUCT(price DECIMAL(9,2), wide DECIMAL(38,2), "at" TIMESTAMP, parts BOOLEAN[])[]',
    "[{'price': 1.10, 'wide': 123456789012345678901234567890.12, 'at': TIMESTAMP '2024-01-31 10:00:00.5', 'parts': [true, NULL]}, NULL]",
    "[{'price': NULL, 'wide': NULL, 'at': NULL, 'parts': []}]",
  ],
  ['counts', 'MAP(VARCHAR, BIGINT)', "MAP {'a': 1, 'b': NULL}", 'MAP {}'],
  ['bytes', 'BLOB', "'\\xFF\\x00plain'::BLOB", "'plain'::BLOB"],
  ['text', 'BLOB', "'plain'::BLOB", "''::BLOB"],
];

describe('lists, structs, maps and bytes', () => {
  const select = (at: number): string =>
    `SELECT ${NESTED.map((one) => `CAST(${one[at]} AS ${one[1]}) AS ${one[0]}`).join(', ')}`;
  const all = `${select(2)} UNION ALL ${select(3)} UNION ALL SELECT ${NESTED.map(() => 'NULL').join(', ')}`;

  test('stay such in Parquet, and say in the schema where they are base64', async () => {
    await using svc = await startService({
      files: { 'nested.parquet': await parquetFile(all), 'nested.csv': 'a\n1\n' },
    });
    await svc.accounts.user('boss', { superuser: true });
    const boss = await svc.as('boss');
    const answer = await boss.fetch('/api/nested.parquet/?format=parquet');
    expect(answer.headers.get('content-disposition')).toContain('filename="nested.parquet"');
    const file = await bytesOf(answer);
    const kept = NESTED.filter(([name]) => name !== 'text');
    expect(await typesIn(file)).toEqual(
      NESTED.map(([name, type]) => [name, name === 'text' ? 'VARCHAR' : type]),
    );
    // Arrow refuses maps whose keys may be null.
    expect(await duckMetadata(file, 'parquet_schema', 'name, repetition_type')).toContainEqual([
      'key',
      'REQUIRED',
    ]);
    const texts = `SELECT ${kept.map(([name]) => `CAST(${name} AS VARCHAR)`).join(', ')} FROM file`;
    expect(await duckRows(file, texts)).toEqual(await duckRows(await parquetFile(all), texts));
    const schema = (await (await boss.fetch('/schema/nested.parquet/')).json()) as {
      columns: Record<string, unknown>;
    };
    expect(schema.columns).toMatchObject({
      bytes: { type: 'string', contentEncoding: 'base64' },
      text: { type: 'string' },
    });
    expect(schema.columns['text']).toEqual({ type: 'string' });
    const rows = (await (await boss.fetch('/api/nested.parquet/')).json()) as { bytes: string }[];
    expect(rows.map(({ bytes }) => bytes)).toEqual(['/wBwbGFpbg==', 'cGxhaW4=', null as never]);
  });

  test.each(['csv', 'xlsx', 'parquet', 'ndjson'])(
    'a file that shares its name is exported as %s by its stem',
    async (format) => {
      const header = (await client.fetch(`/api/other.csv/?format=${format}`)).headers;
      expect(header.get('content-disposition')).toContain(`filename="other.${format}"`);
    },
  );
});
