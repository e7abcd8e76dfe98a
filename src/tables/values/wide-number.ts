/**
 * Numbers too long for a double or a 64-bit integer, as text keys that sort like the numbers.
 *
 * A sign digit and the unscaled integer in a fixed number of digits: `1` and the digits for zero and above, `0` and
 * ten's complement below. So SQLite compares, sorts and indexes them exactly.
 */
import { MAX_NUMBER_LENGTH } from '../../base/json/json.ts';
import type { WideNumber } from '../infer/file-type.ts';

const DECIMAL_TEXT = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?\s*$/;
/** Larger exponents are out of range for every wide number; their powers of ten must not be computed. */
const MAX_EXPONENT = 400;

/** Null when it has too many digits. */
export function wideKey(unscaled: bigint, { digits }: WideNumber): string | null {
  const isNegative = unscaled < 0n;
  const text = String(isNegative ? unscaled + 10n ** BigInt(digits) : unscaled);
  if (text.length > digits || text.startsWith('-')) return null;
  return (isNegative ? '0' : '1') + text.padStart(digits, '0');
}

/** Null when the text is no such number. */
export function wideKeyOf(text: string, wide: WideNumber): string | null {
  const plain = plainKey(text, wide);
  if (plain !== null) return plain;
  const unscaled = unscaledOf(text, wide.scale);
  return unscaled === null ? null : wideKey(unscaled, wide);
}

/** For digits with at most one point, without arithmetic; null for any other text. */
function plainKey(text: string, { digits, scale }: WideNumber): string | null {
  const { length } = text;
  let point = length;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) continue;
    if (code !== 0x2e || point < length || at === 0) return null;
    point = at;
  }
  const fraction = Math.max(0, length - point - 1);
  const before = digits - scale - point;
  if (length === 0 || before < 0 || fraction > scale) return null;
  const head = `1${zeros(before)}${text.slice(0, point)}`;
  return `${head}${text.slice(point + 1)}${zeros(scale - fraction)}`;
}

const ZEROS = '0'.repeat(256);

/** Several times as fast as padding. */
function zeros(count: number): string {
  return count <= ZEROS.length ? ZEROS.slice(0, count) : '0'.repeat(count);
}

/** Inverse of `wideKey`. */
export function unscaledOfKey(key: string, { digits }: WideNumber): bigint {
  const rest = BigInt(key.slice(1));
  return key.startsWith('0') ? rest - 10n ** BigInt(digits) : rest;
}

/** Plain digits without needless zeros. */
export function wideText(key: string, wide: WideNumber): string {
  if (key.startsWith('1')) return pointedText(key.slice(1), wide.scale);
  return decimalText(unscaledOfKey(key, wide), wide.scale);
}

/** Plain digits without needless zeros. */
export function decimalText(unscaled: bigint, scale: number): string {
  return unscaled < 0n
    ? `-${pointedText(String(-unscaled), scale)}`
    : pointedText(String(unscaled), scale);
}

/** Puts a point before the last `scale` digits. */
function pointedText(digits: string, scale: number): string {
  const padded = zeros(Math.max(0, scale + 1 - digits.length)) + digits;
  const point = padded.length - scale;
  let end = padded.length;
  while (end > point && padded.charCodeAt(end - 1) === 0x30) end--;
  let start = 0;
  while (start < point - 1 && padded.charCodeAt(start) === 0x30) start++;
  const whole = padded.slice(start, point);
  return end > point ? `${whole}.${padded.slice(point, end)}` : whole;
}

/**
 * The largest integer, counted in 10^-scale, that is not above the number, and whether they are equal; null: no number.
 */
function scaled(text: string, scale: number): { floor: bigint; isExact: boolean } | null {
  if (text.length > MAX_NUMBER_LENGTH) return null;
  const match = DECIMAL_TEXT.exec(text);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match ?? [];
  if (whole + fraction === '') return null;
  const digits = BigInt(whole + fraction);
  const power = Number(exponent) - fraction.length + scale;
  const value = sign === '-' ? -digits : digits;
  if (digits === 0n) return { floor: 0n, isExact: true };
  if (power >= 0)
    return { floor: value * 10n ** BigInt(Math.min(power, MAX_EXPONENT)), isExact: true };
  if (-power > whole.length + fraction.length + MAX_EXPONENT) {
    return { floor: value < 0n ? -1n : 0n, isExact: false };
  }
  const divisor = 10n ** BigInt(-power);
  const quotient = value / divisor;
  const isExact = quotient * divisor === value;
  return { floor: value < 0n && !isExact ? quotient - 1n : quotient, isExact };
}

/** Null when it is no number or has digits past the scale. */
export function unscaledOf(text: string, scale: number): bigint | null {
  const value = scaled(text, scale);
  return value?.isExact ? value.floor : null;
}

/**
 * Null when the text is no number. One between two numbers, or beyond all, gets a text that sorts there and equals no
 * key.
 */
export function wideOperand(text: string, wide: WideNumber): string | null {
  const value = scaled(text, wide.scale);
  if (!value) return null;
  const key = wideKey(value.floor, wide);
  if (key === null) return value.floor < 0n ? '/' : '2';
  return value.isExact ? key : `${key}5`;
}
