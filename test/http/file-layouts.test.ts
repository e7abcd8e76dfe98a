/**
 * Files as other programs leave them: older encodings, `sep=;`, titles above the header (DS-62, DS-65, DS-69). They are
 * read without a companion, the schema says what was guessed, and an edit changes no byte but the cell's.
 */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CellValue, Workbook } from 'exceljs';
import { type Encoding, encodeText } from '../../plugins/csv/encoding.ts';
import { create, remove, update } from './changes.ts';
import { address, get, list } from './listing.ts';
import { sharedService } from './shared-service.ts';
import { book } from './sheets.ts';

const PEOPLE = 'Name;Ort;n\r\nMüller;Köln;1\r\nJäger;Düsseldorf;2\r\nGroß;Überlingen;3\r\n';
const TITLED =
  'Umsatz, Stand 31.12.2024\n"Abteilung ""Süd"""\n\nRegion;Monat;Umsatz\nNord;Jan;1\nSüd;Feb;2\nOst;März;3\n';

const encodings = ['windows-1252', 'cp850', 'utf-16le', 'utf-16be'] as const;

/** Rows of cells from a corner on. */
function block(corner: string, rows: readonly (readonly unknown[])[]): Record<string, unknown> {
  const [, letter, first] = /^([A-Z])([0-9]+)$/.exec(corner)!;
  return Object.fromEntries(
    rows.flatMap((row, down) =>
      row.map((value, right) => {
        const column = String.fromCharCode(letter!.charCodeAt(0) + right);
        return [`${column}${Number(first) + down}`, value];
      }),
    ),
  );
}

const TABLE = [
  ['Region', 'Monat', 'Umsatz'],
  ['Nord', 'Jan', 1],
  ['Süd', 'Feb', 2.5],
  ['Ost', 'März', 3],
];

/** Two of Excel's tables side by side, a named range below, and names that are no tables. */
async function tables(): Promise<Buffer> {
  const workbook = new Workbook();
  const sheet = workbook.addWorksheet('Sheet');
  const column = (name: string) => ({ name });
  const ref = (at: string) => ({ ref: at, headerRow: true });
  sheet.getCell('B1').value = 'Overview';
  sheet.addTable({
    ...ref('B3'),
    name: 'Orders',
    columns: ['item', 'n'].map(column),
    rows: [
      ['cup', 2],
      ['pot', 1],
    ],
  });
  sheet.addTable({
    ...ref('E3'),
    name: 'People',
    columns: ['name', 'age'].map(column),
    rows: [['Ada', 36]],
  });
  for (const [at, value] of Object.entries(
    block('B8', [
      ['from', 'rate'],
      ['EUR', 1],
      ['USD', 1.1],
    ]),
  )) {
    sheet.getCell(at).value = value as CellValue;
  }
  workbook.definedNames.add('Sheet!$B$8:$C$10', 'Rates');
  workbook.definedNames.add('Sheet!$C$9:$C$10', 'OneColumn');
  workbook.definedNames.add('Sheet!$B$9:$C$10', 'Numbers');
  return Buffer.from(await workbook.xlsx.writeBuffer());
}

async function soleTable(): Promise<Buffer> {
  const workbook = new Workbook();
  workbook.addWorksheet('Sheet').addTable({
    ref: 'A1',
    name: 'Sole',
    headerRow: true,
    columns: [{ name: 'a' }, { name: 'b' }],
    rows: [
      [1, 2],
      [2, 3],
    ],
  });
  return Buffer.from(await workbook.xlsx.writeBuffer());
}

const books = {
  'c3.xlsx': await book(block('C3', TABLE)),
  'titles.xlsx': await book(
    { A1: 'Umsatz nach Region', A2: new Date('2024-12-31'), ...block('A4', TABLE) },
    ['A1:C1'],
  ),
  'usual.xlsx': await book(block('A1', TABLE)),
  'index.xlsx': await book(
    block('A1', [
      ['', 'a'],
      [0, 'x'],
      [1, 'y'],
    ]),
  ),
  'ranged.xlsx': await book({
    ...block('B2', [
      ['a', 'b', ''],
      [1, 2, 3],
      [4, 5, 6],
    ]),
    A3: 'label',
    B7: 'below',
  }),
  'begun.xlsx': await book({
    ...block('B2', [
      ['Notes', '', ''],
      ['x', 'y', 'z'],
      ['u', 'v', 'w'],
    ]),
  }),
  'total.xlsx': await book({
    ...block('A1', TABLE),
    A5: 'Summe',
    C5: { formula: 'SUM(C2:C4)', result: 6.5 },
    G3: { formula: 'C5*2', result: 13 },
  }),
  'totals.xlsx': await book({
    ...block('A1', TABLE),
    A5: 'Summe',
    C5: { formula: 'SUM(C2:C4)', result: 6.5 },
    A7: 'Note',
    B9: { formula: 'C5*2', result: 13 },
  }),
  'sums.xlsx': await book({
    ...block('A1', TABLE),
    A5: 'Summe',
    C5: { formula: 'SUM(C3:C4)', result: 5.5 },
  }),
  'tables.xlsx': await tables(),
  'sole.xlsx': await soleTable(),
  'labels.xlsx': await book({ ...block('C3', TABLE), A200: 'a remark far below', B150: 5 }),
};

const shared = sharedService({
  files: {
    ...books,
    '.svc/ranged.xlsx.Sheet.options.json': '{"range":"B2:D5"}',
    '.svc/begun.xlsx.Sheet.options.json': '{"range":"C3"}',
    ...Object.fromEntries(
      encodings.map((encoding) => [`${encoding}.csv`, Buffer.from(encodeText(PEOPLE, encoding))]),
    ),
    'late.csv': Buffer.concat([
      Buffer.from(`name;n\n${'plain;1\n'.repeat(50_000)}`),
      Buffer.from('M\xfcller;2\nK\xf6ln;3\n', 'latin1'),
    ]),
    'few.csv': Buffer.from('name,n\nM\xfcller,1\nRen\xe9,2\nplain,3\n', 'latin1'),
    'declared.csv': Buffer.from('name,n\nM\x81ller,1\n', 'latin1'),
    '.svc/declared.csv.options.json': '{"encoding":"cp850"}',
    'single.csv': Buffer.from('sep=;\r\nNr;Ort\r\n1;M\xfcnchen\r\n', 'latin1'),
    'single-dos.csv': Buffer.from('Nr;Ort\n1;M\x81nchen\n', 'latin1'),
    'single-either.csv': Buffer.from('Nr;Ort\n1;Stra\xe1e\n', 'latin1'),
    'single-damaged.csv': Buffer.from('Nr;Ort\n1;M\xc3nchen\n', 'latin1'),
    'stray.csv': Buffer.concat([Buffer.from('a\nMüller\nJäger\n'), Buffer.from([0xe9, 0x0a])]),
    'sep.csv': 'sep=;\r\na;b,c\r\n1;x\r\n',
    'titled.csv': TITLED,
    'small.csv': 'Title of it\n\nname,n\nx,1\ny,2\n',
    'usual.csv': '\ufeffa;b\n1;2\n',
    'title-named.csv': 'Umsatz 2024\n\nRegion;Umsatz\nNord;1\nSüd;2\n',
    '.svc/title-named.csv.options.json': '{"header_row":3}',
  },
});

const rows = async (name: string) => (await list(shared.reader, name)).rows;
const bytesOf = (name: string) => readFileSync(join(shared.service.docroot, `${name}.csv`));
const sourceOf = async (name: string) =>
  ((await get(shared.reader, address(name, {}, 'schema'))).body as { source?: object }).source;

describe.each([...encodings])('a file in %s without a mark', (encoding: Encoding) => {
  test('is read, and its schema says what was guessed', async () => {
    expect(await rows(encoding)).toMatchObject([
      { Name: 'Müller', Ort: 'Köln', n: 1 },
      { Name: 'Jäger', Ort: 'Düsseldorf', n: 2 },
      { Name: 'Groß', Ort: 'Überlingen', n: 3 },
    ]);
    expect(await sourceOf(encoding)).toEqual({
      encoding,
      delimiter: ';',
      header_row: 1,
      guessed: ['encoding', 'delimiter', 'header_row'],
    });
  });

  test('is written in the same encoding, no other byte changed', async () => {
    const text = (end: string) =>
      Buffer.from(encodeText(PEOPLE.replace('Düsseldorf', 'Nürnberg') + end, encoding));
    expect((await update(shared.writer, encoding, { _row_id: 2, Ort: 'Nürnberg' })).status).toBe(
      200,
    );
    expect(bytesOf(encoding)).toEqual(text(''));
    expect((await create(shared.writer, encoding, [{ Name: 'Çelik', n: 4 }])).status).toBe(200);
    expect(bytesOf(encoding)).toEqual(text('Çelik;;4\r\n'));
    expect((await rows(encoding)).at(-1)).toMatchObject({ Name: 'Çelik', n: 4 });
  });
});

test.each(['windows-1252', 'cp850'])('%s refuses a character it has not, by name', async (name) => {
  const before = bytesOf(name);
  const answer = await update(shared.writer, name, { _row_id: 1, Ort: '東京' });
  expect({ status: answer.status, detail: answer.detail }).toEqual({
    status: 422,
    detail: `Schema validation failed: the file's encoding ${name} cannot hold the character 東 (U+6771)`,
  });
  expect(bytesOf(name)).toEqual(before);
});

test('an encoding that shows late is found', async () => {
  expect(await rows('late').then((found) => found.slice(-2))).toMatchObject([
    { name: 'Müller', n: 2 },
    { name: 'Köln', n: 3 },
  ]);
  expect(await sourceOf('late')).toMatchObject({ encoding: 'windows-1252' });
});

test('cp850 can be declared', async () => {
  expect(await rows('declared')).toMatchObject([{ name: 'Müller' }]);
  expect(await sourceOf('declared')).toBeUndefined();
});

test('one letter within a word tells the encoding if only one reads it so (DS-62)', async () => {
  expect(await rows('single')).toMatchObject([{ Nr: 1, Ort: 'München' }]);
  expect(await sourceOf('single')).toMatchObject({ encoding: 'windows-1252' });
  expect(await rows('single-dos')).toMatchObject([{ Nr: 1, Ort: 'München' }]);
  for (const name of ['single-either', 'single-damaged']) {
    expect((await list(shared.reader, name)).status).toBe(422);
  }
});

test('a stray byte in a file of UTF-8 is no other encoding (DS-34)', async () => {
  const answer = await list(shared.reader, 'stray');
  expect({ status: answer.status, detail: answer.detail }).toEqual({
    status: 422,
    detail: "Cannot read 'stray.csv': invalid UTF-8 at byte offset 17",
  });
});

test('an edit that leaves an encoding nobody could recognise is refused, with the remedy', async () => {
  const before = bytesOf('few');
  const answer = await remove(shared.writer, 'few', 1);
  expect({ status: answer.status, detail: answer.detail }).toEqual({
    status: 422,
    detail:
      "Cannot write 'few.csv': the encoding could no longer be recognised afterwards; declare it first (\"encoding\" in the file's options)",
  });
  expect(bytesOf('few')).toEqual(before);
  expect((await remove(shared.writer, 'few', 3)).status).toBe(200);
  const both = await shared.writer.fetch('/api/few/', {
    method: 'PATCH',
    body: JSON.stringify({ action: 'update', data: { _row_id: 2, name: 'Köln, Süd' } }),
  });
  expect(both.status).toBe(200);
  expect((await remove(shared.writer, 'few', 1)).status).toBe(200);
  expect(bytesOf('few').toString('latin1')).toBe('name,n\n"K\xf6ln, S\xfcd",2\n');
});

test('`sep=;` names the delimiter, stays, and is no row', async () => {
  expect(await rows('sep')).toEqual([{ _row_id: 1, a: 1, 'b,c': 'x' }]);
  expect(await sourceOf('sep')).toBeUndefined();
  await create(shared.writer, 'sep', [{ a: 2, 'b,c': 'y,z' }]);
  expect(bytesOf('sep').toString()).toBe('sep=;\r\na;b,c\r\n1;x\r\n2;y,z\r\n');
});

describe('titles above the header', () => {
  test('are passed over, and the schema says so', async () => {
    expect(await rows('titled')).toMatchObject([
      { Region: 'Nord', Monat: 'Jan', Umsatz: 1 },
      { Region: 'Süd', Monat: 'Feb', Umsatz: 2 },
      { Region: 'Ost', Monat: 'März', Umsatz: 3 },
    ]);
    expect(await sourceOf('titled')).toEqual({
      encoding: 'utf-8',
      delimiter: ';',
      header_row: 4,
      guessed: ['encoding', 'delimiter', 'header_row'],
    });
  });

  test('stay as they are when rows change', async () => {
    await update(shared.writer, 'titled', { _row_id: 1, Umsatz: 10 });
    await create(shared.writer, 'titled', [{ Region: 'West, neu', Monat: 'Mai', Umsatz: 4 }]);
    expect(bytesOf('titled').toString()).toBe(
      `${TITLED.replace('Jan;1', 'Jan;10')}West, neu;Mai;4\n`,
    );
  });

  test('a table that could no longer be told from them is not written', async () => {
    const before = bytesOf('small');
    const answer = await remove(shared.writer, 'small', 2);
    expect({ status: answer.status, detail: answer.detail }).toEqual({
      status: 422,
      detail:
        "Cannot write 'small.csv': the line of the header could no longer be recognised afterwards; declare it first (\"header_row\" in the file's options)",
    });
    expect(bytesOf('small')).toEqual(before);
  });

  test('what is declared is not called guessed', async () => {
    expect(await rows('title-named')).toHaveLength(2);
    expect(await sourceOf('title-named')).toBeUndefined();
  });
});

test('a file read in the usual way has no such member in its schema (DS-69)', async () => {
  expect(await sourceOf('usual')).toBeUndefined();
});

describe('a table of a worksheet', () => {
  const EXPECTED = [
    { _row_id: 1, Region: 'Nord', Monat: 'Jan', Umsatz: 1 },
    { _row_id: 2, Region: 'Süd', Monat: 'Feb', Umsatz: 2.5 },
    { _row_id: 3, Region: 'Ost', Monat: 'März', Umsatz: 3 },
  ];
  const cellsOf = async (name: string): Promise<Record<string, unknown>> => {
    const workbook = new Workbook();
    await workbook.xlsx.readFile(join(shared.service.docroot, name));
    const cells: Record<string, unknown> = {};
    workbook.worksheets[0]!.eachRow((row) =>
      row.eachCell((cell) => void (cells[cell.address] = cell.value)),
    );
    return cells;
  };

  test.each([
    ['c3', { header_row: 3, range: 'C3:E6' }],
    ['titles', { header_row: 4, range: 'A4:C7' }],
  ])('is found where it begins: %s', async (name, place) => {
    expect(await rows(`${name}/Sheet`)).toEqual(EXPECTED);
    expect(await sourceOf(`${name}/Sheet`)).toEqual({
      ...place,
      guessed: ['header_row', 'range'],
    });
  });

  test('in the first row at A is read as ever (DS-65)', async () => {
    expect(await rows('usual/Sheet')).toEqual(EXPECTED);
    expect(await sourceOf('usual/Sheet')).toBeUndefined();
    expect(await rows('index/Sheet')).toMatchObject([
      { column_1: 0, a: 'x' },
      { column_1: 1, a: 'y' },
    ]);
  });

  test('begins at A when a cell far below stands left of it', async () => {
    const found = await rows('labels/Sheet');
    expect(found).toHaveLength(5);
    expect(found.slice(-2)).toMatchObject([
      { column_1: '', column_2: 5, Region: '' },
      { column_1: 'a remark far below', Region: '' },
    ]);
  });

  test.each([
    ['c3', 'E4', { C7: 'West', E7: 4 }],
    ['titles', 'C5', { A8: 'West', C8: 4 }],
  ])('is changed where it stands, nothing around it: %s', async (name, changed, added) => {
    const before = await cellsOf(`${name}.xlsx`);
    const resource = `${name}/Sheet`;
    expect((await update(shared.writer, resource, { _row_id: 1, Umsatz: 10 })).status).toBe(200);
    const { status } = await create(shared.writer, resource, [{ Region: 'West', Umsatz: 4 }]);
    expect(status).toBe(200);
    expect(await cellsOf(`${name}.xlsx`)).toEqual({ ...before, [changed]: 10, ...added });
    expect(await rows(resource)).toMatchObject([
      { Umsatz: 10 },
      { Umsatz: 2.5 },
      { Umsatz: 3 },
      { _row_id: 4, Region: 'West', Monat: '', Umsatz: 4 },
    ]);
    expect((await remove(shared.writer, resource, 4)).status).toBe(200);
    expect(await cellsOf(`${name}.xlsx`)).toEqual({ ...before, [changed]: 10 });
  });

  test('is where the options say', async () => {
    expect(await rows('begun/Sheet')).toEqual([{ _row_id: 1, y: 'v', z: 'w' }]);
    expect(await rows('ranged/Sheet')).toEqual([
      { _row_id: 1, a: 1, b: 2, column_3: 3 },
      { _row_id: 2, a: 4, b: 5, column_3: 6 },
    ]);
    expect(await sourceOf('ranged/Sheet')).toBeUndefined();
    const before = await cellsOf('ranged.xlsx');
    expect((await create(shared.writer, 'ranged/Sheet', [{ a: 7 }])).status).toBe(200);
    const { status, detail } = await create(shared.writer, 'ranged/Sheet', [{ a: 8 }]);
    expect({ status, detail }).toEqual({
      status: 422,
      detail: "Cannot write 'ranged.xlsx': the table may not go past row 5, where its range ends",
    });
    expect(await cellsOf('ranged.xlsx')).toEqual({ ...before, B5: 7 });
  });

  test('that could no longer be told from its titles is not written', async () => {
    for (const id of [1, 2]) {
      const { status, detail } = await remove(shared.writer, 'titles/Sheet', id);
      if (id === 1) expect(status).toBe(200);
      else expect({ status, detail }).toMatchObject({ status: 422 });
    }
  });
});

describe('a row of totals', () => {
  const sheetOf = async (name: string) => {
    const workbook = new Workbook();
    await workbook.xlsx.readFile(join(shared.service.docroot, name));
    return workbook.worksheets[0]!;
  };

  test('stands in the schema and on the page, not among the rows', async () => {
    expect(await rows('total/Sheet')).toHaveLength(3);
    expect(await sourceOf('total/Sheet')).toEqual({
      header_row: 1,
      range: 'A1:C4',
      total_row: { row: 5, values: { Region: 'Summe', Umsatz: 6.5 } },
      guessed: ['header_row', 'range', 'total_row'],
    });
    const page = await shared.reader.fetch('/ui/total/Sheet/', {
      headers: { Accept: 'text/html' },
    });
    expect(await page.text()).toContain('Row 5 of the sheet is the total');
  });

  test('moves down for new rows, sums them up, and what refers to it follows', async () => {
    const added = await create(shared.writer, 'total/Sheet', [
      { Region: 'West', Umsatz: 10 },
      { Region: 'Mitte', Umsatz: 0.5 },
    ]);
    expect({ status: added.status, ids: added.rowIds }).toEqual({ status: 200, ids: [4, 5] });
    const sheet = await sheetOf('total.xlsx');
    expect(sheet.getCell('A5').value).toBe('West');
    expect(sheet.getCell('C6').value).toBe(0.5);
    expect(sheet.getCell('A7').value).toBe('Summe');
    expect(sheet.getCell('C7').value).toEqual({ formula: 'SUM(C2:C6)', result: 17 });
    expect(sheet.getCell('G3').value).toEqual({ formula: 'C7*2', result: 34 });
    expect(await rows('total/Sheet')).toMatchObject([
      { _row_id: 1 },
      { _row_id: 2 },
      { _row_id: 3 },
      { _row_id: 4, Region: 'West' },
      { _row_id: 5, Region: 'Mitte' },
    ]);
    expect(await sourceOf('total/Sheet')).toMatchObject({
      total_row: { row: 7, values: { Umsatz: 17 } },
    });
    expect((await remove(shared.writer, 'total/Sheet', 1)).status).toBe(200);
    expect(await rows('total/Sheet')).toMatchObject([{ _row_id: 2 }, { _row_id: 3 }, {}, {}]);
    expect(await sourceOf('total/Sheet')).toMatchObject({
      total_row: { values: { Umsatz: 16 } },
    });
  });

  test.each(['totals', 'sums'])('that is not sure stays a row: %s', async (name) => {
    const found = await rows(`${name}/Sheet`);
    expect(JSON.stringify(found)).toContain('Summe');
  });
});

describe('tables that a workbook names', () => {
  const names = async (name: string) => {
    const { body } = await get(shared.reader, '/_svc/resources');
    const all = (body as { name: string }[]).map((one) => one.name);
    return all.filter((one) => one.startsWith(name));
  };
  const cellsOf = async (name: string): Promise<Record<string, unknown>> => {
    const workbook = new Workbook();
    await workbook.xlsx.readFile(join(shared.service.docroot, name));
    const cells: Record<string, unknown> = {};
    workbook.worksheets[0]!.eachRow((row) =>
      row.eachCell((cell) => void (cells[cell.address] = cell.value)),
    );
    return cells;
  };

  test('are datasets of their own beside their worksheet', async () => {
    expect(await names('tables')).toEqual([
      'tables/Sheet',
      'tables/Sheet/Orders',
      'tables/Sheet/People',
      'tables/Sheet/Rates',
    ]);
    expect(await rows('tables/Sheet/Orders')).toEqual([
      { _row_id: 1, item: 'cup', n: 2 },
      { _row_id: 2, item: 'pot', n: 1 },
    ]);
    expect(await rows('tables/Sheet/People')).toEqual([{ _row_id: 1, name: 'Ada', age: 36 }]);
    expect(await rows('tables.xlsx/Sheet/Rates')).toEqual([
      { _row_id: 1, from: 'EUR', rate: 1 },
      { _row_id: 2, from: 'USD', rate: 1.1 },
    ]);
  });

  test('that are all of their sheet, or are no tables, add nothing', async () => {
    expect(await names('sole')).toEqual(['sole/Sheet']);
    expect(await rows('sole/Sheet')).toMatchObject([{ a: 1 }, { a: 2 }]);
  });

  test('are changed alone, grow where there is room, and their sheet follows', async () => {
    const before = await cellsOf('tables.xlsx');
    const orders = 'tables/Sheet/Orders';
    expect((await update(shared.writer, orders, { _row_id: 2, n: 5 })).status).toBe(200);
    expect((await create(shared.writer, orders, [{ item: 'jug', n: 9 }])).status).toBe(200);
    const changed: Record<string, unknown> = { ...before, C5: 5, B6: 'jug', C6: 9 };
    expect(await cellsOf('tables.xlsx')).toEqual(changed);
    expect(await rows(orders)).toMatchObject([{ n: 2 }, { n: 5 }, { _row_id: 3, item: 'jug' }]);
    expect(JSON.stringify(await rows('tables/Sheet'))).toContain('jug');
    expect(await rows('tables/Sheet/People')).toEqual([{ _row_id: 1, name: 'Ada', age: 36 }]);
    // The next row is the title of another table.
    const full = await create(shared.writer, orders, [{ item: 'x' }, { item: 'y' }]);
    expect({ status: full.status, detail: full.detail }).toEqual({
      status: 422,
      detail: "Cannot write 'tables.xlsx': the cell B8 below the table is in use",
    });
    const fixed = await create(shared.writer, 'tables/Sheet/Rates', [{ from: 'CHF' }]);
    expect(fixed.detail).toContain('where its range ends');
    expect((await remove(shared.writer, orders, 1)).status).toBe(200);
    delete changed['B4'];
    delete changed['C4'];
    expect(await cellsOf('tables.xlsx')).toEqual(changed);
  });

  test('are closed to who may only read their sheet, and the other way round', async () => {
    await shared.service.accounts.grant('clerk', 'tables/Sheet/People', 'read');
    const clerk = await shared.service.as('clerk');
    expect((await list(clerk, 'tables/Sheet/People')).status).toBe(200);
    expect((await list(clerk, 'tables/Sheet')).status).toBe(403);
    expect((await list(clerk, 'tables/Sheet/Orders')).status).toBe(403);
  });
});
