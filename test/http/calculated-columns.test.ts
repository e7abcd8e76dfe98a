/** A row added to one of Excel's tables gets the formulas of its calculated columns (DS-87). */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cell } from '../plugins/formula-workbook.ts';
import { partOf, sheetFile } from '../plugins/workbook-files.ts';
import { create } from './changes.ts';
import { list } from './listing.ts';
import { sharedService } from './shared-service.ts';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const NAMES = ['item', 'n', 'price', 'sum', 'next', 'own'];
const ref = (column: number, row: number): string => `${'ABCDEF'[column]}${row}`;
const calculated = (at: string, formula: string, value: number): string =>
  `<c r="${at}">${formula}<v>${value}</v></c>`;

const rows = [
  NAMES.map((name, column) => cell(ref(column, 1), name)),
  [
    cell('A2', 'a'),
    cell('B2', 2),
    cell('C2', 3.5),
    calculated('D2', '<f>Tab[[#This Row],[n]]*$C2</f>', 7),
    calculated('E2', '<f t="shared" ref="E2:E3" si="0">B2+1</f>', 3),
    calculated('F2', '<f>B2</f>', 2),
  ],
  [
    cell('A3', 'b'),
    cell('B3', 4),
    cell('C3', 0.5),
    calculated('D3', '<f>Tab[[#This Row],[n]]*$C3</f>', 2),
    calculated('E3', '<f t="shared" si="0"/>', 5),
    calculated('F3', '<f>B3</f>', 4),
  ],
].map((cells, index) => `<row r="${index + 1}">${cells.join('')}</row>`);

const columns = NAMES.map((name, index) => {
  const formula = name === 'sum' || name === 'next' ? 'any' : null;
  const inner = formula ? `<calculatedColumnFormula>${formula}</calculatedColumnFormula>` : '';
  return `<tableColumn id="${index + 1}" name="${name}">${inner}</tableColumn>`;
});
const shared = sharedService({
  files: {
    'w.xlsx': sheetFile(rows.join(''), {
      extra: [
        {
          name: 'xl/tables/table1.xml',
          data: `<table xmlns="${MAIN}" id="1" name="Tab" displayName="Tab" ref="A1:F3"><tableColumns count="6">${columns.join('')}</tableColumns></table>`,
        },
        {
          name: 'xl/worksheets/_rels/sheet1.xml.rels',
          data: '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/table" Target="../tables/table1.xml"/></Relationships>',
        },
      ],
    }),
  },
});

test('with their results, unless the row gives a value', async () => {
  const { service, writer } = shared;
  const added = await create(writer, 'w/Data', [
    { item: 'c', n: 10, price: 2 },
    { item: 'd', n: 1, price: 1, sum: 99 },
    { item: 'e' },
  ]);
  expect(added.rowIds).toEqual([3, 4, 5]);
  const after = (await list(writer, 'w/Data')).rows;
  expect(after.slice(2)).toEqual([
    { _row_id: 3, item: 'c', n: 10, price: 2, sum: 20, next: 11, own: '' },
    { _row_id: 4, item: 'd', n: 1, price: 1, sum: 99, next: 2, own: '' },
    { _row_id: 5, item: 'e', n: '', price: '', sum: 0, next: 1, own: '' },
  ]);
  const file = readFileSync(join(service.docroot, 'w.xlsx'));
  const sheet = partOf(file, 'xl/worksheets/sheet1.xml');
  expect(sheet).toContain('<c r="D4"><f>Tab[[#This Row],[n]]*$C4</f><v>20</v></c>');
  expect(sheet).toContain('<c r="E6"><f>B6+1</f><v>1</v></c>');
  expect(partOf(file, 'xl/tables/table1.xml')).toContain('ref="A1:F6"');
});
