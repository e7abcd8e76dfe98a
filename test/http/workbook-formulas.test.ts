/** Formulas of a workbook that is edited: the API shows results of now, in every worksheet, and rows keep their ids (DS-48, DS-65, DS-87). */
import { expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as XLSX from 'xlsx';
import { startService } from '../support/service.ts';
import { create, remove, update } from './changes.ts';
import { list } from './listing.ts';

async function workbook(): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  const items = book.addWorksheet('Items');
  items.addRow(['qty', 'price', 'total']);
  for (let row = 2; row <= 5; row++) {
    items.addRow([row, 10, { formula: `A${row}*B${row}`, result: row * 10 }]);
  }
  const sums = book.addWorksheet('Sums');
  sums.addRow(['what', 'value']);
  sums.addRow(['total', { formula: 'SUM(Items!C:C)', result: 140 }]);
  sums.addRow(['count', { formula: 'COUNT(Items!A2:A100)', result: 4 }]);
  sums.addRow(['now', { formula: 'Items!A2+NOW()', result: 45000 }]);
  const apart = book.addWorksheet('Apart');
  apart.addRow(['n']);
  apart.addRow([{ formula: '1+1', result: 2 }]);
  return new Uint8Array(await book.xlsx.writeBuffer());
}

test('every worksheet shows results of now, with its row ids and one version', async () => {
  await using service = await startService({ files: { 'w.xlsx': await workbook() } });
  await service.accounts.grant('ada', '*', 'read', 'write');
  const ada = await service.as('ada');
  expect((await remove(ada, 'w/Sums', 2)).status).toBe(200);
  expect((await list(ada, 'w/Sums')).rows.map((row) => row['_row_id'])).toEqual([1, 3]);
  const edited = await update(ada, 'w/Items', { _row_id: 1, qty: 100 });
  expect(edited.status).toBe(200);
  expect((await list(ada, 'w/Items')).rows).toEqual([
    { _row_id: 1, qty: 100, price: 10, total: 1000 },
    { _row_id: 2, qty: 3, price: 10, total: 30 },
    { _row_id: 3, qty: 4, price: 10, total: 40 },
    { _row_id: 4, qty: 5, price: 10, total: 50 },
  ]);
  const sums = await list(ada, 'w/Sums');
  expect(sums.rows).toEqual([
    { _row_id: 1, what: 'total', value: '1120' },
    { _row_id: 3, what: 'now', value: '=Items!A2+NOW()' },
  ]);
  // What is not calculated is counted in the schema and said on the page.
  const schema = await (await ada.fetch('/schema/w/Sums/')).json();
  expect(schema).toMatchObject({ source: { uncalculated: 1, guessed: [] } });
  const html = { headers: { accept: 'text/html' } };
  const note = '1 cell is not calculated and shows its formula';
  expect(await (await ada.fetch('/ui/w/Sums/', html)).text()).toContain(note);
  expect(await (await ada.fetch('/ui/w/Items/', html)).text()).not.toContain(note);
  expect(await (await ada.fetch('/schema/w/Items/')).json()).not.toHaveProperty('source');
  const filtered = await list(ada, 'w/Items', { filter: { total: { $gt: 500 } } });
  expect(filtered.rows.map((row) => row['_row_id'])).toEqual([1]);
  // A new row, then one after it has gone; the ETag of a change is that of the next read.
  expect((await create(ada, 'w/Items', [{ qty: 1, price: 1, total: 7 }])).status).toBe(200);
  expect((await list(ada, 'w/Sums')).rows[0]).toMatchObject({ value: '1127' });
  const last = await update(ada, 'w/Items', { _row_id: 5, total: 8 });
  const tag = last.headers.get('etag')!;
  const seen = (await list(ada, 'w/Items')).etag;
  expect(seen.startsWith(tag.slice(0, -1))).toBe(true);
  expect((await list(ada, 'w/Sums')).rows[0]).toMatchObject({ _row_id: 1, value: '1128' });
  expect((await list(ada, 'w/Apart')).rows).toEqual([{ _row_id: 1, n: 2 }]);

  await service.restart();
  expect((await list(ada, 'w/Sums')).rows.map((row) => row['_row_id'])).toEqual([1, 3]);
  const book = XLSX.read(readFileSync(join(service.docroot, 'w.xlsx')));
  expect(book.Sheets['Sums']!['B2']).toMatchObject({ v: 1128, f: 'SUM(Items!C:C)' });
  expect(book.Sheets['Sums']!['B4']?.v).toBeUndefined();
});

test('a formula that an edit of another row of its sheet reaches is found by its new text', async () => {
  await using service = await startService({ files: { 'w.xlsx': await workbook() } });
  await service.accounts.grant('ada', '*', 'read', 'write');
  const ada = await service.as('ada');
  const edits = Array.from({ length: 5 }, (_, index) =>
    update(ada, 'w/Items', { _row_id: 1 + (index % 4), qty: 50 + index }),
  );
  expect((await Promise.all(edits)).map(({ status }) => status)).toEqual(Array(5).fill(200));
  const { rows } = await list(ada, 'w/Items');
  for (const row of rows) expect(row['total']).toBe(Number(row['qty']) * 10);
  const total = rows.reduce((sum, row) => sum + Number(row['total']), 0);
  expect((await list(ada, 'w/Sums')).rows[0]).toMatchObject({ value: String(total) });
});

test('a cell in a column of mixed types keeps its own type (DS-78)', async () => {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet('S');
  sheet.addRows([['v'], [5], ['text'], [true], ['12'], [7.5]]);
  await using service = await startService({
    files: { 'w.xlsx': new Uint8Array(await book.xlsx.writeBuffer()) },
  });
  await service.accounts.grant('ada', '*', 'read', 'write');
  const ada = await service.as('ada');
  const stored = (): unknown[] => {
    const found = XLSX.read(readFileSync(join(service.docroot, 'w.xlsx'))).Sheets['S']!;
    return [2, 3, 4, 5, 6, 7].map((row) => found[`A${row}`]?.v);
  };
  for (const [id, v] of [
    [1, '6'],
    [2, '8'],
    [3, 'FALSE'],
    [4, 13],
    [5, '007'],
  ] as const) {
    expect((await update(ada, 'w/S', { _row_id: id, v })).status).toBe(200);
  }
  expect((await create(ada, 'w/S', [{ v: 3.25 }])).status).toBe(200);
  expect(stored()).toEqual([6, '8', false, 13, '007', 3.25]);
  const { rows } = await list(ada, 'w/S');
  expect(rows.map((row) => row['v'])).toEqual(['6', '8', 'FALSE', '13', '007', '3.25']);
  const refused = await update(ada, 'w/S', { _row_id: 1, v: [1] });
  expect(refused.status).toBe(422);
});

test('deleted rows close the gap, and the rows below keep their ids (DS-48, DS-87)', async () => {
  await using service = await startService({ files: { 'w.xlsx': await workbook() } });
  await service.accounts.grant('ada', '*', 'read', 'write');
  const ada = await service.as('ada');
  expect((await list(ada, 'w/Sums')).rows).toHaveLength(3);
  expect((await remove(ada, 'w/Items', 2)).status).toBe(200);
  const left = [
    { _row_id: 1, qty: 2, price: 10, total: 20 },
    { _row_id: 3, qty: 4, price: 10, total: 40 },
    { _row_id: 4, qty: 5, price: 10, total: 50 },
  ];
  expect((await list(ada, 'w/Items')).rows).toEqual(left);
  const stored = XLSX.read(readFileSync(join(service.docroot, 'w.xlsx')));
  expect(stored.Sheets['Items']!['!ref']).toBe('A1:C4');
  expect(stored.Sheets['Items']!['C3']).toMatchObject({ v: 40, f: 'A3*B3' });
  expect(stored.Sheets['Sums']!['B3']).toMatchObject({ v: 3, f: 'COUNT(Items!A2:A99)' });
  expect((await list(ada, 'w/Sums')).rows.slice(0, 2)).toMatchObject([
    { _row_id: 1, value: '110' },
    { _row_id: 2, value: '3' },
  ]);
  // Edits by id go on to meet their rows.
  expect((await update(ada, 'w/Items', { _row_id: 4, qty: 6 })).status).toBe(200);
  expect((await create(ada, 'w/Items', [{ qty: 1, price: 2 }])).rowIds).toEqual([5]);
  expect((await remove(ada, 'w/Items', 1)).status).toBe(200);
  await service.restart();
  expect((await list(ada, 'w/Items')).rows).toEqual([
    left[1]!,
    { _row_id: 4, qty: 6, price: 10, total: 60 },
    { _row_id: 5, qty: 1, price: 2, total: '' },
  ]);
  expect((await list(ada, 'w/Sums')).rows[0]).toMatchObject({ _row_id: 1, value: '100' });
});

test('formulas that wait in blank rows calculate the rows that are created there (DS-87)', async () => {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet('S');
  sheet.addRow(['n', 'double']);
  for (let row = 2; row <= 4; row++) {
    const result = row === 2 ? 2 : '';
    sheet.getCell(`B${row}`).value = { formula: `IF(A${row}="","",A${row}*2)`, result };
  }
  sheet.getCell('A2').value = 1;
  await using service = await startService({
    files: { 'w.xlsx': new Uint8Array(await book.xlsx.writeBuffer()) },
  });
  await service.accounts.grant('ada', '*', 'read', 'write');
  const ada = await service.as('ada');
  expect((await list(ada, 'w/S')).rows).toEqual([{ _row_id: 1, n: 1, double: 2 }]);
  expect((await create(ada, 'w/S', [{ n: 5 }, { n: 6, double: 7 }])).rowIds).toEqual([2, 3]);
  const expected = [
    { _row_id: 1, n: 1, double: 2 },
    { _row_id: 2, n: 5, double: 10 },
    { _row_id: 3, n: 6, double: 7 },
  ];
  expect((await list(ada, 'w/S')).rows).toEqual(expected);
  await service.restart();
  expect((await list(ada, 'w/S')).rows).toEqual(expected);
  const stored = XLSX.read(readFileSync(join(service.docroot, 'w.xlsx'))).Sheets['S']!;
  expect(stored['B3']).toMatchObject({ v: 10, f: 'IF(A3="","",A3*2)' });
  expect(stored['B4']).toMatchObject({ v: 7 });
});
