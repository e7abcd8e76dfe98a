/** Formulas that the program which wrote the workbook has not calculated, as openpyxl leaves them (DS-65, DS-69, DS-72). */
import { expect, test } from 'bun:test';
import { type CellValue, Workbook } from 'exceljs';
import { update } from './changes.ts';
import { get, list } from './listing.ts';
import { sharedService } from './shared-service.ts';

async function orders(): Promise<Buffer> {
  const workbook = new Workbook();
  const sheet = workbook.addWorksheet('Orders');
  const formula = (text: string): CellValue => ({ formula: text }) as CellValue;
  sheet.addRow(['item', 'n', 'price', 'sum', 'due', 'odd']);
  sheet.addRow(['a', 2, 3.5, formula('B2*C2'), formula('DATE(2026,1,31)'), formula('NOW()')]);
  sheet.addRow(['b', 4, 0.5, formula('B3*C3+D2'), formula('E2+1'), formula('1/0')]);
  sheet.getColumn('E').numFmt = 'yyyy-mm-dd';
  sheet.addRow(['Total', null, null, formula('SUM(D2:D3)')]);
  return Buffer.from(await workbook.xlsx.writeBuffer());
}

const file = await orders();
const shared = sharedService({
  files: {
    'plain.xlsx': file,
    'here.xlsx': file,
    '.svc/here.xlsx.Orders.options.json': '{"formulas":"calculate"}',
  },
});
const html = { headers: { Accept: 'text/html' } };

test('read as their text, and the page leads to calculating them', async () => {
  const { rows } = await list(shared.writer, 'plain/Orders');
  expect(rows[0]).toMatchObject({ sum: '=B2*C2', odd: '=NOW()' });
  const page = (await get(shared.writer, '/ui/plain/Orders/', html)).text;
  const href = /href="([^"]*formulas=calculate)"/.exec(page)![1]!.replaceAll('&amp;', '&');
  expect((await get(shared.writer, href, html)).text).toContain('value="calculate" selected');
  expect((await get(shared.reader, '/ui/plain/Orders/', html)).text).not.toContain('formulas=');
});

test('are calculated where the options say so, and follow the cells they refer to', async () => {
  const { writer } = shared;
  const { rows } = await list(writer, 'here/Orders');
  expect(rows.map(({ sum, due, odd }) => [sum, due, odd])).toEqual([
    [7, '2026-01-31 00:00:00', '=NOW()'],
    [9, '2026-02-01 00:00:00', '#DIV/0!'],
  ]);
  const schema = (await get(writer, '/schema/here/Orders/')).body as {
    columns: { sum: object };
    source: object;
  };
  expect(schema.columns.sum).toEqual({ type: 'integer' });
  expect(schema.source).toMatchObject({
    uncalculated: 1,
    calculated: 6,
    total_row: { values: { sum: 16 } },
  });
  expect((await update(writer, 'here/Orders', { _row_id: 1, n: 3 })).status).toBe(200);
  const after = (await list(writer, 'here/Orders')).rows;
  expect(after.map(({ sum }) => sum)).toEqual([10.5, 12.5]);
  expect((await get(writer, '/schema/here/Orders/')).body).toMatchObject({
    source: { total_row: { values: { sum: 23 } } },
  });
});
