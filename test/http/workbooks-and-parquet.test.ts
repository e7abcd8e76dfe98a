/**
 * Worksheets and Parquet files as datasets, through the whole service: discovered, read, edited, exported (DS-23, DS-44,
 * DS-48, DS-66, DS-82, DS-87, DS-88). What the readers and editors do in detail is tested beside them.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as XLSX from 'xlsx';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

let svc: Service;
let ada: Client;

beforeAll(async () => {
  svc = await startService({
    files: {
      'inv.xlsx': await workbook(),
      'old.xls': legacyWorkbook(),
      'broken.xlsx': 'PK no archive',
    },
  });
  await svc.accounts.grant('ada', '*', 'read', 'write');
  ada = await svc.as('ada');
});

afterAll(() => svc?.[Symbol.asyncDispose]());

async function workbook(): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  const stock = book.addWorksheet('Stock');
  stock.addRow(['name', 'qty', 'since']);
  for (let index = 1; index <= 30; index++) {
    stock.addRow([`item ${index}`, index, new Date(Date.UTC(2024, 0, index))]);
  }
  const orders = book.addWorksheet('Orders & more');
  orders.addRow(['id', 'total']);
  for (let index = 1; index <= 5; index++) orders.addRow([index, index * 10]);
  return new Uint8Array(await book.xlsx.writeBuffer());
}

function legacyWorkbook(): Uint8Array {
  const sheet = XLSX.utils.aoa_to_sheet([
    ['a', 'b'],
    [1, 'x'],
  ]);
  const book = XLSX.utils.book_new();
  XLSX.utils.book_append_sheet(book, sheet, 'Data');
  return new Uint8Array(XLSX.write(book, { type: 'array', bookType: 'biff8' }) as ArrayBuffer);
}

type Row = Record<string, unknown>;

async function rows(path: string): Promise<Row[]> {
  const answer = await ada.fetch(path);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Row[];
}

async function version(path: string): Promise<string> {
  const answer = await ada.fetch(path, { method: 'HEAD' });
  return /^"([^.]+)\./.exec(answer.headers.get('etag') ?? '')?.[1] ?? '';
}

const change = (method: string, body: object): RequestInit => ({
  method,
  body: JSON.stringify(body),
});

test('every worksheet is a dataset under its workbook, and the workbook itself is none (DS-23, DS-32)', async () => {
  await eventually(async () => expect(await rows('/api/inv/Stock/')).toHaveLength(30));
  const orders = await rows('/api/inv/Orders%20%26%20more/');
  expect(orders[0]).toEqual({ _row_id: 1, id: 1, total: 10 });
  expect((await rows('/api/inv.xlsx/Stock/'))[1]).toEqual({
    _row_id: 2,
    name: 'item 2',
    qty: 2,
    since: '2024-01-02 00:00:00',
  });
  expect((await ada.fetch('/api/inv/')).status).toBe(404);
});

test('a broken workbook stays listed with its reason (DS-34)', async () => {
  const reason = await eventually(async () => {
    const listing = (await (await ada.fetch('/')).json()) as { problems?: { resource: string }[] };
    expect(listing.problems?.map(({ resource }) => resource)).toEqual(['broken.xlsx']);
    return listing.problems;
  });
  expect(reason).toHaveLength(1);
  expect((await ada.fetch('/api/broken/')).status).toBe(422);
});

test('an edit of one sheet keeps the ids of the others, and all share the version (DS-48, DS-82)', async () => {
  const orders = '/api/inv/Orders%20%26%20more/';
  await ada.fetch(orders, change('DELETE', { action: 'delete', data: { _row_id: 1 } }));
  const before = await rows(orders);
  expect(before[0]).toMatchObject({ _row_id: 2 });
  const answer = await ada.fetch(
    '/api/inv/Stock/',
    change('PATCH', { action: 'update', data: { _row_id: 3, qty: 99, since: '2025-05-05' } }),
  );
  expect(answer.status).toBe(200);
  expect(await rows(orders)).toEqual(before);
  const shared = await version('/api/inv/Stock/');
  expect(answer.headers.get('etag')).toBe(`"${shared}"`);
  expect(await version(orders)).toBe(shared);
  expect((await rows('/api/inv/Stock/'))[2]).toMatchObject({
    qty: 99,
    since: '2025-05-05 00:00:00',
  });

  await svc.restart();
  expect(await rows(orders)).toEqual(before);
  const stored = XLSX.read(readFileSync(join(svc.docroot, 'inv.xlsx')), { cellDates: false });
  expect(stored.Sheets['Stock']?.['B4']?.v).toBe(99);
});

test('a stale If-Match from another sheet is refused (DS-82)', async () => {
  const old = await version('/api/inv/Orders%20%26%20more/');
  const edit = change('PATCH', { action: 'update', data: { _row_id: 4, qty: 44 } });
  const headers = { 'If-Match': `"${old}"` };
  expect((await ada.fetch('/api/inv/Stock/', { ...edit, headers })).status).toBe(200);
  const again = change('PATCH', { action: 'update', data: { _row_id: 5, qty: 55 } });
  expect((await ada.fetch('/api/inv/Stock/', { ...again, headers })).status).toBe(412);
});

test('a legacy workbook is read and never written (DS-66)', async () => {
  expect(await rows('/api/old/Data/')).toEqual([{ _row_id: 1, a: 1, b: 'x' }]);
  const answer = await ada.fetch('/api/old/Data/', change('POST', { action: 'create', data: [] }));
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  expect(await answer.json()).toEqual({
    detail: 'Legacy .xls workbooks are read-only; convert the file to .xlsx',
  });
});

test('any view is exported as xlsx and as Parquet, and the export is a dataset again (DS-44, DS-45)', async () => {
  const xlsx = await ada.fetch(
    '/api/inv/Stock/?format=xlsx&filter={"qty":{"$lte":3}}&columns=name,qty',
  );
  expect(xlsx.headers.get('content-disposition')).toContain('filename="inv-Stock.xlsx"');
  const book = XLSX.read(await xlsx.bytes());
  const sheet = book.Sheets[book.SheetNames[0]!]!;
  expect(XLSX.utils.sheet_to_json(sheet)).toEqual([
    { name: 'item 1', qty: 1 },
    { name: 'item 2', qty: 2 },
  ]);
  const parquet = await ada.fetch('/api/inv/Stock/', {
    headers: { Accept: 'application/vnd.apache.parquet' },
  });
  expect(parquet.headers.get('content-type')).toBe('application/vnd.apache.parquet');
  writeFileSync(join(svc.docroot, 'stock.parquet'), await parquet.bytes());
  const copy = await eventually(() => rows('/api/stock/?columns=name,qty'));
  expect(copy).toEqual(await rows('/api/inv/Stock/?columns=name,qty'));
  const answer = await ada.fetch(
    '/api/stock/',
    change('POST', { action: 'create', data: [{ name: 'new', qty: 7 }] }),
  );
  expect(answer.status).toBe(200);
  expect((await rows('/api/stock/')).at(-1)).toMatchObject({ name: 'new', qty: 7, since: null });
  rmSync(join(svc.docroot, 'stock.parquet'));
});
