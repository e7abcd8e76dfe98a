import { declaredClass, BOOLEAN_TEXT } from './declared-type.ts';
import { type ColumnType, type FileType, wideNumber } from './file-type.ts';
import { shortDecimal } from '../values/short-decimal.ts';
import type { Cell, ClassCounts, Column, StoredValue } from '../types.ts';
import { type NumberStyle, spelledNumber } from '../values/number-spelling.ts';
import { wideKeyOf } from '../values/wide-number.ts';

/** The narrowest type a cell fits; blank fits all. */
export type CellClass = ColumnType | 'blank';

const SPACE = 0x20;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_E = 0x65;
const LETTER_F = 0x66;
const LETTER_T = 0x74;
/** Makes a letter lower case. */
const CASE_BIT = 0x20;

/**
 * Outer spaces (U+0020) are ignored; white space alone is blank. Classes exclude each other: `1` is only an integer.
 *
 * The scanners here are written by hand because they run on every cell; their regular expressions are in the test.
 */
export function classify(text: string): CellClass {
  const from = skipSpaces(text);
  const code = text.charCodeAt(from);
  if (code === MINUS || (code >= ZERO && code <= NINE)) {
    if (!Number.isNaN(integerOf(text))) return 'integer';
    return Number.isNaN(numberOf(text)) ? 'string' : 'number';
  }
  const letter = code | CASE_BIT;
  if (letter === LETTER_T || letter === LETTER_F)
    return booleanOf(text) === null ? 'string' : 'boolean';
  // ASCII white space is at most U+0020, other white space is above U+007F; NaN: only spaces.
  if (code > SPACE && code < 0x80) return 'string';
  return text.trim() === '' ? 'blank' : 'string';
}

/** Native values of a workbook or Parquet file keep their class. */
export function classOf(cell: Cell): CellClass {
  if (typeof cell === 'string') return classify(cell);
  if (cell === null) return 'blank';
  if (typeof cell === 'number') return Number.isSafeInteger(cell) ? 'integer' : 'number';
  return typeof cell === 'boolean' ? 'boolean' : 'integer';
}

/** What is blank: '' and white space in text files, null in files that have nulls. */
export type BlankMode = 'empty' | 'null';

/** Where a file has nulls, its texts are texts. */
export function classIn(cell: Cell, blank: BlankMode): CellClass {
  return blank === 'null' && typeof cell === 'string' ? 'string' : classOf(cell);
}

export function emptyCounts(): ClassCounts {
  return { integer: 0, number: 0, boolean: 0, string: 0 };
}

/** The narrowest type that all counted cells fit; string without any. */
export function typeOfCounts(counts: ClassCounts): ColumnType {
  const isNumeric = counts.integer + counts.number > 0;
  if (counts.string > 0 || (counts.boolean > 0 && isNumeric)) return 'string';
  if (counts.boolean > 0) return 'boolean';
  if (counts.number > 0) return 'number';
  return counts.integer > 0 ? 'integer' : 'string';
}

/**
 * A cell that does not fit stays text. Blank is null in columns of numbers, booleans and dates and '' in string
 * columns; with `blank` 'null' (Parquet) null is always null and text is never blank.
 */
export function storedValue(
  cell: Cell,
  column: Pick<Column, 'type' | 'declared' | 'declaredType' | 'file' | 'dates' | 'numbers'>,
  blank: BlankMode = 'empty',
): StoredValue {
  if (column.file) return fileStorage(column.file.type)(cell);
  if (column.dates) return cell === null ? null : textOf(cell, blank) || null;
  if (column.numbers && cell !== null) return spelledValue(cell, column.type, column.numbers);
  if (cell === null) return blank === 'empty' && column.type === 'string' ? '' : null;
  if (column.type === 'string') return textOf(cell, blank);
  if (typeof cell !== 'string') return nativeValue(cell, column.type);
  if (blank === 'empty' && cell.trim() === '') return null;
  return (column.declared ? declaredValue(cell, column) : inferredValue(cell, column.type)) ?? cell;
}

export function storedCell(cell: Cell | undefined, column: Column, blank: BlankMode): StoredValue {
  if (blank === 'empty') return storedValue(cell ?? '', column);
  const isBlank = cell === undefined || (cell === '' && column.type !== 'string');
  return storedValue(isBlank ? null : cell, column, blank);
}

/** Blank is null; what is no such number stays text. */
function spelledValue(
  cell: Exclude<Cell, null>,
  type: ColumnType,
  { marks }: NumberStyle,
): StoredValue {
  const text = textOf(cell, 'empty');
  const value = spelledNumber(text, marks);
  const isFitting = type === 'integer' ? Number.isSafeInteger(value) : !Number.isNaN(value);
  return isFitting ? value : text || null;
}

function textOf(cell: Exclude<Cell, null>, blank: BlankMode): string {
  if (typeof cell === 'string') return blank === 'empty' && isBlank(cell) ? '' : cell;
  if (typeof cell === 'boolean') {
    // As JSON writes it, where it came from; else as spreadsheets do.
    if (blank === 'null') return String(cell);
    return cell ? 'TRUE' : 'FALSE';
  }
  return String(typeof cell === 'number' ? cell + 0 : cell);
}

/** Fast for the common cell, whose first character is ASCII. */
function isBlank(text: string): boolean {
  const code = text.charCodeAt(0);
  return code > SPACE && code < 0x80 ? false : text.trim() === '';
}

function nativeValue(cell: number | boolean | bigint, type: ColumnType): StoredValue {
  if (typeof cell === 'boolean') return type === 'boolean' ? Number(cell) : textOf(cell, 'empty');
  if (type === 'boolean')
    return Number(cell) === 0 || Number(cell) === 1 ? Number(cell) : String(cell);
  if (typeof cell === 'bigint') return cell;
  return type === 'integer' && !Number.isSafeInteger(cell) ? String(cell) : cell + 0;
}

function inferredValue(text: string, type: ColumnType): number | null {
  if (type === 'boolean') return booleanOf(text);
  const integer = integerOf(text);
  if (!Number.isNaN(integer)) return integer;
  const number = type === 'number' ? numberOf(text) : NaN;
  return Number.isNaN(number) ? null : number;
}

const DECLARED_INTEGER = /^ *[+-]?[0-9]+ *$/;

/** Declared columns also read signs, leading zeros, 1/0/yes/no, and integers of any size as numbers. */
function declaredValue(
  text: string,
  { type, declaredType }: Pick<Column, 'type' | 'declaredType'>,
): number | null {
  const declared = declaredType === undefined ? type : declaredClass(declaredType);
  if (declared === 'boolean') {
    const value = BOOLEAN_TEXT.get(text.trim().toLowerCase());
    return value === undefined ? null : Number(value);
  }
  if (declared === 'integer') {
    const value = DECLARED_INTEGER.test(text) ? Number(text) : NaN;
    return Number.isSafeInteger(value) ? value + 0 : null;
  }
  const value = isNumberText(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value + 0 : null;
}

/** `-?(0|[1-9][0-9]*)` within ±(2^53−1), outer spaces ignored; else NaN. Never -0. */
export function integerOf(text: string): number {
  let at = skipSpaces(text);
  const end = endWithoutSpaces(text);
  const isNegative = text.charCodeAt(at) === MINUS;
  if (isNegative) at++;
  const digits = end - at;
  if (digits < 1 || digits > 16) return NaN;
  if (text.charCodeAt(at) === ZERO) return digits === 1 ? 0 : NaN;
  let value = 0;
  for (; at < end; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return NaN;
    value = value * 10 + digit;
  }
  // The 16th digit may be rounded, but never across the limit.
  if (value > Number.MAX_SAFE_INTEGER) return NaN;
  return isNegative ? -value : value;
}

/** A finite JSON number with a fraction or an exponent, outer spaces ignored; else NaN, also for integers. Never -0. */
export function numberOf(text: string): number {
  const point = scanDigits(text, signEnd(text));
  if (text.charCodeAt(point) === POINT) {
    const decimal = decimalOf(text, point);
    if (!Number.isNaN(decimal)) return decimal;
  } else if ((text.charCodeAt(point) | CASE_BIT) !== LETTER_E) return NaN;
  if (!isNumberText(text)) return NaN;
  const value = Number(text);
  return Number.isFinite(value) ? value + 0 : NaN;
}

/** `-?digits.digits` with at most 15 digits; NaN: use the slow path. */
function decimalOf(text: string, point: number): number {
  const from = signEnd(text);
  const end = endWithoutSpaces(text);
  const hasNeedlessZero = point > from + 1 && text.charCodeAt(from) === ZERO;
  if (point === from || point + 1 === end || hasNeedlessZero) return NaN;
  return shortDecimal(text, skipSpaces(text), end) + 0;
}

/** A JSON number, outer spaces ignored. */
function isNumberText(text: string): boolean {
  const end = endWithoutSpaces(text);
  const from = signEnd(text);
  let at = scanDigits(text, from);
  if (at === from || (at > from + 1 && text.charCodeAt(from) === ZERO)) return false;
  if (text.charCodeAt(at) === POINT) {
    const fraction = at + 1;
    at = scanDigits(text, fraction);
    if (at === fraction) return false;
  }
  if ((text.charCodeAt(at) | CASE_BIT) === LETTER_E) {
    at++;
    const sign = text.charCodeAt(at);
    if (sign === PLUS || sign === MINUS) at++;
    const exponent = at;
    at = scanDigits(text, exponent);
    if (at === exponent) return false;
  }
  return at === end;
}

/** `true` or `false` in any case, outer spaces ignored; else null. */
export function booleanOf(text: string): 0 | 1 | null {
  const from = skipSpaces(text);
  const end = endWithoutSpaces(text);
  if (end - from === 4) return matches(text, from, 'true') ? 1 : null;
  return end - from === 5 && matches(text, from, 'false') ? 0 : null;
}

/** `word` is lower case; the text may have any case. */
function matches(text: string, from: number, word: string): boolean {
  for (let index = 0; index < word.length; index++) {
    if ((text.charCodeAt(from + index) | CASE_BIT) !== word.charCodeAt(index)) return false;
  }
  return true;
}

function skipSpaces(text: string): number {
  let at = 0;
  while (text.charCodeAt(at) === SPACE) at++;
  return at;
}

function endWithoutSpaces(text: string): number {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === SPACE) end--;
  return end;
}

/** After outer spaces and a minus. */
function signEnd(text: string): number {
  const at = skipSpaces(text);
  return text.charCodeAt(at) === MINUS ? at + 1 : at;
}

function scanDigits(text: string, at: number): number {
  let end = at;
  for (;;) {
    const code = text.charCodeAt(end);
    if (!(code >= ZERO && code <= NINE)) return end;
    end++;
  }
}

/** Cells are stored unchanged. */
export function isStoredAsIs(type: FileType): boolean {
  return type.kind !== 'boolean' && wideNumber(type) === null;
}

/** Unchanged, except booleans as 0 and 1 and wide numbers as keys. */
export function fileStorage(type: FileType): (cell: Cell) => StoredValue {
  const wide = wideNumber(type);
  return (cell) => {
    if (typeof cell === 'boolean') return Number(cell);
    // A reader never gives digits that make no key; they would stay text that fits no number.
    return wide && typeof cell === 'string' ? (wideKeyOf(cell, wide) ?? cell) : cell;
  };
}
