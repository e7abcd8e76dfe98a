/**
 * Results of queries as workbooks and Parquet files, by the API and by the address of the explorer: values and types,
 * limits, rights, and what an error looks like (EV-95 to EV-99, DS-44).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { readdirSync } from 'node:fs';
import { type Client, type Service, startService } from '../support/service.ts';

const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const PARQUET_TYPE = 'application/vnd.apache.parquet';

let svc: Service;
let user: Client;
let other: Client;

const ROWS = Array.from({ length: 3000 }, (_, index) => `${index},h${index % 7},=1+${index}`);

beforeAll(async () => {
  svc = await startService({
    files: { 'many.csv': `n,host,formula\n${ROWS.join('\n')}\n`, 'secret.csv': 'a\n1\n' },
    config: {
      events: {
        min_free_bytes: 1,
        throttle: { search: '' },
        search: { max_rows: 100, export_max_rows: 2000, audit: true },
      },
    },
  });
  await svc.accounts.grant('user', 'many', 'read');
  await svc.accounts.grant('user', '@events', 'read', 'write');
  await svc.accounts.user('other');
  await svc.accounts.user('root', { superuser: true });
  user = await svc.as('user');
  other = await svc.as('other');
  const events = [
    { data: 'one', n: 1, share: 0.5, ok: true, mixed: 1, big: '@9007199254740993', tags: ['a'] },
    { data: 'two', n: 2, share: 2, ok: false, mixed: 'x', big: 5, tags: { b: 1 } },
    { data: '=1+1', mixed: true },
  ].map(({ data, ...fields }, at) => ({
    data,
    host: 'web',
    extracted_fields: { ...fields, event_time: `2026-11-20T10:00:0${at}.000000Z` },
  }));
  const body = JSON.stringify(events).replace('"@9007199254740993"', '9007199254740993');
  const sent = await user.fetch('/api/events/', { method: 'POST', body });
  expect(sent.status).toBe(201);
});
afterAll(() => svc?.[Symbol.asyncDispose]());

const FIELDS =
  'from events | sort id | eval n=n, share=share, ok=ok, mixed=mixed, big=big, tags=tags, none=nowhere' +
  ' | table _time n share ok mixed big tags none data';

function run(client: Client, body: object, headers: Record<string, string> = {}) {
  return client.fetch('/search2/api/run/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function sheetOf(response: Response): Promise<ExcelJS.Worksheet> {
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe(XLSX_TYPE);
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="search.xlsx"');
  const book = new ExcelJS.Workbook();
  await book.xlsx.load(await response.arrayBuffer());
  return book.worksheets[0]!;
}

async function parquetOf(response: Response) {
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe(PARQUET_TYPE);
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="search.parquet"');
  const file = await response.arrayBuffer();
  const { schema } = parquetMetadata(file);
  const types = schema.slice(1).map(({ name, type }) => `${name} ${type}`);
  return { types, rows: await parquetReadObjects({ file }) };
}

describe('values', () => {
  test('of a workbook keep their types: numbers, booleans, text that is no formula, JSON of lists (DS-44)', async () => {
    const sheet = await sheetOf(await run(user, { query: FIELDS, format: 'xlsx' }));
    const rows = [1, 2, 3, 4].map((at) => (sheet.getRow(at).values as unknown[]).slice(1));
    expect(rows[0]).toEqual(['_time', 'n', 'share', 'ok', 'mixed', 'big', 'tags', 'none', 'data']);
    // A double would round the long integer, so it is text.
    const [time, ...cells] = rows[1]!;
    expect(time).toBe('2026-11-20T10:00:00.000000Z');
    expect(cells).toEqual([1, 0.5, true, 1, '9007199254740993', '["a"]', , 'one']);
    expect(sheet.getCell('D3').value).toBe(false);
    expect(sheet.getCell('E3').value).toBe('x');
    expect(sheet.getCell('F3').value).toBe(5);
    expect(sheet.getCell('G3').value).toBe('{"b":1}');
    expect(sheet.getCell('I4').value).toBe('=1+1');
    expect(sheet.getCell('B4').value).toBeNull();
  });

  test('of a Parquet file make the types of its columns; what has several is text (DS-44)', async () => {
    const { types, rows } = await parquetOf(await run(user, { query: FIELDS, format: 'parquet' }));
    expect(types).toEqual([
      '_time BYTE_ARRAY',
      'n INT64',
      'share DOUBLE',
      'ok BOOLEAN',
      'mixed BYTE_ARRAY',
      'big INT64',
      'tags BYTE_ARRAY',
      'none BYTE_ARRAY',
      'data BYTE_ARRAY',
    ]);
    expect(rows).toEqual([
      {
        _time: '2026-11-20T10:00:00.000000Z',
        n: 1n,
        share: 0.5,
        ok: true,
        mixed: '1',
        big: 9007199254740993n,
        tags: '["a"]',
        none: null,
        data: 'one',
      },
      {
        _time: '2026-11-20T10:00:01.000000Z',
        n: 2n,
        share: 2,
        ok: false,
        mixed: 'x',
        big: 5n,
        tags: '{"b":1}',
        none: null,
        data: 'two',
      },
      {
        _time: '2026-11-20T10:00:02.000000Z',
        n: null,
        share: null,
        ok: null,
        mixed: 'true',
        big: null,
        tags: null,
        none: null,
        data: '=1+1',
      },
    ]);
  });

  test('an empty result is a file with its columns', async () => {
    const query = 'from many | where n < 0 | table n host';
    const sheet = await sheetOf(await run(user, { query, format: 'xlsx' }));
    expect(sheet.rowCount).toBe(1);
    const { types, rows } = await parquetOf(await run(user, { query, format: 'parquet' }));
    expect(types).toHaveLength(2);
    expect(rows).toEqual([]);
  });
});

describe('limits and errors', () => {
  test('a file may have the rows of an export, and fewer when asked (EV-97)', async () => {
    const all = await parquetOf(await run(user, { query: 'from many', format: 'parquet' }));
    expect(all.rows).toHaveLength(2000);
    const few = { query: 'from many', format: 'xlsx', limit: 7 };
    expect((await sheetOf(await run(user, few))).rowCount).toBe(8);
    const many = await run(user, { query: 'from many', format: 'xlsx', limit: 2001 });
    expect(many.status).toBe(400);
    expect(await many.json()).toMatchObject({
      error: 'limit must be a whole number from 1 to 2000',
    });
  });

  test('the header asks too, and an unknown format is told', async () => {
    const query = 'from many | head 1';
    expect((await sheetOf(await run(user, { query }, { Accept: XLSX_TYPE }))).rowCount).toBe(2);
    expect(
      (await parquetOf(await run(user, { query }, { Accept: PARQUET_TYPE }))).rows,
    ).toHaveLength(1);
    const wrong = await run(user, { query, format: 'xls' });
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({
      error: 'format must be one of json, ndjson, csv, xlsx, parquet',
    });
  });

  test('what is wrong while rows are read is an answer, never half a file (EV-98)', async () => {
    // Every row with every row: millions, on any machine.
    const query =
      'from many | eval k=1 | join type=inner k [ from many | eval k=1 ] | stats count by n_x, host_y';
    const stopped = await run(user, { query, format: 'parquet', timeout_ms: 100 });
    expect(stopped.status).toBe(400);
    expect(await stopped.json()).toMatchObject({ code: 'time_budget' });
  });

  test('rights are those of the other formats, and nothing is left on the disk (EV-99)', async () => {
    const { rows } = await parquetOf(await run(other, { query: 'from events', format: 'parquet' }));
    expect(rows).toEqual([]);
    const unreadable = await run(other, { query: 'from many', format: 'xlsx' });
    expect(unreadable.status).toBe(400);
    const left = readdirSync(svc.stateDir).filter((name) => name.includes('result'));
    expect(left).toEqual([]);
  });

  test('a run is audited with its rows (EV-105)', async () => {
    await parquetOf(await run(user, { query: 'from many | head 11', format: 'parquet' }));
    const root = await svc.as('root');
    const found = await root.fetch('/admin/audit-logs?action=run_search');
    const text = await found.text();
    expect(text).toContain('11 rows, ');
  });
});

describe('the address of a view', () => {
  const address = (format: string, q = 'from many | where n < 5') =>
    `/events?${new URLSearchParams({ q, earliest: '', format })}`;

  test('gives its result in every format', async () => {
    const json = await user.fetch(address('json'));
    expect(await json.json()).toMatchObject({ meta: { count: 5 } });
    const csv = await user.fetch(address('csv'));
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="search.csv"');
    expect((await csv.text()).split('\r\n')).toHaveLength(7);
    expect((await sheetOf(await user.fetch(address('xlsx')))).rowCount).toBe(6);
    expect((await parquetOf(await user.fetch(address('parquet')))).rows).toHaveLength(5);
  });

  test('has errors of its own, and needs somebody', async () => {
    const wrong = await user.fetch(address('csv', 'from many | nonsense'));
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({ code: 'unknown_command' });
    // Somebody who opened the address gets the page, with the place of the mistake.
    const shown = await user.fetch(address('csv', 'from many | nonsense'), {
      headers: { Accept: 'text/html' },
    });
    expect([shown.status, shown.headers.get('content-type')]).toEqual([
      400,
      'text/html; charset=utf-8',
    ]);
    expect(await shown.text()).toContain('Unknown command');
    expect((await user.fetch(address('xls'))).status).toBe(404);
    expect((await svc.fetch(address('csv'))).status).toBe(401);
  });
});
