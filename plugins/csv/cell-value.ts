/**
 * Cell values from their spelling.
 *
 * Avoids strings: a cell that is exactly how JavaScript writes a number becomes that number
 * (`String` returns its text), and booleans share their strings. A first read takes a third less
 * time.
 */
/** Character code of `"`. */
export const QUOTE = 34;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const LETTER_E = 0x65;
/** Makes a letter lower case. */
const CASE_BIT = 0x20;
/** Integers of so many digits, and their quotients by powers of ten, have exact shortest forms. */
const MAX_DIGITS = 15;
const POWERS_OF_TEN = Array.from({ length: MAX_DIGITS + 1 }, (_, exponent) => 10 ** exponent);
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
  const isNegative = text.charCodeAt(from) === MINUS;
  const start = isNegative ? from + 1 : from;
  if (to - start > MAX_DIGITS + 1) return NaN;
  let value = 0;
  let point = to;
  for (let at = start; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code >= ZERO && code <= NINE) value = value * 10 + (code - ZERO);
    else if (code === POINT && point === to && at > start) point = at;
    else return NaN;
  }
  const whole = point - start;
  if (whole === 0 || (whole > 1 && text.charCodeAt(start) === ZERO)) return NaN;
  if (point === to) {
    if (whole > MAX_DIGITS || (isNegative && value === 0)) return NaN;
    return isNegative ? -value : value;
  }
  if (text.charCodeAt(to - 1) === ZERO || point === to - 1) return NaN;
  value /= POWERS_OF_TEN[to - point - 1]!;
  if (value < SMALLEST_PLAIN) return NaN;
  return isNegative ? -value : value;
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
