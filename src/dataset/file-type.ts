/**
 * Types that a file itself declares for its columns (Parquet), and what they mean for stored values, filters and
 * exports (DS-53, DS-67).
 *
 * They decide the type of a column without looking at its cells. A `number` or `integer` whose values neither a double
 * nor SQLite's 64-bit integer holds is *wide*: the typed copy holds it as a key of `wide-number.ts`.
 */
import type { ColumnType } from './types.ts';

/** What a moment or time of day is counted in. */
export type TimeUnit = 'ms' | 'us' | 'ns';

/** The type of a column's values as the file declares it; JSON throughout. */
export type FileType =
  | { readonly kind: 'integer'; readonly bits: 8 | 16 | 32 | 64; readonly isSigned: boolean }
  | { readonly kind: 'float'; readonly bits: 16 | 32 | 64 }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'boolean' | 'text' | 'date' | 'uuid' }
  | { readonly kind: 'time'; readonly unit: TimeUnit }
  | { readonly kind: 'timestamp'; readonly unit: TimeUnit; readonly isUtc: boolean }
  /** Presented as JSON text, written only as a whole file. */
  | { readonly kind: 'nested' }
  /** Bytes, intervals and the like: presented as text, never written. */
  | { readonly kind: 'opaque' };

/** A column's type in its file. */
export interface FileColumn {
  readonly type: FileType;
  /** The file has no place for a null. */
  readonly isRequired: boolean;
}

/** How a wide number is counted: its value is an integer of so many digits divided by 10^scale. */
export interface WideNumber {
  readonly digits: number;
  readonly scale: number;
}

/** Decimals up to here have doubles whose shortest form has the same digits. */
const MAX_DOUBLE_DIGITS = 15;
const UINT64_DIGITS = 20;

/** The type as presented in schemas. */
export function presentedType(type: FileType): ColumnType {
  switch (type.kind) {
    case 'integer':
    case 'boolean':
      return type.kind;
    case 'float':
    case 'decimal':
      return 'number';
    default:
      return 'string';
  }
}

/** The type a filter takes operands for (DS-53). */
export function filterTypeOf(type: FileType): ColumnType | 'date-time' | 'nested' {
  if (type.kind === 'date' || type.kind === 'timestamp') return 'date-time';
  return type.kind === 'nested' ? 'nested' : presentedType(type);
}

/** Whether stored integers may be past ±(2^53−1). */
export function hasLongIntegers(type: FileType): boolean {
  return type.kind === 'integer' && type.bits === 64 && type.isSigned;
}

/** How the values of a wide type are counted; null for the others. */
export function wideNumber(type: FileType | undefined): WideNumber | null {
  if (type?.kind === 'decimal' && type.precision > MAX_DOUBLE_DIGITS) {
    return { digits: type.precision, scale: type.scale };
  }
  const isWide = type?.kind === 'integer' && type.bits === 64 && !type.isSigned;
  return isWide ? { digits: UINT64_DIGITS, scale: 0 } : null;
}
