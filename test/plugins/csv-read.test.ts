/** Reading CSV files: encodings, delimiters, headers, limits (DS-50, DS-59, DS-62, DS-63, DS-72). */
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import Papa from 'papaparse';
import { cases } from '../support/long.ts';
import { readCsv } from '../../plugins/csv/reader.ts';
import { AppError } from '../../src/base/errors.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../../src/tables/limits.ts';
import type { ReadOptions } from '../../src/tables/types.ts';
import { CollectingSink, encoded, readTable, type TestEncoding } from './csv-table.ts';
import { sourceOf } from './byte-source.ts';

async function problemOf(file: Uint8Array | string, options: ReadOptions = {}): Promise<string> {
  try {
    await readTable(file, options);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unreadable-file') return error.message;
    throw error;
  }
  return '';
}

test.each<TestEncoding>(['utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be', 'latin1'])(
  '%s text is read, and a byte order mark is no part of a name (DS-62)',
  async (encoding) => {
    const file = encoded('naïve,b\n"é\n",2\n', encoding);
    const options = encoding === 'latin1' ? { encoding: 'latin1' as const } : {};
    const table = await readTable(file, options);
    expect(table.names).toEqual(['naïve', 'b']);
    expect(table.rows).toEqual([['é\n', '2']]);
  },
);

test('UTF-16 without a byte order mark is read when declared, and refused as NUL when not', async () => {
  const file = encoded('a,b\n1,😀\n', 'utf-16le').subarray(2);
  expect((await readTable(file, { encoding: 'utf-16le' })).rows).toEqual([['1', '😀']]);
  expect(await problemOf(file)).toBe('NUL at byte offset 1');
});

test('a byte order mark wins over a declared encoding', async () => {
  const file = encoded('ä\nö\n', 'utf-8-bom');
  expect((await readTable(file, { encoding: 'latin1' })).names).toEqual(['ä']);
});

test.each([
  [[0x61, 0x0a, 0xff], 2],
  [[0x61, 0x0a, 0xc3], 2],
  [[0x61, 0x0a, 0xc0, 0xaf], 2],
  [[0x61, 0xe2, 0x82, 0x2c], 1],
  [[0xed, 0xa0, 0x80], 0],
  [[0xf4, 0x90, 0x80, 0x80], 0],
  [[0xef, 0xbb, 0xbf, 0x80], 3],
])('the bytes %j are invalid UTF-8 at byte offset %d', async (bytes, offset) => {
  expect(await problemOf(Uint8Array.from(bytes))).toBe(`invalid UTF-8 at byte offset ${offset}`);
});

test('the offset of invalid UTF-8 is exact anywhere in a large file, also across reads', async () => {
  for (const offset of [262_143, 262_144, 262_145, 600_001]) {
    const file = Buffer.from(`a,b\n${'é,1\n'.repeat(160_000)}`);
    const at = offset - ((offset - 4) % 5);
    file[at] = 0xff;
    expect(await problemOf(file)).toBe(`invalid UTF-8 at byte offset ${at}`);
  }
});

test('invalid UTF-16 is reported with the offset of the lone surrogate or the odd byte', async () => {
  const le = (...units: number[]) =>
    Uint8Array.from([0xfeff, ...units].flatMap((u) => [u & 255, u >> 8]));
  expect(await problemOf(le(0x61, 0xd800, 0x61))).toBe('invalid UTF-16 at byte offset 4');
  expect(await problemOf(le(0x61, 0xdc00))).toBe('invalid UTF-16 at byte offset 4');
  expect(await problemOf(le(0x61, 0xd83d, 0xde00).subarray(0, 7))).toBe(
    'invalid UTF-16 at byte offset 4',
  );
  expect(await problemOf(Uint8Array.from([0xfe, 0xff, 0, 0x61, 0]))).toBe(
    'invalid UTF-16 at byte offset 4',
  );
});

test('NUL is refused in every encoding, an open quote with the place of the cell', async () => {
  expect(await problemOf('a,b\n1,\0\n')).toBe('NUL at byte offset 6');
  expect(await problemOf(encoded('a\n\0', 'utf-16be'))).toBe('NUL at byte offset 6');
  expect(await problemOf('a,b\né,"x\ny,z\n')).toBe('quote at byte offset 7 is never closed');
});

test.each([
  ['a,b\n1,2\n', ','],
  ['a;b\n1,5;2,5\n3,5;4,5\n', ';'],
  ['a\tb c\n1\t2\n', '\t'],
  ['a|b\n1|2\n', '|'],
  ['a,b;c\n1,2;3\n', ','],
  ['a\n1;2\n3\n4\n', ','],
  ['a;b;c\n', ';'],
  ['a;b\n"x,y";1\n"x,y";2\n', ';'],
  ['a;b\n1;2\n3;4;5\n1,1;2,2\n', ';'],
  ['', ','],
])('the delimiter of %j is %j (DS-62)', async (text, delimiter) => {
  expect((await readTable(text)).layout.dialect['delimiter']).toBe(delimiter);
});

test('the delimiter is guessed from the first 64 KiB and overridden by options (DS-72)', async () => {
  const text = `a,b\n${'1,2\n'.repeat(20_000)}${'1;2;3\n'.repeat(50_000)}`;
  expect((await readTable(text)).layout.dialect['delimiter']).toBe(',');
  expect((await readTable('a,b;c\n', { delimiter: ';' })).names).toEqual(['a,b', 'c']);
});

test.each([
  ['a,b\n', ['a', 'b'], 'plain names'],
  [' a ,\tb\n', ['a', 'b'], 'trimmed'],
  ['a,,\n', ['a', 'column_2', 'column_3'], 'empty names are numbered'],
  ['a,a,a\n', ['a', 'a_2', 'a_3'], 'duplicates are numbered'],
  ['a,a_2,a\n', ['a', 'a_2', 'a_3'], 'with the first free number'],
  ['a,a,a_2\n', ['a', 'a_3', 'a_2'], 'a name in the file keeps its column'],
  ['_row_id,x\n', ['_row_id_2', 'x'], 'the row id is no column (DS-50)'],
  ['column_2,\n', ['column_2', 'column_2_2'], 'a numbered name can be taken'],
  [
    '__proto__,constructor,"a""b","x\ny"\n',
    ['__proto__', 'constructor', 'a"b', 'x\ny'],
    'any text',
  ],
  ['"a"\n', ['a'], 'quoted'],
  ['\n\r\na\n1', ['a'], 'after blank lines'],
])('the header %j gives %j: %s (DS-63)', async (text, names) => {
  expect((await readTable(text)).names).toEqual(names);
});

test('files without rows: empty, blank lines only, header only (DS-63)', async () => {
  for (const text of ['', '\n', '\n\r\n\n', '\uFEFF']) {
    const table = await readTable(text);
    expect([table.names, table.rows]).toEqual([[], []]);
  }
  for (const text of ['a,b', 'a,b\n', 'a,b\r\n\r\n']) {
    const table = await readTable(text);
    expect([table.names, table.rows]).toEqual([['a', 'b'], []]);
  }
});

test('line ends of every kind, also mixed, and none at the end', async () => {
  for (const text of [
    'a\n1\n2',
    'a\r\n1\r\n2\r\n',
    'a\r1\r2',
    'a\n1\r\n2\r',
    'a\r\n\r\n1\n\n\r2',
  ]) {
    expect((await readTable(text)).rows).toEqual([['1'], ['2']]);
  }
});

test('the header row counts physical lines, whatever stands above it (DS-72)', async () => {
  const text = '"open title\n\nnote, "x"\na;b\n1;2\n';
  const table = await readTable(text, { headerRow: 4 });
  expect([table.names, table.rows]).toEqual([['a', 'b'], [['1', '2']]]);
  expect((await readTable(text, { headerRow: 5 })).names).toEqual(['1', '2']);
  expect((await readTable('a\n\nb\n1\n', { headerRow: 2 })).names).toEqual(['b']);
  expect((await readTable('a\r\nb\r\n1\r\n', { headerRow: 2 })).names).toEqual(['b']);
  for (const headerRow of [6, 7, 1e9]) {
    expect((await readTable(text, { headerRow })).names).toEqual([]);
  }
});

test('limits: columns, cell, row; each refused with its place', async () => {
  const header = Array.from({ length: MAX_COLUMNS }, (_, index) => `c${index}`).join(',');
  expect((await readTable(`${header}\n`)).names).toHaveLength(MAX_COLUMNS);
  expect(await problemOf(`${header},x\n`)).toBe(
    'more than 1999 columns in the row at byte offset 0',
  );
  const cell = 'x'.repeat(MAX_CELL_CHARACTERS);
  expect((await readTable(`a\n${cell}\n"${cell}"\n`)).rows).toEqual([[cell], [cell]]);
  expect(await problemOf(`a\n${cell}x\n`)).toBe(
    'more than 1048576 characters in the cell at byte offset 2',
  );
  expect(await problemOf(`a\n"${cell}x"\n`)).toContain('characters in the cell at byte offset 2');
});

test('a row over 64 MiB is refused, one below is read', async () => {
  const cell = 'x'.repeat(MAX_CELL_CHARACTERS - 1);
  const header = `${','.repeat(64)}\n`;
  const row = `${cell},`.repeat(63);
  const sink = new CollectingSink();
  await readCsv(sourceOf(Buffer.from(`${header}${row}${cell}\n`)), {}, sink);
  expect(sink.rows[0]).toHaveLength(64);
  expect(await problemOf(`${header}${row}${cell},xx\n`)).toBe(
    'more than 67108864 bytes in the row at byte offset 65',
  );
});

test('a line of 200 MB without any delimiter is refused after a few MiB', async () => {
  const source = {
    size: 200_000_000,
    furthest: 0,
    async read(offset: number, length: number) {
      this.furthest = Math.max(this.furthest, offset + length);
      return new Uint8Array(length).fill(0x78);
    },
  };
  const reading = readCsv(source, {}, new CollectingSink());
  expect(await reading.catch((error: AppError) => error.code)).toBe('unreadable-file');
  expect(source.furthest).toBeLessThan(8_000_000);
});

test('10 million blank lines are no rows and cost little', async () => {
  const file = Buffer.alloc(10_000_004, '\n');
  file.write('a\n1\n');
  const { rows, layout } = await readTable(file);
  expect(rows).toEqual([['1']]);
  expect(layout.segments).toEqual([{ rows: 1, bytes: 10_000_003 }]);
});

test('segments add up to the file, each about 32 KiB with its rows', async () => {
  const line = 'é,"x\ny",0123456789\r\n';
  const file = Buffer.from(`\uFEFFa,b,c\r\n${line.repeat(20_000)}`);
  const { layout, rows } = await readTable(file);
  expect(rows).toHaveLength(20_000);
  let offset = layout.bodyOffset;
  const lineBytes = Buffer.byteLength(line);
  for (const [index, segment] of layout.segments.entries()) {
    expect(segment.bytes).toBe(segment.rows * lineBytes + (index === 0 ? 2 : 0));
    if (index < layout.segments.length - 1) expect(segment.bytes).toBeWithin(30_000, 70_000);
    offset += segment.bytes;
  }
  expect(offset).toBe(file.length);
});

test('large files read as papaparse reads them, wherever the reads happen to cut (DS-62)', async () => {
  const cells = ['é', '"a""b"', '"\r\n"', '😀', '', '"x,y"', 'plain', '"\n"'];
  for (const ending of ['\n', '\r\n', '\r'] as const) {
    let seed = 7;
    const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648);
    const lines: string[] = [];
    for (let row = 0; row < 30_000; row++) {
      lines.push(Array.from({ length: 4 }, () => cells[next() % cells.length]!).join(','));
    }
    const text = `a,b,c,d${ending}${lines.join(ending)}${ending}`;
    const peer = Papa.parse<string[]>(text, { newline: ending, delimiter: ',' }).data.slice(1, -1);
    for (const encoding of ['utf-8', 'utf-16be'] as const) {
      const { rows } = await readTable(encoded(text, encoding));
      expect(Bun.deepEquals(rows, peer)).toBe(true);
    }
  }
});

test('any bytes give rows or `unreadable-file`, never another failure', async () => {
  const parts = fc.constantFrom(
    'a',
    ',',
    ';',
    '"',
    '\n',
    '\r',
    '\0',
    '\xff',
    '\xfe',
    '\xef\xbb\xbf',
    '\xc3\xa9',
    '\xd8',
    '1',
  );
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.array(parts, { maxLength: 40 }).map((all) => Buffer.from(all.join(''), 'latin1')),
  );
  const options = fc.record(
    {
      headerRow: fc.integer({ min: 1, max: 4 }),
      encoding: fc.constantFrom<NonNullable<ReadOptions['encoding']>>(
        'utf-8',
        'utf-16le',
        'utf-16be',
        'latin1',
      ),
      delimiter: fc.constantFrom<NonNullable<ReadOptions['delimiter']>>(',', ';'),
    },
    { requiredKeys: [] },
  );
  const property = fc.asyncProperty(bytes, options, async (file, given) => {
    const problem = await problemOf(file, given);
    if (problem !== '') return;
    const { layout } = await readTable(file, given);
    const sum = layout.segments.reduce(
      (total, segment) => total + segment.bytes,
      layout.bodyOffset,
    );
    expect(sum).toBe(file.length);
  });
  await fc.assert(property, { numRuns: cases(4_000) });
});
