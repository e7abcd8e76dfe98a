/**
 * Numbers that fit neither a double nor a 64-bit integer become their digits (`wideNumber`); untyped bytes become
 * text if they are plain UTF-8, else base64.
 */
import { type AppError, unreadable } from '../../src/base/errors.ts';
import { type FileType, type TimeUnit, wideNumber } from '../../src/tables/infer/file-type.ts';
import { MAX_CELL_CHARACTERS } from '../../src/tables/limits.ts';
import { damaged } from '../../src/tables/parquet/bytes.ts';
import { Physical } from '../../src/tables/parquet/format.ts';
import {
  dateText,
  momentText,
  momentTexts,
  timeText,
  UNITS_PER_SECOND,
} from '../../src/tables/values/calendar.ts';
import { POWERS_OF_TEN } from '../../src/tables/values/short-decimal.ts';
import { shortestFloat } from '../../src/tables/values/shortest-float.ts';
import { decimalText } from '../../src/tables/values/wide-number.ts';
import {
  type CellAt,
  exactNumber,
  float32View,
  float64View,
  int32View,
  int64Views,
  type RawValues,
  rawValue,
} from './raw-values.ts';
import type { Leaf } from './schema.ts';

export const NANOS_PER_DAY = 86_400_000_000_000n;
export const JULIAN_EPOCH = 2_440_588;
const SECONDS_PER_DAY = 86_400;
/** Scanning every byte of longer texts would cost more than it saves. */
const MAX_SCANNED = 256;
const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Control characters that no text file has. */
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/** For a page or a dictionary. Throws `unreadable-file` for invalid values. */
export function cellsOf(values: RawValues, leaf: Leaf): CellAt {
  const { type } = leaf;
  switch (type.kind) {
    case 'boolean':
      return (index) => values.bytes[index] !== 0;
    case 'integer':
      return integers(values, leaf, type);
    case 'float':
      return floats(values, type.bits);
    case 'decimal':
      return decimals(values, leaf, type);
    case 'date':
      return dates(values);
    case 'time':
      return times(values, leaf, type.unit);
    case 'timestamp':
      return leaf.physical === Physical.int96
        ? legacyMoments(values)
        : moments(values, type.unit, type.isUtc);
    case 'uuid':
      return (index) => uuidText(rawValue(values, index));
    case 'text':
      return texts(values, leaf);
    default:
      return leaf.isInterval
        ? (index) => intervalText(rawValue(values, index))
        : (index) => opaqueText(rawValue(values, index), leaf);
  }
}

function integers(
  values: RawValues,
  { physical }: Leaf,
  type: Extract<FileType, { kind: 'integer' }>,
): CellAt {
  if (physical === Physical.int32) {
    const view = int32View(values);
    return type.isSigned ? (index) => view[index]! : (index) => view[index]! >>> 0;
  }
  const { longs, halves } = int64Views(values);
  if (!type.isSigned && type.bits === 64) {
    return (index) => {
      const value = exactNumber(halves, index);
      return String(value >= 0 ? value : BigInt.asUintN(64, longs[index]!));
    };
  }
  return (index) => {
    const value = exactNumber(halves, index);
    // −2^53 is the one of them that is not safe.
    return Number.isSafeInteger(value) ? value : longs[index]!;
  };
}

function floats(values: RawValues, bits: 16 | 32 | 64): CellAt {
  if (bits === 16) return (index) => finite(shortestFloat(halfFloat(rawValue(values, index)), 16));
  if (bits === 32) {
    const view = float32View(values);
    return (index) => finite(shortestFloat(view[index]!, 32));
  }
  const view = float64View(values);
  return (index) => finite(view[index]!);
}

/** JSON has no NaN, no infinity and no -0. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value + 0 : null;
}

function halfFloat({ buffer, byteOffset }: Uint8Array): number {
  return new DataView(buffer, byteOffset, 2).getFloat16(0, true);
}

function decimals(
  values: RawValues,
  leaf: Leaf,
  type: Extract<FileType, { kind: 'decimal' }>,
): CellAt {
  const unscaled = unscaledAt(values, leaf.physical);
  const { precision, scale } = type;
  const limit = 10n ** BigInt(precision);
  const check = (value: bigint): bigint => {
    if (value < limit && value > -limit) return value;
    throw damaged(`column '${leaf.name}': a decimal of more than ${precision} digits`);
  };
  if (wideNumber(type)) return (index) => decimalText(check(unscaled(index)), scale);
  const power = POWERS_OF_TEN[scale]!;
  if (leaf.physical === Physical.int32) {
    const view = int32View(values);
    return (index) => view[index]! / power + 0;
  }
  // Both are exact doubles, so the quotient is the double nearest to the decimal.
  return (index) => Number(check(unscaled(index))) / power + 0;
}

function unscaledAt(values: RawValues, physical: number): (index: number) => bigint {
  if (physical === Physical.int64) {
    const { longs } = int64Views(values);
    return (index) => longs[index]!;
  }
  if (physical === Physical.int32) {
    const view = int32View(values);
    return (index) => BigInt(view[index]!);
  }
  return (index) => bigEndian(rawValue(values, index));
}

/** Two's complement. */
function bigEndian(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toHex()}`));
}

function uuidText(bytes: Uint8Array): string {
  const hex = bytes.toHex();
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...parts, hex.slice(20)].join('-');
}

/** Months, days and milliseconds, as an ISO 8601 duration. */
function intervalText({ buffer, byteOffset }: Uint8Array): string {
  const view = new DataView(buffer, byteOffset, 12);
  const [months, days, millis] = [
    view.getUint32(0, true),
    view.getUint32(4, true),
    view.getUint32(8, true),
  ];
  const parts = [
    months > 0 ? `${months}M` : '',
    days > 0 ? `${days}D` : '',
    millis > 0 ? `T${(millis / 1000).toFixed(3).replace(/\.?0+$/, '')}S` : '',
  ].join('');
  return `P${parts || 'T0S'}`;
}

function dates(values: RawValues): CellAt {
  const view = int32View(values);
  return (index) => dateText(view[index]!);
}

function times(values: RawValues, { physical }: Leaf, unit: TimeUnit): CellAt {
  const view = physical === Physical.int32 ? int32View(values) : null;
  const { longs } = view ? { longs: null } : int64Views(values);
  const limit = SECONDS_PER_DAY * UNITS_PER_SECOND[unit];
  return (index) => {
    const value = view ? view[index]! : Number(longs![index]!);
    // Some writers use 24:00:00.
    if (!(value >= 0 && value <= limit)) throw damaged('a time past the end of the day');
    return timeText(value, unit);
  };
}

function moments(values: RawValues, unit: TimeUnit, isUtc: boolean): CellAt {
  const { longs, halves } = int64Views(values);
  const perDay = SECONDS_PER_DAY * UNITS_PER_SECOND[unit];
  const textOf = momentTexts(unit, isUtc);
  return (index) => {
    const value = exactNumber(halves, index);
    if (!Number.isNaN(value)) {
      const days = Math.floor(value / perDay);
      return textOf(days, value - days * perDay);
    }
    const [days, time] = daysAndTime(longs[index]!, BigInt(perDay));
    return textOf(days, time);
  };
}

/** INT96: nanoseconds of the day, then the Julian day. */
function legacyMoments(values: RawValues): CellAt {
  return (index) => {
    const { buffer, byteOffset } = rawValue(values, index);
    const view = new DataView(buffer, byteOffset, 12);
    const [days, time] = daysAndTime(view.getBigInt64(0, true), NANOS_PER_DAY);
    return momentText(view.getInt32(8, true) - JULIAN_EPOCH + days, time, 'ns', false);
  };
}

/** Whole days, possibly negative, and the rest, never negative. */
export function daysAndTime(value: bigint, perDay: bigint): [days: number, time: number] {
  const rest = value % perDay;
  const time = rest < 0n ? rest + perDay : rest;
  return [Number((value - time) / perDay), Number(time)];
}

/** Plain ASCII values are cut out of one string of the page: five times as fast as a decoder call for each. */
function texts({ bytes, starts, ends }: RawValues, leaf: Leaf): CellAt {
  let page: string | null = null;
  return (index) => {
    const start = starts[index]!;
    const end = ends[index]!;
    if (end - start <= MAX_SCANNED && isAscii(bytes, start, end)) {
      page ??= Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
      return page.slice(start, end);
    }
    const text = decoded(bytes.subarray(start, end));
    if (text === null) throw damaged(`column '${leaf.name}': invalid UTF-8`);
    return limited(text, leaf);
  };
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at]! > 0x7f) return false;
  return true;
}

function opaqueText(bytes: Uint8Array, leaf: Leaf): string {
  const isBase64 = leaf.type.kind === 'opaque' && leaf.type.isBase64;
  const text = isBase64 ? null : decoded(bytes);
  if (text !== null && !CONTROL.test(text)) return limited(text, leaf);
  if (!isBase64 && leaf.path.length === 1 && leaf.maxRepetition === 0) throw IS_NO_TEXT;
  return limited(bytes.toBase64(), leaf);
}

/** A column is either text or base64, or nobody could tell them apart. */
export const IS_NO_TEXT = new Error('bytes that are no text');

function decoded(bytes: Uint8Array): string | null {
  try {
    return fatal.decode(bytes);
  } catch {
    // The caller knows what invalid UTF-8 means.
    return null;
  }
}

function limited(text: string, leaf: Leaf): string {
  if (text.length <= MAX_CELL_CHARACTERS) return text;
  throw longCell(leaf.path[0]!);
}

export function longCell(column: string): AppError {
  return unreadable(`more than ${MAX_CELL_CHARACTERS} characters in a cell of column '${column}'`);
}
