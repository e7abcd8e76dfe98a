/**
 * JSON of a filter, with every number as its source text.
 *
 * A filter compares numbers exactly (DS-53) and lets a number stand for its JSON text (DS-52, DS-54), so neither
 * 9007199254740993 may lose its last digit nor 1.50 its zero.
 */

/** A number as the filter spells it. */
export class NumberLiteral {
  constructor(readonly source: string) {}
}

/** The names of DS-55 for what a member holds. */
export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

/**
 * The JSON text as values, numbers as `NumberLiteral`; keys such as `__proto__` are ordinary own members. Throws
 * SyntaxError for anything else, text that is not Unicode included, and RangeError for some thousand levels of nesting.
 */
export function parseFilterJson(text: string): unknown {
  if (!UNUSUAL_NUMBER.test(text)) return withLiterals(JSON.parse(text));
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value === 'number') return new NumberLiteral(context?.source ?? String(value));
    // SQLite would store U+FFFD for half a surrogate pair and match cells that hold that.
    if (typeof value === 'string' && !value.isWellFormed()) throw new SyntaxError('lone surrogate');
    return value;
  });
}

/**
 * What a number may hold that does not come back in its shortest form, which `String` gives: exponents, zeros at the end of
 * a fraction, many digits, many zeros after the point, a negative zero. A text that holds such a thing elsewhere only takes
 * the longer way.
 */
const UNUSUAL_NUMBER = /\d[eE]|\.\d*0(?!\d)|[\d.]{16}|0\.00000|-0(?!\.)/;

/** The value with literals for its numbers, all of which are in their shortest form; it is changed in place. */
function withLiterals(value: unknown): unknown {
  if (typeof value === 'number') return new NumberLiteral(String(value));
  if (typeof value === 'string' && !value.isWellFormed()) throw new SyntaxError('lone surrogate');
  if (typeof value !== 'object' || value === null) return value;
  for (const [name, member] of Object.entries(value)) {
    const made = withLiterals(member);
    if (made === member) continue;
    if (name !== '__proto__') (value as Record<string, unknown>)[name] = made;
    else Object.defineProperty(value, name, { value: made });
  }
  return value;
}

/** The type a value of `parseFilterJson` has in its text, by the names of (DS-77). */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof NumberLiteral) return /^-?\d+$/.test(value.source) ? 'integer' : 'number';
  const type = typeof value;
  return type === 'string' || type === 'boolean' ? type : 'object';
}

/**
 * The value of a JSON number: a bigint when it is integral and past ±(2^53−1), so that it compares exactly; otherwise
 * the nearest double. Past every 64-bit integer only doubles are left to compare with, and one of those is meant by the
 * very digits it is shown with: 1e23 is no double, but the text of one. Numbers of absurd size become ±10^400, which is
 * past every double.
 */
export function exactNumber(source: string): number | bigint {
  const value = Number(source);
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  if (!Number.isFinite(value)) return 10n ** 400n * (value < 0 ? -1n : 1n);
  const exact = integralOf(source);
  const isShownSo = Math.abs(value) > 2 ** 63 && exact === integralOf(String(value));
  return exact === null || isShownSo ? value : exact;
}

/** A finite JSON number without a fraction; null for any other. */
function integralOf(source: string): bigint | null {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const digits = (whole + fraction).replace(/0+$/, '');
  const zeros = whole.length + Number(exponent) - digits.length;
  return zeros < 0 ? null : BigInt(`${sign}${digits}${'0'.repeat(zeros)}`);
}
