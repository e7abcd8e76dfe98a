const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
/** Integers of so many digits, and their quotients by powers of ten, are exact doubles. */
const MAX_DIGITS = 15;
const POWERS_OF_TEN = Array.from({ length: MAX_DIGITS + 1 }, (_, exponent) => 10 ** exponent);
const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/** An xsd:double; `to` exclusive; NaN when it is none. */
export function numberAt(text: string, from: number, to: number): number {
  const isNegative = text.charCodeAt(from) === MINUS;
  const start = isNegative ? from + 1 : from;
  // Short decimals, the most common, are read several times faster than by `Number`.
  if (to - start > MAX_DIGITS + 1 || start === to) return anyNumber(text.slice(from, to));
  let value = 0;
  let point = -1;
  for (let at = start; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code >= ZERO && code <= NINE) value = value * 10 + (code - ZERO);
    else if (code === POINT && point < 0) point = at;
    else return anyNumber(text.slice(from, to));
  }
  const digits = point < 0 ? to - start : to - start - 1;
  if (digits === 0 || digits > MAX_DIGITS) return anyNumber(text.slice(from, to));
  if (point >= 0) value /= POWERS_OF_TEN[to - point - 1]!;
  return isNegative ? -value : value;
}

function anyNumber(text: string): number {
  const value = NUMBER.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : NaN;
}
