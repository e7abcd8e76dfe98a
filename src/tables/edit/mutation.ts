/**
 * Validates rows of changes before anything is locked or written. Texts are literal parts of the contract.
 *
 * What is accepted must read back from the file with the same value.
 */
import { AppError, mismatch } from '../../base/errors.ts';
import { JsonNumber } from '../../base/json/json.ts';
import { compareBytes } from '../../base/paths.ts';
import { MAX_CELL_CHARACTERS } from '../limits.ts';
import { declaredClass } from '../infer/declared-type.ts';
import { fileCell, Misfit } from './file-cell.ts';
import { writtenDate } from '../values/column-dates.ts';
import { spelledNumber, spellNumber } from '../values/number-spelling.ts';
import type { FileColumn } from '../infer/file-type.ts';
import type { Cell, Column } from '../types.ts';

export interface ValueRules {
  /** In UTF-16 units, where the file's format allows fewer than `MAX_CELL_CHARACTERS`. */
  readonly maxTextLength?: number;
  /** Every cell has a type of its own: a column of mixed types takes numbers and truth values as such. */
  readonly hasTypedCells?: boolean;
  /**
   * Scalars may break a type that was only inferred: a deleted or overwritten value that was the only one of its kind
   * can be restored.
   */
  readonly isLenient?: boolean;
  /** The file knows nulls: they stay null, and a column of mixed values takes numbers and booleans as such. */
  readonly hasNull?: boolean;
}

const MAX_MISFITS = 10_000;

/** By column position. */
export type RowValues = ReadonlyMap<number, Cell>;

export interface RowUpdate {
  readonly rowId: number;
  readonly values: RowValues;
}

const ROW_ID = '_row_id';
/** Values checked one by one per turn; some 10 ms when all are refused. */
const VALUES_PER_TURN = 2_000;

/** Unchecked; numbers may be `JsonNumber` or bigint. */
export type JsonObject = Record<string, unknown>;

export interface MisfitValue {
  readonly row: number;
  readonly column: string;
  /** The refusal's text. */
  readonly message: string;
}

/**
 * Changes nothing; yields to the event loop. Throws `schema-mismatch` when `data` is no list of objects or names
 * other columns.
 */
export async function misfitValues(
  data: unknown,
  columns: readonly Column[],
  rules: ValueRules,
): Promise<MisfitValue[]> {
  if (!Array.isArray(data) || !data.every(isObject)) {
    throw mismatch('check data must be a list of objects');
  }
  const byName = new Map(columns.map((one) => [one.name, one]));
  const misfits: MisfitValue[] = [];
  let seen = 0;
  for (const [row, values] of (data as JsonObject[]).entries()) {
    const names = Object.keys(values);
    refuseUnknown(names, byName);
    for (const column of names) {
      const message = misfitMessage(values[column], byName.get(column)!, rules);
      if (message !== null) misfits.push({ row, column, message });
      if (misfits.length === MAX_MISFITS) return misfits;
      if (++seen % VALUES_PER_TURN === 0) await Bun.sleep(0);
    }
  }
  return misfits;
}

function misfitMessage(value: unknown, column: Column, rules: ValueRules): string | null {
  try {
    parseValue(value, column, rules);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

export interface TableRules {
  readonly columns: readonly Column[];
  readonly byName: ReadonlyMap<string, Column>;
  readonly rules: ValueRules;
}

export function parseRow(
  row: JsonObject,
  names: readonly string[],
  { columns, byName, rules }: TableRules,
  isNew = false,
): RowValues {
  refuseUnknown(names, byName);
  const values = new Map<number, Cell>();
  const named = names.length === columns.length ? null : new Set(names);
  for (const column of columns) {
    if (!named || named.has(column.name)) {
      values.set(column.position, parseValue(row[column.name], column, rules));
    } else if (isNew && column.file?.isRequired) parseValue(null, column, rules);
  }
  return values;
}

function refuseUnknown(names: readonly string[], byName: ReadonlyMap<string, Column>): void {
  const unknown = names.filter((name) => !byName.has(name));
  if (unknown.length === 0) return;
  const lowest = unknown.reduce((low, name) => (compareBytes(name, low) < 0 ? name : low));
  const quote = lowest.includes("'") ? '"' : "'";
  throw mismatch(`unknown column ${quote}${lowest}${quote}`);
}

/** Throws `schema-mismatch`. */
export function splitRow(row: JsonObject): { readonly rowId: number; readonly names: string[] } {
  const rowId = parseRowId(row[ROW_ID]);
  return { rowId, names: Object.keys(row).filter((name) => name !== ROW_ID) };
}

function parseRowId(value: unknown): number {
  const isText = typeof value === 'string' && /^[0-9]+$/.test(value);
  const id = isText || typeof value === 'bigint' ? Number(value) : value;
  if (typeof id !== 'number' || !Number.isInteger(id) || id < 1) {
    throw mismatch('_row_id must be a positive integer');
  }
  return id;
}

/** Row ids end at 2^53; a larger number would be rounded to another id. Throws `not-found`. */
export function requirePossible(rows: readonly JsonObject[]): void {
  const found = rows.find((row) => Number(row[ROW_ID]) > Number.MAX_SAFE_INTEGER);
  if (found === undefined) return;
  const id = String(found[ROW_ID]).replace(/^0+/, '');
  throw new AppError('not-found', `Row ${id} not found`);
}

function parseValue(value: unknown, column: Column, rules: ValueRules): Cell {
  const cell = cellOf(value, column, rules);
  // The text of other file types is made of numbers, moments or bytes.
  const isText = typeof cell === 'string' && (column.file?.type.kind ?? 'text') === 'text';
  return isText ? writableText(cell, column, rules) : cell;
}

/** What a column of a text file or workbook takes, as a file type. */
const PLAIN: Readonly<Record<'integer' | 'number' | 'boolean', FileColumn>> = {
  integer: { type: { kind: 'integer', bits: 64, isSigned: true }, isRequired: true },
  number: { type: { kind: 'float', bits: 64 }, isRequired: true },
  boolean: { type: { kind: 'boolean' }, isRequired: true },
};

function cellOf(value: unknown, column: Column, rules: ValueRules): Cell {
  const { isLenient, hasNull, hasTypedCells } = rules;
  if (column.file) return fittingCell(value, column, column.file);
  if (value === null || value === '' || value === undefined) {
    return hasNull === true && (value !== '' || column.type !== 'string') ? null : '';
  }
  if (column.dates || column.numbers) {
    const cell = spelledCell(value, column);
    if (!(cell instanceof Misfit)) return cell;
    if (isLenient !== true || column.declared) throw misfit(column, cell.expected, value);
  }
  const takesTyped = hasNull === true || hasTypedCells === true;
  if (takesTyped && !column.declared && isMixed(column) && typeof value !== 'string') {
    return typeof value === 'boolean' ? value : fittingCell(value, column, PLAIN.number);
  }
  if (isLenient === true && !column.declared) {
    if (typeof value === 'boolean') return value;
    return value instanceof JsonNumber || typeof value === 'number'
      ? fittingCell(value, column, PLAIN.number)
      : anyScalar(value, column);
  }
  const type = column.declaredType === undefined ? column.type : declaredClass(column.declaredType);
  if (type === 'other') return anyScalar(value, column);
  if (type !== 'string') {
    const cell = fittingCell(value, column, PLAIN[type]);
    // Past 2^53 a text file would be read as another type.
    if (typeof cell !== 'bigint' || hasNull === true) return cell;
  } else if (typeof value === 'string') return value;
  throw misfit(column, type, value);
}

/** A string column with cells that are none. */
function isMixed({ type, counts }: Column): boolean {
  return type === 'string' && counts.integer + counts.number + counts.boolean > 0;
}

/** In the spelling of the column. */
function spelledCell(value: unknown, { type, format, dates, numbers }: Column): string | Misfit {
  if (dates && format) {
    const text = typeof value === 'string' ? writtenDate(value, format, dates) : null;
    return text ?? new Misfit(format);
  }
  const file = PLAIN[type === 'integer' ? 'integer' : 'number'];
  const spelled = typeof value === 'string' ? spelledNumber(value, numbers!.marks) : NaN;
  const plain = fileCell(value, file);
  if (Number.isNaN(spelled)) {
    return typeof plain === 'number'
      ? spellNumber(plain, numbers!)
      : new Misfit(expectedOf(plain, type));
  }
  // Where `.` groups, `1.234` is one number here and another in JSON.
  const bare = fileCell(value, PLAIN.number);
  const isOther = !(bare instanceof Misfit) && bare !== spelled;
  if (isOther || (type === 'integer' && !Number.isInteger(spelled))) return new Misfit(type);
  return spellNumber(spelled, numbers!);
}

function expectedOf(cell: Cell | Misfit, type: string): string {
  return cell instanceof Misfit ? cell.expected : type;
}

function fittingCell(value: unknown, column: Column, file: FileColumn): Cell {
  const cell = fileCell(value, file);
  if (cell instanceof Misfit) throw misfit(column, cell.expected, value);
  return cell;
}

function anyScalar(value: unknown, column: Column): Cell {
  if (typeof value === 'string') return value;
  // As text: the column is raw text, and the copy must hold what the file will say.
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value === 'boolean') return String(value);
  if (value instanceof JsonNumber) return value.source;
  throw misfit(column, 'string', value);
}

function writableText(text: string, column: Column, { maxTextLength }: ValueRules): string {
  if (text.includes('\u0000'))
    throw mismatch(`column '${column.name}': a text may not contain NUL`);
  if (!text.isWellFormed()) {
    throw mismatch(`column '${column.name}': a text may not contain a lone surrogate`);
  }
  const limit = maxTextLength ?? MAX_CELL_CHARACTERS;
  if (text.length > limit) {
    throw mismatch(`column '${column.name}': a text may not exceed ${limit} characters`);
  }
  return text;
}

function misfit(column: Column, expected: string, value: unknown): AppError {
  return mismatch(`column '${column.name}': expected ${expected}, received ${jsonTypeOf(value)}`);
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof JsonNumber) return 'number';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

export function isObject(value: unknown): value is JsonObject {
  return (
    value !== null &&
    typeof value === 'object' &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}
