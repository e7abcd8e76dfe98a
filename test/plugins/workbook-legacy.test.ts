/** Legacy .xls workbooks: DS-65, DS-66, and the corpus B-L, whose verdicts come within a second. */
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import * as XLSX from 'xlsx';
import { readWorksheetNames } from '../../plugins/workbook/kind.ts';
import { AppError } from '../../src/base/errors.ts';
import type { Cell } from '../../src/tables/types.ts';
import {
  DATE_FORMATS,
  good,
  HEADER,
  large,
  refusedLegacyWorkbooks,
  sheet,
  withStrings,
} from './legacy-workbook-corpus.ts';
import { f64, label, legacyFile, number, record, u16, u32 } from './legacy-workbook-files.ts';
import { readTable } from './workbook-files.ts';
import { sourceOf } from './byte-source.ts';

const TIMEOUT_MS = 300_000;
const formula = (...result: readonly number[]): Buffer =>
  record(0x0006, u16(1, 0, 0), result, [0xff, 0xff], u16(0), u32(0), u16(0));

const cells: readonly (readonly [
  what: string,
  records: readonly Buffer[],
  value: Exclude<Cell, null>,
])[] = [
  ['a number', [number(1, 0, 1.5)], 1.5],
  ['a compact integer', [record(0x027e, u16(1, 0, 0), u32((-5 << 2) | 2))], -5],
  ['a compact hundredth', [record(0x027e, u16(1, 0, 0), u32((1234 << 2) | 3))], 12.34],
  ['a compact double', [record(0x027e, u16(1, 0, 0), f64(0.5).subarray(4))], 0.5],
  [
    'a run of numbers',
    [record(0x00bd, u16(1, 0), u16(0), u32((7 << 2) | 2), u16(0), u32((8 << 2) | 2), u16(1))],
    7,
  ],
  ['a text', [label(1, 0, 'x')], 'x'],
  [
    'a text of two bytes a character',
    [record(0x0204, u16(1, 0, 0), u16(2), [1], Buffer.from('é東', 'utf16le'))],
    'é東',
  ],
  ['a boolean', [record(0x0205, u16(1, 0, 0), [1, 0])], true],
  ['an error', [record(0x0205, u16(1, 0, 0), [0x2a, 1])], '#N/A'],
  ['a date', [number(1, 0, 45413, 1)], '2024-05-01 00:00:00'],
  ['a time', [number(1, 0, 0.25, 2)], '06:00:00'],
  ['the number of a formula', [record(0x0006, u16(1, 0, 0), f64(2), u16(0), u32(0), u16(0))], 2],
  [
    'the text of a formula',
    [formula(0, 0, 0, 0, 0, 0), record(0x04bc, []), record(0x0207, u16(2), [0], Buffer.from('ab'))],
    'ab',
  ],
  ['the boolean of a formula', [formula(1, 0, 1, 0, 0, 0)], true],
  ['the error of a formula', [formula(2, 0, 7, 0, 0, 0)], '#DIV/0!'],
  ['the empty text of a formula', [formula(3, 0, 0, 0, 0, 0)], ''],
  [
    'a chart in between',
    [record(0x0809, u16(0x600, 0x20)), number(1, 0, 9), record(0x000a), number(1, 0, 4)],
    4,
  ],
];

test.each(cells)('%s is read (DS-65)', async (_, records, value) => {
  const { rows } = await readTable(legacyFile(sheet(...records)));
  expect(rows[0]?.[0] ?? '').toEqual(value);
});

test('shared texts go on in further records, in other widths, with their formats', async () => {
  const wide = Buffer.from('ab東', 'utf16le');
  const strings = Buffer.concat([
    record(
      0x00fc,
      u32(3, 3),
      u16(3),
      [0x08],
      u16(1),
      Buffer.from('abc'),
      u16(0, 0),
      u16(6),
      [0],
      Buffer.from('xyz'),
    ),
    record(0x003c, [1], wide, u16(2), [0x04], u32(4), Buffer.from('hi'), [1, 2]),
    record(0x003c, [3, 4]),
  ]);
  const file = legacyFile({
    globals: [strings],
    sheets: [
      {
        name: 'S',
        records: [
          HEADER,
          ...[0, 1, 2].map((index) => record(0x00fd, u16(index + 1, 0, 0), u32(index))),
        ],
      },
    ],
  });
  expect((await readTable(file)).rows).toEqual([['abc'], ['xyzab東'], ['hi']]);
});

test('texts from before Unicode are read in the code page of the file', async () => {
  const book = (codePage: number, text: Uint8Array): Buffer =>
    legacyFile({
      version: 0x0500,
      globals: [record(0x0042, u16(codePage))],
      sheets: [{ name: text, records: [label(0, 0, 'a', true), label(1, 0, text, true)] }],
    });
  for (const [codePage, text, value] of [
    [1252, [0xe9, 0x80], 'é€'],
    [932, [0x83, 0x65, 0x83, 0x58, 0x83, 0x67], 'テスト'],
    [1251, [0xcf, 0xf0], 'Пр'],
    [32768, [0x8e], 'é'],
  ] as const) {
    const file = book(codePage, Uint8Array.from(text));
    expect((await readTable(file)).rows).toEqual([[value]]);
    expect(await readWorksheetNames(sourceOf(file))).toEqual([value]);
  }
  expect(readTable(book(4711, Uint8Array.of(65)))).rejects.toThrow(
    'its code page 4711 is not supported',
  );
});

test('worksheets are listed in order, charts and macros not; each is a table of its own', async () => {
  const file = legacyFile({
    globals: [record(0x0022, u16(1)), ...DATE_FORMATS],
    sheets: [
      { name: 'One', records: [HEADER, number(1, 0, 0, 1), number(40_000, 0, 2)] },
      { name: 'Chart', type: 2, records: [] },
      {
        name: '__proto__',
        records: [label(2, 0, 'x'), label(2, 1, 'y'), number(4, 1, 5), number(4, 2, 6)],
      },
    ],
  });
  expect(await readWorksheetNames(sourceOf(file))).toEqual(['One', '__proto__']);
  expect((await readTable(file)).rows).toEqual([['1904-01-01 00:00:00'], [2]]);
  const other = await readTable(file, { sheet: '__proto__', headerRow: 3 });
  expect(other.names).toEqual(['x', 'y']);
  expect(other.rows).toEqual([['', 5]]);
  expect(other.layout.dialect).toMatchObject({ format: 'xls', rows: [4, 1] });
  expect(readTable(file, { sheet: 'Chart' })).rejects.toThrow('no worksheet named "Chart"');
});

test('workbooks of SheetJS read as SheetJS reads them', async () => {
  const rows: Cell[][] = Array.from({ length: 500 }, (_, index) => [
    index,
    `text ${index % 9} ${'é'.repeat(index)}`,
    index / 8,
    index % 2 === 0,
  ]);
  const book = XLSX.utils.book_new();
  XLSX.utils.book_append_sheet(
    book,
    XLSX.utils.aoa_to_sheet([['id', 'text', 'part', 'even'], ...rows]),
    'S',
  );
  const file = Buffer.from(
    XLSX.write(book, { type: 'buffer', bookType: 'biff8', bookSST: true }) as Uint8Array,
  );
  const found = await readTable(file);
  expect(found.names).toEqual(['id', 'text', 'part', 'even']);
  expect(found.rows).toEqual(rows);
});

test.each(refusedLegacyWorkbooks)('%s is refused with a reason', async (_, make, reason) => {
  const file = make();
  const startedAt = process.cpuUsage();
  try {
    await readTable(file);
    throw new Error('it was read');
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe('unreadable-file');
    expect((error as AppError).message).toMatch(reason);
  }
  const { user, system } = process.cpuUsage(startedAt);
  expect(user + system).toBeLessThan(1_000_000);
  expect(({} as { c?: unknown }).c).toBeUndefined();
});

test(
  'any change to a legacy workbook gives rows or a reason, never another failure',
  async () => {
    const bases = [
      good,
      large,
      withStrings(2, u16(1), Buffer.of(0, 65), u16(1), Buffer.of(1, 65, 0)),
    ];
    const mutation = fc.record({
      base: fc.nat(bases.length - 1),
      places: fc.array(fc.tuple(fc.nat(20_000), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff)), {
        minLength: 1,
        maxLength: 4,
      }),
      cut: fc.option(fc.nat(20_000), { freq: 6 }),
    });
    const property = fc.asyncProperty(mutation, async ({ base, places, cut }) => {
      const copy = Buffer.from(bases[base]!);
      for (const [at, value] of places) copy[at % copy.length] = value;
      try {
        await readTable(cut === null ? copy : copy.subarray(0, cut % copy.length));
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'unreadable-file') throw error;
      }
    });
    await fc.assert(property, { numRuns: Number(process.env['RUNS'] ?? 500) });
  },
  TIMEOUT_MS,
);
