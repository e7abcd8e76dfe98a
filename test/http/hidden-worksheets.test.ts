/** Hidden worksheets are published only where configured (DS-65); workbooks with macros are edited around them (DS-23, DS-87). */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as XLSX from 'xlsx';
import { unzip, workbookEntries, zip } from '../plugins/workbook-files.ts';
import { startService } from '../support/service.ts';
import { update } from './changes.ts';
import { list } from './listing.ts';

function workbook(): Uint8Array {
  const book = XLSX.utils.book_new();
  for (const name of ['Shown', 'Hidden', 'Very hidden']) {
    XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet([['n'], [1]]), name);
  }
  book.Workbook = { Sheets: [{ Hidden: 0 }, { Hidden: 1 }, { Hidden: 2 }] };
  return XLSX.write(book, { type: 'buffer', bookType: 'xlsx' }) as Uint8Array;
}

const legacy = (): Uint8Array =>
  XLSX.write(XLSX.read(workbook()), { type: 'buffer', bookType: 'biff8' }) as Uint8Array;

const NAMES = ['Shown', 'Hidden', 'Very%20hidden'];

test('a hidden worksheet has no name, and the operator is told (DS-65)', async () => {
  await using service = await startService({
    files: { 'b.xlsx': workbook(), 'old.xls': legacy() },
  });
  await service.accounts.grant('ada', '*', 'read', 'write');
  const ada = await service.as('ada');
  await service.accounts.user('root', { superuser: true });
  const root = await service.as('root');
  for (const client of [ada, root]) {
    for (const book of ['b', 'b.xlsx', 'old']) {
      const found = NAMES.map(async (name) => (await client.fetch(`/api/${book}/${name}/`)).status);
      expect(await Promise.all(found)).toEqual([200, 404, 404]);
    }
    expect(await (await client.fetch('/')).text()).not.toContain('idden');
  }
  const page = await (
    await root.fetch('/admin/ui/resources', { headers: { accept: 'text/html' } })
  ).text();
  expect(page).toContain(
    'the worksheet &#x27;Very hidden&#x27; is hidden, and resources.hidden_sheets is false',
  );
  const check = await service.command(['check', service.docroot]);
  expect(check.exitCode).toBe(0);
  expect(check.stdout).toContain(
    "WARNING: b.xlsx is published in part: the worksheet 'Hidden' is hidden, and resources.hidden_sheets is false",
  );
  // An edit of the sheet beside them leaves them hidden and alone.
  expect((await update(ada, 'b/Shown', { _row_id: 1, n: 2 })).status).toBe(200);
  const book = XLSX.read(readFileSync(join(service.docroot, 'b.xlsx')));
  expect(book.Workbook?.Sheets?.map(({ Hidden }) => Hidden)).toEqual([0, 1, 2]);
});

test('hidden worksheets are published where configured (DS-65)', async () => {
  await using service = await startService({
    files: { 'b.xlsx': workbook() },
    config: { resources: { hidden_sheets: true } },
  });
  await service.accounts.grant('ada', '*', 'read', 'write');
  const ada = await service.as('ada');
  for (const name of ['Shown', 'Hidden', 'Very hidden'])
    expect((await list(ada, `b/${name}`)).rows).toEqual([{ _row_id: 1, n: 1 }]);
  expect((await update(ada, 'b/Hidden', { _row_id: 1, n: 2 })).status).toBe(200);
  expect((await list(ada, 'b/Hidden')).rows).toEqual([{ _row_id: 1, n: 2 }]);
});

test('an edit of a workbook with macros changes nothing but the worksheet (DS-23, DS-87)', async () => {
  const macros = Buffer.from('d0cf11e0a1b11ae1macro', 'latin1');
  const entries = workbookEntries({
    sheets: {
      S: '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>n</t></is></c></row><row r="2"><c r="A2"><v>1</v></c></row></sheetData></worksheet>',
    },
  });
  const file = zip([
    ...entries.map((entry) => ({
      ...entry,
      data: String(entry.data).replace(
        'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
        'application/vnd.ms-excel.sheet.macroEnabled.main+xml',
      ),
    })),
    { name: 'xl/vbaProject.bin', data: macros },
  ]);
  await using service = await startService({ files: { 'm.XLSM': file } });
  await service.accounts.grant('ada', '*', 'read', 'write');
  const ada = await service.as('ada');
  expect((await update(ada, 'm/S', { _row_id: 1, n: 2 })).status).toBe(200);
  expect((await list(ada, 'm/S')).rows).toEqual([{ _row_id: 1, n: 2 }]);
  const before = unzip(file);
  const after = unzip(readFileSync(join(service.docroot, 'm.XLSM')));
  const changed = [...before.keys()].filter(
    (name) => !before.get(name)!.data.equals(after.get(name)!.data),
  );
  expect(changed).toEqual([...before.keys()].filter((name) => name.includes('worksheets/')));
  expect(after.get('xl/vbaProject.bin')!.data).toEqual(macros);
});
