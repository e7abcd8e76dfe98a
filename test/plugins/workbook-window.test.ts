/** Worksheets larger than what is held of them at a time. */
import { expect, test } from 'bun:test';
import { SheetWindow } from '../../plugins/workbook/xlsx/sheet-window.ts';
import { changedParts, edit, partOf, readTable, workbookEntries, zip } from './workbook-files.ts';

const SHEET = 'xl/worksheets/sheet1.xml';
const TEXT =
  '\uFEFF<?xml version="1.0"?><!-- <sheetData> --><worksheet a="x>y" xmlns="m"><dimension ref="A1"/><sheetData x=\'1>2\'>\n' +
  '<row r="1"><c r="A1" t="inlineStr"><is><t>a]]>&gt;</t></is></c></row><!-- <row r="9"/> --><row r=\'2\' />' +
  '<row><c><v>5</v></c><c t="str"><f>"&lt;/c>"</f><v><![CDATA[</v>]]></v></c><extLst><c/></extLst></row><foo><row/></foo>\n</sheetData><tail/></worksheet>';

async function* chunksOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Every row with its cells' texts, by chunks of so many bytes. */
async function rowsOf(text: string, size: number, isSkimmed = false): Promise<string[]> {
  const sheet = new SheetWindow('sheet', chunksOf(text, size));
  const { data } = await sheet.start();
  sheet.position = data!.to;
  const rows: string[] = [];
  await sheet.eachRow(
    (row) => {
      const cells = row.cells
        .slice(0, row.count)
        .map(
          ({ column, valueFrom, valueTo }) =>
            `${column}:${valueFrom < 0 ? '' : sheet.text.slice(valueFrom, valueTo)}`,
        );
      rows.push(
        `${row.number} ${isSkimmed ? '' : cells.join(' ')} @${sheet.offsetOf(row.from)}-${sheet.offsetOf(row.to)}`,
      );
    },
    isSkimmed ? () => false : undefined,
  );
  return [...rows, `end @${sheet.offset}`];
}

test('rows are found wherever the text is cut', async () => {
  const whole = await rowsOf(TEXT, 10_000);
  expect(whole).toHaveLength(4);
  expect(whole[2]).toStartWith('3 0:5 1:<![CDATA[</v>]]> @');
  for (let size = 1; size < 60; size++) {
    expect(await rowsOf(TEXT, size)).toEqual(whole);
  }
});

test('rows whose cells are not wanted end where they would otherwise', async () => {
  const text =
    '<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2"><v>1</v></c></row ><row r="3"><c><v>3</v></c></row>' +
    '<row r="4"><!-- </row> --><c r="A4"><f>1</f></c></row><row r="5"/><row r="6"><c r="A6" t="inlineStr"><is><t><![CDATA[</row>]]></t></is></c></row><row></row></sheetData></worksheet>';
  const bare = (await rowsOf(text, 1000)).map((row) => row.replace(/ .*@/, '  @'));
  expect(bare).toHaveLength(8);
  for (let size = 1; size < 60; size++) {
    const skimmed = await rowsOf(text, size, true);
    expect(skimmed.map((row) => row.replace(/^end {2}@/, 'end @'))).toEqual(
      bare.map((row) => row.replace(/^end {2}@/, 'end @')),
    );
  }
});

test('an edit of a large sheet changes the cells in question and nothing else', async () => {
  const row = (number: number): string =>
    `<row r="${number}" spans="1:3"><c r="A${number}"><v>${number}</v></c><c r="B${number}" t="s"><v>${number % 3}</v></c><c r="C${number}" s="5"><v>${number / 8}</v></c></row>\n`;
  const header = ['A', 'B', 'C'].map((column) => `<c r="${column}1" t="s"><v>0</v></c>`).join('');
  const rows = Array.from({ length: 30_000 }, (_, index) => row(index + 2));
  for (const isStored of [false, true]) {
    const entries = workbookEntries({
      sheets: { Data: `<row r="1">${header}</row>${rows.join('')}` },
      strings: ['<t>x</t>', '<t>y</t>', '<t>z</t>'],
    });
    const file = zip(entries.map((entry) => ({ ...entry, isStored })));
    const positions = [0, 1, 4_999, 5_000, 12_345, 29_998];
    const { file: result, plan } = await edit(file, {
      updates: Object.fromEntries(positions.map((position) => [position, { 1: `é ${position}` }])),
      deletes: [29_999],
      creates: [{ 0: 1 }, { 2: 0.5 }],
    });
    let expected = partOf(file, SHEET);
    for (const position of positions) {
      const ref = `B${position + 2}`;
      const cell = new RegExp(`<c r="${ref}" t="s"><v>\\d</v></c>`);
      expected = expected.replace(
        cell,
        `<c r="${ref}" t="inlineStr"><is><t>é ${position}</t></is></c>`,
      );
    }
    expected = expected.replace(
      /<row r="30001".*<\/row>/,
      '<row r="30001" spans="1:3"><c r="A30001"><v>1</v></c><c r="B30001"/><c r="C30001" s="5"/></row><row r="30002"><c r="C30002" s="5"><v>0.5</v></c></row>',
    );
    expect(partOf(result, SHEET) === expected).toBe(true);
    expect(changedParts(file, result)).toEqual([SHEET]);
    const fresh = await readTable(result);
    expect(fresh.rows).toHaveLength(30_001);
    expect(fresh.rows[12_345]).toEqual([12_347, 'é 12345', 12_347 / 8]);
    expect(fresh.layout.dialect).toEqual({ ...plan.layout.dialect, hasFormulas: null });
  }
});
