/**
 * Cells of a workbook that cannot be written on their own: the reason is told at once, and no other change of the same
 * moment fails with them (DS-87, DS-88).
 */
import { expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import { change, update } from './changes.ts';
import { list } from './listing.ts';
import { sharedService } from './shared-service.ts';

async function workbook(): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet('S');
  sheet.addRows([
    ['a', 'b', 'c'],
    [1, 2, 3],
    [4, null, 6],
    [7, 8, 9],
  ]);
  sheet.mergeCells('A3:B3');
  return new Uint8Array(await book.xlsx.writeBuffer());
}

const shared = sharedService({
  files: { 'merged.xlsx': await workbook() },
  // With the usual patience a needless wait would show only as a slow test.
  config: { locks: { timeout_seconds: 300 } },
});

const REFUSAL = {
  detail: "Cannot write 'merged.xlsx': the cell B3 is merged into A3:B3 and cannot be written",
};

test('a write under a merged cell is refused with the reason, at once (DS-87)', async () => {
  const body = { action: 'update', data: { _row_id: 2, b: 5 } };
  const answer = await shared.writer.fetch('/api/merged/S/', {
    method: 'PATCH',
    body: JSON.stringify(body),
  });
  expect([answer.status, await answer.json()]).toEqual([422, REFUSAL]);
  expect((await update(shared.writer, 'merged/S', { _row_id: 2, a: 44 })).status).toBe(200);
});

test('changes that arrive together with a refused one are made (DS-87)', async () => {
  const { writer } = shared;
  const answers = await Promise.all([
    update(writer, 'merged/S', { _row_id: 1, b: 20 }),
    update(writer, 'merged/S', { _row_id: 3, b: 80 }),
    update(writer, 'merged/S', { _row_id: 2, b: 5 }),
    change(writer, 'POST', 'merged/S', { action: 'create', data: [{ a: 10 }] }),
    update(writer, 'merged/S', { _row_id: 3, c: 90 }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 422, 200, 200]);
  expect((await list(writer, 'merged/S')).rows).toEqual([
    { _row_id: 1, a: 1, b: 20, c: 3 },
    { _row_id: 2, a: 44, b: '', c: 6 },
    { _row_id: 3, a: 7, b: 80, c: 90 },
    { _row_id: 4, a: 10, b: '', c: '' },
  ]);
});
