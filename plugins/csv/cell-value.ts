/**
 * A cell that is exactly how JavaScript writes a number becomes that number (`String` returns its text), and booleans
 * share their strings: avoiding strings, a first read takes a third less time.
 */
import { POWERS_OF_TEN, shortDecimal } from '../../src/tables/values/short-decimal.ts';

/** Character code of `"`. */
export const QUOTE = 34;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const LETTER_E = 0x65;
/** Makes a letter lower case. */
const CASE_BIT = 0x20;
/** Below this, JavaScript writes an exponent. */
const SMALLEST_PLAIN = 1e-6;

export function cellValue(spelling: string): string {
  return spelling.charCodeAt(0) === QUOTE ? unquoted(spelling, 0, spelling.length) : spelling;
}

export function cellAt(text: string, from: number, to: number): string | number {
  if (from === to) return '';
  const code = text.charCodeAt(from);
  if (code === MINUS || (code >= ZERO && code <= NINE)) {
    const number = plainNumber(text, from, to);
    return number === number ? number : text.slice(from, to);
  }
  if (code === QUOTE) return unquoted(text, from, to);
  const cell = text.slice(from, to);
  const size = to - from;
  const mayBeBoolean =
    (size === 4 || size === 5) && (text.charCodeAt(to - 1) | CASE_BIT) === LETTER_E;
  return mayBeBoolean ? (BOOLEANS.get(cell) ?? cell) : cell;
}

const BOOLEANS = new Map(
  ['true', 'false', 'True', 'False', 'TRUE', 'FALSE'].map((word) => [word, word] as const),
);

/** The number whose shortest form is exactly this text; NaN for any other text. */
function plainNumber(text: string, from: number, to: number): number {
  const start = text.charCodeAt(from) === MINUS ? from + 1 : from;
  const length = to - start;
  const first = text.charCodeAt(start);
  const hasNeedlessZero = first === ZERO && length > 1 && text.charCodeAt(start + 1) !== POINT;
  if (first === POINT || hasNeedlessZero) return NaN;
  const value = shortDecimal(text, from, to);
  const size = value < 0 ? -value : value;
  if (size === 0) return to - from === 1 ? 0 : NaN;
  const isPlain =
    Math.trunc(size) === size
      ? size >= POWERS_OF_TEN[length - 1]!
      : size >= SMALLEST_PLAIN && text.charCodeAt(to - 1) !== ZERO;
  return isPlain ? value : NaN;
}

export function unquoted(text: string, from: number, to: number): string {
  if (text.charCodeAt(to - 1) === QUOTE) {
    const inner = text.slice(from + 1, to - 1);
    if (!inner.includes('"')) return inner;
  }
  const close = closingQuote(text, from + 1);
  return text.slice(from + 1, close).replaceAll('""', '"') + text.slice(close + 1, to);
}

export function closingQuote(text: string, from: number): number {
  const length = text.length;
  for (let at = from; at < length; at++) {
    if (text.charCodeAt(at) !== QUOTE) continue;
    if (text.charCodeAt(at + 1) !== QUOTE) return at;
    at++;
  }
  return -1;
}
