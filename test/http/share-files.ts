/**
 * A share as people and programs leave it: a hundred files in their formats, each with the types and values that are expected of
 * it, and what an edit may change.
 */
import { Database } from 'bun:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import ExcelJS from 'exceljs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as XLSX from 'xlsx';

export interface SharedFile {
  readonly rel: string;
  readonly bytes: Uint8Array;
  /** Name of the dataset. */
  readonly name: string;
  /** `date`, `date-time` stand for a string of that format. */
  readonly types: Readonly<Record<string, string>>;
  /** In file order, without ids. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Absent: read-only. `after` is the file afterwards; absent where only the values are compared. */
  readonly edit?: {
    readonly row: number;
    readonly column: string;
    readonly value: unknown;
    readonly shown?: unknown;
    readonly after?: Uint8Array;
  };
}

type Encode = (text: string) => Buffer;

const CP850: Readonly<Record<string, number>> = {
  ä: 0x84,
  ö: 0x94,
  ü: 0x81,
  ß: 0xe1,
  é: 0x82,
  Ä: 0x8e,
  Ö: 0x99,
  Ü: 0x9a, // prettier-ignore
};
const ENCODINGS: Readonly<Record<string, Encode>> = {
  utf8: (text) => Buffer.from(text),
  'utf8-mark': (text) => Buffer.from(`\ufeff${text}`),
  'windows-1252': (text) => Buffer.from(text, 'latin1'),
  cp850: (text) => Buffer.from(Array.from(text, (one) => CP850[one] ?? one.charCodeAt(0))),
  utf16le: (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'utf16le-unmarked': (text) => Buffer.from(text, 'utf16le'),
  utf16be: (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
};

/** One way to write the same table. */
interface Spelling {
  readonly delimiter: string;
  readonly days: readonly string[];
  readonly format: string;
  readonly prices: readonly string[];
  readonly numbers: readonly number[];
  /** What is sent for the second price, and what then stands in the file. */
  readonly sent: unknown;
  readonly written: string;
}

const DAYS = { format: 'date' };
const SPELLINGS: Readonly<Record<string, Spelling>> = {
  german: {
    ...DAYS, delimiter: ';', days: ['31.01.2024', '01.02.2024', '28.02.2024'],
    prices: ['1.234,50', '7,00', '12,30'], numbers: [1234.5, 7, 12.3], sent: 9876.5, written: '9.876,50',
  },
  'german-plain': {
    ...DAYS, delimiter: ';', days: ['31.1.2024', '1.2.2024', '28.2.2024'],
    prices: ['1234,50', '7,00', '12,30'], numbers: [1234.5, 7, 12.3], sent: 8, written: '8,00',
  },
  english: {
    ...DAYS, delimiter: ',', days: ['01/31/2024', '02/01/2024', '02/28/2024'],
    prices: ['"1,234.50"', '7.00', '12.30'], numbers: [1234.5, 7, 12.3], sent: 9876.5, written: '"9,876.50"',
  },
  iso: {
    ...DAYS, delimiter: ',', days: ['2024-01-31', '2024-02-01', '2024-02-28'],
    prices: ['1234.5', '7.0', '12.3'], numbers: [1234.5, 7, 12.3], sent: 8.25, written: '8.25',
  },
  pandas: {
    format: 'date-time', delimiter: ',', days: ['2024-01-31 00:02:56', '2024-02-01 10:00:00', '2024-02-28 23:59:59'],
    prices: ['1234.5', '7.0', '12.3'], numbers: [1234.5, 7, 12.3], sent: 8.25, written: '8.25',
  },
  swiss: {
    ...DAYS, delimiter: '\t', days: ['31.01.2024', '01.02.2024', '28.02.2024'],
    prices: ["1'234.50", '7.00', '12.30'], numbers: [1234.5, 7, 12.3], sent: 9876.5, written: "9'876.50",
  },
  named: {
    ...DAYS, delimiter: '|', days: ['31-Jan-2024', '01-Feb-2024', '28-Feb-2024'],
    prices: ['1234.5', '7', '12.3'], numbers: [1234.5, 7, 12.3], sent: 8, written: '8',
  },
}; // prettier-ignore

const PLACES = ['München', 'Köln', 'Zürich'];
const TYPES = (format: string) => ({
  Ort: 'string',
  Tag: format,
  Preis: 'number',
  Stück: 'integer',
  aktiv: 'boolean',
});

function lines({ delimiter, days, prices }: Spelling, end: string): string {
  const join_ = (cells: readonly string[]): string => cells.join(delimiter) + end;
  const rows = PLACES.map((place, i) =>
    join_([place, days[i]!, prices[i]!, String(i + 1), i === 1 ? 'false' : 'true']),
  );
  return join_(['Ort', 'Tag', 'Preis', 'Stück', 'aktiv']) + rows.join('');
}

function rowsOf({ days, numbers }: Spelling): Record<string, unknown>[] {
  return PLACES.map((Ort, i) => ({
    Ort,
    Tag: days[i]!,
    Preis: numbers[i]!,
    Stück: i + 1,
    aktiv: i !== 1,
  }));
}

/** The table in text, with what stands around it. */
function delimited(
  rel: string,
  spelling: Spelling,
  encode: Encode,
  { end = '\n', head = '', tail = '' } = {},
): SharedFile {
  const text = lines(spelling, end);
  const cell = `Köln${spelling.delimiter}${spelling.days[1]!}${spelling.delimiter}`;
  const after = text.replace(cell + spelling.prices[1]!, cell + spelling.written);
  return {
    rel,
    bytes: encode(head + text + tail),
    name: rel.replace(/\.[^.]+$/, ''),
    types: TYPES(spelling.format),
    rows: rowsOf(spelling),
    edit: { row: 2, column: 'Preis', value: spelling.sent, after: encode(head + after + tail) },
  };
}

function delimitedFiles(): SharedFile[] {
  const files: SharedFile[] = [];
  for (const [spelled, spelling] of Object.entries(SPELLINGS)) {
    const extension = { '\t': 'tsv', '|': 'psv' }[spelling.delimiter] ?? 'csv';
    for (const [encoded, encode] of Object.entries(ENCODINGS)) {
      files.push(
        delimited(`text/${spelled}-${encoded}.${extension}`, spelling, encode, {
          end: encoded.startsWith('utf16') ? '\r\n' : '\n',
        }),
      );
    }
  }
  const { german, english, iso } = SPELLINGS as Record<string, Spelling> &
    Record<'german' | 'english' | 'iso', Spelling>;
  const utf8 = ENCODINGS['utf8']!;
  const latin = ENCODINGS['windows-1252']!;
  return [
    ...files,
    delimited('excel/sep.csv', german, latin, { end: '\r\n', head: 'sep=;\r\n' }),
    delimited('excel/crlf.csv', german, latin, { end: '\r\n' }),
    delimited('excel/mac.csv', english, utf8, { end: '\r' }),
    delimited('excel/titles.csv', german, latin, {
      end: '\r\n',
      head: 'Umsatz je Ort;;;;\r\nStand 1.3.2024;;;;\r\n;;;;\r\n',
    }),
    delimited('excel/one-title.csv', english, utf8, { head: 'Sales by place,,,,\n,,,,\n' }),
    delimited('excel/tabs.csv', { ...iso, delimiter: '\t' }, utf8),
    delimited('excel/bars.csv', { ...iso, delimiter: '|' }, utf8),
  ];
}

const RECORDS = PLACES.map((place, i) => ({
  place,
  day: `2024-02-0${i + 1}`,
  price: 1.5 * (i + 1),
  pieces: i + 1,
  active: i !== 1,
}));
const RECORD_TYPES = {
  place: 'string',
  day: 'date',
  price: 'number',
  pieces: 'integer',
  active: 'boolean',
};

function json(
  rel: string,
  text: string,
  options: Partial<SharedFile> & { readonly edited?: string } = {},
): SharedFile {
  const { edited, ...more } = options;
  return {
    ...{
      rel,
      bytes: Buffer.from(text),
      name: rel.replace(/\.[^.]+$/, ''),
      types: RECORD_TYPES,
      rows: RECORDS,
    },
    ...(edited === undefined
      ? {}
      : { edit: { row: 2, column: 'price', value: 8.25, after: Buffer.from(edited) } }),
    ...more,
  };
}

function jsonFiles(): SharedFile[] {
  const files: SharedFile[] = [];
  const indents: [string, number | string | undefined][] = [['compact', undefined], ['two', 2], ['four', 4], ['tabs', '\t']]; // prettier-ignore
  for (const [label, indent] of indents) {
    const text = JSON.stringify(RECORDS, null, indent);
    const [before, after] =
      indent === undefined ? ['"price":3,', '"price":8.25,'] : ['"price": 3,', '"price": 8.25,'];
    files.push(json(`json/${label}.json`, text, { edited: text.replace(before!, after!) }));
  }
  const rows = RECORDS.map((one) => JSON.stringify(one));
  const edited = rows.map((one) => one.replace('"price":3,', '"price":8.25,'));
  files.push(
    // DuckDB's COPY … TO (FORMAT json, ARRAY true).
    json('json/duckdb.json', `[\n\t${rows.join(',\n\t')}\n]\n`, {
      edited: `[\n\t${edited.join(',\n\t')}\n]\n`,
    }),
    json('json/lines.ndjson', `${rows.join('\n')}\n`, { edited: `${edited.join('\n')}\n` }),
    json('json/crlf.jsonl', `${rows.join('\r\n')}\r\n`, { edited: `${edited.join('\r\n')}\r\n` }),
    json('json/unended.jsonl', rows.join('\n'), { edited: edited.join('\n') }),
    json('json/nested.json', `{"status":"ok","items":[${rows.join(',')}]}`, {
      edited: `{"status":"ok","items":[${edited.join(',')}]}`,
    }),
    json('json/packed.ndjson.gz', '', { bytes: gzipSync(rows.join('\n')), name: 'json/packed' }),
    json('json/packed2.ndjson.zst', '', {
      bytes: zstdCompressSync(rows.join('\n')),
      name: 'json/packed2',
    }),
  );
  const columns = Object.keys(RECORD_TYPES) as (keyof (typeof RECORDS)[0])[];
  const lists = Object.fromEntries(columns.map((name) => [name, RECORDS.map((one) => one[name])]));
  files.push(json('json/lists.json', JSON.stringify(lists)));
  return files;
}

function compressedFiles(): SharedFile[] {
  const text = lines(SPELLINGS['german']!, '\n');
  const of = (rel: string, bytes: Uint8Array): SharedFile => ({
    rel,
    bytes,
    name: rel.split('.')[0]!,
    types: TYPES('date'),
    rows: rowsOf(SPELLINGS['german']!),
  });
  return [
    of('packed/a.csv.gz', gzipSync(text)),
    of('packed/b.csv.zst', zstdCompressSync(text)),
    of('packed/c.csv.gz', gzipSync(ENCODINGS['windows-1252']!(text))),
  ];
}

async function workbookOf(
  build: (sheet: ExcelJS.Worksheet, book: ExcelJS.Workbook) => void,
): Promise<Buffer> {
  const book = new ExcelJS.Workbook();
  build(book.addWorksheet('Data'), book);
  return Buffer.from(await book.xlsx.writeBuffer());
}

const HEAD = ['place', 'day', 'price', 'pieces', 'active'];
const SHEET_ROWS = RECORDS.map((one) => ({ ...one, day: `${one.day} 00:00:00` }));
const SHEET_TYPES = { ...RECORD_TYPES, day: 'date-time' };
const cells = RECORDS.map(({ place, day, price, pieces, active }) => [
  place,
  new Date(day),
  price,
  pieces,
  active,
]);

/** A date column of a sheet has times when it is shown: its format stays whatever the product says a sheet has. */
async function workbookFiles(): Promise<SharedFile[]> {
  const edit = { row: 2, column: 'price', value: 8.25 } as const;
  const of = (rel: string, bytes: Uint8Array, more: Partial<SharedFile> = {}): SharedFile => ({
    ...{
      rel,
      bytes,
      name: `${rel.replace(/\.[^.]+$/, '')}/Data`,
      types: SHEET_TYPES,
      rows: SHEET_ROWS,
    },
    ...more,
  });
  const plain = (sheet: ExcelJS.Worksheet): void => {
    sheet.addRow(HEAD);
    for (const row of cells) sheet.addRow(row).getCell(2).numFmt = 'dd.mm.yyyy';
  };
  const files = [
    of('book/plain.xlsx', await workbookOf(plain), { edit }),
    of('book/offset.xlsx', await workbookOf((sheet) => {
      sheet.getCell('C3').value = undefined;
      for (const [r, row] of [HEAD, ...cells].entries())
        for (const [c, value] of row.entries()) {
          const cell = sheet.getCell(r + 3, c + 3);
          cell.value = value as ExcelJS.CellValue;
          if (value instanceof Date) cell.numFmt = 'yyyy-mm-dd';
        }
    }), { edit }),
    of('book/titles.xlsx', await workbookOf((sheet) => {
      sheet.addRow(['Sales of all places in 2024']);
      sheet.mergeCells('A1:E1');
      sheet.addRow([]);
      plain(sheet);
    }), { edit }),
    of('book/macros.xlsm', await workbookOf(plain), { edit }),
    of('book/hidden.xlsx', await workbookOf((sheet, book) => {
      plain(sheet);
      book.addWorksheet('Secret', { state: 'hidden' }).addRow(['x']);
    }), { edit }),
    of('book/formula.xlsx', await workbookOf((sheet) => {
      sheet.addRow([...HEAD, 'sum']);
      for (const [i, row] of cells.entries()) {
        const added = sheet.addRow([...row, { formula: `C${i + 2}*D${i + 2}`, result: RECORDS[i]!.price * RECORDS[i]!.pieces }]);
        added.getCell(2).numFmt = 'dd.mm.yyyy';
      }
    }), {
      types: { ...SHEET_TYPES, sum: 'number' },
      rows: SHEET_ROWS.map((one) => ({ ...one, sum: one.price * one.pieces })),
      edit,
    }),
  ]; // prettier-ignore
  const book = XLSX.utils.book_new();
  const data = XLSX.utils.aoa_to_sheet([
    HEAD,
    ...RECORDS.map((one) => [one.place, one.day, one.price, one.pieces, one.active]),
  ]);
  XLSX.utils.book_append_sheet(book, data, 'Data');
  const texts = { types: RECORD_TYPES, rows: RECORDS };
  for (const [extension, type] of [
    ['xlsx', 'xlsx'],
    ['xls', 'biff8'],
    ['xlsb', 'xlsb'],
    ['ods', 'ods'],
    ['fods', 'fods'],
  ] as const) {
    // prettier-ignore
    const bytes = XLSX.write(book, { type: 'buffer', bookType: type }) as Buffer;
    files.push(
      of(`sheetjs/${extension}.${extension}`, bytes, {
        ...texts,
        ...(extension === 'xlsx' ? { edit } : {}),
      }),
    );
  }
  return files;
}

async function databaseFiles(): Promise<SharedFile[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-share-'));
  try {
    const db = new Database(join(folder, 'shop.sqlite'), { create: true });
    db.run('CREATE TABLE sales (place TEXT, day TEXT, price REAL, pieces INTEGER)');
    for (const { place, day, price, pieces } of RECORDS)
      db.run('INSERT INTO sales VALUES (?, ?, ?, ?)', [place, day, price, pieces]);
    db.run('CREATE VIEW dear AS SELECT place, price FROM sales WHERE price > 2');
    db.close();
    const shop = readFileSync(join(folder, 'shop.sqlite'));
    const connection = await (await DuckDBInstance.create()).connect();
    await connection.run(`CREATE TABLE t AS SELECT * FROM (VALUES
      ('München', TIMESTAMP '2024-02-01 00:00:01', DATE '2024-02-01', 1.50::DECIMAL(9,2), 1::BIGINT, true),
      ('Köln', TIMESTAMP '2024-02-02 00:00:01', DATE '2024-02-02', 3.00::DECIMAL(9,2), 2::BIGINT, false)) v(place, moment, day, price, pieces, active)`);
    const copies: [string, string][] = [['snappy', ''], ['zstd', ", COMPRESSION 'zstd'"], ['gzip', ", COMPRESSION 'gzip'"], ['plain', ", COMPRESSION 'uncompressed'"]]; // prettier-ignore
    const parquet: SharedFile[] = [];
    for (const [label, options] of copies) {
      const path = join(folder, `${label}.parquet`);
      await connection.run(`COPY t TO '${path}' (FORMAT parquet${options})`);
      parquet.push({
        rel: `duckdb/${label}.parquet`,
        bytes: readFileSync(path),
        name: `duckdb/${label}`,
        types: {
          place: 'string',
          moment: 'date-time',
          day: 'date',
          price: 'number',
          pieces: 'integer',
          active: 'boolean',
        },
        rows: [
          {
            place: 'München',
            moment: '2024-02-01T00:00:01',
            day: '2024-02-01',
            price: 1.5,
            pieces: 1,
            active: true,
          },
          {
            place: 'Köln',
            moment: '2024-02-02T00:00:01',
            day: '2024-02-02',
            price: 3,
            pieces: 2,
            active: false,
          },
        ],
        edit: { row: 2, column: 'price', value: 8.25 },
      });
    }
    const csv = join(folder, 'out.csv');
    await connection.run(`COPY t TO '${csv}' (HEADER)`);
    const text = readFileSync(csv, 'utf8');
    return [
      ...parquet,
      {
        rel: 'duckdb/out.csv', bytes: Buffer.from(text), name: 'duckdb/out',
        types: { place: 'string', moment: 'date-time', day: 'date', price: 'number', pieces: 'integer', active: 'boolean' },
        rows: [
          { place: 'München', moment: '2024-02-01 00:00:01', day: '2024-02-01', price: 1.5, pieces: 1, active: true },
          { place: 'Köln', moment: '2024-02-02 00:00:01', day: '2024-02-02', price: 3, pieces: 2, active: false },
        ],
        edit: { row: 2, column: 'moment', value: '2024-03-01T10:00:00Z', shown: '2024-03-01 10:00:00', after: Buffer.from(text.replace('2024-02-02 00:00:01', '2024-03-01 10:00:00')) },
      },
      {
        rel: 'db/shop.sqlite', bytes: shop, name: 'db/shop/sales',
        types: { place: 'string', day: 'date', price: 'number', pieces: 'integer' },
        rows: RECORDS.map(({ place, day, price, pieces }) => ({ place, day, price, pieces })),
      },
      {
        rel: 'db/views.db', bytes: shop, name: 'db/views/dear', types: { place: 'string', price: 'number' },
        rows: RECORDS.slice(1).map(({ place, price }) => ({ place, price })),
      },
    ]; // prettier-ignore
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** As people type them: marks, gaps and what only looks like numbers or dates. */
function oddFiles(): SharedFile[] {
  const column = (
    rel: string,
    values: readonly string[],
    type: string,
    shown: readonly unknown[],
  ): SharedFile => {
    const text = `v;w\n${values.map((value) => `${value};x\n`).join('')}`;
    return {
      rel: `odd/${rel}.csv`,
      bytes: Buffer.from(text),
      name: `odd/${rel}`,
      types: { v: type, w: 'string' },
      rows: shown.map((v) => ({ v, w: 'x' })),
      edit: { row: 1, column: 'w', value: 'y', after: Buffer.from(text.replace(';x\n', ';y\n')) },
    };
  };
  const same = (rel: string, type: string, ...values: string[]) =>
    column(rel, values, type, values);
  return [
    same('zip-codes', 'string', '01067', '80331'),
    same('telephone', 'string', '+49 89 1', '+49 30 2'),
    same('both-orders', 'string', '01/02/2024', '03/04/2024'),
    same('half-dates', 'string', '2024-01-31', 'n/a'),
    same('months', 'string', '2024-05', '2024-06'),
    same('two-digits', 'string', '31.01.24', '01.02.24'),
    same('times', 'string', '10:30', '11:00'),
    same('versions', 'string', '1.2.3', '1.10.0'),
    same('percent', 'string', '12 %', '7 %'),
    same('empty-dates', 'date', '2024-01-31', '', '2023-12-31'),
    same('zones', 'date-time', '2024-01-01T00:00:00Z', '2024-01-01T01:00:00+01:00'),
    same('am-pm', 'date-time', '5-Jan-2024 3:04 PM', '6-Jan-2024 11:00 AM'),
    column('groups', ['1.020.300', '1.234'], 'integer', [1_020_300, 1234]),
    column('spaces', ['1\u00a0234', '56\u00a0789'], 'integer', [1234, 56_789]),
    column('negative', ['-0,25', '7,5'], 'number', [-0.25, 7.5]),
    column('exponents', ['1e3', '2.5E-1'], 'number', [1000, 0.25]),
  ];
}

export async function sharedFiles(): Promise<readonly SharedFile[]> {
  return [
    ...delimitedFiles(),
    ...compressedFiles(),
    ...jsonFiles(),
    ...(await workbookFiles()),
    ...(await databaseFiles()),
    ...oddFiles(),
  ];
}
