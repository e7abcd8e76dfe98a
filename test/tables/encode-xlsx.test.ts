/** Lists as workbooks: DS-44, read back by SheetJS and exceljs. */
import { describe, expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import * as zlib from 'node:zlib';
import { read, utils } from 'xlsx';
import { DeflateArchive } from '../../src/tables/encode/deflate-archive.ts';
import type { Row, RowShape } from '../../src/tables/encode/encode.ts';
import { checkXlsxRows, encodeXlsx, MAX_XLSX_ROWS } from '../../src/tables/encode/encode-xlsx.ts';
import { wideKey } from '../../src/tables/values/wide-number.ts';

// Large sheets on a busy machine take their time.

const shape: RowShape = {
  columns: [
    { name: 'i', type: 'integer' },
    { name: 'n & <m>', type: 'number' },
    { name: 'b', type: 'boolean' },
    { name: 's', type: 'string' },
  ],
  rowIdAt: null,
  blank: 'empty',
};

function encoded(rows: Iterable<Row>, of: RowShape = shape): Buffer {
  return Buffer.concat([...encodeXlsx(of, rows)]);
}

/** Cells of the only sheet as SheetJS sees them, header included. */
function cellsOf(file: Uint8Array): unknown[][] {
  const book = read(file, { type: 'buffer' });
  expect(book.SheetNames).toEqual(['Sheet1']);
  return utils.sheet_to_json(book.Sheets['Sheet1']!, { header: 1, defval: null });
}

describe('DS-44: lists as workbooks', () => {
  test('numbers, booleans and texts are cells of their type', () => {
    const file = encoded([
      [1, 5, 1.5, 1, 'text'],
      [2, -9007199254740991, 1e21, 0n, 'ünï 😀'],
      [3, null, null, null, ''],
    ]);
    expect(cellsOf(file)).toEqual([
      ['i', 'n & <m>', 'b', 's'],
      [5, 1.5, true, 'text'],
      [-9007199254740991, 1e21, false, 'ünï 😀'],
      [null, null, null, null],
    ]);
    const sheet = read(file).Sheets['Sheet1']!;
    expect(['A2', 'B2', 'C2', 'D2'].map((cell) => (sheet[cell] as { t: string }).t)).toEqual([
      'n',
      'n',
      'b',
      's',
    ]);
  });

  test('text never becomes a formula, and comes back as it was', async () => {
    const texts = [
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      "'x",
      '  spaces  ',
      'a\tb\nc',
      '<b>&amp;',
      '_x0041_',
      '_x005F_',
      'a_b',
    ];
    const file = encoded(texts.map((text, index): Row => [index + 1, null, null, null, text]));
    expect(
      cellsOf(file)
        .slice(1)
        .map((row) => row[3]),
    ).toEqual(texts);
    const sheet = read(file).Sheets['Sheet1']!;
    expect(Object.values(sheet).some((cell) => (cell as { f?: string }).f !== undefined)).toBe(
      false,
    );
    const book = new ExcelJS.Workbook();
    await book.xlsx.load(new Uint8Array(file).buffer);
    const seen = texts.map((_, index) => book.worksheets[0]!.getRow(index + 2).getCell(4).value);
    expect(seen.slice(0, 8)).toEqual(texts.slice(0, 8));
  });

  test('characters that XML cannot hold are escaped', () => {
    const text = '\u0000\u0001\u000b\r\ufffe\ud800';
    expect(cellsOf(encoded([[1, null, null, null, text]]))[1]![3]).toBe(text);
  });

  test('a text that is too long for a cell says where it was cut', () => {
    const full = 'x'.repeat(32_767);
    const long = `${'x'.repeat(32_767 - 54)}${'😀'.repeat(20_000)}`;
    const [, whole, cut] = cellsOf(
      encoded([
        [1, null, null, null, full],
        [2, null, null, null, long],
      ]),
    );
    expect(whole![3]).toBe(full);
    const text = cut![3] as string;
    expect(text).toEndWith(`… [cut here: ${long.length} characters, a cell holds 32767]`);
    expect(text.isWellFormed()).toBe(true);
    expect([32_766, 32_767]).toContain(text.length);
  });

  test('numbers of more digits than a double are text', () => {
    const wide: RowShape = {
      columns: [
        {
          name: 'd',
          type: 'number',
          file: { type: { kind: 'decimal', precision: 38, scale: 2 }, isRequired: false },
        },
        { name: 'i', type: 'integer' },
      ],
      rowIdAt: null,
      blank: 'null',
    };
    const scale = { digits: 38, scale: 2 };
    const file = encoded(
      [
        [1, wideKey(150n, scale), 5n],
        [2, wideKey(-12345678901234567890n, scale), 9007199254740993n],
      ],
      wide,
    );
    expect(cellsOf(file).slice(1)).toEqual([
      [1.5, 5],
      ['-123456789012345678.9', '9007199254740993'],
    ]);
  });

  test('DS-61: text that does not fit a declared type stays text', () => {
    expect(cellsOf(encoded([[1, 'n/a', 'n/a', 'maybe', 'x']]))[1]).toEqual([
      'n/a',
      'n/a',
      'maybe',
      'x',
    ]);
  });

  test('DS-45: the row id is a column where it is asked for', () => {
    expect(cellsOf(encoded([[7, 1, 2, 0, 'x']], { ...shape, rowIdAt: 0 }))).toEqual([
      ['_row_id', 'i', 'n & <m>', 'b', 's'],
      [7, 1, 2, false, 'x'],
    ]);
  });

  test('columns beyond Z, and many rows in several pieces', () => {
    const columns = Array.from({ length: 800 }, (_, index) => ({
      name: `c${index}`,
      type: 'integer' as const,
    }));
    const rows = Array.from({ length: 60 }, (_, row): Row => [
      row + 1,
      ...columns.map((_, column) => row * column),
    ]);
    const cells = cellsOf(encoded(rows, { ...shape, columns }));
    expect(cells[0]!.at(-1)).toBe('c799');
    expect(cells[60]!.slice(700, 703)).toEqual([59 * 700, 59 * 701, 59 * 702]);
  });

  test('no columns, no rows', () => {
    expect(cellsOf(encoded([], { ...shape, columns: [] }))).toEqual([]);
    expect(cellsOf(encoded([]))).toEqual([['i', 'n & <m>', 'b', 's']]);
  });

  test('more rows than a sheet has are refused', () => {
    expect(() => checkXlsxRows(MAX_XLSX_ROWS)).not.toThrow();
    expect(() => checkXlsxRows(1_048_576)).toThrow('Too many rows for xlsx: 1048576');
    try {
      checkXlsxRows(2_000_000);
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid-query' });
    }
  });

  test('memory is a piece of the sheet: chunks are small and come while rows do', () => {
    let taken = 0;
    const rows = (function* (): Generator<Row> {
      for (; taken < 40_000; taken++) yield [taken + 1, taken, taken / 3, 1, `row ${taken}`];
    })();
    let largest = 0;
    let isEarly = false;
    for (const chunk of encodeXlsx(shape, rows)) {
      largest = Math.max(largest, chunk.length);
      isEarly ||= taken > 0 && taken < 20_000;
    }
    expect(largest).toBeLessThan(400_000);
    expect(isEarly).toBe(true);
  });
});

describe('the archive', () => {
  test('each file is one deflate stream with its checksum and sizes after it', () => {
    const archive = new DeflateArchive();
    const parts = Array.from({ length: 50 }, (_, index) => `${index} ${'text '.repeat(5_000)}`);
    const file = Buffer.concat([
      ...archive.file('a/b.xml', parts),
      ...archive.file('empty', []),
      archive.end(),
    ]);
    const start = 30 + 'a/b.xml'.length;
    const end = file.indexOf(Buffer.from([0x50, 0x4b, 7, 8]));
    const content = zlib.inflateRawSync(file.subarray(start, end));
    expect(content.toString()).toBe(parts.join(''));
    expect(file.readUInt32LE(end + 4)).toBe(zlib.crc32(content));
    expect(file.readUInt32LE(end + 8)).toBe(end - start);
    expect(file.readUInt32LE(end + 12)).toBe(content.length);
  });
});
