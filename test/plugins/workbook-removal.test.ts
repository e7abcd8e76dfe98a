/** Deleted rows close the gap, and whatever refers to rows below follows, as in Excel (DS-87). */
import { describe, expect, test } from 'bun:test';
import {
  CannotShift,
  RowShift,
  shiftedFormula,
  shiftedRange,
} from '../../plugins/workbook/removal/row-shift.ts';
import {
  changedParts,
  edit,
  partOf,
  readTable,
  unzip,
  workbookFile,
  zip,
  workbookEntries,
} from './workbook-files.ts';
import { cell } from './formula-workbook.ts';

const SHEET = 'xl/worksheets/sheet1.xml';
const NAMESPACES =
  'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:x14="x14" xmlns:xm="xm"';

/** [formula, after rows 5 and 8 are gone]; the formula stands on the same sheet. */
const formulas: readonly (readonly [string, string])[] = [
  ['A4', 'A4'],
  ['A5', '#REF!'],
  ['A6', 'A5'],
  ['$A$9', '$A$7'],
  ['A1:A10', 'A1:A8'],
  ['A5:A8', 'A5:A6'],
  ['A5:B5', '#REF!'],
  ['A8:A9', 'A7:A7'],
  ['B$6:$C8', 'B$5:$C6'],
  ['A:B', 'A:B'],
  ['5:5', '#REF!'],
  ['6:8', '5:6'],
  ['SUM(A1:A10)+A5*2&"A6"', 'SUM(A1:A8)+#REF!*2&"A6"'],
  ['Data!A6+Other!A6', 'Data!A5+Other!A6'],
  ["'data'!A5", "'data'!#REF!"],
  ['LOG10(A6)+TAX6(A6)', 'LOG10(A5)+TAX6(A5)'],
  ['[1]Data!A6', '[1]Data!A6'],
  ['Table1[A6]', 'Table1[A6]'],
  ['A6:INDEX(B:B,9)', 'A5:INDEX(B:B,9)'],
  ['a9+{6,8}', 'a7+{6,8}'],
];

describe('a formula means the same cells', () => {
  const removal = { shift: new RowShift([8, 5]), target: 'data' };
  test.each([...formulas])('%s', (formula, shifted) => {
    expect(shiftedFormula(formula, 'data', removal)).toBe(shifted);
  });
  test('on another sheet only references to the sheet move', () => {
    expect(shiftedFormula('A6+Data!A6', 'other', removal)).toBe('A6+Data!A5');
    expect(() => shiftedFormula('SUM(Data:Other!A6)', 'other', removal)).toThrow(CannotShift);
  });
});

test('rows are numbered back and forth', () => {
  const shift = new RowShift([5, 8, 9]);
  for (let row = 1; row < 20; row++) {
    const now = shift.at(row);
    if (now !== null) expect(shift.origin(now)).toBe(row);
  }
  expect([5, 8, 9].map((row) => shift.at(row))).toEqual([null, null, null]);
  expect(shiftedRange('C9:A4', shift)).toBe('C6:A4');
});

/** Header and numbers 2 to 9 in rows 2 to 9 of column A. */
function rows(more: (row: number) => string = () => ''): string {
  const all = [2, 3, 4, 5, 6, 7, 8, 9].map(
    (row) => `<row r="${row}" spans="1:2">${cell(`A${row}`, row)}${more(row)}</row>`,
  );
  return `<row r="1">${cell('A1', 'n')}${cell('B1', 'm')}</row>${all.join('')}`;
}

const sheet = (data: string, tail = '', head = ''): string =>
  `<worksheet ${NAMESPACES}>${head}<sheetData>${data}</sheetData>${tail}</worksheet>`;

test('rows, cells, formulas and what stands around them move up', async () => {
  const tail =
    '<sheetProtection/><autoFilter ref="A1:B9"/><mergeCells count="3"><mergeCell ref="D4:D6"/><mergeCell ref="D7:E7"/><mergeCell ref="F5:G5"/></mergeCells>' +
    '<conditionalFormatting sqref="A2:A9 A5"><cfRule type="expression"><formula>A2&gt;$A$9</formula></cfRule></conditionalFormatting>' +
    '<conditionalFormatting sqref="B5:B9"><cfRule type="expression"><formula>A5&gt;5</formula></cfRule></conditionalFormatting>' +
    '<dataValidations count="1"><dataValidation type="list" sqref="B2:B9"><formula1>$A$2:$A$9</formula1></dataValidation></dataValidations>' +
    '<hyperlinks><hyperlink ref="A5" location="x"/><hyperlink ref="A7" location="Data!A9"/></hyperlinks>' +
    '<rowBreaks count="1"><brk id="6" max="16383" man="1"/></rowBreaks>' +
    '<extLst><ext><x14:conditionalFormattings><x14:conditionalFormatting><x14:cfRule><xm:f>$A$9</xm:f></x14:cfRule><xm:sqref>A6:A9</xm:sqref></x14:conditionalFormatting></x14:conditionalFormattings></ext></extLst>';
  const head =
    '<dimension ref="A1:B9"/><sheetViews><sheetView topLeftCell="A4"><selection activeCell="A5" sqref="A5"/></sheetView></sheetViews>';
  const file = workbookFile({
    sheets: {
      Data: sheet(
        rows((row) => `<c r="B${row}"><f>A${row}*2</f><v>${row * 2}</v></c>`),
        tail,
        head,
      ),
      Other: `<row r="1"><c r="A1"><f>SUM(Data!A2:A9)</f><v>44</v></c><c r="B1"><f>Data!A9</f><v>9</v></c><c r="C1"><f>Data!A5</f><v>5</v></c><c r="D1"><f>COUNTBLANK(Data!A2:A9)</f><v>0</v></c></row>`,
    },
    workbookTail:
      '<definedNames><definedName name="All">Data!$A$2:$A$9</definedName><definedName name="_xlnm.Print_Area" localSheetId="0">Data!$A$1:$B$9</definedName></definedNames>',
  });
  const { file: result, plan } = await edit(file, { deletes: [3] }, { sheet: 'Data' });
  const after = await readTable(result, { sheet: 'Data' });
  expect(after.rows).toEqual([2, 3, 4, 6, 7, 8, 9].map((n) => [n, n * 2]));
  expect(plan.layout.dialect).toMatchObject({ rows: after.layout.dialect['rows'] });
  const part = partOf(result, SHEET);
  expect(part).toContain(
    '<row r="5" spans="1:2"><c r="A5"><v>6</v></c><c r="B5"><f>A5*2</f><v>12</v></c></row>',
  );
  expect(part.slice(part.indexOf('</sheetData>'))).toBe(
    `</sheetData>${tail}</worksheet>`
      .replace('ref="A1:B9"', 'ref="A1:B8"')
      .replace(
        '<mergeCells count="3"><mergeCell ref="D4:D6"/><mergeCell ref="D7:E7"/><mergeCell ref="F5:G5"/>',
        '<mergeCells count="2"><mergeCell ref="D4:D5"/><mergeCell ref="D6:E6"/>',
      )
      .replace('"A2:A9 A5"', '"A2:A8"')
      .replace('A2&gt;$A$9', 'A2&gt;$A$8')
      .replace('"B5:B9"', '"B5:B8"')
      .replace('"B2:B9"', '"B2:B8"')
      .replace('$A$2:$A$9', '$A$2:$A$8')
      .replace('<hyperlink ref="A5" location="x"/>', '')
      .replace('ref="A7" location="Data!A9"', 'ref="A6" location="Data!A8"')
      .replace('id="6"', 'id="5"')
      .replace('<xm:f>$A$9</xm:f>', '<xm:f>$A$8</xm:f>')
      .replace('A6:A9', 'A5:A8'),
  );
  expect(part).toContain('<dimension ref="A1:B8"/>');
  expect(partOf(result, 'xl/worksheets/sheet2.xml')).toContain(
    '<f>SUM(Data!A2:A8)</f><v>39</v></c><c r="B1"><f>Data!A8</f><v>9</v></c><c r="C1" t="e"><f>Data!#REF!</f><v>#REF!</v></c><c r="D1"><f>COUNTBLANK(Data!A2:A8)</f><v>0</v></c>',
  );
  const book = partOf(result, 'xl/workbook.xml');
  expect(book).toContain('Data!$A$2:$A$8<');
  expect(book).toContain('Data!$A$1:$B$8<');
});

test('formulas that share one spelling go on to mean their cells', async () => {
  const shared = (row: number): string =>
    row === 2
      ? '<c r="B2"><f t="shared" ref="B2:B9" si="0">A1&amp;A2</f><v>n2</v></c>'
      : `<c r="B${row}" t="str"><f t="shared" si="0"/><v>${row - 1}${row}</v></c>`;
  const file = workbookFile({ sheets: { Data: sheet(rows(shared)) } });
  const { file: result } = await edit(file, { deletes: [3] });
  expect((await readTable(result)).rows).toEqual([
    [2, 'n2'],
    [3, '23'],
    [4, '34'],
    [6, '#REF!'],
    [7, '67'],
    [8, '78'],
    [9, '89'],
  ]);
  const part = partOf(result, SHEET);
  expect(part).toContain('<f t="shared" ref="B2:B8" si="0">A1&amp;A2</f>');
  expect(part).toContain('<c r="B5" t="e"><f>#REF!&amp;A5</f><v>#REF!</v></c>');
  expect(part).toContain('<c r="B6" t="str"><f t="shared" si="0"/><v>67</v></c>');
});

test('several rows, an update and a new row in one edit', async () => {
  const file = workbookFile({
    sheets: { Data: rows((row) => (row === 2 ? '<c r="B2"><f>SUM(A2:A9)</f><v>44</v></c>' : '')) },
  });
  const { file: result, plan } = await edit(file, {
    deletes: [1, 7],
    updates: { 3: { 0: 50 } },
    creates: [{ 0: 100 }],
  });
  const after = await readTable(result);
  // The new row takes the place of the last one, with which the sum ends.
  const sum = 2 + 4 + 50 + 6 + 7 + 8 + 100;
  expect(after.rows).toEqual([[2, sum], [4], [50], [6], [7], [8], [100]]);
  expect(plan.layout.segments.reduce((sum, segment) => sum + segment.rows, 0)).toBe(7);
  // Edits go on with what the plan says of the rows.
  expect(plan.layout.dialect).toMatchObject({ rows: after.layout.dialect['rows'] });
});

const stays: readonly (readonly [string, Parameters<typeof workbookFile>[0]['sheets']])[] = [
  ['a cell beside the table', { Data: rows((row) => (row === 5 ? cell('H5', 1) : '')) }],
  [
    'a formula beside the table',
    { Data: rows((row) => (row === 5 ? '<c r="H5"><f>1</f></c>' : '')) },
  ],
  [
    'an array formula over the row',
    { Data: rows((row) => (row === 4 ? '<c r="H4"><f t="array" ref="H4:H6">A4:A6</f></c>' : '')) },
  ],
  [
    'a merged cell that begins in the row',
    { Data: sheet(rows(), '<mergeCells count="1"><mergeCell ref="H5:H6"/></mergeCells>') },
  ],
  [
    'a scenario',
    {
      Data: sheet(
        rows(),
        '<scenarios><scenario name="s"><inputCells r="A6"/></scenario></scenarios>',
      ),
    },
  ],
  [
    'a reference to several worksheets',
    { Data: rows(), Other: '<row r="1"><c r="A1"><f>SUM(Data:Other!A6)</f><v>6</v></c></row>' },
  ],
];

test.each([...stays])(
  '%s leaves a deleted row in its place, without content',
  async (_, sheets) => {
    const file = workbookFile({ sheets });
    const { file: result } = await edit(file, { deletes: [3] }, { sheet: 'Data' });
    expect((await readTable(result, { sheet: 'Data' })).rows.map(([n]) => n)).toEqual([
      2, 3, 4, 6, 7, 8, 9,
    ]);
    expect(partOf(result, SHEET)).toContain('<row r="5" spans="1:2"><c r="A5"/>');
    expect(partOf(result, SHEET)).toContain('<row r="9" spans="1:2"><c r="A9">');
    // What was held while the row was to go is compressed as it was.
    expect(unzip(result).get(SHEET)!.method).toBe(unzip(file).get(SHEET)!.method);
  },
);

test('rows move however they are spelled, and nothing else in them changes', async () => {
  /** Row 6 and what stands in it; the numbers of the row are those with `#`. */
  const spellings = [
    '<row r="#"><c r="A#"><v>6</v></c><c r="B#"/></row>',
    '<row r="#" ht="6"><c s="0" r="A#" t="n"><v>6</v></c></row>',
    "<row r='#'><c r='A#'><v>6</v></c></row>",
    '<row\tr="#" ><c\nr="A#"><v>6</v></c></row>',
    '<row r="#"><c r="$A$#"><v>6</v></c></row>',
    '<row r="#"><c><v>6</v></c><c/><c t="inlineStr"><is><t>&lt;c r="C6" r="A6"</t></is></c></row>',
    '<row r="#"><c r="A#"><v>6</v></c><c r="B#" t="inlineStr"><is><r><rPr><color r="6" rgb="A6"/></rPr><t>r="B6"</t></r></is></c></row>',
    '<row r="#" customHeight="1"><c r="a#"><v>6</v></c></row>',
  ];
  for (const spelling of spellings) {
    // Enough for several batches of compression.
    const many = Array.from({ length: 4_000 }, (_, at) => spelling.replaceAll('#', `${6 + at}`));
    const fixed = (row: number): string => `<row r="${row}">${cell(`A${row}`, row)}</row>`;
    const above = `<row r="1">${cell('A1', 'n')}</row>${[2, 3, 4].map(fixed).join('')}`;
    const whole = (between: string, list: readonly string[]): string =>
      sheet(`${above}${between}\n${list.join('\n')}`);
    const file = workbookFile({ sheets: { Data: whole(fixed(5), many) } });
    const { file: result } = await edit(file, { deletes: [3] }, { sheet: 'Data' });
    const moved = many.map((_, at) => spelling.replaceAll('#', `${5 + at}`));
    expect(partOf(result, SHEET) === whole('', moved)).toBe(true);
  }
});

test('a table gets shorter, notes and pictures move, and the chain of calculation goes', async () => {
  const relationship = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`;
  const entries = workbookEntries({
    sheets: { Data: sheet(rows((row) => `<c r="B${row}"><f>A${row}+1</f><v>${row + 1}</v></c>`)) },
    relationships: [['calcChain', 'calcChain.xml']],
    extra: [
      { name: 'xl/calcChain.xml', data: '<calcChain xmlns="m"><c r="B2" i="1"/></calcChain>' },
      {
        name: 'xl/worksheets/_rels/sheet1.xml.rels',
        data: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relationship('r1', 'table', '../tables/table1.xml')}${relationship('r2', 'comments', '../comments1.xml')}${relationship('r3', 'vmlDrawing', '../drawings/vmlDrawing1.vml')}${relationship('r4', 'drawing', '../drawings/drawing1.xml')}</Relationships>`,
      },
      {
        name: 'xl/tables/table1.xml',
        data: '<table xmlns="m" id="1" name="T" displayName="T" ref="A1:B9"><autoFilter ref="A1:B9"/><tableColumns count="2"><tableColumn id="1" name="n"/><tableColumn id="2" name="m"/></tableColumns></table>',
      },
      {
        name: 'xl/comments1.xml',
        data: '<comments xmlns="m"><commentList><comment ref="A5" authorId="0"><text/></comment><comment ref="A7" authorId="0"><text/></comment></commentList></comments>',
      },
      {
        name: 'xl/drawings/vmlDrawing1.vml',
        data: '<xml><v:shape id="a"><x:ClientData><x:Anchor>1, 15, 4, 2, 3, 15, 8, 4</x:Anchor><x:Row>4</x:Row><x:Column>0</x:Column></x:ClientData></v:shape><v:shape id="b"><x:ClientData><x:Anchor>1, 15, 5, 2, 3, 15, 9, 4</x:Anchor><x:Row>6</x:Row><x:Column>0</x:Column></x:ClientData></v:shape></xml>',
      },
      {
        name: 'xl/drawings/drawing1.xml',
        data: '<xdr:wsDr xmlns:xdr="x"><xdr:from><xdr:col>7</xdr:col><xdr:row>6</xdr:row></xdr:from><xdr:to><xdr:row>20</xdr:row></xdr:to></xdr:wsDr>',
      },
    ],
  });
  const file = zip(entries);
  const { file: result } = await edit(file, { deletes: [3] });
  expect(partOf(result, 'xl/tables/table1.xml')).toContain('ref="A1:B8"><autoFilter ref="A1:B8"/>');
  expect(partOf(result, 'xl/comments1.xml')).toContain('<commentList><comment ref="A6" ');
  expect(partOf(result, 'xl/drawings/vmlDrawing1.vml')).toBe(
    '<xml><v:shape id="b"><x:ClientData><x:Anchor>1, 15, 4, 2, 3, 15, 8, 4</x:Anchor><x:Row>5</x:Row><x:Column>0</x:Column></x:ClientData></v:shape></xml>',
  );
  expect(partOf(result, 'xl/drawings/drawing1.xml')).toContain(
    '<xdr:row>5</xdr:row></xdr:from><xdr:to><xdr:row>19<',
  );
  expect(changedParts(file, result)).toContain('xl/calcChain.xml');
  expect(() => partOf(result, 'xl/calcChain.xml')).toThrow('no part');
});

test('a row of a named table closes the gap, and the table below moves with its range', async () => {
  const table = (id: number, name: string, ref: string): string =>
    `<table xmlns="m" id="${id}" name="${name}" displayName="${name}" ref="${ref}"><tableColumns count="1"><tableColumn id="1" name="${name}"/></tableColumns></table>`;
  const relationship = (id: number): string =>
    `<Relationship Id="r${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/table" Target="../tables/table${id}.xml"/>`;
  const row = (number: number, value: string | number): string =>
    `<row r="${number}">${cell(`A${number}`, value)}</row>`;
  const file = zip(
    workbookEntries({
      sheets: {
        Data: [
          row(1, 'one'),
          row(2, 1),
          row(3, 2),
          row(4, 3),
          row(7, 'two'),
          row(8, 7),
          row(9, 8),
        ].join(''),
      },
      extra: [
        { name: 'xl/tables/table1.xml', data: table(1, 'one', 'A1:A4') },
        { name: 'xl/tables/table2.xml', data: table(2, 'two', 'A7:A9') },
        {
          name: 'xl/worksheets/_rels/sheet1.xml.rels',
          data: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relationship(1)}${relationship(2)}</Relationships>`,
        },
      ],
    }),
  );
  const { file: result, plan } = await edit(file, { deletes: [1] }, { sheet: 'Data/one' });
  const one = await readTable(result, { sheet: 'Data/one' });
  expect(one.rows).toEqual([[1], [3]]);
  expect((await readTable(result, { sheet: 'Data/two' })).rows).toEqual([[7], [8]]);
  expect(partOf(result, 'xl/tables/table2.xml')).toContain('ref="A6:A8"');
  const { lastRow, rows } = one.layout.dialect;
  expect(plan.layout.dialect).toMatchObject({ lastRow, rows });
  expect(plan.changedSheets).toContain('Data');
});
