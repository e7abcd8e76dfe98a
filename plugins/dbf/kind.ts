import type { Kind } from '../../src/docroot/kind.ts';
import { isUtf8 } from 'node:buffer';
import { unreadable } from '../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { FileColumn, FileType } from '../../src/tables/infer/file-type.ts';
import { cleanNames } from '../../src/tables/infer/header-names.ts';
import type { Cell, ReadOptions, RowSink } from '../../src/tables/types.ts';
import { dateText, daysOf, momentText } from '../../src/tables/values/calendar.ts';

/**
 * Tables of dBASE, FoxPro and shapefiles: records of fixed width, with the types of the header. Deleted records are
 * skipped.
 *
 * Not read by SheetJS, which shows references to memo files (`##MEMO##808464432`) as texts, takes numbers of text fields
 * for numbers, and holds all cells in memory.
 */
export const dbf: Kind = {
  type: 'dbf',
  family: 'dataset',
  extensions: ['.dbf'],
  dataset: {
    hasNull: true,
    read: readDbf,
    readOnlyReason: () => 'dBASE files are read-only; save the table as CSV or .xlsx to edit it',
  },
};

const HEADER_BYTES = 32;
const FIELD_BYTES = 32;
const END_OF_FIELDS = 0x0d;
const DELETED = 0x2a;
const CHUNK_BYTES = 1024 * 1024;
/** Visual FoxPro: `B` is a double there, elsewhere the number of a memo. */
const FOXPRO = new Set([0x30, 0x31, 0x32]);
/** Of 1970-01-01. */
const JULIAN_EPOCH = 2_440_588;

interface Field {
  readonly name: string;
  readonly type: string;
  /** In the record. */
  readonly from: number;
  readonly to: number;
  readonly decimals: number;
}

interface Header {
  readonly records: number;
  readonly from: number;
  readonly recordBytes: number;
  readonly isFoxPro: boolean;
  readonly fields: readonly Field[];
  readonly text: (bytes: Buffer) => string;
}

/** Throws `unreadable-file`. */
export async function readDbf(
  source: FileSource,
  _options: ReadOptions,
  sink: RowSink,
): Promise<void> {
  const header = await readHeader(source);
  const fractions = await fieldsWithFractions(source, header);
  const columns = header.fields.map((field): FileColumn => {
    const type = typeOf(field, header.isFoxPro, fractions.has(field));
    return { type, isRequired: false };
  });
  sink.header(cleanNames(header.fields.map(({ name }) => name)), columns);
  for await (const records of recordsOf(source, header)) {
    const rows = records.map((record) =>
      header.fields.map((field, position) =>
        cellOf(record.subarray(field.from, field.to), columns[position]!.type, field, header),
      ),
    );
    if (rows.length > 0) sink.segment({ rows: rows.length, bytes: 0 }, rows);
  }
  sink.layout({}, 0);
}

async function readHeader(source: FileSource): Promise<Header> {
  const start = await readBytes(source, 0, HEADER_BYTES);
  const isCut = start.length < HEADER_BYTES;
  const from = isCut ? 0 : start.readUInt16LE(8);
  const recordBytes = isCut ? 0 : start.readUInt16LE(10);
  if (from <= HEADER_BYTES || recordBytes < 2 || from > source.size) {
    throw unreadable('it is no dBASE file');
  }
  const text = decoderOf(start[29]!);
  const fields: Field[] = [];
  const head = await readBytes(source, 0, from);
  let end = 1;
  for (
    let at = HEADER_BYTES;
    at + FIELD_BYTES <= from && head[at] !== END_OF_FIELDS;
    at += FIELD_BYTES
  ) {
    const type = String.fromCharCode(head[at + 11]!);
    const name = text(
      head.subarray(at, at + 11).subarray(0, lengthBefore(head.subarray(at, at + 11))),
    );
    // Longer texts have the high byte where others have their decimals.
    const length = head[at + 16]! + (type === 'C' ? head[at + 17]! * 256 : 0);
    fields.push({ name, type, from: end, to: end + length, decimals: head[at + 17]! });
    end += length;
  }
  if (fields.length === 0 || end > recordBytes) throw unreadable('its header contradicts itself');
  const isFoxPro = FOXPRO.has(start[0]!);
  return { records: start.readUInt32LE(4), from, recordBytes, isFoxPro, fields, text };
}

function lengthBefore(name: Buffer): number {
  const end = name.indexOf(0);
  return end < 0 ? name.length : end;
}

async function* recordsOf(
  source: FileSource,
  { records, from, recordBytes }: Header,
): AsyncGenerator<Buffer[]> {
  const perChunk = Math.max(1, Math.floor(CHUNK_BYTES / recordBytes));
  for (let done = 0; done < records; done += perChunk) {
    const count = Math.min(perChunk, records - done);
    const bytes = await readBytes(source, from + done * recordBytes, count * recordBytes);
    if (bytes.length < count * recordBytes) {
      const found = done + Math.floor(bytes.length / recordBytes);
      throw unreadable(`it ends after ${found} of ${records} records`);
    }
    yield Array.from({ length: count }, (_, index) =>
      bytes.subarray(index * recordBytes, (index + 1) * recordBytes),
    ).filter((record) => record[0] !== DELETED);
  }
}

/** Some programs write fractions into fields that declare none. */
async function fieldsWithFractions(source: FileSource, header: Header): Promise<Set<Field>> {
  const found = new Set<Field>();
  const whole = header.fields.filter(({ type, decimals }) => type === 'N' && decimals === 0);
  if (whole.length === 0) return found;
  for await (const records of recordsOf(source, header)) {
    for (const record of records) {
      for (const field of whole) {
        const text = record.toString('latin1', field.from, field.to);
        if (/[.eE]/.test(text)) found.add(field);
      }
    }
  }
  return found;
}

function typeOf(
  { type, from, to, decimals }: Field,
  isFoxPro: boolean,
  isFraction: boolean,
): FileType {
  if (type === 'N' && decimals === 0 && !isFraction && to - from <= 18) {
    return { kind: 'integer', bits: 64, isSigned: true };
  }
  if (type === 'I' || type === '+') return { kind: 'integer', bits: 32, isSigned: true };
  const isNumber = 'NFOY'.includes(type) || (type === 'B' && isFoxPro);
  if (isNumber) return { kind: 'float', bits: 64 };
  if (type === 'L') return { kind: 'boolean' };
  if (type === 'D') return { kind: 'date' };
  if (type === 'T' || type === '@') return { kind: 'timestamp', unit: 'ms', isUtc: false };
  return { kind: 'text' };
}

/** Null also for what does not fit and for memos, which stand in another file. */
function cellOf(bytes: Buffer, type: FileType, field: Field, { text, isFoxPro }: Header): Cell {
  switch (field.type) {
    case 'C':
    case 'V':
      return text(bytes).replace(/[ \0]+$/, '') || null;
    case 'N':
    case 'F':
      return numberOf(bytes.toString('latin1').replaceAll('\0', ' ').trim(), type);
    case 'L':
      return booleanOf(String.fromCharCode(bytes[0] ?? 0));
    case 'D':
      return dateOf(bytes.toString('latin1'));
    case 'I':
    case '+':
      return bytes.length < 4 ? null : bytes.readInt32LE(0);
    case 'Y':
      return bytes.length < 8 ? null : Number(bytes.readBigInt64LE(0)) / 10_000;
    case 'O':
      return bytes.length < 8 ? null : finite(bytes.readDoubleLE(0));
    case 'B':
      return isFoxPro && bytes.length >= 8 ? finite(bytes.readDoubleLE(0)) : null;
    case 'T':
    case '@':
      return bytes.length < 8 ? null : momentOf(bytes.readInt32LE(0), bytes.readInt32LE(4));
    default:
      return null;
  }
}

function finite(number: number): number | null {
  return Number.isFinite(number) ? number + 0 : null;
}

function numberOf(text: string, type: FileType): Cell {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return null;
  const number = Number(text);
  if (type.kind !== 'integer') return finite(number);
  return Number.isSafeInteger(number) ? number + 0 : BigInt(text);
}

function booleanOf(letter: string): boolean | null {
  if (/[YyTt]/.test(letter)) return true;
  return /[NnFf]/.test(letter) ? false : null;
}

function dateOf(text: string): string | null {
  const date = text.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3');
  const days = daysOf(date);
  return days === null ? null : dateText(days);
}

function momentOf(julianDay: number, milliseconds: number): string | null {
  const day = julianDay - JULIAN_EPOCH;
  const isMoment = julianDay > 0 && milliseconds >= 0 && milliseconds < 86_400_000;
  return isMoment ? momentText(day, milliseconds, 'ms', false) : null;
}

/** By the mark in the header; without one UTF-8 or windows-1252, as programs for maps write them. */
function decoderOf(mark: number): (bytes: Buffer) => string {
  const table = mark === 0x01 ? CP437 : mark === 0x02 ? CP850 : null;
  if (table !== null) {
    return (bytes) =>
      bytes.toString('latin1').replace(/[\x80-\xff]/g, (byte) => table[byte.charCodeAt(0) - 0x80]!);
  }
  const named = ENCODINGS.get(mark);
  const decoder = new TextDecoder((named ?? 'windows-1252') as Bun.Encoding);
  return (bytes) =>
    named === undefined && isUtf8(bytes) ? bytes.toString('utf8') : decoder.decode(bytes);
}

const ENCODINGS: ReadonlyMap<number, string> = new Map([
  [0x03, 'windows-1252'],
  [0x13, 'shift_jis'],
  [0x26, 'ibm866'],
  [0x4d, 'gbk'],
  [0x4e, 'euc-kr'],
  [0x4f, 'big5'],
  [0x57, 'windows-1252'],
  [0x65, 'ibm866'],
  [0x78, 'big5'],
  [0x79, 'euc-kr'],
  [0x7a, 'gbk'],
  [0x7b, 'shift_jis'],
  [0x7d, 'windows-1255'],
  [0x7e, 'windows-1256'],
  [0xc8, 'windows-1250'],
  [0xc9, 'windows-1251'],
  [0xca, 'windows-1254'],
  [0xcb, 'windows-1253'],
]);

/** Bytes 80 to FF. */
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';
const CP850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';
