import { isTime, timeOf } from './time.ts';
import { byCodePoint } from '../syntax/problem.ts';
import {
  compareValues,
  deepEqual,
  doubleOf,
  finite,
  isArray,
  isNumber,
  isObject,
  numberOf,
  textOf,
  type Value,
} from './value.ts';

/** Null for operands that do not fit. */
export function calculate(op: string, a: Value, b: Value): Value {
  if (op === '.') return a === null || b === null ? null : textOf(a)! + textOf(b)!;
  const left = isScalar(a) ? doubleOf(a) : null;
  const right = isScalar(b) ? doubleOf(b) : null;
  if (left === null || right === null) {
    return op === '+' && typeof a === 'string' && typeof b === 'string' ? a + b : null;
  }
  switch (op) {
    case '+':
      return finite(left + right);
    case '-':
      return finite(left - right);
    case '*':
      return finite(left * right);
    case '/':
      return right === 0 ? null : finite(left / right);
    case '%':
      return right === 0 ? null : finite(left % right);
    case '**':
      return finite(left ** right);
    default:
      return null;
  }
}

function isScalar(value: Value): boolean {
  return typeof value === 'string' || isNumber(value);
}

export function combine(op: string, a: Value, b: Value): Value {
  if (typeof a === 'boolean' && typeof b === 'boolean') return op === '&' ? a && b : a || b;
  if (!isInteger(a) || !isInteger(b)) return null;
  const result = op === '&' ? BigInt(a) & BigInt(b) : BigInt(a) | BigInt(b);
  return integerOf(result);
}

export function invert(value: Value): Value {
  if (typeof value === 'boolean') return !value;
  return isInteger(value) ? integerOf(~BigInt(value)) : null;
}

function isInteger(value: Value): value is number | bigint {
  return typeof value === 'bigint' || Number.isInteger(value);
}

function integerOf(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Undefined for values that have no order or differ in type. */
function orderOf(a: Value, b: Value): number | undefined {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (!isNumber(a) && !isNumber(b)) return undefined;
  const left = numberOf(a);
  const right = numberOf(b);
  return left === null || right === null ? undefined : compareValues(left, right);
}

/** By code point; a time and a text that spells one compare as instants. */
export function compareTexts(a: string, b: string): number {
  if (isTime(a) || isTime(b)) {
    const left = timeOf(a);
    const right = left === null ? null : timeOf(b);
    if (left !== null && right !== null) return byCodePoint(left, right);
  }
  return byCodePoint(a, b);
}

/** Null when the operands cannot be compared. */
export function compare(op: string, a: Value, b: Value): boolean | null {
  if (a === null || b === null) return null;
  const isWhole = isArray(a) || isObject(a) || isArray(b) || isObject(b);
  const order = isWhole ? undefined : orderOf(a, b);
  if (op === '=' || op === '!=') {
    const isEqual = isWhole ? deepEqual(a, b) : order === 0;
    return (op === '=') === isEqual;
  }
  if (order === undefined) return null;
  return holds(op, order);
}

export function holds(op: string, order: number): boolean {
  switch (op) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    default:
      return order >= 0;
  }
}

/** Half away from zero. */
export function roundTo(value: number, digits: number): number | null {
  const places = Math.max(-300, Math.min(300, Math.trunc(digits)));
  const size = Math.abs(value);
  const spelled = String(size);
  const shifted = spelled.includes('e')
    ? Math.round(size * 10 ** places) / 10 ** places
    : Number(`${Math.round(Number(`${spelled}e${places}`))}e${-places}`);
  return finite(Math.sign(value) * (Number.isFinite(shifted) ? shifted : size));
}
