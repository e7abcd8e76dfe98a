/**
 * Worksheets share a file: an edit of one that is cut off after the file was replaced leaves the rows of the others their ids
 * (DS-48, F2).
 */
import { expect, test } from 'bun:test';
import { timestamp } from '../../src/base/clock.ts';
import ExcelJS from 'exceljs';
import { AttachedStrace } from '../faults/attached-strace.ts';
import { isExcused } from '../faults/recipe.ts';
import { startService } from '../support/service.ts';
import { change, create, remove, update } from './changes.ts';
import { list } from './listing.ts';

async function workbook(): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  for (const name of ['One', 'Two', 'Three']) {
    const sheet = book.addWorksheet(name);
    sheet.addRow(['n']);
    for (let row = 1; row <= 4; row++) sheet.addRow([row]);
  }
  return new Uint8Array(await book.xlsx.writeBuffer());
}

test.skipIf(isExcused() || Bun.which('strace') === null)(
  'killed between replacing a workbook and following with its sheets, every row keeps its id',
  async () => {
    await using service = await startService({ files: { 'w.xlsx': await workbook() } });
    await service.accounts.grant('ada', '*', 'read', 'write');
    const ada = await service.as('ada');
    for (const sheet of ['One', 'Two', 'Three']) {
      expect((await list(ada, `w/${sheet}`)).rows).toHaveLength(4);
      expect((await remove(ada, `w/${sheet}`, 2)).status).toBe(200);
    }
    const made = await change(ada, 'POST', 'w/Two', { action: 'create', data: [{ n: 5 }] });
    expect(made.rowIds).toEqual([5]);
    expect((await remove(ada, 'w/Two', 5)).status).toBe(200);
    for (let round = 1; round <= 2; round++) {
      // The folder is synced when the new file has its name, and before any copy knows.
      const strace = await AttachedStrace.attach(service.pid, {
        injections: ['fsync:signal=SIGKILL:when=1'],
        paths: [service.docroot],
      });
      expect(
        await update(ada, 'w/One', { _row_id: 1, n: 10 + round }).catch(() => null),
      ).toBeNull();
      await service.kill('SIGKILL');
      await strace.ended();
      await service.start();
      expect((await list(ada, 'w/One')).rows).toEqual([
        { _row_id: 1, n: 10 + round },
        { _row_id: 3, n: 3 },
        { _row_id: 4, n: 4 },
      ]);
      for (const sheet of ['Two', 'Three']) {
        expect((await list(ada, `w/${sheet}`)).rows).toEqual([
          { _row_id: 1, n: 1 },
          { _row_id: 3, n: 3 },
          { _row_id: 4, n: 4 },
        ]);
      }
    }
    // An id that was given once is not given again.
    const again = await change(ada, 'POST', 'w/Two', { action: 'create', data: [{ n: 6 }] });
    expect(again.rowIds).toEqual([6]);
  },
);

test('a text that no workbook can hold is refused before the file is locked (DS-75, DS-78)', async () => {
  await using service = await startService({
    files: { 'w.xlsx': await workbook() },
    config: { locks: { timeout_seconds: 1 } },
  });
  await service.accounts.grant('ada', '*', 'read', 'write');
  const ada = await service.as('ada');
  await service.accounts.db.run(
    'INSERT INTO locks (resource, owner, acquired_at, expires_at, reason) VALUES (?, ?, ?, ?, ?)',
    ['w.xlsx', 'mallory', timestamp(Date.now()), timestamp(Date.now() + 60_000), 'write:update'],
  );
  const refusal = {
    status: 422,
    detail: "Schema validation failed: column 'n': a text may not exceed 32767 characters",
  };
  const lenient = { Prefer: 'handling=lenient' };
  const long = { action: 'create', data: [{ n: 'x'.repeat(32_768) }] };
  expect(await change(ada, 'POST', 'w/One', long, lenient)).toMatchObject(refusal);
  // What fits gets as far as the lock.
  expect(await create(ada, 'w/One', [{ n: 1 }])).toMatchObject({ status: 409 });
});
