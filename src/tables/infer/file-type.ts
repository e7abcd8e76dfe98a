/**
 * Types a file declares for its columns (Parquet); its cells do not decide.
 *
 * A `number` or `integer` whose values fit neither a double nor SQLite's 64-bit integer is *wide*: the typed copy
 * stores a key of `wide-number.ts`.
 */

/** Column types; Parquet adds date-time and nested values behind the same four names. */
export type ColumnType = 'integer' | 'number' | 'boolean' | 'string';

export type TimeUnit = 'ms' | 'us' | 'ns';

/** JSON throughout. */
export type FileType =
  | { readonly kind: 'integer'; readonly bits: 8 | 16 | 32 | 64; readonly isSigned: boolean }
  | { readonly kind: 'float'; readonly bits: 16 | 32 | 64 }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'boolean' | 'text' | 'date' | 'uuid' }
  | { readonly kind: 'time'; readonly unit: TimeUnit; readonly isUtc?: boolean }
  | { readonly kind: 'timestamp'; readonly unit: TimeUnit; readonly isUtc: boolean }
  /** Shown as JSON text, written only as a whole file. Without a nesting any JSON. */
  | { readonly kind: 'nested'; readonly nesting?: Nesting }
  /** Bytes, intervals and the like: shown as text, never written. `isBase64`: every value is bytes. */
  | { readonly kind: 'opaque'; readonly isBase64?: true };

/** A list, a struct or a map. */
export type Nesting =
  | { readonly items: FileType }
  | { readonly members: readonly { readonly name: string; readonly type: FileType }[] }
  | { readonly key: FileType; readonly value: FileType };

export interface FileColumn {
  readonly type: FileType;
  /** The file cannot store a null. */
  readonly isRequired: boolean;
}

/** An integer of so many digits divided by 10^scale. */
export interface WideNumber {
  readonly digits: number;
  readonly scale: number;
}

/** Decimals up to here have doubles whose shortest form has the same digits. */
const MAX_DOUBLE_DIGITS = 15;
const UINT64_DIGITS = 20;

/** As shown in schemas. */
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

/** The type a filter takes operands for. */
export function filterTypeOf(type: FileType): ColumnType | 'date-time' | 'nested' {
  if (type.kind === 'date' || type.kind === 'timestamp') return 'date-time';
  return type.kind === 'nested' ? 'nested' : presentedType(type);
}

/** Stored integers may be past ±(2^53−1). */
export function hasLongIntegers(type: FileType): boolean {
  return type.kind === 'integer' && type.bits === 64 && type.isSigned;
}

/** Null unless the type is wide. */
export function wideNumber(type: FileType | undefined): WideNumber | null {
  if (type?.kind === 'decimal' && type.precision > MAX_DOUBLE_DIGITS) {
    return { digits: type.precision, scale: type.scale };
  }
  const isWide = type?.kind === 'integer' && type.bits === 64 && !type.isSigned;
  return isWide ? { digits: UINT64_DIGITS, scale: 0 } : null;
}
