/**
 * What LibreOffice makes of edited workbooks. Runs where `soffice` is installed; elsewhere it says that it did not.
 */
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import Papa from 'papaparse';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts';
import * as XLSX from 'xlsx';
import { goldenFormulas, goldenWorkbook } from './formula-workbook.ts';
import { edit, readTable, unzip } from './workbook-files.ts';
import { richWorkbook } from './workbook-rich-file.ts';

const soffice = Bun.which('soffice');
if (soffice === null)
  console.log('LibreOffice is not installed: its proof of edited workbooks was skipped');

/** A first start makes a profile. */
const PATIENCE_MS = 120_000;

const CSV_OF_ALL_SHEETS =
  'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1';

/** LibreOffice trusts the results in files of Excel unless told otherwise; Excel itself follows the flag in the file. */
const ALWAYS_RECALCULATE =
  '<?xml version="1.0"?><oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item></oor:items>';

async function convert(folder: TemporaryFolder, file: string, format: string): Promise<void> {
  const child = Bun.spawn(
    [
      soffice!,
      `-env:UserInstallation=file://${folder.at('profile')}`,
      '--headless',
      '--convert-to',
      format,
      '--outdir',
      folder.at('out'),
      folder.at(file),
    ],
    { stdout: 'pipe', stderr: 'pipe' },
  );
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
}

function sheetOf(folder: TemporaryFolder, name: string): string[][] {
  const file = readdirSync(folder.at('out')).find((entry) => entry.endsWith(`-${name}.csv`));
  const text = readFileSync(folder.at(`out/${file}`), 'utf8');
  return Papa.parse<string[]>(text, { skipEmptyLines: false }).data;
}

test.skipIf(soffice === null)(
  'LibreOffice opens an edited workbook with the new values, recalculated, and everything else',
  async () => {
    using folder = temporaryFolder();
    folder.write('profile/user/registrymodifications.xcu', ALWAYS_RECALCULATE);
    const file = await richWorkbook();
    const { file: result } = await edit(
      file,
      {
        updates: {
          2: { 1: 'Ölkanne\n"neu"', 3: 1000.5, 4: '2030-12-24', 5: false },
          3: { 1: '=1+1', 6: 5 },
        },
        deletes: [0, 7],
        creates: [{ 0: 999, 1: ' Neu & <gut> ', 3: 1.5, 4: '2031-01-01', 5: true }],
      },
      { sheet: 'Stock' },
    );
    folder.write('edited.xlsx', result);
    await convert(folder, 'edited.xlsx', CSV_OF_ALL_SHEETS);
    const stock = sheetOf(folder, 'Stock');
    const own = (await readTable(result, { sheet: 'Stock' })).rows;
    const shown = stock.filter((row) => row[0] !== '' && row[0] !== 'id');
    expect(shown.map((row) => row[1]!)).toEqual(own.map((row) => String(row[1])));
    expect(stock[2]!.slice(0, 6)).toEqual([
      '3',
      'Ölkanne\n"neu"',
      'z',
      '1000.5',
      '2030-12-24',
      'FALSE',
    ]);
    expect(stock[3]!.slice(0, 2)).toEqual(['4', '=1+1']);
    expect(stock[19]!.slice(0, 6)).toEqual([
      '999',
      ' Neu & <gut> ',
      '',
      '1.5',
      '2031-01-01',
      'TRUE',
    ]);
    // The formulas that stood in the deleted row and the overwritten cell went on to the rows below.
    expect(stock[1]![6]).toBe('5');
    expect(stock[2]![6]).toBe('2001');
    expect(stock[3]![6]).toBe('5');
    const prices = stock.slice(1, 19).reduce((sum, row) => sum + Number(row[3]), 0);
    expect(Number(sheetOf(folder, 'Sums')[0]![0])).toBeCloseTo(prices, 6);
    expect(sheetOf(folder, 'Cover')[0]![0]).toBe('Title');

    await convert(folder, 'edited.xlsx', 'xlsx:Calc MS Excel 2007 XML');
    const saved = unzip(readFileSync(folder.at('out/edited.xlsx')));
    const names = [...saved.keys()];
    // The note stood in a deleted row.
    expect(names.some((name) => name.startsWith('xl/comments'))).toBe(false);
    for (const part of ['xl/charts/chart', 'xl/media/image', 'xl/tables/table']) {
      expect(names.some((name) => name.startsWith(part))).toBe(true);
    }
    const sheets = names.filter((name) => /worksheets\/sheet\d/.test(name));
    const texts = sheets.map((name) => saved.get(name)!.data.toString('utf8')).join('');
    for (const element of ['conditionalFormatting', 'dataValidation', 'mergeCell', 'hyperlink']) {
      expect(texts).toContain(`<${element} `);
    }
  },
  PATIENCE_MS,
);

test.skipIf(soffice === null)(
  'legacy workbooks and edited ones of LibreOffice read as the workbook they were made of',
  async () => {
    using folder = temporaryFolder();
    folder.write('book.xlsx', await richWorkbook());
    await convert(folder, 'book.xlsx', 'xls:MS Excel 97');
    await convert(folder, 'book.xlsx', 'xlsx:Calc MS Excel 2007 XML');
    const original = await readTable(readFileSync(folder.at('book.xlsx')), { sheet: 'Stock' });
    const legacy = await readTable(readFileSync(folder.at('out/book.xls')), { sheet: 'Stock' });
    expect(legacy.names).toEqual(original.names);
    expect(legacy.rows).toEqual(original.rows);
    const saved = readFileSync(folder.at('out/book.xlsx'));
    expect((await readTable(saved, { sheet: 'Stock' })).rows).toEqual(original.rows);
    const { file } = await edit(
      saved,
      { updates: { 5: { 1: 'changed' } }, creates: [{ 0: 21 }] },
      { sheet: 'Stock' },
    );
    folder.write('again.xlsx', file);
    await convert(folder, 'again.xlsx', CSV_OF_ALL_SHEETS);
    const stock = sheetOf(folder, 'Stock');
    expect(stock[6]![1]).toBe('changed');
    expect(stock[21]![0]).toBe('21');
  },
  PATIENCE_MS,
);

test.skipIf(soffice === null)(
  'LibreOffice calculates what test/golden/formulas.tsv says of it',
  async () => {
    using folder = temporaryFolder();
    folder.write('golden.xlsx', goldenWorkbook());
    await convert(folder, 'golden.xlsx', 'xlsx:Calc MS Excel 2007 XML');
    const sheet = XLSX.read(readFileSync(folder.at('out/golden.xlsx'))).Sheets['Data']!;
    // Where it differs from Excel, its versions may differ too.
    const same = goldenFormulas.filter(({ calculated, libreOffice }) => calculated === libreOffice);
    const found = same.map(({ formula }) => {
      const shown = sheet[`F${goldenFormulas.findIndex((one) => one.formula === formula) + 2}`];
      return [formula, (shown?.t === 'e' ? shown.w : shown?.v) ?? ''];
    });
    expect<unknown>(found).toEqual(same.map(({ formula, libreOffice }) => [formula, libreOffice]));
  },
  PATIENCE_MS,
);
