/** Unless marked `takesNull`, a null argument makes the result null. */
import { calculate, roundTo } from './arithmetic.ts';
import { datePart, timeValue } from './calendar-parts.ts';
import { define, type FunctionDefinition, onNumber, text } from './function-definition.ts';
import { isInNetwork } from './networks.ts';
import { firstGroup, likeTest, replaceAll, requirePattern } from './patterns.ts';
import { walk } from '../run/schema.ts';
import { formatTime, parseTimeBy } from './time-format.ts';
import { epochOf, relativeTime, timeFromEpoch } from './time.ts';
import {
  compareValues,
  deepEqual,
  doubleOf,
  finite,
  isArray,
  isObject,
  numberOf,
  textOf,
  valueOfJson,
  type Value,
} from './value.ts';

const characters = (value: Value | undefined): string[] => [...text(value)];
const integer = (value: Value | undefined): number | null => {
  const number = value === undefined ? null : doubleOf(value);
  return number === null ? null : Math.trunc(number);
};
const listOf = (value: Value): readonly Value[] => (isArray(value) ? value : [value]);
const structureOf = (value: Value): Value | undefined =>
  typeof value === 'string' ? valueOfJson(value) : value;

const textFunctions: Record<string, FunctionDefinition> = {
  len: define('s', 1, 1, 'number of code points', ([s]) => characters(s).length),
  lower: define('s', 1, 1, 'in lower case', ([s]) => text(s).toLowerCase()),
  upper: define('s', 1, 1, 'in upper case', ([s]) => text(s).toUpperCase()),
  trim: define(
    's[, chars]',
    1,
    2,
    'without white space, or these characters, at both ends',
    ([s, chars]) => trimmed(text(s), chars, true, true),
  ),
  ltrim: define('s[, chars]', 1, 2, 'as trim, at the start', ([s, chars]) =>
    trimmed(text(s), chars, true, false),
  ),
  rtrim: define('s[, chars]', 1, 2, 'as trim, at the end', ([s, chars]) =>
    trimmed(text(s), chars, false, true),
  ),
  substr: define(
    's, start[, n]',
    2,
    3,
    'n code points from start; from 1, negative from the end',
    ([s, start, n]) => part(characters(s), integer(start), n === undefined ? Infinity : integer(n)),
  ),
  concat: define(
    'a, …',
    1,
    100,
    'all texts in a row; null counts as empty',
    (args) => args.map(text).join(''),
    {
      takesNull: true,
    },
  ),
  split: define('s, sep', 2, 2, 'array of the parts', ([s, sep]) =>
    text(sep) === '' ? characters(s) : text(s).split(text(sep)),
  ),
  replace: define(
    's, re, to',
    3,
    3,
    'every match replaced; \\1 to \\9 stand for groups',
    ([s, re, to], { place }) => replaceAll(requirePattern(text(re), place), text(s), text(to)),
    { pattern: 1 },
  ),
  urldecode: define('s', 1, 1, 'percent signs decoded', ([s]) => {
    try {
      return decodeURIComponent(text(s));
    } catch {
      // Text that was not encoded cannot be decoded.
      return null;
    }
  }),
  startswith: define('s, x', 2, 2, 'whether s begins with x', ([s, x]) =>
    text(s).startsWith(text(x)),
  ),
  endswith: define('s, x', 2, 2, 'whether s ends with x', ([s, x]) => text(s).endsWith(text(x))),
  contains: define('s, x', 2, 2, 'whether x is in s', ([s, x]) => text(s).includes(text(x))),
  like: define('s, x', 2, 2, 'SQL pattern: % any run, _ one character', ([s, x]) =>
    likeTest(text(x))(text(s)),
  ),
  match: define(
    's, re',
    2,
    2,
    'whether the regular expression is found anywhere',
    ([s, re], { place }) => requirePattern(text(re), place).test(text(s)),
    { pattern: 1 },
  ),
  regex_extract: define(
    's, re[, group]',
    2,
    3,
    'a group of the first match, default 1',
    ([s, re, group], { place }) => {
      const number = group === undefined ? 1 : integer(group);
      const regex = requirePattern(text(re), place);
      return number === null || number < 0 ? null : firstGroup(regex, text(s), number);
    },
    { pattern: 1 },
  ),
};

function trimmed(s: string, chars: Value | undefined, atStart: boolean, atEnd: boolean): string {
  if (chars === undefined) return atStart ? (atEnd ? s.trim() : s.trimStart()) : s.trimEnd();
  const set = new Set(characters(chars));
  const units = [...s];
  let from = 0;
  let to = units.length;
  while (atStart && from < to && set.has(units[from]!)) from++;
  while (atEnd && to > from && set.has(units[to - 1]!)) to--;
  return units.slice(from, to).join('');
}

function part(units: readonly string[], start: number | null, n: number | null): string | null {
  if (start === null || n === null) return null;
  const from = start < 0 ? Math.max(0, units.length + start) : Math.max(0, start - 1);
  return units.slice(from, from + Math.max(0, n)).join('');
}

const valueFunctions: Record<string, FunctionDefinition> = {
  tostring: define('x', 1, 1, 'the text of a value', ([x]) => textOf(x!)),
  tonumber: define('x[, base]', 1, 2, 'the number a text spells, else null', ([x, base]) =>
    base === undefined ? numberOf(x!) : inBase(text(x), integer(base)),
  ),
  mvcount: define(
    'a',
    1,
    1,
    'number of elements; 0 of null, 1 of a scalar',
    ([a]) => (a === null ? 0 : listOf(a!).length),
    { takesNull: true },
  ),
  mvindex: define(
    'a, i[, j]',
    2,
    3,
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
  mvjoin: define('a, sep', 2, 2, 'the texts of all elements, joined', ([a, sep]) =>
    listOf(a!).map(text).join(text(sep)),
  ),
  nullif: define(
    'a, b',
    2,
    2,
    'null when both are equal, else a',
    ([a, b]) => (a === null || (b !== null && deepEqual(a!, b!)) ? null : a!),
    { takesNull: true },
  ),
  isnull: define('x', 1, 1, 'whether it is null', ([x]) => x === null, { takesNull: true }),
  isnotnull: define('x', 1, 1, 'whether it is not null', ([x]) => x !== null, { takesNull: true }),
  typeof: define(
    'x',
    1,
    1,
    'null, boolean, number, string, array or object',
    ([x]) => typeName(x!),
    {
      takesNull: true,
    },
  ),
  null: define('', 0, 0, 'null', () => null),
  json_extract: define(
    'x, path',
    2,
    2,
    'the value at a dotted path of a value or of JSON text',
    ([x, path]) => {
      const value = structureOf(x!);
      return value === undefined ? null : (walk(value, text(path), 'terse') ?? null);
    },
  ),
  json_keys: define('x', 1, 1, 'array of the names of an object', ([x]) => {
    const value = structureOf(x!);
    return isObject(value) ? Object.keys(value) : null;
  }),
  json_valid: define('s', 1, 1, 'whether a text is JSON', ([s]) =>
    typeof s === 'string' ? valueOfJson(s) !== undefined : true,
  ),
  cidrmatch: define('cidr, ip', 2, 2, 'whether the address is in the network', ([cidr, ip]) =>
    isInNetwork(text(cidr), text(ip)),
  ),
  sha256: define('s', 1, 1, 'SHA-256 in hex', ([s]) => digest('sha256', text(s))),
  md5: define('s', 1, 1, 'MD5 in hex', ([s]) => digest('md5', text(s))),
};

function digest(algorithm: 'sha256' | 'md5', content: string): string {
  return new Bun.CryptoHasher(algorithm).update(content).digest('hex');
}

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

const numberFunctions: Record<string, FunctionDefinition> = {
  abs: define('x', 1, 1, 'without its sign', onNumber(Math.abs)),
  ceil: define('x', 1, 1, 'rounded up', onNumber(Math.ceil)),
  floor: define('x', 1, 1, 'rounded down', onNumber(Math.floor)),
  round: define('x[, n]', 1, 2, 'rounded to n places, half away from zero', ([x, n]) => {
    const number = doubleOf(x!);
    const digits = n === undefined ? 0 : integer(n);
    return number === null || digits === null ? null : roundTo(number, digits);
  }),
  sqrt: define('x', 1, 1, 'square root', onNumber(Math.sqrt)),
  pow: define('x, y', 2, 2, 'x to the power of y', ([x, y]) => calculate('**', x!, y!)),
  exp: define('x', 1, 1, 'e to the power of x', onNumber(Math.exp)),
  ln: define('x', 1, 1, 'natural logarithm', onNumber(Math.log)),
  log: define('x[, base]', 1, 2, 'logarithm to a base, default 10', ([x, base]) => {
    const number = doubleOf(x!);
    const of = base === undefined ? 10 : doubleOf(base);
    if (number === null || of === null) return null;
    return finite(of === 10 ? Math.log10(number) : Math.log(number) / Math.log(of));
  }),
  min: define('a, …', 1, 100, 'the smallest that is not null', (args) => extreme(args, -1), {
    takesNull: true,
  }),
  max: define('a, …', 1, 100, 'the largest that is not null', (args) => extreme(args, 1), {
    takesNull: true,
  }),
  pi: define('', 0, 0, '3.14159…', () => Math.PI),
};

function extreme(values: readonly Value[], sign: number): Value {
  let best: Value = null;
  for (const value of values) {
    if (value !== null && (best === null || compareValues(value, best) * sign > 0)) best = value;
  }
  return best;
}

const timeFunctions: Record<string, FunctionDefinition> = {
  now: define('', 0, 0, 'the moment the run began', (_args, { now }) => now),
  epoch: define('t', 1, 1, 'seconds since 1970', ([t]) => {
    const time = timeValue(t!);
    return time === null ? null : epochOf(time);
  }),
  fromepoch: define('n', 1, 1, 'the time so many seconds after 1970', ([n]) => {
    const seconds = doubleOf(n!);
    return seconds === null ? null : timeFromEpoch(seconds);
  }),
  strftime: define('t, format', 2, 2, 'a time as text, such as "%H:%M"', ([t, format]) => {
    const time = timeValue(t!);
    return time === null ? null : formatTime(time, text(format));
  }),
  strptime: define('s, format', 2, 2, 'the time a text spells', ([s, format]) =>
    parseTimeBy(text(s), text(format)),
  ),
  relative_time: define(
    't, spec',
    2,
    2,
    'a time moved and snapped, such as "-1d@d"',
    ([t, spec]) => {
      const time = timeValue(t!);
      return time === null ? null : relativeTime(time, text(spec));
    },
  ),
  date_part: define(
    'unit, t',
    2,
    2,
    'year quarter month week day weekday hour minute second',
    ([unit, t]) => datePart(text(unit), t!),
  ),
};

const choices: Record<string, FunctionDefinition> = {
  if: {
    args: 'c, a, b',
    least: 3,
    most: 3,
    summary: 'a when c is true, else b',
    lazy:
      ([c, a, b]) =>
      (row) =>
        c!(row) === true ? a!(row) : b!(row),
  },
  case: {
    args: 'c1, v1, …',
    least: 2,
    most: 200,
    summary: 'the value after the first condition that is true',
    lazy: (args) => (row) => {
      for (let index = 0; index + 1 < args.length; index += 2) {
        if (args[index]!(row) === true) return args[index + 1]!(row);
      }
      return null;
    },
  },
  coalesce: {
    args: 'a, …',
    least: 1,
    most: 100,
    summary: 'the first that is not null',
    lazy: (args) => (row) => {
      for (const arg of args) {
        const value = arg(row);
        if (value !== null) return value;
      }
      return null;
    },
  },
};

export const terseFunctions: ReadonlyMap<string, FunctionDefinition> = new Map(
  Object.entries({
    ...textFunctions,
    ...valueFunctions,
    ...numberFunctions,
    ...timeFunctions,
    ...choices,
  }),
);
