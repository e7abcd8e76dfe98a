/** Numbers keep all digits of a 64-bit integer; a longer one is text. Nested values are compact JSON text. */
import { isIntegerSource } from '../../src/base/json/json.ts';
import type { FileColumn } from '../../src/tables/infer/file-type.ts';
import { MAX_CELL_CHARACTERS } from '../../src/tables/limits.ts';
import type { Cell } from '../../src/tables/types.ts';
import { JsonFault } from './scan.ts';

/** What the values of a column are, as a set. */
const Found = {
  integer: 1,
  /** Past ±(2^53−1), within signed 64 bits. */
  long: 2,
  /** Above signed, within unsigned 64 bits. */
  unsigned: 4,
  /** Not within 64 bits. */
  huge: 8,
  negative: 16,
  /** Written with a fraction or an exponent. */
  fraction: 32,
  boolean: 64,
  text: 128,
  nested: 256,
} as const;

/** Null where the cells decide, as they do in a CSV file. */
export function columnOf(found: number): FileColumn | null {
  const isOnly = (allowed: number): boolean => (found & ~allowed) === 0;
  const { integer, long, unsigned, negative, fraction, nested } = Found;
  if (found === nested) return { type: { kind: 'nested' }, isRequired: false };
  if ((found & fraction) !== 0 && isOnly(integer | long | unsigned | negative | fraction)) {
    return { type: { kind: 'float', bits: 64 }, isRequired: false };
  }
  const isSigned = (found & unsigned) === 0;
  const isWide = (found & (long | unsigned)) !== 0;
  const isIntegral = isOnly(integer | long | (isSigned ? negative : unsigned));
  if (!isWide || !isIntegral) return null;
  return { type: { kind: 'integer', bits: 64, isSigned }, isRequired: false };
}

const LOWEST = -(2n ** 63n);
const HIGHEST = 2n ** 63n - 1n;
const HIGHEST_UNSIGNED = 2n ** 64n - 1n;

/** What stands between two positions. Throws `JsonFault` for what is no value. */
export function foundAt(text: string, from: number, to: number): number {
  switch (text[from]) {
    case '"':
      return Found.text;
    case '{':
    case '[':
      return Found.nested;
    case 'n':
      return 0;
    case 't':
    case 'f':
      return Found.boolean;
    default:
      return foundNumber(text.slice(from, to), from);
  }
}

function foundNumber(source: string, at: number): number {
  const sign = source.startsWith('-') ? Found.negative : 0;
  if (!isIntegerSource(source)) return sign | Found.fraction;
  if (source.length < 16) return sign | Found.integer;
  const value = integerOf(source, at);
  if (value >= LOWEST && value <= HIGHEST) {
    return sign | (Number.isSafeInteger(Number(value)) ? Found.integer : Found.long);
  }
  return sign | (value > 0n && value <= HIGHEST_UNSIGNED ? Found.unsigned : Found.huge);
}

function integerOf(source: string, at: number): bigint {
  // The time of a longer one grows with the square of its length.
  if (source.length > 400) throw new JsonFault('a number of more than 400 characters', at);
  return BigInt(source);
}

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** Throws `JsonFault`. */
export function cellAt(text: string, from: number, to: number, column: FileColumn | null): Cell {
  switch (text.charCodeAt(from)) {
    case 0x22:
      return textAt(text, from, to);
    case 0x7b:
    case 0x5b:
      return checkedLength(nestedAt(text.slice(from, to), from), from);
    case 0x6e:
      return wordAt(text, from, to, 'null', null);
    case 0x74:
      return wordAt(text, from, to, 'true', true);
    case 0x66:
      return wordAt(text, from, to, 'false', false);
    default:
      return numberAt(text.slice(from, to), from, column);
  }
}

function wordAt<T>(text: string, from: number, to: number, word: string, value: T): T {
  if (to - from === word.length && text.startsWith(word, from)) return value;
  throw new JsonFault('no JSON value', from);
}

function textAt(text: string, from: number, to: number): string {
  const inner = text.slice(from + 1, to - 1);
  if (!inner.includes('\\')) return checkedLength(inner, from);
  // SQLite ends a text at NUL and cannot store half a pair; both can only be written as escapes.
  const plain = textOf(text.slice(from, to), from);
  return checkedLength(plain.toWellFormed().replaceAll('\0', '\ufffd'), from);
}

/** Of a text with its quotes. */
export function textOf(source: string, at: number): string {
  try {
    return JSON.parse(source) as string;
  } catch {
    throw new JsonFault('an escape that JSON does not know', at);
  }
}

function checkedLength(text: string, at: number): string {
  if (text.length <= MAX_CELL_CHARACTERS) return text;
  throw new JsonFault(`more than ${MAX_CELL_CHARACTERS} characters in one value`, at);
}

function numberAt(source: string, at: number, column: FileColumn | null): Cell {
  if (!NUMBER.test(source)) throw new JsonFault('no JSON value', at);
  const number = Number(source);
  if (column?.type.kind === 'integer' && !column.type.isSigned) return source;
  if (column?.type.kind === 'float' || !isIntegerSource(source)) {
    return Number.isFinite(number) ? number + 0 : source;
  }
  if (Number.isSafeInteger(number)) return number + 0;
  const value = integerOf(source, at);
  return value >= LOWEST && value <= HIGHEST ? value : source;
}

const OUTSIDE_TEXTS = /"(?:[^"\\]|\\.)*"|[ \t\r\n]+/g;

function nestedAt(source: string, at: number): string {
  const text = compact(source);
  if (text === null) throw new JsonFault('a list or object that is no JSON', at);
  return text;
}

/** A list or object without white space, with every digit; null for other text. */
export function compact(source: string): string | null {
  if (!/^\s*[{[]/.test(source)) return null;
  try {
    JSON.parse(source);
  } catch {
    return null;
  }
  if (!/[ \t\r\n]/.test(source)) return source;
  return source.replace(OUTSIDE_TEXTS, (part) => (part.startsWith('"') ? part : ''));
}

/**
 * A text that replaces a number or boolean of a column with texts becomes one where it is spelled like one, because
 * pages send texts.
 */
export function jsonOf(cell: Cell, column: FileColumn | null, before: string): string {
  if (cell === null) return 'null';
  if (typeof cell !== 'string') return typeof cell === 'number' ? String(cell + 0) : String(cell);
  if (column !== null) return cell;
  if (isOwnSpelling(cell) && isOwnSpelling(before)) return cell;
  return JSON.stringify(cell);
}

/** A number as JavaScript writes it, or a boolean: reading gives the same text again. */
function isOwnSpelling(text: string): boolean {
  return (
    text === 'true' || text === 'false' || (NUMBER.test(text) && String(Number(text)) === text)
  );
}
