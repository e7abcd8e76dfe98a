/**
 * Numbers as files spell them: `1.234,50`, `1'234`, `7,5`.
 *
 * One text may fit several pairs of marks, so each gets a *form*, a number that says what marks it has; the counted
 * forms of a column decide.
 */
import { DATE_FORMS, mixedRadix } from './date-form.ts';
import { digitsEnd, isDigit } from './date-scan.ts';
import { type Affixes, numberWithUnit } from './number-unit.ts';
import { POWERS_OF_TEN } from './short-decimal.ts';

export type DecimalMark = '.' | ',';

export interface NumberMarks {
  readonly decimal: DecimalMark;
  /** Each of these characters; empty: digits are not grouped. */
  readonly group: string;
  /** See `Affixes`. */
  readonly unit?: string;
}

/** What is known of the file beside the cells of a column. */
export interface NumberContext {
  readonly delimiter?: string;
  /** Named by the companion. */
  readonly decimal?: DecimalMark;
  readonly thousands?: string;
}

/** In the order of their index in a form; none first. */
const MARKS = ['', ',', '.', "'", '\u2019', ' ', '\u00a0', '\u202f'] as const;
const SPACES = ' \u00a0\u202f';
const APOSTROPHES: ReadonlySet<string> = new Set(["'", '\u2019', '\u00a0', '\u202f']);
/** Group marks a companion may name. */
export const GROUP_MARKS: ReadonlySet<string> = new Set(MARKS);

const SIZES = {
  /** The only mark, before exactly three digits: it may be either. */
  either: 3,
  group: MARKS.length,
  /** Marks between groups: none, one, two, more. */
  groups: 4,
  /** Some group begins with a zero. */
  zero: 2,
  decimal: 3,
  fraction: 32,
  /** Four integer digits or more. */
  long: 2,
  exponent: 2,
} as const;

type FormParts = Record<keyof typeof SIZES, number>;
const { strides: STRIDES, partsOf: digitsOf } = mixedRadix(SIZES);
const partsOf = (form: number): FormParts => digitsOf(form - DATE_FORMS);

const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const LETTER_E = 0x65;
const CASE_BIT = 0x20;
/** Shorter than the largest double. */
const MAX_LENGTH = 300;
/** As many are exact in a double. */
const MAX_DIGITS = 15;

/** The form of a number in some marks, outer spaces ignored; -1 for any other text. */
export function numberForm(text: string): number {
  let at = 0;
  while (text.charCodeAt(at) === SPACE) at++;
  if (text.charCodeAt(at) === MINUS) at++;
  const first = text.charCodeAt(at);
  if (!isDigit(first)) return -1;
  let to = text.length;
  while (text.charCodeAt(to - 1) === SPACE) to--;
  return to - at > MAX_LENGTH ? -1 : scan(text, at, to);
}

/** `numberForm` of a safe integer in plain digits. */
export function integerForm(value: number): number {
  return DATE_FORMS + (value >= 1000 || value <= -1000 ? STRIDES.long : 0);
}

function scan(text: string, from: number, to: number): number {
  let end = digitsEnd(text, from, to);
  const isZero = text.charCodeAt(from) === ZERO;
  let digits = end - from;
  if (isZero && digits > 1) return -1;
  let group = '';
  let groups = 0;
  let hasZero = false;
  if (!isZero && digits <= 3) {
    for (;;) {
      const mark = text[end] ?? '';
      const next = digitsEnd(text, end + 1, to);
      const isGroup = next - end === 4 && mark !== '' && GROUP_MARKS.has(mark);
      if (!isGroup || (group !== '' && mark !== group)) break;
      group = mark;
      groups++;
      digits += 3;
      hasZero ||= text.charCodeAt(end + 1) === ZERO;
      end = next;
    }
  }
  let decimal = 0;
  let fraction = 0;
  const point = text[end];
  if (end < to && (point === '.' || point === ',')) {
    if (point === group) return -1;
    const next = digitsEnd(text, end + 1, to);
    fraction = next - end - 1;
    if (fraction === 0) return -1;
    decimal = point === '.' ? 1 : 2;
    end = next;
  }
  let exponent = 0;
  if (end < to && (text.charCodeAt(end) | CASE_BIT) === LETTER_E && end + 1 < to) {
    const sign = text.charCodeAt(end + 1);
    const exponentFrom = sign === PLUS || sign === MINUS ? end + 2 : end + 1;
    const next = digitsEnd(text, exponentFrom, to);
    if (next === exponentFrom) return -1;
    exponent = 1;
    end = next;
  }
  if (end !== to) return -1;
  // With a single `.` or `,` the exponent shows that it is decimal.
  const isEither = groups === 1 && decimal === 0 && (group === '.' || group === ',');
  if (exponent === 1 && groups > 0 && !isEither) return -1;
  if (isEither && exponent === 1) {
    decimal = group === '.' ? 1 : 2;
    [group, groups, fraction, digits] = ['', 0, 3, digits - 3];
  }
  const mayBeEither = isEither && exponent === 0;
  const isInteger = decimal === 0 && exponent === 0 && !mayBeEither;
  if (isInteger && !isSafe(text, from, to)) return -1;
  if (exponent === 1 && !Number.isFinite(Number(text.slice(from, to).replace(',', '.')))) return -1;
  return (
    DATE_FORMS +
    (mayBeEither ? (group === '.' ? 1 : 2) : 0) * STRIDES.either +
    (mayBeEither ? 0 : MARKS.indexOf(group as '')) * STRIDES.group +
    (mayBeEither ? 1 : Math.min(groups, 3)) * STRIDES.groups +
    (hasZero ? STRIDES.zero : 0) +
    decimal * STRIDES.decimal +
    Math.min(fraction, SIZES.fraction - 1) * STRIDES.fraction +
    (digits >= 4 ? STRIDES.long : 0) +
    exponent * STRIDES.exponent
  );
}

/** Whether the digits are an integer within ±(2^53−1). */
function isSafe(text: string, from: number, to: number): boolean {
  return (
    to - from <= 15 || Number.isSafeInteger(Number(text.slice(from, to).replaceAll(/\D/g, '')))
  );
}

type Pair = NumberMarks;

export interface NumberStyle {
  readonly type: 'integer' | 'number';
  readonly marks: NumberMarks;
  /** Put between the groups of long numbers; empty: they have none. */
  readonly group: string;
  /** Around the numbers. */
  readonly affixes?: Affixes;
  /** Digits after the mark where all values have the same number; else 0. */
  readonly decimals: number;
  /** Some value has a decimal comma. */
  readonly hasComma: boolean;
}

/**
 * Numbers in the forms counted here; null when no marks are certain. `isDeclared`: nothing has to prove the marks.
 */
export function numberStyleOf(
  forms: Readonly<Record<string, number>>,
  context: NumberContext,
  isDeclared = false,
): NumberStyle | null {
  const keys = Object.keys(forms).map(Number);
  if (keys.length === 0 || keys.some((form) => form < DATE_FORMS)) return null;
  const counted = keys.map(partsOf);
  const pairs = pairsOf(context).filter((pair) => counted.every((parts) => fits(parts, pair)));
  const [pair] = pairs.filter((one) => isRegular(counted, one));
  if (!pair) return null;
  if (!hasMarks(context)) {
    const isSame = (other: Pair) =>
      counted.every(
        (parts) => parts.either === 0 || isGrouping(parts, pair) === isGrouping(parts, other),
      );
    if (!pairs.every(isSame)) return null;
    if (!isDeclared && !isProven(counted, pair, context)) return null;
  }
  return styleOf(counted, pair);
}

/** As `numberStyleOf`, of values that all have the same affixes; plain numbers need no proof. */
export function unitStyleOf(
  forms: Readonly<Record<string, number>>,
  affixes: Affixes,
  context: NumberContext,
  isDeclared: boolean,
): NumberStyle | null {
  const counted = Object.keys(forms).map((form) => partsOf(Number(form)));
  const plain: Pair = { decimal: '.', group: '' };
  const isPlain = !hasMarks(context) && counted.every((parts) => fits(parts, plain));
  const style = isPlain ? styleOf(counted, plain) : numberStyleOf(forms, context, isDeclared);
  return style && { ...style, marks: { ...style.marks, unit: affixes.unit }, affixes };
}

/** The companion names the marks. */
export function hasMarks({ decimal, thousands }: NumberContext): boolean {
  return decimal !== undefined || thousands !== undefined;
}

/** Pairs without groups come first. */
function pairsOf({ decimal, thousands }: NumberContext): Pair[] {
  const decimals: DecimalMark[] = decimal === undefined ? ['.', ','] : [decimal];
  // A space named by a companion stands for all of them.
  const groups = thousands === undefined ? MARKS : [thousands === ' ' ? SPACES : thousands];
  return groups.flatMap((group) =>
    decimals.filter((mark) => mark !== group).map((mark) => ({ decimal: mark, group })),
  );
}

const EITHER = ['', '.', ','] as const;
const DECIMALS = ['', '.', ','] as const;

function fits({ either, group, decimal }: FormParts, pair: Pair): boolean {
  const mark = EITHER[either]!;
  if (mark !== '') return mark === pair.decimal || mark === pair.group;
  const hasGroup = group === 0 || pair.group.includes(MARKS[group]!);
  return hasGroup && (decimal === 0 || DECIMALS[decimal] === pair.decimal);
}

function isGrouping({ either, groups }: FormParts, { group }: Pair): boolean {
  return either === 0 ? groups > 0 : EITHER[either] === group;
}

/** Of the long values all are grouped or none is. */
function isRegular(counted: readonly FormParts[], pair: Pair): boolean {
  const long = counted.filter((parts) =>
    parts.either === 0 ? parts.long === 1 : isGrouping(parts, pair),
  );
  return long.every((parts) => isGrouping(parts, pair) === isGrouping(long[0]!, pair));
}

function isProven(
  counted: readonly FormParts[],
  pair: Pair,
  { delimiter }: NumberContext,
): boolean {
  const isDecimal = (parts: FormParts) => hasDecimal(parts, pair);
  const isGrouped = (parts: FormParts) => isGrouping(parts, pair);
  if (counted.some((parts) => isGrouped(parts) && isDecimal(parts))) return true;
  if (APOSTROPHES.has(pair.group) && counted.some(isGrouped)) return true;
  if (delimiter === ';' && pair.decimal === ',' && counted.some(isDecimal)) return true;
  const isPointOrComma = pair.group === '.' || pair.group === ',';
  return (
    isPointOrComma &&
    counted.some((parts) => parts.either === 0 && parts.groups === 2) &&
    counted.some((parts) => isGrouped(parts) && parts.zero === 1)
  );
}

function hasDecimal({ either, decimal }: FormParts, pair: Pair): boolean {
  return either === 0 ? decimal > 0 : EITHER[either] === pair.decimal;
}

function styleOf(counted: readonly FormParts[], pair: Pair): NumberStyle {
  const isDecimal = (parts: FormParts) => hasDecimal(parts, pair);
  const grouped = counted.find((parts) => isGrouping(parts, pair));
  const hasFraction = counted.some(isDecimal);
  const isNumber = hasFraction || counted.some(({ exponent }) => exponent === 1);
  const widths = new Set(
    counted.map((parts) =>
      parts.either > 0 && isDecimal(parts) ? 3 : parts.either > 0 ? 0 : parts.fraction,
    ),
  );
  const [decimals = 0] = widths;
  return {
    type: isNumber ? 'number' : 'integer',
    marks: pair,
    group: grouped ? EITHER[grouped.either]! || MARKS[grouped.group]! : '',
    decimals: widths.size === 1 ? decimals : 0,
    hasComma: hasFraction && pair.decimal === ',',
  };
}

/** The number a text spells by these marks; NaN for any other text. Never -0. */
export function spelledNumber(text: string, marks: NumberMarks): number {
  const value = shortNumber(text, marks);
  return Number.isNaN(value) ? anyNumber(text, marks) : value;
}

/** Of at most 15 digits, which divided by a power of ten are the nearest double; NaN: use the slow way. */
function shortNumber(text: string, { decimal, group }: NumberMarks): number {
  const { length } = text;
  const from = text.charCodeAt(0) === MINUS ? 1 : 0;
  let value = 0;
  let digits = 0;
  /** Digits since the last mark. */
  let run = 0;
  let groups = 0;
  let hasPoint = false;
  for (let at = from; at < length; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit;
      digits++;
      run++;
      continue;
    }
    const mark = text[at]!;
    const isDecimal = mark === decimal;
    const isEnd = groups === 0 ? run > 0 : run === 3;
    if (hasPoint || !isEnd || (!isDecimal && (mark !== group || run > 3))) return NaN;
    if (isDecimal) hasPoint = true;
    else groups++;
    run = 0;
  }
  const isEnd = hasPoint || groups === 0 ? run > 0 : run === 3;
  const isPadded = text.charCodeAt(from) === ZERO && digits - (hasPoint ? run : 0) > 1;
  if (!isEnd || isPadded || digits > MAX_DIGITS) return NaN;
  const size = hasPoint ? value / POWERS_OF_TEN[run]! : value;
  return from === 1 ? 0 - size : size;
}

function anyNumber(text: string, marks: NumberMarks): number {
  const { unit, ...bareMarks } = marks;
  const found = unit === undefined ? null : numberWithUnit(text);
  if (found !== null) return found.unit === unit ? spelledNumber(found.number, bareMarks) : NaN;
  const form = numberForm(text);
  if (form < 0) return NaN;
  const parts = partsOf(form);
  if (!fits(parts, marks)) return NaN;
  const isGrouped = isGrouping(parts, marks);
  const bare = isGrouped
    ? [...text].filter((character) => !marks.group.includes(character)).join('')
    : text;
  const value = Number(marks.decimal === ',' ? bare.replace(',', '.') : bare);
  const isInteger = !hasDecimal(parts, marks) && parts.exponent === 0;
  const isInRange = isInteger ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isInRange ? value + 0 : NaN;
}

/** A number in the spelling of its column; with an exponent as JavaScript writes it, but for the mark. */
export function spellNumber(value: number, style: NumberStyle): string {
  const { prefix, suffix } = style.affixes ?? { prefix: '', suffix: '' };
  const number = spellBare(Math.abs(value), style);
  return `${value < 0 ? '-' : ''}${prefix}${number}${suffix}`;
}

function spellBare(value: number, { marks, group, decimals }: NumberStyle): string {
  const isLong = Number.isInteger(value) && !Number.isSafeInteger(value);
  const plain = isLong ? value.toExponential() : String(value + 0);
  if (plain.includes('e')) return plain.replace('.', marks.decimal);
  const [whole = '', fraction = ''] = plain.split('.');
  const digits = fraction.padEnd(decimals, '0');
  const grouped = group === '' ? whole : whole.replaceAll(/\B(?=(?:\d{3})+$)/g, group);
  return grouped + (digits === '' ? '' : marks.decimal + digits);
}

/** `1.234`, which in a file of decimal commas may be a thousand and more. */
export function isPointed(text: string): boolean {
  const isFar = text.charCodeAt(text.length - 4) !== POINT && !text.endsWith(' ');
  return !isFar && /^ *-?[1-9][0-9]{0,2}\.[0-9]{3} *$/.test(text);
}
