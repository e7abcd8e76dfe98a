/**
 * Legacy workbooks that are damaged, hostile or none at all (B-L), made by code, with the reason each is refused for; and
 * good ones to damage further.
 */
import {
  compoundFile,
  label,
  legacyFile,
  type LegacyParts,
  legacyStream,
  number,
  record,
  u16,
  u32,
} from './legacy-workbook-files.ts';
import type { RefusedFile } from './workbook-corpus.ts';

/** The text `a` in the first cell. */
export const HEADER = label(0, 0, 'a');
/** Cell formats: text and two kinds of dates. */
export const DATE_FORMATS = [
  record(0x041e, u16(164), u16(10), [0], Buffer.from('yyyy-mm-dd')),
  record(0x00e0, u16(0, 0), new Uint8Array(16)),
  record(0x00e0, u16(0, 164), new Uint8Array(16)),
  record(0x00e0, u16(0, 21), new Uint8Array(16)),
];

/** A workbook of one sheet: the header and these records. */
export function sheet(...records: readonly Buffer[]): LegacyParts {
  return { globals: DATE_FORMATS, sheets: [{ name: 'S', records: [HEADER, ...records] }] };
}

/** A header and a 1. */
export const good = legacyFile(sheet(number(1, 0, 1)));
/** Long enough to stand in sectors of its own. */
export const large = legacyFile(
  sheet(...Array.from({ length: 600 }, (_, index) => number(index + 1, 0, index))),
);

/** The file with the link of a sector changed in its allocation table (or in that of the small sectors). */
function relinked(file: Buffer, isSmall: boolean, sector: number, link: number): Buffer {
  const copy = Buffer.from(file);
  const table = isSmall ? copy.readUInt32LE(60) : copy.readUInt32LE(76);
  copy.writeUInt32LE(link >>> 0, (table + 1) * 512 + sector * 4);
  return copy;
}

/** First sector of the workbook's stream. */
function firstSector(file: Buffer): number {
  const entry = file.indexOf(Buffer.from('Workbook', 'utf16le'));
  return file.readUInt32LE(entry + 116);
}

/** A sector that lists tables and names itself as the next one. */
function circularList(): Buffer {
  const copy = Buffer.concat([good, Buffer.alloc(512, 0xff)]);
  const sector = good.length / 512 - 1;
  copy.writeUInt32LE(sector, copy.length - 4);
  copy.writeUInt32LE(sector, 68);
  return copy;
}

/** A workbook that claims so many shared texts and has these. */
export function withStrings(count: number, ...texts: readonly Buffer[]): Buffer {
  const shared = record(0x00fc, u32(count, count), ...texts);
  return legacyFile({
    globals: [shared],
    sheets: [{ name: 'S', records: [HEADER, record(0x00fd, u16(1, 0, 0), u32(count - 1))] }],
  });
}

/** Refused within a second, with a reason that matches. */
export const refusedLegacyWorkbooks: readonly RefusedFile[] = [
  ['nothing but the first bytes', () => good.subarray(0, 8), /damaged compound file/],
  ['a file that is cut off', () => large.subarray(0, 2048), /damaged|cut off/],
  ['RTF', () => Buffer.from('{\\rtf1\\ansi}'), /no Excel workbook/],
  [
    'HTML',
    () => Buffer.from('<html><table><tr><td>1</td></tr></table></html>'),
    /no Excel workbook/,
  ],
  [
    'a stream without a compound file',
    () => legacyStream(sheet(number(1, 0, 1))),
    /no Excel workbook/,
  ],
  ['a workbook of Excel 2', () => record(0x0009, u16(2, 0x10)), /no Excel workbook/],
  [
    'a workbook of Excel 4 in a compound file',
    () => compoundFile(Buffer.concat([record(0x0409, u16(0x0400, 0x10, 0)), record(0x0a)])),
    /unsupported Excel version/,
  ],
  [
    'a compound file without a workbook',
    () => compoundFile(new Uint8Array(9), 'WordDocument'),
    /no Excel workbook/,
  ],
  [
    'a chain that runs in a circle',
    () => relinked(large, false, firstSector(large) + 1, firstSector(large)),
    /damaged compound file/,
  ],
  [
    'a chain that leads out of the file',
    () => relinked(large, false, firstSector(large), 0xffff),
    /damaged compound file/,
  ],
  [
    'a small chain that runs in a circle',
    () => relinked(good, true, firstSector(good) + 1, firstSector(good)),
    /damaged compound file/,
  ],
  [
    'a small chain that leads out of the file',
    () => relinked(good, true, firstSector(good), 9999),
    /damaged compound file/,
  ],
  [
    'a directory that runs in a circle',
    () => relinked(good, false, good.readUInt32LE(48), good.readUInt32LE(48)),
    /damaged compound file/,
  ],
  [
    'a folder that holds itself',
    () => {
      const copy = Buffer.from(good);
      const entry = copy.indexOf(Buffer.from('Workbook', 'utf16le'));
      const index = (entry - (copy.readUInt32LE(48) + 1) * 512) / 128;
      copy.writeUInt32LE(index, entry + 68);
      return copy;
    },
    /damaged compound file/,
  ],
  [
    'a table of sectors beyond the file',
    () => {
      const copy = Buffer.from(good);
      copy.writeUInt32LE(77_777, 76);
      return copy;
    },
    /damaged compound file/,
  ],
  ['a list of tables that runs in a circle', () => circularList(), /damaged compound file/],
  ['fewer shared texts than announced', () => withStrings(3, u16(1), Buffer.of(0, 65)), /cut off/],
  ['four billion shared texts', () => withStrings(0xffffffff, u16(1), Buffer.of(0, 65)), /cut off/],
  [
    'a shared text that does not exist',
    () => legacyFile(sheet(record(0x00fd, u16(1, 0, 0), u32(7)))),
    /shared text/,
  ],
  [
    'a record longer than the file',
    () => legacyFile(sheet(Buffer.concat([u16(0x0203, 0xfff0), u16(1, 0, 0)]))),
    /cut off/,
  ],
  ['a record that is too short', () => legacyFile(sheet(record(0x0203, u16(1, 0)))), /too short/],
  [
    'a run of numbers with the wrong length',
    () => legacyFile(sheet(record(0x00bd, u16(1, 0, 0, 0, 0, 9)))),
    /wrong length/,
  ],
  [
    'a text longer than its record',
    () => legacyFile(sheet(record(0x0204, u16(1, 0, 0), u16(0xffff), [0, 65]))),
    /cut off/,
  ],
  [
    'a negative row',
    () => legacyFile(sheet(record(0x0200, u32(-1, -1), u16(0, 0, 0)))),
    /claims rows/,
  ],
  ['a column beyond the last', () => legacyFile(sheet(number(1, 256, 1))), /IW2/],
  [
    'a sheet that begins elsewhere',
    () =>
      legacyFile({
        sheets: [{ name: 'S', records: [] }],
        globals: [record(0x0085, u32(3), [0, 0, 1, 0, 65])],
      }),
    /begin where|cut off/,
  ],
  [
    'an encrypted workbook',
    () => legacyFile({ ...sheet(), globals: [record(0x002f, u16(1, 1, 1))] }),
    /encrypted/,
  ],
  [
    'an encrypted new workbook',
    () => compoundFile(new Uint8Array(9), 'EncryptedPackage'),
    /encrypted/,
  ],
  [
    'no worksheet',
    () => legacyFile({ sheets: [{ name: 'C', type: 2, records: [] }] }),
    /no worksheet/,
  ],
  [
    'two sheets of one name',
    () =>
      legacyFile({
        sheets: [
          { name: 'S', records: [] },
          { name: 'S', records: [] },
        ],
      }),
    /two worksheets/,
  ],
];
