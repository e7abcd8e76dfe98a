/**
 * Physical values as table cells.
 *
 * Numbers that fit neither a double nor a 64-bit integer become their digits (`wideNumber`);
 * moments, dates and times become text; untyped bytes become text if they are plain UTF-8, else
 * base64.
 */
import { AppError } from '../../src/base/errors.ts';
import { type FileType, wideNumber } from '../../src/tables/infer/file-type.ts';
import { MAX_CELL_CHARACTERS } from '../../src/tables/limits.ts';
import { Physical } from '../../src/tables/parquet/format.ts';
import { shortestFloat } from '../../src/tables/values/shortest-float.ts';
import { decimalText } from '../../src/tables/values/wide-number.ts';
import { dates, legacyMoments, moments, times } from './moment-cells.ts';
import {
  type CellAt,
  damaged,
  exactNumber,
  float32View,
  float64View,
  int32View,
  int64Views,
  type RawValues,
  rawValue,
} from './raw-values.ts';
import type { Leaf } from './schema.ts';
import { Utf8Texts } from './utf8-texts.ts';

const POWERS_OF_TEN = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/** For a page or a dictionary. Throws `unreadable-file` for invalid values. */
export function cellsOf(values: RawValues, leaf: Leaf): CellAt {
  const { type } = leaf;
  switch (type.kind) {
    case 'boolean':
      return booleans(values);
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

function booleans({ bytes }: RawValues): CellAt {
  return (index) => bytes[index] !== 0;
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
  if (bits === 64) {
    const view = float64View(values);
    return (index) => finite(view[index]!);
  }
  const view = bits === 32 ? float32View(values) : halfFloats(values);
  return (index) => finite(shortestFloat(view[index]!, bits));
}

/** JSON has no NaN, no infinity and no -0. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value + 0 : null;
}

function halfFloats(values: RawValues): Float32Array {
  const out = new Float32Array(values.count);
  for (let index = 0; index < values.count; index++) {
    const [low = 0, high = 0] = rawValue(values, index);
    const exponent = (high >> 2) & 0x1f;
    const fraction = ((high & 3) << 8) | low;
    const size =
      exponent === 0x1f
        ? fraction === 0
          ? Infinity
          : NaN
        : exponent === 0
          ? fraction * 2 ** -24
          : (1024 + fraction) * 2 ** (exponent - 25);
    out[index] = high & 0x80 ? -size : size;
  }
  return out;
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
    throw damaged(`column '${leaf.path.join('.')}': a decimal of more than ${precision} digits`);
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

function bigEndian(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  const { length } = bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  let value = BigInt(view.getInt8(0));
  let at = 1;
  for (; at + 8 <= length; at += 8) value = (value << 64n) | view.getBigUint64(at);
  for (; at < length; at++) value = (value << 8n) | BigInt(bytes[at]!);
  return value;
}

function uuidText(bytes: Uint8Array): string {
  const hex = bytes.toHex();
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...parts, hex.slice(20)].join('-');
}

/** Months, days and milliseconds, as an ISO 8601 duration. */
function intervalText(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 12);
  const [months, days, millis] = [0, 4, 8].map((at) => view.getUint32(at, true)) as [
    number,
    number,
    number,
  ];
  const seconds = `${Math.floor(millis / 1000)}.${String(millis % 1000).padStart(3, '0')}`;
  const parts = [
    months > 0 ? `${months}M` : '',
    days > 0 ? `${days}D` : '',
    millis > 0 ? `T${seconds.replace(/\.?0+$/, '')}S` : '',
  ].join('');
  return `P${parts || 'T0S'}`;
}

function texts(values: RawValues, leaf: Leaf): CellAt {
  const decoder = new Utf8Texts(values);
  return (index) => {
    const text = decoder.at(index);
    if (text === null) throw damaged(`column '${leaf.path.join('.')}': invalid UTF-8`);
    return limited(text, leaf);
  };
}

const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Control characters that no text file has. */
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

function opaqueText(bytes: Uint8Array, leaf: Leaf): string {
  try {
    const text = fatal.decode(bytes);
    if (!CONTROL.test(text)) return limited(text, leaf);
  } catch {
    // Not UTF-8: shown as what it is, bytes.
  }
  return limited(bytes.toBase64(), leaf);
}

function limited(text: string, leaf: Leaf): string {
  if (text.length <= MAX_CELL_CHARACTERS) return text;
  throw longCell(leaf.path[0]!);
}

export function longCell(column: string): AppError {
  return new AppError(
    'unreadable-file',
    `more than ${MAX_CELL_CHARACTERS} characters in a cell of column '${column}'`,
  );
}
