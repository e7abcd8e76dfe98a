/**
 * One total order and one text form. Integers past 2^53 are bigint and keep their digits; arithmetic uses doubles.
 * Missing and null are the same.
 */
import { byCodePoint } from '../syntax/problem.ts';

export type Value =
  null | boolean | number | bigint | string | readonly Value[] | { readonly [name: string]: Value };

/** In the order of a schema's columns; a missing cell is null. */
export type Row = Value[];

export type Evaluate = (row: Row) => Value;

export function isObject(value: Value | undefined): value is { readonly [name: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The platform's test does not narrow read-only arrays. */
export function isArray(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

export function isNumber(value: Value | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Undefined when the text is no JSON. Integers keep their digits; what is not finite is null. */
export function valueOfJson(text: string): Value | undefined {
  try {
    if (!/[0-9]{16}|[0-9][eE]/.test(text)) return JSON.parse(text) as Value;
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
      if (typeof value !== 'number' || context?.source === undefined) return value;
      if (!Number.isFinite(value)) return null;
      const isUnsafe = Number.isInteger(value) && !Number.isSafeInteger(value);
      return isUnsafe && /^-?[0-9]+$/.test(context.source) ? BigInt(context.source) : value;
    }) as Value;
  } catch {
    return undefined;
  }
}

export function jsonOf(value: Value): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (!holdsBigInt(value)) return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(jsonOf).join(',')}]`;
  const members = Object.entries(value as Record<string, Value>);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jsonOf(member)}`).join(',')}}`;
}

function holdsBigInt(value: Value): boolean {
  if (typeof value === 'bigint') return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(holdsBigInt);
}

export function textOf(value: Value): string | null {
  if (typeof value === 'string') return value;
  return value === null ? null : jsonOf(value);
}

export function finite(value: number): number | null {
  // Minus zero would have another text than zero.
  return Number.isFinite(value) ? value + 0 : null;
}

const NUMERIC = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

/** A number, or a text that spells one; else null. Integers past 2^53 keep their digits. */
export function numberOf(value: Value): number | bigint | null {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (!NUMERIC.test(text)) return null;
  const number = Number(text);
  if (!Number.isFinite(number)) return null;
  const isUnsafe = Number.isInteger(number) && !Number.isSafeInteger(number);
  return isUnsafe && /^[+-]?[0-9]+$/.test(text) ? BigInt(text.replace('+', '')) : number;
}

export function doubleOf(value: Value): number | null {
  const number = numberOf(value);
  return number === null ? null : Number(number);
}

const RANK = { null: 0, boolean: 1, number: 3, string: 4, array: 5, object: 6 } as const;

function rankOf(value: Value): number {
  if (value === null) return RANK.null;
  switch (typeof value) {
    case 'boolean':
      return RANK.boolean;
    case 'number':
    case 'bigint':
      return RANK.number;
    case 'string':
      return RANK.string;
    default:
      return isArray(value) ? RANK.array : RANK.object;
  }
}

/** The total order of the language; 0 for equal values. */
export function compareValues(a: Value, b: Value): number {
  const rank = rankOf(a);
  const difference = rank - rankOf(b);
  if (difference !== 0) return difference;
  switch (rank) {
    case RANK.null:
      return 0;
    case RANK.boolean:
      return Number(a) - Number(b);
    case RANK.number: {
      const left = a as number | bigint;
      const right = b as number | bigint;
      return left < right ? -1 : left > right ? 1 : 0;
    }
    case RANK.string:
      return byCodePoint(a as string, b as string);
    case RANK.array:
      return compareArrays(a as readonly Value[], b as readonly Value[]);
    default:
      return byCodePoint(jsonOf(a), jsonOf(b));
  }
}

function compareArrays(a: readonly Value[], b: readonly Value[]): number {
  for (let index = 0; index < a.length && index < b.length; index++) {
    const order = compareValues(a[index]!, b[index]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Whatever the order of members. */
export function deepEqual(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return compareValues(a, b) === 0;
  if (isArray(a)) {
    return (
      isArray(b) && a.length === b.length && a.every((one, index) => deepEqual(one, b[index]!))
    );
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && deepEqual(a[name]!, b[name]!))
  );
}

/** Equal for values that compare as equal, and only for those. */
export function keyOf(value: Value): string {
  switch (typeof value) {
    case 'string':
      return `s${value}`;
    case 'number':
      return Number.isSafeInteger(value) || !Number.isInteger(value)
        ? `n${value + 0}`
        : `n${BigInt(value)}`;
    case 'bigint':
      return `n${value}`;
    case 'boolean':
      return value ? 't' : 'f';
    default:
      if (value === null) return '-';
      return isArray(value)
        ? `a[${value.map((one) => lengthed(keyOf(one))).join('')}]`
        : `o${jsonOf(value)}`;
  }
}

export function keyOfAll(values: readonly Value[]): string {
  if (values.length === 1) return keyOf(values[0]!);
  let key = '';
  for (const value of values) key += lengthed(keyOf(value));
  return key;
}

function lengthed(key: string): string {
  return `${key.length}:${key}`;
}

/** Bytes in memory, roughly. */
export function sizeOf(value: Value | undefined): number {
  switch (typeof value) {
    case 'string':
      return 24 + value.length * 2;
    case 'object':
      if (value === null) return 8;
      if (isArray(value)) return value.reduce<number>((sum, one) => sum + sizeOf(one), 32);
      return Object.entries(value).reduce(
        (sum, [name, one]) => sum + name.length + 24 + sizeOf(one),
        48,
      );
    default:
      return 8;
  }
}
