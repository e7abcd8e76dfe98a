/** Reading worksheets: DS-65, DS-50, DS-63, and what other programs find in the same files. */
import { expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import * as fc from 'fast-check';
import * as XLSX from 'xlsx';
import { workbook, readWorksheetNames } from '../../plugins/workbook/kind.ts';
import { MAX_CELLS } from '../../plugins/workbook/limits.ts';
import { TableSink } from '../../plugins/workbook/table-sink.ts';
import { AppError } from '../../src/base/errors.ts';
import type { Cell } from '../../src/tables/types.ts';
import {
  DATE_STYLES,
  readTable,
  sheetFile,
  workbookEntries,
  workbookFile,
  zip,
} from './workbook-files.ts';
import { sourceOf } from './byte-source.ts';

const TIMEOUT_MS = 300_000;
const HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>';

/** The value that the `c` element of cell A2 reads as. */
async function valueOf(cell: string, parts: Parameters<typeof sheetFile>[1] = {}): Promise<Cell> {
  const { rows } = await readTable(sheetFile(`${HEADER}<row r="2">${cell}</row>`, parts));
  return rows[0]?.[0] ?? '';
}

const cells: readonly (readonly [what: string, cell: string, value: Cell])[] = [
  ['an integer', '<c r="A2"><v>42</v></c>', 42],
  ['an integer with a fraction of zero', '<c r="A2"><v>42.0</v></c>', 42],
  ['a number with all its digits', '<c r="A2"><v>0.30000000000000004</v></c>', 0.1 + 0.2],
  ['a number with an exponent', '<c r="A2"><v>1.5E-7</v></c>', 1.5e-7],
  ['a negative number', '<c r="A2" t="n"><v>-12.25</v></c>', -12.25],
  ['a number between blanks', '<c r="A2"><v> 7 </v></c>', 7],
  ['what is no number', '<c r="A2"><v>NaN</v></c>', 'NaN'],
  ['true', '<c r="A2" t="b"><v>1</v></c>', true],
  ['false', '<c r="A2" t="b"><v>0</v></c>', false],
  ['an error', '<c r="A2" t="e"><v>#DIV/0!</v></c>', '#DIV/0!'],
  ['a shared text', '<c r="A2" t="s"><v>1</v></c>', 'b & c'],
  ['a shared rich text', '<c r="A2" t="s"><v>2</v></c>', 'rich text'],
  ['a shared text with blanks around', '<c r="A2" t="s"><v>3</v></c>', '  x '],
  ['an empty shared text', '<c r="A2" t="s"><v>4</v></c>', ''],
  ['an inline text', '<c r="A2" t="inlineStr"><is><t>grün &lt;1&gt;</t></is></c>', 'grün <1>'],
  [
    'an inline rich text',
    '<c r="A2" t="inlineStr"><is><r><rPr><b/></rPr><t>a</t></r><r><t xml:space="preserve"> b</t></r></is></c>',
    'a b',
  ],
  [
    'text in CDATA',
    '<c r="A2" t="inlineStr"><is><t><![CDATA[<a> & ]]>b<!-- c --></t></is></c>',
    '<a> & b',
  ],
  [
    'character references',
    '<c r="A2" t="inlineStr"><is><t>&#65;&#x1F600;&quot;&apos;</t></is></c>',
    'A😀"\'',
  ],
  [
    'escaped characters',
    '<c r="A2" t="inlineStr"><is><t>a_x000D_b_x005F_x000D_c_xD83D__xDE00_</t></is></c>',
    'a\rb_x000D_c😀',
  ],
  ['line ends', '<c r="A2" t="inlineStr"><is><t>a\r\nb\rc\nd</t></is></c>', 'a\nb\nc\nd'],
  ['the cached number of a formula', '<c r="A2"><f>1+1</f><v>2</v></c>', 2],
  ['the cached text of a formula', '<c r="A2" t="str"><f>"a"</f><v>a</v></c>', 'a'],
  ['the cached empty text of a formula', '<c r="A2" t="str"><f>""</f><v></v></c>', ''],
  ['the cached boolean of a formula', '<c r="A2" t="b"><f>1=1</f><v>1</v></c>', true],
  ['the cached error of a formula', '<c r="A2" t="e"><f>1/0</f><v>#DIV/0!</v></c>', '#DIV/0!'],
  ['a formula without cached value', '<c r="A2"><f>SUM(B1:B2)&amp;"x"</f></c>', '=SUM(B1:B2)&"x"'],
  ['a formula with an empty value', '<c r="A2"><f>B1</f><v/></c>', '=B1'],
  ['a date', '<c r="A2" s="1"><v>45413</v></c>', '2024-05-01 00:00:00'],
  ['a date and time', '<c r="A2" s="2"><v>45413.5</v></c>', '2024-05-01 12:00:00'],
  ['a time', '<c r="A2" s="3"><v>0.75</v></c>', '18:00:00'],
  ['a time past midnight by rounding', '<c r="A2" s="3"><v>0.999999</v></c>', '00:00:00'],
  ['elapsed time', '<c r="A2" s="4"><v>1.5</v></c>', '36:00:00'],
  ['the first of 1900', '<c r="A2" s="1"><v>1</v></c>', '1900-01-01 00:00:00'],
  ['the day that never was', '<c r="A2" s="1"><v>60</v></c>', '1900-02-29 00:00:00'],
  ['the day after', '<c r="A2" s="1"><v>61</v></c>', '1900-03-01 00:00:00'],
  ['a date before all dates', '<c r="A2" s="1"><v>-1</v></c>', -1],
  ['a date after all dates', '<c r="A2" s="1"><v>2958466</v></c>', 2958466],
  ['a number of a differential style', '<c r="A2" s="5"><v>45413</v></c>', 45413],
  ['a style that does not exist', '<c r="A2" s="99"><v>45413</v></c>', 45413],
  ['an ISO date', '<c r="A2" t="d"><v>2024-05-01T10:20:30</v></c>', '2024-05-01 10:20:30'],
  [
    'a cell with attributes in another order and quotes',
    "<c  t='n'\n s='0' r='A2' ><v >5</v ></c >",
    5,
  ],
  ['a cell without reference', '<c><v>5</v></c>', 5],
  [
    'a cell among comments',
    '<!-- <c r="A2"><v>1</v></c> --><c r="A2"><!-- x --><v>5<!-- y --></v></c><?pi <c/>?>',
    5,
  ],
  [
    'a cell with extensions',
    '<c r="A2"><extLst><ext uri="x"><v>1</v></ext></extLst><v>5</v></c>',
    5,
  ],
];

test.each(cells)('%s is read (DS-65)', async (_, cell, value) => {
  const strings = [
    '<t>a</t>',
    '<t>b &amp; c</t>',
    '<r><t>rich</t></r><r><rPr/><t xml:space="preserve"> text</t></r><rPh sb="0" eb="1"><t>hint</t></rPh><phoneticPr fontId="1"/>',
    '<t xml:space="preserve">  x </t>',
    '<t/>',
  ];
  expect(await valueOf(cell, { strings, styles: DATE_STYLES })).toEqual(value);
});

test('dates of the 1904 system count from its own first day (DS-65)', async () => {
  const parts = { styles: DATE_STYLES, workbookPr: '<workbookPr date1904="1"/>' };
  expect(await valueOf('<c r="A2" s="1"><v>0</v></c>', parts)).toBe('1904-01-01 00:00:00');
  expect(await valueOf('<c r="A2" s="1"><v>43951.5</v></c>', parts)).toBe('2024-05-01 12:00:00');
  expect(await valueOf('<c r="A2" s="3"><v>0.5</v></c>', parts)).toBe('12:00:00');
});

test('shared formulas without cached values read as the formula of their own cell', async () => {
  const { rows } = await readTable(
    sheetFile(
      `${HEADER}<row r="2"><c r="A2"><f t="shared" ref="A2:A4" si="0">B2*$C$1</f></c></row>` +
        '<row r="3"><c r="A3"><f t="shared" si="0"/></c></row><row r="4"><c r="A4"><f t="shared" si="0"/><v>7</v></c></row>',
    ),
  );
  expect(rows).toEqual([['=B2*$C$1'], ['=B3*$C$1'], [7]]);
});

test('the header row names the columns up to its last cell that is not empty (DS-63, DS-65)', async () => {
  const text = (ref: string, value: string): string =>
    `<c r="${ref}" t="inlineStr"><is><t>${value}</t></is></c>`;
  const { names, rows } = await readTable(
    sheetFile(
      `<row r="1">${text('A1', ' id ')}<c r="B1"/>${text('C1', 'id')}<c r="D1" t="b"><v>1</v></c><c r="E1"><v>2020</v></c>${text('F1', '_row_id')}<c r="G1" s="1"/>${text('H1', '  ')}</row>` +
        `<row r="2"><c r="A2"><v>1</v></c><c r="F2"><v>2</v></c><c r="H2"><v>3</v></c></row>`,
    ),
  );
  expect(names).toEqual(['id', 'column_2', 'id_2', 'TRUE', '2020', '_row_id_2']);
  expect(rows).toEqual([[1, '', '', '', '', 2]]);
});

test('rows whose cells are all blank are skipped, and rows above the header ignored (DS-65, DS-72)', async () => {
  const file = sheetFile(
    '<row r="1"><c r="A1"><v>9</v></c></row>' +
      '<row r="3"><c r="A3" t="inlineStr"><is><t>a</t></is></c><c r="B3" t="inlineStr"><is><t>b</t></is></c></row>' +
      '<row r="4"/><row r="6"><c r="B6"><v>1</v></c></row><row r="7"><c r="A7" t="inlineStr"><is><t> </t></is></c><c r="C7"><v>5</v></c></row>' +
      '<row><c><v>2</v></c><c><v>3</v></c></row><row r="20"><c r="A20" s="1"/></row>',
  );
  const { names, rows, layout } = await readTable(file, { headerRow: 3 });
  expect(names).toEqual(['a', 'b']);
  expect(rows).toEqual([
    ['', 1],
    [2, 3],
  ]);
  expect(layout.dialect).toMatchObject({
    sheet: 'Data',
    headerRow: 3,
    width: 2,
    rows: [5, 1, 1, 1],
  });
  expect((await readTable(file)).names).toEqual(['9']);
  expect((await readTable(file, { headerRow: 2 })).names).toEqual([]);
  expect(await readTable(file, { headerRow: 50 })).toMatchObject({ names: [], rows: [] });
});

test('a sheet without rows has no columns', async () => {
  for (const sheet of [
    '',
    '<worksheet/>',
    '<worksheet><sheetData/></worksheet>',
    '<worksheet></worksheet>',
  ]) {
    expect(await readTable(sheetFile(sheet))).toMatchObject({ names: [], rows: [] });
  }
});

test('elements may have any prefix, as Open XML libraries write them', async () => {
  const rows = HEADER.replaceAll(/<(\/?)/g, '<$1x:');
  const file = workbookFile({
    sheets: {
      Data: `<?xml version="1.0"?><x:worksheet xmlns:x="m"><x:dimension ref="A1"/><x:sheetData>${rows}<x:row r="2"><x:c r="A2" t="s"><x:f>1</x:f><x:v>0</x:v></x:c></x:row></x:sheetData></x:worksheet>`,
    },
    extra: [
      {
        name: 'xl/sharedStrings.xml',
        data: '\uFEFF<?xml version="1.0" encoding="utf-8"?><x:sst xmlns:x="m"><x:si><x:t>é</x:t></x:si></x:sst>',
      },
    ],
    relationships: [['sharedStrings', '/xl/sharedStrings.xml']],
  });
  expect(await readTable(file)).toMatchObject({ names: ['a'], rows: [['é']] });
});

test('every worksheet is listed in workbook order, hidden ones as such, chart sheets not (DS-65)', async () => {
  const entries = workbookEntries({
    sheets: { 'Z & ä': HEADER, Chart: '<chartsheet/>', Hidden: HEADER },
    hidden: ['Hidden'],
  }).map((entry) =>
    entry.name === 'xl/_rels/workbook.xml.rels'
      ? {
          ...entry,
          data: String(entry.data).replace(
            '/worksheet" Target="worksheets/sheet2',
            '/chartsheet" Target="worksheets/sheet2',
          ),
        }
      : { ...entry, data: String(entry.data).replace('Z & ä', 'Z &amp; ä') },
  );
  const file = zip(entries);
  expect(await readWorksheetNames(sourceOf(file))).toEqual(['Z & ä', { hidden: 'Hidden' }]);
  expect((await readTable(file, { sheet: 'Hidden' })).layout.dialect).toMatchObject({
    sheet: 'Hidden',
  });
  expect((await readTable(file)).layout.dialect).toMatchObject({ sheet: 'Z & ä' });
  expect(readTable(file, { sheet: 'Chart' })).rejects.toThrow('it has no worksheet named "Chart"');
});

test('a workbook of exceljs reads as SheetJS reads it', async () => {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet('Stock');
  sheet.addRow(['id', 'name', 'when', 'ok', 'price', 'note']);
  for (let row = 1; row <= 200; row++) {
    const note =
      row % 3 === 0
        ? { richText: [{ text: 'rich ' }, { font: { bold: true }, text: `é${row}` }] }
        : `n & ${row}`;
    sheet.addRow([
      row,
      `Name ${row % 7}`,
      new Date(Date.UTC(2020, 0, row, 1, 2, 3)),
      row % 2 === 0,
      row / 7,
      note,
    ]);
  }
  sheet.getCell('B5').value = { formula: 'A5*2', result: 8 };
  sheet.getCell('B6').value = { error: '#N/A' };
  sheet.getCell('B7').value = null;
  const file = Buffer.from(await book.xlsx.writeBuffer());
  const { names, rows } = await readTable(file);
  const other = XLSX.read(file, { dense: true });
  const table = XLSX.utils.sheet_to_json<Cell[]>(other.Sheets['Stock']!, {
    header: 1,
    UTC: true,
    defval: '',
  });
  expect(names).toEqual(table[0]!.map(String));
  expect(rows).toHaveLength(200);
  for (const [index, row] of rows.entries()) {
    const [id, name, , ok, price, note] = table[index + 1]!;
    const when = new Date(Date.UTC(2020, 0, index + 1, 1, 2, 3))
      .toISOString()
      .replace('T', ' ')
      .slice(0, 19);
    const shown = name === undefined ? '#N/A' : name;
    expect(row).toEqual([id!, index === 4 ? '#N/A' : shown!, when, ok!, price!, note!]);
  }
});

test('the kind names its files, and why legacy ones cannot be written (DS-23, DS-66)', () => {
  expect(workbook).toMatchObject({
    type: 'excel',
    family: 'dataset',
    extensions: ['.xlsx', '.xlsm', '.xls', '.ods', '.fods', '.xlsb'],
  });
  expect(workbook.dataset!.readOnlyReason!('a/Stock.XLS')).toBe(
    'Legacy .xls workbooks are read-only; convert the file to .xlsx',
  );
  expect(workbook.dataset!.readOnlyReason!('a/Stock.xlsx')).toBeNull();
});

test('a sheet of more than 5 million cells is refused', () => {
  const table = new TableSink(
    { header() {}, segment() {}, layout() {} },
    { format: 'xlsx', sheet: 's', table: null, grows: false },
    { headerRow: 1 },
  );
  const row = Array.from({ length: 1000 }, (_, index) => index);
  const fill = (): void => {
    for (let number = 1; number <= MAX_CELLS / 1000 + 2; number++) {
      table.row(number, number, () => row);
    }
  };
  expect(fill).toThrow('it has more than 5000000 cells');
});

test(
  'any change to the XML or the archive gives rows or a reason, never another failure',
  async () => {
    const entries = workbookEntries({
      sheets: {
        Data: `${HEADER}<row r="2" spans="1:3"><c r="A2" s="1"><v>45413</v></c><c r="B2" t="s"><v>1</v></c></row><row r="3"><c r="A3"><f t="shared" ref="A3:A4" si="0">A2</f><v>1</v></c></row><row r="4"><c r="A4"><f t="shared" si="0"/></c></row>`,
      },
      strings: ['<t>a</t>', '<r><t>b</t></r>'],
      styles: DATE_STYLES,
    });
    const edits = fc.array(
      fc.record({
        entry: fc.nat(entries.length - 1),
        at: fc.nat(4000),
        kind: fc.constantFrom('flip', 'delete', 'double', 'insert'),
        text: fc.constantFrom(
          '<',
          '>',
          '"',
          '&',
          '/',
          '<!--',
          ']]>',
          '\u0000',
          'A',
          '9',
          '-',
          '<![CDATA[',
          '</row>',
          '<c>',
        ),
      }),
      { minLength: 1, maxLength: 3 },
    );
    const read = async (file: Uint8Array): Promise<void> => {
      try {
        await readTable(file);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'unreadable-file') throw error;
      }
    };
    const property = fc.asyncProperty(edits, fc.boolean(), async (list, isPacked) => {
      const texts = entries.map((entry): Buffer => Buffer.from(entry.data as string));
      const mutate = (bytes: Buffer, { at, kind, text }: (typeof list)[number]): Buffer => {
        const place = at % (bytes.length + 1);
        const rest = bytes.subarray(place + (kind === 'delete' ? 7 : kind === 'flip' ? 1 : 0));
        const middle =
          kind === 'double' ? bytes.subarray(place, place + 40) : kind === 'delete' ? '' : text;
        return Buffer.concat([bytes.subarray(0, place), Buffer.from(middle as string), rest]);
      };
      if (isPacked) return read(list.reduce<Buffer>(mutate, zip(entries)));
      for (const one of list) texts[one.entry] = mutate(texts[one.entry]!, one);
      return read(zip(entries.map(({ name }, index) => ({ name, data: texts[index]! }))));
    });
    await fc.assert(property, { numRuns: Number(process.env['RUNS'] ?? 500) });
  },
  TIMEOUT_MS,
);
