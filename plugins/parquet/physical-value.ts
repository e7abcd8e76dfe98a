/**
 * The inverse of `cells.ts`. A value the column could not return unchanged is refused; only floats take the nearest
 * value.
 */
import { type AppError, mismatch, unreadable } from '../../src/base/errors.ts';
import { daysOf, momentOf, timeOf } from '../../src/tables/values/calendar.ts';
import type { FileType } from '../../src/tables/infer/file-type.ts';
import { littleEndian } from '../../src/tables/parquet/bytes.ts';
import { Physical } from '../../src/tables/parquet/format.ts';
import type { Cell } from '../../src/tables/types.ts';
import { unscaledOf } from '../../src/tables/values/wide-number.ts';
import { daysAndTime, JULIAN_EPOCH, NANOS_PER_DAY } from './cells.ts';
import { widthOf } from './raw-values.ts';
import type { Leaf } from './schema.ts';

const UUID_TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INTEGER_TEXT = /^[+-]?\d+$/;
const encoder = new TextEncoder();

export interface TargetColumn {
  /** As presented. */
  readonly name: string;
  readonly leaf: Leaf;
  readonly isRequired: boolean;
}

/**
 * Null for a null; booleans are one byte. Throws `schema-mismatch`, and `unreadable-file` for a column that cannot be
 * written at all.
 */
export function physicalValue(cell: Cell, column: TargetColumn): Uint8Array | null {
  const { leaf, name } = column;
  const { type } = leaf;
  if (cell === null || (cell === '' && type.kind !== 'text')) {
    if (column.isRequired) throw misfit(column, 'null');
    return null;
  }
  if (type.kind === 'nested' || type.kind === 'opaque' || leaf.maxRepetition > 0) {
    throw unreadable(`values of column '${name}' cannot be written`);
  }
  const bytes = bytesOf(cell, leaf);
  if (bytes) return bytes;
  throw misfit(column, typeof cell === 'bigint' ? 'number' : typeof cell);
}

function bytesOf(cell: Exclude<Cell, null>, leaf: Leaf): Uint8Array | null {
  const { type } = leaf;
  switch (type.kind) {
    case 'boolean':
      return typeof cell === 'boolean' ? new Uint8Array([Number(cell)]) : null;
    case 'integer':
      return integerBytes(cell, leaf, type);
    case 'float':
      return typeof cell === 'number' ? floatBytes(cell, type.bits) : null;
    case 'decimal':
      return decimalBytes(cell, leaf, type);
    default:
      return typeof cell === 'string' ? textBytes(cell, leaf) : null;
  }
}

function textBytes(text: string, leaf: Leaf): Uint8Array | null {
  const { type } = leaf;
  switch (type.kind) {
    case 'text':
      return text.isWellFormed() ? encoder.encode(text) : null;
    case 'uuid':
      return UUID_TEXT.test(text) ? Uint8Array.fromHex(text.replaceAll('-', '')) : null;
    case 'date': {
      const days = daysOf(text);
      return days === null ? null : littleEndian(BigInt(days), 4);
    }
    case 'time': {
      const time = timeOf(text, type.unit);
      return time === null ? null : littleEndian(BigInt(time), widthOf(leaf.physical, 0));
    }
    case 'timestamp': {
      const moment = momentOf(text, type.unit);
      if (moment === null) return null;
      return leaf.physical === Physical.int96 ? legacyMoment(moment) : littleEndian(moment, 8);
    }
    default:
      return null;
  }
}

function integerBytes(
  cell: Exclude<Cell, null>,
  { physical }: Leaf,
  { bits, isSigned }: Extract<FileType, { kind: 'integer' }>,
): Uint8Array | null {
  const value = integerOf(cell);
  if (value === null) return null;
  const kept = isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
  if (kept !== value) return null;
  const width = widthOf(physical, 0);
  return littleEndian(BigInt.asIntN(width * 8, value), width);
}

function integerOf(cell: Exclude<Cell, null>): bigint | null {
  if (typeof cell === 'bigint') return cell;
  if (typeof cell === 'number') return Number.isInteger(cell) ? BigInt(cell) : null;
  return typeof cell === 'string' && INTEGER_TEXT.test(cell) ? BigInt(cell.replace('+', '')) : null;
}

function floatBytes(value: number, bits: 16 | 32 | 64): Uint8Array | null {
  const Floats = bits === 64 ? Float64Array : bits === 32 ? Float32Array : Float16Array;
  const stored = new Floats([value]);
  return Number.isFinite(stored[0]) ? new Uint8Array(stored.buffer) : null;
}

function decimalBytes(
  cell: Exclude<Cell, null>,
  { physical, typeLength }: Leaf,
  { precision, scale }: Extract<FileType, { kind: 'decimal' }>,
): Uint8Array | null {
  if (typeof cell === 'boolean') return null;
  const unscaled = unscaledOf(String(cell), scale);
  const limit = 10n ** BigInt(precision);
  if (unscaled === null || unscaled >= limit || unscaled <= -limit) return null;
  let width = widthOf(physical, typeLength);
  if (physical === Physical.bytes) {
    for (width = 1; BigInt.asIntN(width * 8, unscaled) !== unscaled;) width++;
  }
  const bytes = littleEndian(unscaled, width);
  const isInteger = physical === Physical.int32 || physical === Physical.int64;
  return isInteger ? bytes : (bytes?.toReversed() ?? null);
}

/** INT96: nanoseconds of the day, then the Julian day. */
function legacyMoment(nanos: bigint): Uint8Array | null {
  if (BigInt.asIntN(64, nanos) !== nanos) return null;
  const [days, time] = daysAndTime(nanos, NANOS_PER_DAY);
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  view.setBigInt64(0, BigInt(time), true);
  view.setInt32(8, days + JULIAN_EPOCH, true);
  return bytes;
}

function misfit({ name, leaf }: TargetColumn, received: string): AppError {
  return mismatch(`column '${name}': expected ${expectedName(leaf.type)}, received ${received}`);
}

/** The type's name in error messages. */
function expectedName({ kind }: FileType): string {
  if (kind === 'float' || kind === 'decimal') return 'number';
  return ['integer', 'boolean', 'date', 'time', 'timestamp'].includes(kind) ? kind : 'string';
}
