/**
 * Keeps each number's source text, because filters compare exactly: 9007199254740993 must keep its last digit and
 * 1.50 its zero.
 */

import { requireJsonBounds } from '../../base/json/json-outline.ts';

export class NumberLiteral {
  constructor(readonly source: string) {}
}

/** As refusals name them. */
type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

/**
 * Numbers become `NumberLiteral`. Throws SyntaxError, also for text that is not Unicode and numbers of absurd length,
 * and RangeError for some thousand levels.
 */
export function parseFilterJson(text: string): unknown {
  requireJsonBounds(text, BOUNDS);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value === 'number') return new NumberLiteral(context?.source ?? String(value));
    // SQLite would store U+FFFD for half a surrogate pair and match cells that hold that.
    if (typeof value === 'string' && !value.isWellFormed()) throw new SyntaxError('lone surrogate');
    return value;
  });
}

/** Filters have their own limits for values and depth. */
const BOUNDS = { values: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY };

/** As refusals name it. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof NumberLiteral) return /^-?\d+$/.test(value.source) ? 'integer' : 'number';
  const type = typeof value;
  return type === 'string' || type === 'boolean' ? type : 'object';
}

/**
 * A bigint when integral and past ±(2^53−1), to compare exactly; else the nearest double. Past 64-bit integers only
 * doubles can match, each meant by the digits it is shown with: 1e23 is no double, but the text of one. Absurd sizes
 * become ±10^400.
 */
export function exactNumber(source: string): number | bigint {
  const value = Number(source);
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  if (!Number.isFinite(value)) return 10n ** 400n * (value < 0 ? -1n : 1n);
  const exact = integralOf(source);
  const isShownSo = Math.abs(value) > 2 ** 63 && exact === integralOf(String(value));
  return exact === null || isShownSo ? value : exact;
}

/** Null unless it is a finite number without a fraction. */
function integralOf(source: string): bigint | null {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const digits = (whole + fraction).replace(/0+$/, '');
  const zeros = whole.length + Number(exponent) - digits.length;
  return zeros < 0 ? null : BigInt(`${sign}${digits}${'0'.repeat(zeros)}`);
}
