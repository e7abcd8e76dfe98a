/** Formulas after an edit: results are the ones of other programs, or are taken out (DS-87). */
import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { EditedArchive } from '../../plugins/workbook/archive/edited-archive.ts';
import { newResults } from '../../plugins/workbook/formulas/recalculate.ts';
import { MAX_ROWS } from '../../plugins/workbook/limits.ts';
import { openPackage } from '../../plugins/workbook/xlsx/package.ts';
import type { Cell } from '../../src/tables/types.ts';
import { sourceOf } from './byte-source.ts';
import { cell, goldenFormulas, goldenWorkbook } from './formula-workbook.ts';
import { type Changes, edit, partOf, readTable, workbookFile } from './workbook-files.ts';

test('each function calculates what LibreOffice does, or is left to it (DS-87)', async () => {
  const book = await openPackage(sourceOf(goldenWorkbook()), 1e9);
  const changes = [
    { sheet: 0, top: 1, left: 0, bottom: MAX_ROWS, right: 3 },
    { sheet: 1, top: 1, left: 0, bottom: 5, right: 0 },
  ];
  const results = await newResults({ book, parts: new EditedArchive(book.archive) }, changes);
  const found = goldenFormulas.map(({ formula }, index) => {
    const result =
      results
        .get(0)
        ?.get(index + 2)
        ?.get(5)?.result ?? 'left';
    const plain = typeof result === 'object' ? result.text : result;
    return [formula, typeof plain === 'number' ? rounded(plain) : plain];
  });
  const wanted = goldenFormulas.map(({ formula, calculated }) => [
    formula,
    typeof calculated === 'number' ? rounded(calculated) : calculated,
  ]);
  expect<unknown>(found).toEqual(wanted);
});

/** LibreOffice stores 15 digits. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

test('where a result differs from that of LibreOffice, it is an error or a blank text as Excel has them (DS-87)', () => {
  const differing = goldenFormulas.filter(
    ({ calculated, libreOffice }) => calculated !== 'left' && calculated !== libreOffice,
  );
  for (const { formula, calculated } of differing) {
    const isError = typeof calculated === 'string' && calculated.startsWith('#');
    // The column holds an empty text; LibreOffice 7.4 reads it as blank, and has no XLOOKUP.
    expect([formula, isError || /^(?:COUNTA|SUMIF|_xlfn\.XLOOKUP)\(/.test(formula)]).toEqual([
      formula,
      true,
    ]);
  }
  expect(differing.length).toBeLessThan(15);
  const left = goldenFormulas.filter(({ calculated }) => calculated === 'left');
  expect(left.length).toBeLessThan(goldenFormulas.length / 6);
});

/** Rows of `Data`: a header and numbers from row 2 on in columns A and B, then what `more` adds. */
function dataSheet(more: string): string {
  const rows = [2, 3, 4].map(
    (row) => `<row r="${row}">${cell(`A${row}`, row)}${cell(`B${row}`, 10)}</row>`,
  );
  return `<row r="1">${cell('A1', 'qty')}${cell('B1', 'price')}${cell('C1', 'total')}</row>${rows.join('')}${more}`;
}

const formula = (reference: string, text: string, value: string, attributes = ''): string =>
  `<c r="${reference}"${attributes}><f>${text}</f><v>${value}</v></c>`;

interface Scenario {
  readonly what: string;
  readonly row: string;
  readonly changes?: Changes;
  /** The last row of the sheet, as it is read. */
  readonly shown: readonly Cell[];
  readonly tail?: string;
  readonly extra?: Parameters<typeof workbookFile>[0]['extra'];
}

const FIRST: Changes = { updates: { 0: { 0: 100 } } };

const scenarios: readonly Scenario[] = [
  { what: 'a sum', row: formula('A9', 'SUM(A2:A4)', '9'), shown: [107] },
  { what: 'a whole column', row: formula('C9', 'SUM(B:B)+A2', '32'), shown: ['', '', 130] },
  {
    what: 'a chain, in whatever order',
    row: `<row r="8">${formula('A8', 'A9*2', '18')}${formula('B8', 'A2', '2')}</row><row r="9">${formula('A9', 'B8+7', '9')}</row>`,
    shown: [107],
  },
  {
    what: 'a text',
    row: formula('A9', 'A2&amp;" ü&lt;"', '2 ü&lt;', ' t="str"'),
    shown: ['100 ü<'],
  },
  { what: 'a truth value', row: formula('A9', 'A2&gt;50', '0', ' t="b"'), shown: [true] },
  { what: 'an error', row: formula('A9', 'A3/(A2-100)', '-1'), shown: ['#DIV/0!'] },
  {
    what: 'an error that goes on',
    row: `<row r="8">${formula('A8', 'A3/(A2-100)', '-1')}</row><row r="9">${formula('A9', 'A8+1', '0')}</row>`,
    shown: ['#DIV/0!'],
  },
  {
    what: 'a shared formula',
    row: `<row r="8"><c r="A8"><f t="shared" ref="A8:B8" si="0">A2+A3</f><v>5</v></c><c r="B8"><f t="shared" si="0"/><v>20</v></c></row><row r="9">${formula('A9', 'A8', '5')}</row>`,
    shown: [103],
  },
  {
    what: 'a defined name',
    row: formula('A9', 'SUM(Quantities)*Rate', '4.5'),
    tail: '<definedNames><definedName name="Quantities">Data!$A$2:$A$4</definedName><definedName name="rate">0.5</definedName></definedNames>',
    shown: [53.5],
  },
  {
    what: 'what depends on nothing that changed',
    row: formula('A9', 'SUM(B2:B4)', '777'),
    shown: [777],
  },
  { what: 'an unknown function', row: formula('A9', 'FANCY(A2)', '2'), shown: ['=FANCY(A2)'] },
  { what: 'the time', row: formula('A9', 'NOW()-A2', '2'), shown: ['=NOW()-A2'] },
  { what: 'the time alone', row: formula('A9', 'NOW()', '45000'), shown: [45000] },
  {
    what: 'a reference made of text',
    row: formula('A9', 'INDIRECT("B3")', '10'),
    shown: ['=INDIRECT("B3")'],
  },
  {
    what: 'another workbook',
    row: formula('A9', '[1]Sheet1!A1*A2', '2'),
    shown: ['=[1]Sheet1!A1*A2'],
  },
  {
    what: 'a circle',
    row: formula('A9', 'A2+B9', '2') + formula('B9', 'A9', '2'),
    shown: ['=A2+B9', '=A9'],
  },
  {
    what: 'what depends on a result that was taken out',
    row: `<row r="8">${formula('A8', 'FANCY(A2)', '2')}</row><row r="9">${formula('A9', 'A8+1', '3')}</row>`,
    shown: ['=A8+1'],
  },
  {
    what: 'what depends on a formula that never had a result',
    row: `<row r="8"><c r="A8"><f>B2*2</f></c></row><row r="9">${formula('A9', 'A8+A2', '22')}</row>`,
    shown: [120],
  },
  {
    what: 'an array formula, with every cell it fills',
    row: `<c r="A9"><f t="array" ref="A9:B9">A2:A3*1</f><v>2</v></c>${cell('B9', 3)}`,
    shown: ['=A2:A3*1', '=A2:A3*1'],
  },
  {
    what: 'a new row in the range',
    row: formula('C9', 'SUM(A:A)', '9'),
    changes: { creates: [{ 0: 1, 1: 1 }], updates: { 3: { 2: 5 } } },
    shown: [1, 1],
  },
  {
    what: 'a deleted row in the range',
    row: formula('C9', 'SUM(A2:A4)', '9'),
    changes: { deletes: [1] },
    shown: ['', '', 6],
  },
];

describe('an edit brings up to date', () => {
  for (const { what, row, changes = FIRST, shown, tail } of scenarios) {
    test(`${what} (DS-87)`, async () => {
      const rows = row.startsWith('<row') ? row : `<row r="9">${row}</row>`;
      const file = workbookFile({ sheets: { Data: dataSheet(rows) }, workbookTail: tail ?? '' });
      const { file: result, plan } = await edit(file, changes);
      const after = await readTable(result);
      expect(after.rows.at(-1)).toEqual([...shown]);
      // The copy that follows the plan has the same.
      const before = (await readTable(file)).rows;
      for (const { origin, position, cell: value } of plan.delivered) {
        if ('update' in origin) (before[origin.update] ?? [])[position] = value;
      }
      if (changes === FIRST && !plan.isReread) {
        before[0]![0] = 100;
        expect(before).toEqual(after.rows);
      }
    });
  }
});

test('formulas of other worksheets follow, and name the sheets whose copies are made anew (DS-87)', async () => {
  const file = workbookFile({
    sheets: {
      Data: dataSheet(''),
      'Sum up': `<row r="1">${cell('A1', 'sum')}</row><row r="2">${formula('A2', 'SUM(Data!A2:A4)', '9')}</row>`,
      Next: `<row r="1">${cell('A1', 'sum')}</row><row r="2">${formula('A2', "'Sum up'!A2*2", '18')}</row>`,
      Apart: `<row r="1">${cell('A1', 'sum')}</row><row r="2">${formula('A2', 'SUM(Data!B2:B4)', '30')}</row>`,
    },
  });
  const { file: result, plan } = await edit(file, FIRST, { sheet: 'Data' });
  expect((await readTable(result, { sheet: 'Sum up' })).rows).toEqual([[107]]);
  expect((await readTable(result, { sheet: 'Next' })).rows).toEqual([[214]]);
  expect(plan.changedSheets).toEqual(['Sum up', 'Next']);
  expect(partOf(result, 'xl/worksheets/sheet4.xml')).toBe(partOf(file, 'xl/worksheets/sheet4.xml'));
});

test('structured references follow their table, whose rows a new one joins (DS-87)', async () => {
  const table =
    '<table xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" id="1" name="T" displayName="Sales" ref="A1:C4"><autoFilter ref="A1:C4"/><tableColumns count="3"><tableColumn id="1" name="qty"/><tableColumn id="2" name="price"/><tableColumn id="3" name="total"/></tableColumns></table>';
  const rows = [2, 3, 4].map(
    (row) =>
      `<row r="${row}">${cell(`A${row}`, row)}${cell(`B${row}`, 10)}${formula(`C${row}`, 'Sales[[#This Row],[qty]]*Sales[[#This Row],[price]]', String(row * 10))}</row>`,
  );
  const file = workbookFile({
    sheets: {
      Data: `<row r="1">${cell('A1', 'qty')}${cell('B1', 'price')}${cell('C1', 'total')}</row>${rows.join('')}`,
      Sums: `<row r="1">${formula('A1', 'SUM(Sales[total])', '90')}${formula('B1', 'SUM(Sales[qty])', '9')}</row>`,
    },
    extra: [
      { name: 'xl/tables/table1.xml', data: table },
      {
        name: 'xl/worksheets/_rels/sheet1.xml.rels',
        data: '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/table" Target="../tables/table1.xml"/></Relationships>',
      },
    ],
  });
  const changes = { updates: { 0: { 0: 100 } }, creates: [{ 0: 5, 1: 1, 2: 5 }] };
  const { file: result } = await edit(file, changes, { sheet: 'Data' });
  expect((await readTable(result, { sheet: 'Data' })).rows[0]).toEqual([100, 10, 1000]);
  expect((await readTable(result, { sheet: 'Sums' })).names).toEqual(['1075', '112']);
});

test('only results change: attributes, formats and other bytes of the cells stay (DS-87)', async () => {
  const row = `<row r="9" ht="20"><c r="A9" s="3" t='str' cm="1"><f  ca="1">A2+A3</f><v xml:space="preserve">5</v><extLst/></c><c r="B9"><f>B2</f><v>10</v></c></row>`;
  const file = workbookFile({ sheets: { Data: dataSheet(row) } });
  const { file: result } = await edit(file, FIRST);
  expect(partOf(result, 'xl/worksheets/sheet1.xml')).toBe(
    partOf(file, 'xl/worksheets/sheet1.xml')
      .replace('<c r="A2"><v>2</v>', '<c r="A2"><v>100</v>')
      .replace(
        `t='str' cm="1"><f  ca="1">A2+A3</f><v xml:space="preserve">5</v>`,
        `cm="1"><f  ca="1">A2+A3</f><v>103</v>`,
      )
      .replace(' s="3" cm', ' s="3" cm'),
  );
});

test('a long chain is calculated, and what takes too many steps is taken out (DS-87)', async () => {
  const length = 25_000;
  const chain = Array.from({ length }, (_, index) => {
    const row = index + 5;
    return `<row r="${row}">${formula(`A${row}`, row === 5 ? 'A2' : `A${row - 1}+1`, '0')}</row>`;
  });
  const file = workbookFile({ sheets: { Data: dataSheet(chain.join('')) } });
  const { file: result, plan } = await edit(file, FIRST);
  const { rows } = await readTable(result);
  expect(rows.at(-1)).toEqual([100 + length - 1]);
  expect(plan.isReread).toBe(true);

  const sums = Array.from({ length: 10_000 }, (_, index) => {
    const row = index + 5;
    return `<row r="${row}">${formula(`A${row}`, `SUM(A$2:A${row - 1})`, '0')}</row>`;
  });
  const heavy = workbookFile({ sheets: { Data: dataSheet(sums.join('')) } });
  const after = await readTable((await edit(heavy, FIRST)).file);
  expect(after.rows[3]).toEqual([107]);
  expect(after.rows.at(-1)).toEqual([`=SUM(A$2:A${10_003})`]);
}, 60_000);

const hostile: readonly (readonly [what: string, formula: string, shown: Cell | null])[] = [
  ['twenty thousand brackets', `${'('.repeat(20_000)}A2${')'.repeat(20_000)}`, null],
  ['nested calls', `${'IF(A2,'.repeat(5_000)}1${')'.repeat(5_000)}`, null],
  ['a sum of twenty thousand', `A2${'+A2'.repeat(20_000)}`, null],
  ['a call that does not end', 'SUM(A2', '=SUM(A2'],
  ['no formula', 'A2 ))) {{{ "', '=A2 ))) {{{ "'],
  ['a text that is too long', 'REPT("x",32767)&amp;A2', '#VALUE!'],
  ['a pattern that backtracks', 'SEARCH("a*a*a*a*b",REPT("a",32000)&amp;A2)', '#VALUE!'],
  ['a large factorial', 'FACT(A2*1E9)', '=FACT(A2*1E9)'],
  ['a number of many combinations', 'COMBIN(A2*1E9,5E8)', '=COMBIN(A2*1E9,5E8)'],
  ['a range of all cells, with itself', 'SUM(A1:XFD1048576)', '=SUM(A1:XFD1048576)'],
  ['a product of whole columns', 'SUMPRODUCT(C:C*D:D)+A2', '=SUMPRODUCT(C:C*D:D)+A2'],
  ['members every object has', '__proto__(A2)+constructor(A2)', '=__proto__(A2)+constructor(A2)'],
  ['names in a circle', 'X+A2', '=X+A2'],
];

test.each([...hostile])(
  '%s in a formula neither fails nor goes on for ever',
  async (_, text, shown) => {
    const file = workbookFile({
      sheets: { Data: dataSheet(`<row r="9">${formula('A9', text, '1')}</row>`) },
      workbookTail:
        '<definedNames><definedName name="X">Y+1</definedName><definedName name="Y">X+1</definedName></definedNames>',
    });
    const { rows } = await readTable((await edit(file, FIRST)).file);
    if (shown === null) expect(rows).toHaveLength(4);
    else expect(rows.at(-1)).toEqual([shown]);
  },
  30_000,
);

test('any text for a formula gives a result or stays', async () => {
  const word = fc.constantFrom(
    ...[
      'A2',
      'B:B',
      'Data!A3',
      '$A$2:B4',
      'Name',
      '1',
      '"x"',
      '#REF!',
      'TRUE',
      '{1,2;3}',
      '[@n]',
      'T[#All]',
    ],
    ...[
      'SUM(',
      'IF(',
      'INDEX(',
      'VLOOKUP(',
      'LEFT(',
      'DATE(',
      ')',
      ',',
      '+',
      '-',
      '^',
      '&',
      '=',
      '<',
      ' ',
      ':',
      '%',
      '@',
    ],
  );
  const property = fc.asyncProperty(fc.array(word, { maxLength: 12 }), async (words) => {
    const text = words.join('').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const file = workbookFile({
      sheets: { Data: dataSheet(`<row r="9">${formula('A9', text, '1')}${cell('B9', 1)}</row>`) },
    });
    const changed = await edit(file, FIRST);
    expect((await readTable(changed.file)).rows).toHaveLength(4);
    const removed = await edit(file, { deletes: [0] });
    expect((await readTable(removed.file)).rows).toHaveLength(3);
  });
  await fc.assert(property, { numRuns: 300 });
}, 60_000);

test('of a workbook with very many formulas, all results are taken out', async () => {
  const file = workbookFile({
    sheets: {
      Data: dataSheet(`<row r="9">${formula('A9', 'SUM(B2:B4)', '30')}</row>`),
      Next: `<row r="1">${formula('A1', 'Data!A9', '30')}${formula('B1', '1+1', '2')}</row>`,
    },
  });
  const book = await openPackage(sourceOf(file), 1e9);
  const edited = { book, parts: new EditedArchive(book.archive) };
  const results = await newResults(edited, [], null, 2);
  const found = [...results.values()].flatMap((rows) =>
    [...rows.values()].flatMap((row) => [...row.values()].map(({ result }) => result)),
  );
  expect(found).toEqual([undefined, undefined, undefined]);
  expect((await newResults(edited, [], null, 3)).size).toBe(0);
});
