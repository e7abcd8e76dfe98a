/** Dates in worksheets and other files with types of their own (DS-65, DS-212); spelled numbers are for CSV alone (DS-213). */
import { expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { change, create, update } from './changes.ts';
import { address, columnOf, get, idsOf, list } from './listing.ts';
import { sharedService } from './shared-service.ts';

async function workbook(): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet('Dates');
  sheet.addRow(['real', 'text', 'sum', 'mixed']);
  const day = (text: string) => new Date(`${text}T00:00:00Z`);
  sheet.addRow([day('2024-03-05'), '5.3.2024', '7,50', day('2024-01-01')]);
  sheet.addRow([day('2023-12-31'), '31.12.2023', '12,00', 'soon']);
  sheet.addRow([null, null, null, null]);
  sheet.addRow([new Date('2024-01-31T09:30:00Z'), '1.2.2024', '1.234,50', null]);
  for (const column of [1, 4]) sheet.getColumn(column).numFmt = 'dd.mm.yyyy hh:mm';
  return new Uint8Array(await book.xlsx.writeBuffer());
}

const shared = sharedService({
  files: {
    'book.xlsx': await workbook(),
    'lines.ndjson':
      '{"at":"2024-01-31T10:00:00Z","s":"7,5"}\n{"at":"2024-01-31T11:00:00+02:00","s":"8,5"}\n{"at":null,"s":"x"}\n',
    'empty.ndjson': '{"at":"2024-01-31"}\n{"at":""}\n',
    'order.xlsx': await ordered(),
    '.svc/order.xlsx.A.options.json': '{"date_order":"dmy"}',
  },
});

async function ordered(): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet('A');
  for (const text of ['d', '01/02/2024', '03/01/2024']) sheet.addRow([text]);
  return new Uint8Array(await book.xlsx.writeBuffer());
}

const typesOf = async (name: string) => {
  const { body } = await get(shared.writer, address(name, {}, 'schema'));
  const { columns } = body as { columns: Record<string, { type: string; format?: string }> };
  return Object.values(columns).map(({ type, format }) => format ?? type);
};

test('date cells and texts that are dates are date columns of a worksheet', async () => {
  const { writer } = shared;
  expect(await typesOf('book/Dates')).toEqual(['date-time', 'date', 'string', 'string']);
  const { rows } = await list(writer, 'book/Dates', { sort: 'real' });
  expect(columnOf(rows, 'real')).toEqual([
    '2023-12-31 00:00:00',
    '2024-01-31 09:30:00',
    '2024-03-05 00:00:00',
  ]);
  expect(idsOf((await list(writer, 'book/Dates', { sort: '-text' })).rows)).toEqual([1, 3, 2]);
  const filter = { real: { $gte: '2024' }, text: { $lt: '2024-03' } };
  expect(idsOf((await list(writer, 'book/Dates', { filter })).rows)).toEqual([3]);
  expect(await typesOf('order/A')).toEqual(['date']);
  expect(idsOf((await list(writer, 'order/A', { sort: 'd' })).rows)).toEqual([2, 1]);
});

test('a date written into a date cell stays one, a text stays text', async () => {
  const { writer, service } = shared;
  const values = { _row_id: 2, real: '2024-02-01T10:15:00Z', text: '2024-04-09' };
  expect((await update(writer, 'book/Dates', values)).status).toBe(200);
  expect(
    (await create(writer, 'book/Dates', [{ real: '2024-06-01', text: '2.6.2024' }])).status,
  ).toBe(200);
  const { rows } = await list(writer, 'book/Dates');
  expect(columnOf(rows, 'real')).toEqual([
    '2024-03-05 00:00:00',
    '2024-02-01 10:15:00',
    '2024-01-31 09:30:00',
    '2024-06-01 00:00:00',
  ]);
  expect(columnOf(rows, 'text')).toEqual(['5.3.2024', '9.4.2024', '1.2.2024', '2.6.2024']);
  const book = new ExcelJS.Workbook();
  const bytes = readFileSync(join(service.docroot, 'book.xlsx'));
  await book.xlsx.load(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer,
  );
  const sheet = book.getWorksheet('Dates')!;
  expect(sheet.getCell('A3').value).toEqual(new Date('2024-02-01T10:15:00Z'));
  expect(sheet.getCell('B3').value).toBe('9.4.2024');
  expect(sheet.getCell('A6').value).toEqual(new Date('2024-06-01T00:00:00Z'));
  for (const [column, value, type] of [
    ['real', 'soon', 'date-time'],
    ['text', 'soon', 'date'],
    ['real', '2024-02-01T10:15:00+01:00', 'date-time'],
  ]) {
    const { status, detail } = await create(writer, 'book/Dates', [{ [column!]: value }]);
    expect([status, detail]).toEqual([
      422,
      `Schema validation failed: column '${column}': expected ${type}, received string`,
    ]);
  }
  const body = { action: 'update', data: { _row_id: 3, text: 'soon' } };
  const lenient = { Prefer: 'handling=lenient' };
  expect((await change(writer, 'PATCH', 'book/Dates', body, lenient)).status).toBe(200);
  expect(await typesOf('book/Dates')).toEqual(['date-time', 'string', 'string', 'string']);
});

test('texts of JSON that are dates are dates, blank texts are none', async () => {
  const { writer } = shared;
  expect(await typesOf('lines')).toEqual(['date-time', 'string']);
  expect(idsOf((await list(writer, 'lines', { sort: 'at' })).rows)).toEqual([2, 1, 3]);
  expect(idsOf((await list(writer, 'lines', { filter: { at: null } })).rows)).toEqual([3]);
  expect((await update(writer, 'lines', { _row_id: 3, at: '2024-03-01T00:00:00Z' })).status).toBe(
    200,
  );
  expect(idsOf((await list(writer, 'lines', { sort: '-at' })).rows)).toEqual([3, 1, 2]);
  expect(await typesOf('empty')).toEqual(['string']);
  expect(columnOf((await list(writer, 'empty')).rows, 'at')).toEqual(['2024-01-31', '']);
});
