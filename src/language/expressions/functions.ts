/** The functions of both forms. `Q`, `F`, `Value`, `KT` and casts need more than values and are in evaluate.ts. */
import type { Place } from '../syntax/problem.ts';
import type { RE2JS } from 're2js';
import { walk } from '../run/schema.ts';
import { calculate, roundTo } from './arithmetic.ts';
import { isInNetwork } from './networks.ts';
import { firstGroup, likeTest, replaceAll, requirePattern } from './patterns.ts';
import { dateOf, datePart, formatTime, parseTimeBy, truncated } from './time-format.ts';
import { epochOf, relativeTime, timeFromEpoch, timeValue } from './time.ts';
import {
  compareValues,
  deepEqual,
  doubleOf,
  type Evaluate,
  finite,
  isArray,
  isNumber,
  isObject,
  numberOf,
  textOf,
  type Value,
  valueOfJson,
} from './value.ts';
import { zone } from './zone.ts';

interface CallSite {
  readonly now: string;
  readonly place: Place;
}

type Call = (args: readonly Value[], site: CallSite) => Value;

interface FunctionOptions {
  /** Without it a null argument makes the result null. */
  readonly takesNull?: boolean;
  /** Position of the argument that is a regular expression; a constant one is checked before rows are read. */
  readonly pattern?: number;
  /** For a time argument: rounding it down to a multiple of so many microseconds does not change the result. */
  readonly step?: () => { readonly micros: number };
}

export interface FunctionDefinition extends FunctionOptions {
  readonly args: string;
  readonly least: number;
  readonly most: number;
  readonly summary: string;
  readonly call?: Call;
  /** For functions that do not evaluate all their arguments. */
  readonly lazy?: (args: readonly Evaluate[]) => Evaluate;
}

/** Arguments after `…`; `case` takes pairs. */
const MANY = 100;

/** `s, n[, fill]`: the bracketed ones may be left out; `…` stands for more of them. */
function signature(args: string): Pick<FunctionDefinition, 'args' | 'least' | 'most'> {
  const count = (text: string): number => text.split(',').filter((part) => /\w/.test(part)).length;
  const [needed = '', optional = ''] = args.split('[');
  const least = count(needed);
  return { args, least, most: args.endsWith('…') ? MANY : least + count(optional) };
}

function of(args: string, summary: string, call: Call, options: FunctionOptions = {}) {
  return { ...signature(args), summary, call, ...options } satisfies FunctionDefinition;
}

function lazily(
  args: string,
  summary: string,
  lazy: NonNullable<FunctionDefinition['lazy']>,
): FunctionDefinition {
  return { ...signature(args), summary, lazy };
}

/** `''` for null and for a missing argument. */
function text(value: Value | undefined): string {
  return textOf(value ?? null) ?? '';
}

const characters = (value: Value | undefined): string[] => [...text(value)];
const integer = (value: Value | undefined): number | null => {
  const number = value === undefined ? null : doubleOf(value);
  return number === null ? null : Math.trunc(number);
};
const listOf = (value: Value): readonly Value[] => (isArray(value) ? value : [value]);
const structureOf = (value: Value): Value | undefined =>
  typeof value === 'string' ? valueOfJson(value) : value;

function ofTexts(args: string, summary: string, make: (s: string, t: string) => Value) {
  return of(args, summary, ([s, t]) => make(text(s), text(t)));
}

/** Null for what is no number, and where the result is none. */
function ofNumbers(args: string, summary: string, make: (x: number, y: number) => number) {
  return of(args, summary, ([x, y = 0]) => {
    const [a, b] = [doubleOf(x!), doubleOf(y)];
    return a === null || b === null ? null : finite(make(a, b));
  });
}

function ofTime(args: string, summary: string, make: (time: string, spec: string) => Value) {
  return of(args, summary, ([t, spec]) => {
    const time = timeValue(t!);
    return time === null ? null : make(time, text(spec));
  });
}

function ofAny(args: string, summary: string, call: Call) {
  return of(args, summary, call, { takesNull: true });
}

function ofPattern(
  args: string,
  summary: string,
  make: (s: string, pattern: RE2JS, rest: Value | undefined) => Value,
) {
  const call: Call = ([s, re, rest], { place }) =>
    make(text(s), requirePattern(text(re), place), rest);
  return of(args, summary, call, { pattern: 1 });
}

function logarithm(base: number, x: number): number {
  return base === 10 ? Math.log10(x) : Math.log(x) / Math.log(base);
}

const part: Call = ([s, start, n]) => {
  const units = characters(s);
  const first = integer(start);
  const count = n === undefined ? Infinity : integer(n);
  if (first === null || count === null) return null;
  const from = first < 0 ? Math.max(0, units.length + first) : Math.max(0, first - 1);
  return units.slice(from, from + Math.max(0, count)).join('');
};

/** Nulls, where they are let through, do not count. */
function extreme(sign: number): Call {
  return (values) => {
    let best: Value = null;
    for (const value of values) {
      if (value !== null && (best === null || compareValues(value, best) * sign > 0)) best = value;
    }
    return best;
  };
}

const coalesce: FunctionDefinition['lazy'] = (args) => (row) => {
  for (const arg of args) {
    const value = arg(row);
    if (value !== null) return value;
  }
  return null;
};

/** At both ends unless one is given. */
function trimmed(only?: 'start' | 'end'): Call {
  return ([value, chars]) => {
    const s = text(value);
    if (chars === undefined)
      return only === undefined ? s.trim() : only === 'start' ? s.trimStart() : s.trimEnd();
    const set = new Set(characters(chars));
    const units = [...s];
    let from = 0;
    let to = units.length;
    while (only !== 'end' && from < to && set.has(units[from]!)) from++;
    while (only !== 'start' && to > from && set.has(units[to - 1]!)) to--;
    return units.slice(from, to).join('');
  };
}

const terse: Record<string, FunctionDefinition> = {
  len: of('s', 'number of code points', ([s]) => characters(s).length),
  lower: ofTexts('s', 'in lower case', (s) => s.toLowerCase()),
  upper: ofTexts('s', 'in upper case', (s) => s.toUpperCase()),
  trim: of('s[, chars]', 'without white space, or these characters, at both ends', trimmed()),
  ltrim: of('s[, chars]', 'as trim, at the start', trimmed('start')),
  rtrim: of('s[, chars]', 'as trim, at the end', trimmed('end')),
  substr: of('s, start[, n]', 'n code points from start; from 1, negative from the end', part),
  concat: ofAny('a, …', 'all texts in a row; null counts as empty', (a) => a.map(text).join('')),
  split: of('s, sep', 'array of the parts', ([s, sep]) => text(s).split(text(sep) || /(?:)/u)),
  replace: ofPattern(
    's, re, to',
    'every match replaced; \\1 to \\9 stand for groups',
    (s, re, to) => replaceAll(re, s, text(to)),
  ),
  urldecode: ofTexts('s', 'percent signs decoded', (s) => {
    try {
      return decodeURIComponent(s);
    } catch {
      // Text that was not encoded cannot be decoded.
      return null;
    }
  }),
  startswith: ofTexts('s, x', 'whether s begins with x', (s, x) => s.startsWith(x)),
  endswith: ofTexts('s, x', 'whether s ends with x', (s, x) => s.endsWith(x)),
  contains: ofTexts('s, x', 'whether x is in s', (s, x) => s.includes(x)),
  like: ofTexts('s, x', 'SQL pattern: % any run, _ one character', (s, x) => likeTest(x)(s)),
  match: ofPattern('s, re', 'whether the regular expression is found anywhere', (s, re) =>
    re.test(s),
  ),
  regex_extract: ofPattern(
    's, re[, group]',
    'a group of the first match, default 1',
    (s, re, group = 1) => {
      const number = integer(group);
      return number === null || number < 0 ? null : firstGroup(re, s, number);
    },
  ),
  tostring: of('x', 'the text of a value', ([x]) => textOf(x!)),
  tonumber: of('x[, base]', 'the number a text spells, else null', ([x, base]) =>
    base === undefined ? numberOf(x!) : inBase(text(x), integer(base)),
  ),
  mvcount: ofAny('a', 'number of elements; 0 of null, 1 of a scalar', ([a]) =>
    a === null ? 0 : listOf(a!).length,
  ),
  mvindex: of(
    'a, i[, j]',
    'element i, or elements i to j; from 0, negative from the end',
    ([a, i, j]) => {
      const list = listOf(a!);
      const at = (position: Value | undefined): number | null => {
        const number = integer(position);
        return number !== null && number < 0 ? list.length + number : number;
      };
      const from = at(i);
      if (from === null) return null;
      if (j === undefined) return list[from] ?? null;
      const to = at(j);
      return to === null ? null : list.slice(Math.max(0, from), Math.max(0, to + 1));
    },
  ),
  mvjoin: of('a, sep', 'the texts of all elements, joined', ([a, sep]) =>
    listOf(a!).map(text).join(text(sep)),
  ),
  nullif: ofAny('a, b', 'null when both are equal, else a', ([a, b]) =>
    a === null || (b !== null && deepEqual(a!, b!)) ? null : a!,
  ),
  isnull: ofAny('x', 'whether it is null', ([x]) => x === null),
  isnotnull: ofAny('x', 'whether it is not null', ([x]) => x !== null),
  typeof: ofAny('x', 'null, boolean, number, string, array or object', ([x]) => typeName(x!)),
  null: of('', 'null', () => null),
  json_extract: of('x, path', 'the value at a dotted path of a value or of JSON text', (args) => {
    const value = structureOf(args[0]!);
    return value === undefined ? null : (walk(value, text(args[1]), 'terse') ?? null);
  }),
  json_keys: of('x', 'array of the names of an object', ([x]) => {
    const value = structureOf(x!);
    return isObject(value) ? Object.keys(value) : null;
  }),
  json_valid: of('s', 'whether a text is JSON', ([s]) => structureOf(s!) !== undefined),
  cidrmatch: ofTexts('cidr, ip', 'whether the address is in the network', isInNetwork),
  sha256: ofTexts('s', 'SHA-256 in hex', (s) => Bun.SHA256.hash(s, 'hex')),
  md5: ofTexts('s', 'MD5 in hex', (s) => Bun.MD5.hash(s, 'hex')),
  abs: ofNumbers('x', 'without its sign', Math.abs),
  ceil: ofNumbers('x', 'rounded up', Math.ceil),
  floor: ofNumbers('x', 'rounded down', Math.floor),
  round: of('x[, n]', 'rounded to n places, half away from zero', ([x, n = 0]) => {
    const number = doubleOf(x!);
    const digits = integer(n);
    return number === null || digits === null ? null : roundTo(number, digits);
  }),
  sqrt: ofNumbers('x', 'square root', Math.sqrt),
  pow: of('x, y', 'x to the power of y', ([x, y]) => calculate('**', x!, y!)),
  exp: ofNumbers('x', 'e to the power of x', Math.exp),
  ln: ofNumbers('x', 'natural logarithm', Math.log),
  log: of('x[, base]', 'logarithm to a base, default 10', ([x, base = 10], site) =>
    flag['Log']!.call!([base, x!], site),
  ),
  min: ofAny('a, …', 'the smallest that is not null', extreme(-1)),
  max: ofAny('a, …', 'the largest that is not null', extreme(1)),
  pi: of('', '3.14159…', () => Math.PI),
  now: of('', 'the moment the run began', (_args, { now }) => now),
  epoch: ofTime('t', 'seconds since 1970', epochOf),
  fromepoch: of('n', 'the time so many seconds after 1970', ([n]) => {
    const seconds = doubleOf(n!);
    return seconds === null ? null : timeFromEpoch(seconds);
  }),
  strftime: ofTime('t, format', 'a time as text, such as "%H:%M"', formatTime),
  strptime: ofTexts('s, format', 'the time a text spells', parseTimeBy),
  relative_time: ofTime('t, spec', 'a time moved and snapped, such as "-1d@d"', relativeTime),
  date_part: of('unit, t', 'year quarter month week day weekday hour minute second', ([unit, t]) =>
    datePart(text(unit), t!),
  ),
  if: lazily('c, a, b', 'a when c is true, else b', ([c, a, b]) => {
    return (row) => (c!(row) === true ? a!(row) : b!(row));
  }),
  case: {
    ...lazily('c1, v1, …', 'the value after the first condition that is true', (args) => (row) => {
      for (let index = 0; index + 1 < args.length; index += 2) {
        if (args[index]!(row) === true) return args[index + 1]!(row);
      }
      return null;
    }),
    most: 2 * MANY,
  },
  coalesce: lazily('a, …', 'the first that is not null', coalesce),
};

function inBase(digits: string, base: number | null): number | null {
  if (base === null || base < 2 || base > 36) return null;
  const match = /^\s*([+-]?)([0-9a-z]+)\s*$/i.exec(digits);
  if (!match) return null;
  let value = 0;
  for (const digit of match[2]!.toLowerCase()) {
    const amount = Number.parseInt(digit, 36);
    if (amount >= base) return null;
    value = value * base + amount;
  }
  return finite(match[1] === '-' ? -value : value);
}

function typeName(value: Value): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

/** Names in the flag form of what both forms have. */
const SHARED: Readonly<Record<string, string>> = {
  Lower: 'lower',
  Upper: 'upper',
  Length: 'len',
  Substr: 'substr',
  Concat: 'concat',
  Abs: 'abs',
  Ceil: 'ceil',
  Floor: 'floor',
  Round: 'round',
  Sqrt: 'sqrt',
  Power: 'pow',
  Exp: 'exp',
  Ln: 'ln',
  Pi: 'pi',
  NullIf: 'nullif',
  Now: 'now',
};

function padded(atStart: boolean): Call {
  return ([f, n, fill]) => {
    const units = characters(f);
    const size = integer(n) ?? -1;
    if (!(size >= 0) || size > 1_000_000) return null;
    const filler = fill === undefined ? [' '] : characters(fill);
    const missing = filler.length === 0 ? 0 : size - units.length;
    if (missing <= 0) return units.slice(0, size).join('');
    const padding = Array.from({ length: missing }, (_, at) => filler[at % filler.length]!);
    return (atStart ? [...padding, ...units] : [...units, ...padding]).join('');
  };
}

const UNITS = ['Second', 'Minute', 'Hour', 'Day', 'Week', 'Month', 'Quarter', 'Year'];

/** Precision functions of a unit need; units past a day begin with a day. */
function stepOfUnit(unit: string): { readonly step: () => { readonly micros: number } } {
  const short: Readonly<Record<string, number>> = {
    Second: 1_000_000,
    Minute: 60_000_000,
    Hour: 3_600_000_000,
  };
  // In zones other than UTC a day may begin at any second of UTC.
  return { step: () => ({ micros: zone().isUtc ? (short[unit] ?? 86_400_000_000) : 1_000_000 }) };
}

function timePart(unit: string, name: string): FunctionDefinition {
  const summary = unit === 'Week' ? 'the ISO week' : `the ${name}`;
  return of('t', summary, ([t]) => datePart(name, t!), stepOfUnit(unit));
}

function startOfUnit(unit: string): FunctionDefinition {
  const name = unit.toLowerCase();
  return of('t', `start of the ${name}`, ([t]) => truncated(t!, name), stepOfUnit(unit));
}

const flag: Record<string, FunctionDefinition> = {
  ...Object.fromEntries(Object.entries(SHARED).map(([name, other]) => [name, terse[other]!])),
  Trim: of('f', 'without white space at both ends', trimmed()),
  LTrim: of('f', 'without white space at the start', trimmed('start')),
  RTrim: of('f', 'without white space at the end', trimmed('end')),
  Reverse: of('f', 'backwards', ([f]) => characters(f).reverse().join('')),
  StrIndex: ofTexts('f, g', 'position of g in f from 1, 0 when absent', (f, g) => {
    const at = f.indexOf(g);
    return at < 0 ? 0 : [...f.slice(0, at)].length + 1;
  }),
  Replace: of('f, old[, new]', 'every old replaced by new', ([f, old, by]) =>
    text(old) === '' ? text(f) : text(f).replaceAll(text(old), () => text(by)),
  ),
  LPad: of('f, n[, fill]', 'filled at the start, or cut, to n code points', padded(true)),
  RPad: of('f, n[, fill]', 'filled at the end, or cut, to n code points', padded(false)),
  Log: ofNumbers('base, x', 'logarithm of x', logarithm),
  Mod: of('x, y', 'remainder with the sign of x', ([x, y]) => calculate('%', x!, y!)),
  Sign: ofNumbers('x', '-1, 0 or 1', Math.sign),
  Sin: ofNumbers('x', 'sine', Math.sin),
  Cos: ofNumbers('x', 'cosine', Math.cos),
  Tan: ofNumbers('x', 'tangent', Math.tan),
  Cot: ofNumbers('x', 'cotangent', (x) => 1 / Math.tan(x)),
  ATan2: ofNumbers('y, x', 'angle of the point x, y', Math.atan2),
  Degrees: ofNumbers('x', 'radians in degrees', (x) => (x * 180) / Math.PI),
  Radians: ofNumbers('x', 'degrees in radians', (x) => (x * Math.PI) / 180),
  Greatest: of('a, b, …', 'the largest; null if any is null', extreme(1)),
  Least: of('a, b, …', 'the smallest; null if any is null', extreme(-1)),
  Coalesce: lazily('a, b, …', 'the first that is not null', coalesce),
  ...Object.fromEntries(UNITS.map((unit) => [`Trunc${unit}`, startOfUnit(unit)])),
  Trunc: of('t, unit', 'start of the unit', ([t, unit]) => truncated(t!, text(unit))),
  TruncDate: of('t', 'the date, YYYY-MM-DD', ([t]) => dateOf(t!), stepOfUnit('Day')),
  ...Object.fromEntries(
    UNITS.map((unit) => [`Extract${unit}`, timePart(unit, unit.toLowerCase())]),
  ),
  ExtractWeekDay: timePart('WeekDay', 'week_day'),
  Extract: of('t, unit', 'one part as an integer', ([t, unit]) => datePart(text(unit), t!)),
};

export const functions = {
  terse: new Map(Object.entries(terse)),
  flag: new Map(Object.entries(flag)),
} as const;

export const SPECIAL_FUNCTIONS: readonly { name: string; args: string; summary: string }[] = [
  { name: 'F', args: 'column', summary: 'the column of that name' },
  { name: 'Value', args: 'x', summary: 'a text or a number' },
  { name: 'KT', args: 'path', summary: 'the text of a JSON value' },
  { name: 'Q', args: 'path__lookup=v, …', summary: 'whether all conditions hold' },
  { name: 'JSONObject', args: 'a=x, …', summary: 'an object' },
  { name: 'ExpressionWrapper', args: 'x, output_field=T', summary: 'x converted to a type' },
];

/** All of the flag form, for suggestions. */
export const FLAG_FUNCTIONS = [...Object.keys(flag), ...SPECIAL_FUNCTIONS.map(({ name }) => name)];

/** Types of `output_field`; a cast gives null when it is impossible. */
export const casts: Readonly<Record<string, (value: Value) => Value>> = {
  CharField: textOf,
  TextField: textOf,
  IntegerField: (value) => {
    const number = asDouble(value);
    return number === null ? null : finite(Math.trunc(number));
  },
  FloatField: asNumber,
  DecimalField: asNumber,
  DurationField: asNumber,
  BooleanField: (value) => {
    if (typeof value === 'boolean') return value;
    const word = (textOf(value) ?? '').toLowerCase();
    return word === 'true' || word === '1' ? true : word === 'false' || word === '0' ? false : null;
  },
  DateField: dateOf,
  DateTimeField: timeValue,
  TimeField: (value) => timeValue(value)?.slice(11, 26) ?? null,
};

function asDouble(value: Value): number | null {
  return doubleOf(typeof value === 'boolean' ? Number(value) : value);
}

function asNumber(value: Value): Value {
  if (isNumber(value)) return value;
  const number = asDouble(value);
  return number === null ? null : finite(number);
}
