/** Edits of workbooks: DS-87, DS-78, and what an edit must leave as it was. */
import { expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import * as XLSX from 'xlsx';
import { editWorkbook } from '../../plugins/workbook/edit/editor.ts';
import { AppError } from '../../src/base/errors.ts';
import type { Cell } from '../../src/tables/types.ts';
import { richWorkbook } from './workbook-rich-file.ts';
import {
  changedParts,
  type Changes,
  changesOf,
  DATE_STYLES,
  edit,
  partOf,
  readTable,
  sheetFile,
  unzip,
  workbookEntries,
  workbookFile,
  zip,
} from './workbook-files.ts';
import { sourceOf } from './byte-source.ts';

const SHEET = 'xl/worksheets/sheet1.xml';
const HEADER =
  '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c><c r="C1" t="inlineStr"><is><t>c</t></is></c></row>';

/** The rows' XML after an edit of a sheet with these rows below the header. */
async function editedRows(
  rows: string,
  changes: Changes,
  parts: Parameters<typeof sheetFile>[1] = {},
): Promise<string> {
  const { file } = await edit(sheetFile(HEADER + rows, { styles: DATE_STYLES, ...parts }), changes);
  return partOf(file, SHEET).split(HEADER)[1]!.replace('</sheetData></worksheet>', '');
}

async function failureOf(promise: Promise<unknown>): Promise<AppError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

const cells: readonly (readonly [what: string, before: string, value: Cell, after: string])[] = [
  ['a number', '<c r="A2"><v>1</v></c>', 2.5, '<c r="A2"><v>2.5</v></c>'],
  ['a large number', '<c r="A2"><v>1</v></c>', 1e21, '<c r="A2"><v>1E+21</v></c>'],
  ['minus zero', '<c r="A2"><v>1</v></c>', -0, '<c r="A2"><v>0</v></c>'],
  ['a boolean', '<c r="A2" t="s"><v>0</v></c>', true, '<c r="A2" t="b"><v>1</v></c>'],
  ['a text', '<c r="A2"><v>1</v></c>', 'x', '<c r="A2" t="inlineStr"><is><t>x</t></is></c>'],
  [
    'a number as text',
    '<c r="A2"><v>1</v></c>',
    '007',
    '<c r="A2" t="inlineStr"><is><t>007</t></is></c>',
  ],
  [
    'a large integer',
    '<c r="A2"><v>1</v></c>',
    12345678901234567890n,
    '<c r="A2" t="inlineStr"><is><t>12345678901234567890</t></is></c>',
  ],
  ['a small big integer', '<c r="A2"><v>1</v></c>', 5n, '<c r="A2"><v>5</v></c>'],
  [
    'a text like a formula',
    '<c r="A2"><v>1</v></c>',
    "=cmd|' /C calc'!A0",
    '<c r="A2" t="inlineStr"><is><t>=cmd|\' /C calc\'!A0</t></is></c>',
  ],
  [
    'markup',
    '<c r="A2"><v>1</v></c>',
    '</t>&<b a="1">',
    '<c r="A2" t="inlineStr"><is><t>&lt;/t&gt;&amp;&lt;b a="1"&gt;</t></is></c>',
  ],
  [
    'white space',
    '<c r="A2"><v>1</v></c>',
    ' a\n\tb',
    '<c r="A2" t="inlineStr"><is><t xml:space="preserve"> a\n\tb</t></is></c>',
  ],
  [
    'control characters',
    '<c r="A2"><v>1</v></c>',
    'a\rb\u0001_x000D_',
    '<c r="A2" t="inlineStr"><is><t>a_x000D_b_x0001__x005F_x000D_</t></is></c>',
  ],
  [
    'other scripts',
    '<c r="A2"><v>1</v></c>',
    'é東京😀',
    '<c r="A2" t="inlineStr"><is><t>é東京😀</t></is></c>',
  ],
  ['null', '<c r="A2" s="5"><v>1</v></c>', null, '<c r="A2" s="5"/>'],
  ['an empty text', '<c r="A2" s="5" t="s"><v>0</v></c>', '', '<c r="A2" s="5"/>'],
  ['a styled number', '<c r="A2" s="5"><v>1</v></c>', 3, '<c r="A2" s="5"><v>3</v></c>'],
  [
    'a date into a date cell',
    '<c r="A2" s="1"><v>1</v></c>',
    '2024-05-01',
    '<c r="A2" s="1"><v>45413</v></c>',
  ],
  [
    'a date and time into a date cell',
    '<c r="A2" s="2"><v>1</v></c>',
    '2024-05-01T12:00:00Z',
    '<c r="A2" s="2"><v>45413.5</v></c>',
  ],
  [
    'a time into a time cell',
    '<c r="A2" s="3"><v>1</v></c>',
    '06:00',
    '<c r="A2" s="3"><v>0.25</v></c>',
  ],
  ['elapsed time', '<c r="A2" s="4"><v>1</v></c>', '36:00:00', '<c r="A2" s="4"><v>1.5</v></c>'],
  [
    'a date that is none',
    '<c r="A2" s="1"><v>1</v></c>',
    '2024-02-30',
    '<c r="A2" s="1" t="inlineStr"><is><t>2024-02-30</t></is></c>',
  ],
  [
    'other text into a date cell',
    '<c r="A2" s="1"><v>1</v></c>',
    'soon',
    '<c r="A2" s="1" t="inlineStr"><is><t>soon</t></is></c>',
  ],
  [
    'a date into a plain cell',
    '<c r="A2"><v>1</v></c>',
    '2024-05-01',
    '<c r="A2" t="inlineStr"><is><t>2024-05-01</t></is></c>',
  ],
  [
    'a literal over a formula',
    '<c r="A2" s="5" t="str"><f>"x"</f><v>x</v></c>',
    'y',
    '<c r="A2" s="5" t="inlineStr"><is><t>y</t></is></c>',
  ],
  [
    'the same value over a formula',
    '<c r="A2"><f>1+1</f><v>2</v></c>',
    2,
    '<c r="A2"><v>2</v></c>',
  ],
  [
    'over a formula of a single cell',
    '<c r="A2" cm="1"><f t="array" ref="A2">SUM(B:B)</f><v>2</v></c>',
    3,
    '<c r="A2"><v>3</v></c>',
  ],
  ['over an error', '<c r="A2" t="e" vm="1"><v>#VALUE!</v></c>', 3, '<c r="A2"><v>3</v></c>'],
  ['the value that is there', "<c  r='A2'><v>2.50</v></c>", 2.5, "<c  r='A2'><v>2.50</v></c>"],
  [
    'the text that is there',
    '<c r="A2" t="inlineStr"><is><r><t>ri</t></r><r><t>ch</t></r></is></c>',
    'rich',
    '<c r="A2" t="inlineStr"><is><r><t>ri</t></r><r><t>ch</t></r></is></c>',
  ],
  [
    'the date that is there',
    '<c r="A2" s="1"><v>45413.0000001</v></c>',
    '2024-05-01 00:00:00',
    '<c r="A2" s="1"><v>45413.0000001</v></c>',
  ],
];

test.each(cells)('%s is written as a native cell (DS-87)', async (_, before, value, after) => {
  const rest = '<c r="B2"><v>9</v></c></row>';
  const found = await editedRows(
    `<row r="2">${before}${rest}`,
    { updates: { 0: { 0: value } } },
    { strings: ['<t>s</t>'] },
  );
  expect(found).toBe(`<row r="2">${after}${rest}`);
});

test('missing cells are added in order, with the style of their row or column', async () => {
  const rows =
    '<row r="2" spans="2:2" s="5" customFormat="1"><!-- x --><c r="B2"><v>1</v></c> </row><row r="3"><c r="B3"><v>1</v></c></row>';
  const head = '<worksheet><cols><col min="3" max="3" style="1"/></cols><sheetData>';
  const file = sheetFile(`${head}${HEADER}${rows}</sheetData></worksheet>`, {
    styles: DATE_STYLES,
  });
  const { file: result } = await edit(file, {
    updates: { 0: { 2: 'c', 0: 'a' }, 1: { 2: '2024-05-01', 0: null } },
  });
  expect(partOf(result, SHEET)).toBe(
    `${head}${HEADER}<row r="2" spans="1:3" s="5" customFormat="1"><!-- x --><c r="A2" s="5" t="inlineStr"><is><t>a</t></is></c>` +
      `<c r="B2"><v>1</v></c> <c r="C2" s="5" t="inlineStr"><is><t>c</t></is></c></row>` +
      `<row r="3"><c r="B3"><v>1</v></c><c r="C3" s="1"><v>45413</v></c></row></sheetData></worksheet>`,
  );
});

test('created rows follow the last one that is not blank, with the styles of the row above (DS-87)', async () => {
  const rows =
    '<row r="2"><c r="A2" s="5"><v>1</v></c><c r="B2" s="1"><v>2</v></c></row>' +
    '<row r="4"><c r="B4" s="3"/><c r="D4"><v>7</v></c></row><row r="9"><c r="E9"><v>1</v></c></row>';
  const found = await editedRows(rows, {
    creates: [{ 0: 5, 1: '2024-05-01' }, {}, { 1: '06:00', 2: 'c' }, { 0: 6 }],
  });
  expect(found).toBe(
    '<row r="2"><c r="A2" s="5"><v>1</v></c><c r="B2" s="1"><v>2</v></c></row>' +
      '<row r="3"><c r="A3" s="5"><v>5</v></c><c r="B3" s="1"><v>45413</v></c></row>' +
      '<row r="4"><c r="A4" s="5"/><c r="B4" s="3"/><c r="D4"><v>7</v></c></row>' +
      '<row r="5"><c r="A5" s="5"/><c r="B5" s="1"><v>0.25</v></c><c r="C5" t="inlineStr"><is><t>c</t></is></c></row>' +
      '<row r="6"><c r="A6" s="5"><v>6</v></c><c r="B6" s="1"/></row><row r="9"><c r="E9"><v>1</v></c></row>',
  );
});

test('rows of a sheet with nothing but a header follow the header, without its style', async () => {
  const header = HEADER.replace('<c r="A1"', '<c r="A1" s="5"');
  const { file } = await edit(sheetFile(`${header}<row r="2"/>`), {
    creates: [{ 0: 1 }, { 1: 2 }],
  });
  expect(partOf(file, SHEET)).toContain(
    '<row r="2"><c r="A2"><v>1</v></c></row><row r="3"><c r="B3"><v>2</v></c></row></sheetData>',
  );
  expect((await readTable(file)).rows).toEqual([[1], ['', 2]]);
});

test('a row with cells right of the table is emptied in place when it is deleted (DS-87)', async () => {
  const rows =
    '<row r="2" ht="20"><c r="A2" s="5"><v>1</v></c><c r="C2" t="s"><v>0</v></c><c r="D2"><v>3</v></c></row><row r="3"><c r="A3"><v>4</v></c></row>';
  const found = await editedRows(rows, { deletes: [0] }, { strings: ['<t>s</t>'] });
  expect(found).toBe(
    '<row r="2" ht="20"><c r="A2" s="5"/><c r="C2"/><c r="D2"><v>3</v></c></row><row r="3"><c r="A3"><v>4</v></c></row>',
  );
});

test('a row that is created when the last one is deleted takes its place', async () => {
  const rows =
    '<row r="2"><c r="A2"><v>1</v></c></row><row r="3"><c r="A3" s="5"><v>2</v></c><c r="B3"><v>2</v></c></row>';
  const found = await editedRows(rows, { deletes: [1], creates: [{ 0: 3 }] });
  expect(found).toBe(
    '<row r="2"><c r="A2"><v>1</v></c></row><row r="3"><c r="A3" s="5"><v>3</v></c><c r="B3"/></row>',
  );
});

test('the plan lists every cell that changed, and where reading gives another value than was written', async () => {
  const rows =
    '<row r="2"><c r="A2" s="1"><v>45413</v></c><c r="B2" t="s"><v>1</v></c><c r="C2"><v>7</v></c></row>' +
    '<row r="3"><c r="A3"><v>1</v></c><c r="B3" t="s"><v>0</v></c></row>';
  const file = sheetFile(HEADER + rows, { styles: DATE_STYLES, strings: ['<t>x</t>', '<t>y</t>'] });
  const { plan } = await edit(file, {
    updates: { 0: { 0: '2024-05-02', 1: 'z', 2: 7 } },
    deletes: [1],
    creates: [{ 0: '06:00', 2: true }],
  });
  expect(plan.cells).toEqual([
    { position: 0, before: '2024-05-01 00:00:00', after: '2024-05-02 00:00:00' },
    { position: 1, before: 'y', after: 'z' },
    { position: 0, before: 1, after: '06:00:00' },
    { position: 1, before: 'x', after: '' },
    { position: 2, before: undefined, after: true },
  ]);
  expect(plan.delivered).toEqual([
    { origin: { update: 0 }, position: 0, cell: '2024-05-02 00:00:00' },
    { origin: { create: 0 }, position: 0, cell: '06:00:00' },
  ]);
});

test('the extent of the sheet grows with new cells, and shrinks with removed rows alone', async () => {
  const file = (ref: string): Buffer =>
    sheetFile(
      `<worksheet><dimension ref="${ref}"/><sheetData>${HEADER}<row r="2"><c r="A2"><v>1</v></c></row></sheetData></worksheet>`,
    );
  const extent = async (ref: string, changes: Changes): Promise<string> =>
    /<dimension ref="([^"]*)"/.exec(partOf((await edit(file(ref), changes)).file, SHEET))![1]!;
  expect(await extent('A1:C2', { creates: [{ 0: 1 }, { 2: 1 }, {}] })).toBe('A1:C4');
  expect(await extent('A1:XFD1048576', { creates: [{ 0: 1 }] })).toBe('A1:XFD1048576');
  expect(await extent('B2', { updates: { 0: { 2: 5 } } })).toBe('B2:C2');
  expect(await extent('A1:C2', { deletes: [0] })).toBe('A1:C1');
});

test('a table that ended above a created row is extended, others are not (DS-87)', async () => {
  const table = (id: number, ref: string, more = ''): string =>
    `<?xml version="1.0"?>\n<table id="${id}" name="T${id}" ref="${ref}"${more}><autoFilter ref="${ref}"><filterColumn colId="0"/></autoFilter><tableColumns count="1"><tableColumn id="1" name="a"/></tableColumns></table>`;
  const tables = [
    table(1, 'A1:C3'),
    table(2, 'A1:B9'),
    table(3, 'A1:B2'),
    table(4, 'A1:C3', ' totalsRowCount="1"'),
    table(5, 'E1:F3'),
    table(6, 'B1:C4'),
  ];
  const relationships = tables
    .map(
      (_, index) =>
        `<Relationship Id="r${index}" Type="x/table" Target="../tables/table${index + 1}.xml"/>`,
    )
    .join('');
  const file = sheetFile(
    `${HEADER}<row r="2"><c r="A2"><v>1</v></c></row><row r="3"><c r="A3"><v>2</v></c></row>`,
    {
      extra: [
        {
          name: 'xl/worksheets/_rels/sheet1.xml.rels',
          data: `<Relationships>${relationships}</Relationships>`,
        },
        ...tables.map((data, index) => ({ name: `xl/tables/table${index + 1}.xml`, data })),
      ],
    },
  );
  const { file: result } = await edit(file, { creates: [{ 0: 3 }, { 0: 4 }] });
  expect(changedParts(file, result)).toEqual([
    'xl/tables/table1.xml',
    'xl/tables/table6.xml',
    SHEET,
  ]);
  expect(partOf(result, 'xl/tables/table1.xml')).toBe(tables[0]!.replaceAll('A1:C3', 'A1:C5'));
  expect(partOf(result, 'xl/tables/table6.xml')).toBe(tables[5]!.replaceAll('B1:C4', 'B1:C5'));
  const { file: updated } = await edit(file, { updates: { 1: { 0: 9 } } });
  expect(changedParts(file, updated)).toEqual([SHEET]);
});

test('a workbook with formulas is calculated when it is opened; one without is left alone (DS-87)', async () => {
  const rows = `${HEADER}<row r="2"><c r="A2"><v>1</v></c></row>`;
  const other = '<row r="1"><c r="A1"><f>Data!A2</f><v>1</v></c></row>';
  const book = async (tail: string, second = other): Promise<string> => {
    const file = workbookFile({ sheets: { Data: rows, Other: second }, workbookTail: tail });
    const { file: result, plan } = await edit(file, { updates: { 0: { 0: 2 } } });
    expect(plan.layout.dialect['hasFormulas']).toBe(second === other);
    return partOf(result, 'xl/workbook.xml').split('</sheets>')[1]!;
  };
  expect(await book('')).toBe('<calcPr fullCalcOnLoad="1"/></workbook>');
  expect(
    await book(
      '<definedNames><definedName name="x">1</definedName></definedNames><oleSize ref="A1"/>',
    ),
  ).toBe(
    '<definedNames><definedName name="x">1</definedName></definedNames><calcPr fullCalcOnLoad="1"/><oleSize ref="A1"/></workbook>',
  );
  expect(await book('<calcPr calcId="1"/><extLst/>')).toBe(
    '<calcPr fullCalcOnLoad="1" calcId="1"/><extLst/></workbook>',
  );
  expect(await book("<calcPr fullCalcOnLoad='0'/>")).toBe(
    '<calcPr fullCalcOnLoad="1"/></workbook>',
  );
  expect(await book('<calcPr fullCalcOnLoad="1"/>')).toBe(
    '<calcPr fullCalcOnLoad="1"/></workbook>',
  );
  expect(await book('<calcPr/>', HEADER)).toBe('<calcPr/></workbook>');
});

test('the calculation chain goes when a formula is overwritten, and only then', async () => {
  const file = workbookFile({
    sheets: {
      Data: `${HEADER}<row r="2"><c r="A2"><f>1+1</f><v>2</v></c><c r="B2"><v>1</v></c></row>`,
    },
    workbookTail: '<calcPr fullCalcOnLoad="1"/>',
    relationships: [['calcChain', 'calcChain.xml']],
    extra: [{ name: 'xl/calcChain.xml', data: '<calcChain><c r="A2" i="1"/></calcChain>' }],
  });
  const { file: untouched } = await edit(file, { updates: { 0: { 1: 2 } } });
  expect(changedParts(file, untouched)).toEqual([SHEET]);
  const { file: result } = await edit(file, { updates: { 0: { 0: 5 } } });
  expect(changedParts(file, result)).toEqual([
    '[Content_Types].xml',
    'xl/_rels/workbook.xml.rels',
    'xl/calcChain.xml',
    SHEET,
  ]);
  expect(unzip(result).has('xl/calcChain.xml')).toBe(false);
  expect(partOf(result, '[Content_Types].xml')).not.toContain('calcChain');
  expect(partOf(result, 'xl/_rels/workbook.xml.rels')).not.toContain('calcChain');
  expect((await readTable(result)).rows).toEqual([[5, 1]]);
});

test('a shared formula moves to the next cell when its first one is overwritten', async () => {
  const rows =
    '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><f t="shared" ref="B2:B5" si="0">A2*$C$1&amp;"A2"</f><v>1</v></c></row>' +
    '<row r="3"><c r="A3"><v>1</v></c><c r="B3"><f t="shared" si="0"/><v>2</v></c></row>' +
    '<row r="4"><c r="A4"><v>1</v></c><c r="B4" s="5"><f t="shared" si="0"/><v>3</v></c></row>' +
    '<row r="5"><c r="A5"><v>1</v></c><c r="B5"><f t="shared" si="0"/><v>4</v></c></row>';
  expect(await editedRows(rows, { updates: { 0: { 1: 9 } } })).toBe(
    rows
      .replace(
        '<c r="B2"><f t="shared" ref="B2:B5" si="0">A2*$C$1&amp;"A2"</f><v>1</v></c>',
        '<c r="B2"><v>9</v></c>',
      )
      .replace(
        '<c r="B3"><f t="shared" si="0"/>',
        '<c r="B3"><f t="shared" ref="B3:B5" si="0">A3*$C$1&amp;"A2"</f>',
      ),
  );
  const found = await editedRows(rows, { deletes: [0, 1] });
  expect(found).toContain(
    '<c r="B2" s="5" t="e"><f t="shared" ref="B2:B3" si="0">A2*$C$1&amp;"A2"</f><v>#VALUE!</v></c>',
  );
  expect(await editedRows(rows, { updates: { 2: { 1: 9 } } })).toBe(
    rows.replace(
      '<c r="B4" s="5"><f t="shared" si="0"/><v>3</v></c>',
      '<c r="B4" s="5"><v>9</v></c>',
    ),
  );
});

const refusals: readonly (readonly [what: string, rows: string, changes: Changes, text: string])[] =
  [
    [
      'a merged cell other than its first',
      '<row r="2"><c r="A2"><v>1</v></c><c r="B2"/></row></sheetData><mergeCells count="1"><mergeCell ref="A2:B2"/></mergeCells><sheetData>',
      { updates: { 0: { 1: 5 } } },
      'the cell B2 is merged into A2:B2 and cannot be written',
    ],
    [
      'a cell of an array formula',
      '<row r="2"><c r="A2"><f t="array" ref="A2:A3">B2:B3</f><v>1</v></c></row><row r="3"><c r="A3"><v>1</v></c></row>',
      { updates: { 1: { 0: 5 } } },
      'the cell A3 belongs to the formula of A2:A3 and cannot be changed',
    ],
    [
      'the first cell of an array formula',
      '<row r="2"><c r="A2"><f t="array" ref="A2:A3">B2:B3</f><v>1</v></c></row>',
      { deletes: [0] },
      'the cell A2 belongs to the formula of A2:A3 and cannot be changed',
    ],
    [
      'a cell of a data table',
      '<row r="2"><c r="A2"><f t="dataTable" ref="A2:B3" dt2D="1" dtr="1" r1="C1" r2="C2"/><v>1</v></c><c r="B2"><v>2</v></c></row>',
      { updates: { 0: { 1: 5 } } },
      'the cell B2 belongs to the formula of A2:B3 and cannot be changed',
    ],
    [
      'a shared formula that cells before it may use',
      '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><f t="shared" ref="A2:B3" si="0">C2</f><v>1</v></c></row>',
      { updates: { 0: { 1: 5 } } },
      'the cell B2 holds a formula that other cells share and cannot be overwritten',
    ],
  ];

test.each(refusals)('%s is not changed', async (_, rows, changes, text) => {
  const content = `<worksheet><sheetData>${HEADER}${rows}</sheetData></worksheet>`.replace(
    '<sheetData></sheetData>',
    '',
  );
  const error = await failureOf(edit(sheetFile(content), changes));
  expect(error.code).toBe('unreadable-file');
  expect(error.message).toBe(text);
});

test('the first cell of merged ones is written, and rows with merged cells are deleted', async () => {
  const content = `<worksheet><sheetData>${HEADER}<row r="2"><c r="A2"><v>1</v></c><c r="B2"/><c r="C2"><v>1</v></c></row></sheetData><mergeCells><mergeCell ref="A2:B2"/></mergeCells><pageMargins left="1"/></worksheet>`;
  const { file } = await edit(sheetFile(content), { updates: { 0: { 0: 5, 1: '' } } });
  expect(partOf(file, SHEET)).toBe(content.replace('<c r="A2"><v>1</v>', '<c r="A2"><v>5</v>'));
  const { file: emptied } = await edit(sheetFile(content), { deletes: [0] });
  expect((await readTable(emptied)).rows).toEqual([]);
});

test('values a workbook cannot hold are refused', async () => {
  const file = sheetFile(`${HEADER}<row r="2"><c r="A2"><v>1</v></c></row>`);
  const refusal = async (cell: Cell): Promise<string> => {
    const error = await failureOf(edit(file, { updates: { 0: { 0: cell } } }));
    expect(error.code).toBe('schema-mismatch');
    return error.message;
  };
  expect(await refusal('x'.repeat(32_768))).toBe(
    'Schema validation failed: a text of a workbook may not exceed 32767 characters',
  );
  expect(await refusal('\u0000')).toContain('NUL');
  expect(await refusal('\ud800')).toContain('lone surrogate');
  await edit(file, { updates: { 0: { 0: 'x'.repeat(32_767) } } });
  const headerless = await failureOf(edit(sheetFile('<row r="2"/>'), { creates: [{}] }));
  expect(headerless.message).toContain('without a header row');
  const full = sheetFile(`${HEADER}<row r="1048575"><c r="A1048575"><v>1</v></c></row>`);
  expect((await readTable((await edit(full, { creates: [{ 0: 2 }] })).file)).rows).toEqual([
    [1],
    [2],
  ]);
  expect((await failureOf(edit(full, { creates: [{ 0: 2 }, { 0: 3 }] }))).message).toContain(
    '1048576 rows',
  );
});

test('a signed workbook is not edited, nor one of another format', async () => {
  const parts = { sheets: { Data: `${HEADER}<row r="2"><c r="A2"><v>1</v></c></row>` } };
  const signed = workbookFile({
    ...parts,
    extra: [{ name: '_xmlsignatures/sig1.xml', data: '<Signature/>' }],
  });
  const error = await failureOf(edit(signed, { updates: { 0: { 0: 2 } } }));
  expect(error.code).toBe('unreadable-file');
  expect(error.message).toContain('digitally signed');
});

test('legacy content under the name of a new workbook is read-only (DS-66, DS-197)', async () => {
  const book = XLSX.utils.book_new();
  XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet([['a'], [1]]), 'S');
  const file = Buffer.from(XLSX.write(book, { type: 'buffer', bookType: 'biff8' }) as Uint8Array);
  const { layout, rows } = await readTable(file);
  expect(rows).toEqual([[1]]);
  const error = await failureOf(editWorkbook(sourceOf(file), layout, changesOf({ deletes: [0] })));
  expect(error.code).toBe('read-only');
  expect(error.message).toBe('Legacy .xls workbooks are read-only; convert the file to .xlsx');
});

test('every entry that need not change keeps its bytes, whatever the packing', async () => {
  const entries = workbookEntries({
    sheets: { Data: `${HEADER}<row r="2"><c r="A2"><v>1</v></c></row>`, Other: HEADER },
    extra: [
      { name: 'xl/vbaProject.bin', data: new Uint8Array([0, 1, 2, 3]), isStored: true },
      { name: 'customXml/item1.xml', data: '<x/>' },
    ],
  });
  const archives = [
    zip(entries, { comment: 'kept' }),
    zip(entries.map((entry) => ({ ...entry, isStored: true }))),
    zip(entries.map((entry) => ({ ...entry, hasDescriptor: true }))),
    zip(
      entries.map((entry) => ({ ...entry, isLarge: true })),
      { isLarge: true, comment: 'x' },
    ),
  ];
  for (const file of archives) {
    const { file: result } = await edit(file, { updates: { 0: { 0: 'neu' } } });
    expect(changedParts(file, result)).toEqual([SHEET]);
    expect([...unzip(result).keys()]).toEqual([...unzip(file).keys()]);
    expect(unzip(result).get(SHEET)!.method).toBe(unzip(file).get(SHEET)!.method);
    expect((await readTable(result)).rows).toEqual([['neu']]);
  }
  expect(archives[0]!.subarray(-4).toString()).toBe('kept');
});

test('a real workbook with everything in it keeps it, and other libraries read the edit', async () => {
  const file = await richWorkbook();
  const before = await readTable(file, { sheet: 'Stock' });
  expect(before.rows).toHaveLength(20);
  const { file: result, plan } = await edit(
    file,
    {
      updates: { 2: { 1: 'Ölkanne', 3: 12.75, 5: false, 4: '2030-12-24' }, 10: { 6: 'literal' } },
      deletes: [0],
      creates: [{ 0: 999, 1: 'Neu & gut', 3: 1.5, 4: '2031-01-01' }],
    },
    { sheet: 'Stock' },
  );
  const sheet = [...unzip(file).keys()].find((name) => name.endsWith('sheet2.xml'))!;
  // Whatever refers to a row below the deleted one.
  const sums = sheet.replace('sheet2', 'sheet3');
  expect(changedParts(file, result)).toEqual([
    'xl/charts/chart1.xml',
    'xl/comments2.xml',
    'xl/drawings/drawing1.xml',
    'xl/drawings/vmlDrawing2.vml',
    'xl/pivotCache/pivotCacheDefinition1.xml',
    'xl/tables/table1.xml',
    'xl/workbook.xml',
    sheet,
    sums,
  ]);
  const after = await readTable(result, { sheet: 'Stock' });
  expect(after.rows).toHaveLength(20);
  expect(after.rows[1]!.slice(0, 6)).toEqual([
    3,
    'Ölkanne',
    before.rows[2]![2]!,
    12.75,
    '2030-12-24 00:00:00',
    false,
  ]);
  expect(after.rows.at(-1)).toEqual([999, 'Neu & gut', '', 1.5, '2031-01-01 00:00:00']);
  expect(after.layout.dialect).toEqual({ ...plan.layout.dialect, hasFormulas: null });
  expect(plan.layout.segments.reduce((sum, segment) => sum + segment.rows, 0)).toBe(20);

  const other = XLSX.read(result, {
    dense: true,
    cellDates: true,
    UTC: true,
  } as XLSX.ParsingOptions);
  const cell = (ref: string): XLSX.CellObject => {
    const { r, c } = XLSX.utils.decode_cell(ref);
    return (other.Sheets['Stock'] as unknown as { '!data': XLSX.CellObject[][] })['!data'][r]![c]!;
  };
  expect(cell('B3').v).toBe('Ölkanne');
  expect(cell('D3').v).toBe(12.75);
  expect(cell('F3').v).toBe(false);
  expect(cell('B21').v).toBe('Neu & gut');

  const third = new ExcelJS.Workbook();
  await third.xlsx.load(result as unknown as ArrayBuffer);
  const stock = third.getWorksheet('Stock')!;
  expect(stock.getCell('B3').value).toBe('Ölkanne');
  expect(stock.getCell('E3').value).toEqual(new Date(Date.UTC(2030, 11, 24)));
  expect(stock.getCell('D21').value).toBe(1.5);
  expect(stock.getCell('D21').numFmt).toBe(stock.getCell('D20').numFmt);
  expect(stock.getCell('A2').value).toBe(2);
  expect(partOf(result, 'xl/charts/chart1.xml')).toContain('Stock!$D$2:$D$20<');
  expect(partOf(result, 'xl/workbook.xml')).toContain("'Stock'!$A1:$G20<");
  expect(stock.getImages()).toHaveLength(1);
  expect(stock.getTable('Stocks')).toBeDefined();
});
