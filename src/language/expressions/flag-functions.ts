/** `Q`, `F`, `Value`, `KT` and casts need more than values and are in evaluate.ts. */
import { calculate, roundTo } from './arithmetic.ts';
import { dateOf, datePart, timeValue, truncated } from './calendar-parts.ts';
import {
  type Call,
  define,
  type FunctionDefinition,
  onNumber,
  text,
} from './function-definition.ts';
import {
  compareValues,
  deepEqual,
  doubleOf,
  finite,
  isNumber,
  textOf,
  type Value,
} from './value.ts';
import { zone } from './zone.ts';

const whole = (value: Value | undefined): number =>
  Math.trunc(doubleOf(value ?? null) ?? Number.NaN);
const onText =
  (change: (s: string) => string): Call =>
  ([s]) =>
    change(text(s));

function padded(args: readonly Value[], atStart: boolean): Value {
  const [f, n, fill] = args;
  const units = [...text(f)];
  const size = whole(n);
  if (!(size >= 0) || size > 1_000_000) return null;
  const filler = fill === undefined ? ' ' : text(fill);
  if (units.length >= size) return units.slice(0, size).join('');
  const missing = size - units.length;
  const padding =
    filler === ''
      ? ''
      : [...filler.repeat(Math.ceil(missing / [...filler].length))].slice(0, missing).join('');
  return atStart ? padding + units.join('') : units.join('') + padding;
}

const texts: Record<string, FunctionDefinition> = {
  Lower: define(
    'f',
    1,
    1,
    'in lower case',
    onText((s) => s.toLowerCase()),
  ),
  Upper: define(
    'f',
    1,
    1,
    'in upper case',
    onText((s) => s.toUpperCase()),
  ),
  Trim: define(
    'f',
    1,
    1,
    'without white space at both ends',
    onText((s) => s.trim()),
  ),
  LTrim: define(
    'f',
    1,
    1,
    'without white space at the start',
    onText((s) => s.trimStart()),
  ),
  RTrim: define(
    'f',
    1,
    1,
    'without white space at the end',
    onText((s) => s.trimEnd()),
  ),
  Reverse: define(
    'f',
    1,
    1,
    'backwards',
    onText((s) => [...s].reverse().join('')),
  ),
  Length: define('f', 1, 1, 'number of code points', ([s]) => [...text(s)].length),
  Substr: define(
    'f, pos[, len]',
    2,
    3,
    'len code points from position pos, from 1',
    ([f, pos, len]) => {
      const from = whole(pos);
      const size = len === undefined ? Infinity : whole(len);
      if (Number.isNaN(from) || Number.isNaN(size)) return null;
      const units = [...text(f)];
      const start = from < 0 ? Math.max(0, units.length + from) : Math.max(0, from - 1);
      return units.slice(start, start + Math.max(0, size)).join('');
    },
  ),
  StrIndex: define('f, g', 2, 2, 'position of g in f from 1, 0 when absent', ([f, g]) => {
    const at = text(f).indexOf(text(g));
    return at < 0 ? 0 : [...text(f).slice(0, at)].length + 1;
  }),
  Replace: define('f, old[, new]', 2, 3, 'every old replaced by new', ([f, old, by]) =>
    text(old) === ''
      ? text(f)
      : text(f).replaceAll(text(old), () => (by === undefined ? '' : text(by))),
  ),
  LPad: define('f, n[, fill]', 2, 3, 'filled at the start, or cut, to n code points', (args) =>
    padded(args, true),
  ),
  RPad: define('f, n[, fill]', 2, 3, 'filled at the end, or cut, to n code points', (args) =>
    padded(args, false),
  ),
  Concat: define(
    'a, …',
    1,
    100,
    'all texts in a row; null counts as empty',
    (args) => args.map(text).join(''),
    {
      takesNull: true,
    },
  ),
};

const numbers: Record<string, FunctionDefinition> = {
  Abs: define('x', 1, 1, 'without its sign', onNumber(Math.abs)),
  Ceil: define('x', 1, 1, 'rounded up', onNumber(Math.ceil)),
  Floor: define('x', 1, 1, 'rounded down', onNumber(Math.floor)),
  Sqrt: define('x', 1, 1, 'square root', onNumber(Math.sqrt)),
  Exp: define('x', 1, 1, 'e to the power of x', onNumber(Math.exp)),
  Ln: define('x', 1, 1, 'natural logarithm', onNumber(Math.log)),
  Log: define('base, x', 2, 2, 'logarithm of x', ([base, x]) => {
    const of = doubleOf(base!);
    const number = doubleOf(x!);
    if (of === null || number === null) return null;
    return finite(of === 10 ? Math.log10(number) : Math.log(number) / Math.log(of));
  }),
  Power: define('x, y', 2, 2, 'x to the power of y', ([x, y]) => calculate('**', x!, y!)),
  Mod: define('x, y', 2, 2, 'remainder with the sign of x', ([x, y]) => calculate('%', x!, y!)),
  Round: define('x[, n]', 1, 2, 'rounded to n places, half away from zero', ([x, n]) => {
    const number = doubleOf(x!);
    const digits = n === undefined ? 0 : whole(n);
    return number === null || Number.isNaN(digits) ? null : roundTo(number, digits);
  }),
  Sign: define('x', 1, 1, '-1, 0 or 1', onNumber(Math.sign)),
  Pi: define('', 0, 0, '3.14159…', () => Math.PI),
  Sin: define('x', 1, 1, 'sine', onNumber(Math.sin)),
  Cos: define('x', 1, 1, 'cosine', onNumber(Math.cos)),
  Tan: define('x', 1, 1, 'tangent', onNumber(Math.tan)),
  Cot: define(
    'x',
    1,
    1,
    'cotangent',
    onNumber((x) => 1 / Math.tan(x)),
  ),
  ATan2: define('y, x', 2, 2, 'angle of the point x, y', ([y, x]) => {
    const up = doubleOf(y!);
    const right = doubleOf(x!);
    return up === null || right === null ? null : finite(Math.atan2(up, right));
  }),
  Degrees: define(
    'x',
    1,
    1,
    'radians in degrees',
    onNumber((x) => (x * 180) / Math.PI),
  ),
  Radians: define(
    'x',
    1,
    1,
    'degrees in radians',
    onNumber((x) => (x * Math.PI) / 180),
  ),
};

const choices: Record<string, FunctionDefinition> = {
  Greatest: define('a, b, …', 2, 100, 'the largest; null if any is null', (args) =>
    extreme(args, 1),
  ),
  Least: define('a, b, …', 2, 100, 'the smallest; null if any is null', (args) =>
    extreme(args, -1),
  ),
  Coalesce: define(
    'a, b, …',
    2,
    100,
    'the first that is not null',
    (args) => args.find((value) => value !== null) ?? null,
    {
      takesNull: true,
    },
  ),
  NullIf: define(
    'a, b',
    2,
    2,
    'null when both are equal, else a',
    ([a, b]) => (a === null || (b !== null && deepEqual(a!, b!)) ? null : a!),
    { takesNull: true },
  ),
};

function extreme(values: readonly Value[], sign: number): Value {
  return values.reduce((best, value) => (compareValues(value, best) * sign > 0 ? value : best));
}

const UNITS = ['Second', 'Minute', 'Hour', 'Day', 'Week', 'Month', 'Quarter', 'Year'];
const PARTS: Readonly<Record<string, string>> = {
  Year: 'year',
  Month: 'month',
  Day: 'day',
  Hour: 'hour',
  Minute: 'minute',
  Second: 'second',
  Quarter: 'quarter',
  Week: 'week',
  WeekDay: 'week_day',
};

/** Precision functions of a unit need; units past a day begin with a day. */
function stepOfUnit(unit: string): () => { readonly micros: number } {
  const short: Readonly<Record<string, number>> = {
    Second: 1_000_000,
    Minute: 60_000_000,
    Hour: 3_600_000_000,
  };
  // In zones other than UTC a day may begin at any second of UTC.
  return () => ({ micros: zone().isUtc ? (short[unit] ?? 86_400_000_000) : 1_000_000 });
}

const times: Record<string, FunctionDefinition> = {
  Now: define('', 0, 0, 'the moment the run began', (_args, { now }) => now),
  ...Object.fromEntries(
    UNITS.map((unit) => [
      `Trunc${unit}`,
      define(
        't',
        1,
        1,
        `start of the ${unit.toLowerCase()}`,
        ([t]) => truncated(t!, unit.toLowerCase()),
        { step: stepOfUnit(unit) },
      ),
    ]),
  ),
  Trunc: define('t, unit', 2, 2, 'start of the unit', ([t, unit]) => truncated(t!, text(unit))),
  TruncDate: define('t', 1, 1, 'the date, YYYY-MM-DD', ([t]) => dateOf(t!), {
    step: stepOfUnit('Day'),
  }),
  ...Object.fromEntries(
    Object.entries(PARTS).map(([name, unit]) => [
      `Extract${name}`,
      define(
        't',
        1,
        1,
        unit === 'week' ? 'the ISO week' : `the ${unit}`,
        ([t]) => datePart(unit, t!),
        { step: stepOfUnit(name) },
      ),
    ]),
  ),
  Extract: define('t, unit', 2, 2, 'one part as an integer', ([t, unit]) =>
    datePart(text(unit), t!),
  ),
};

export const flagFunctions: ReadonlyMap<string, FunctionDefinition> = new Map(
  Object.entries({ ...texts, ...numbers, ...choices, ...times }),
);

export const SPECIAL_FUNCTIONS: readonly { name: string; args: string; summary: string }[] = [
  { name: 'F', args: 'column', summary: 'the column of that name' },
  { name: 'Value', args: 'x', summary: 'a text or a number' },
  { name: 'KT', args: 'path', summary: 'the text of a JSON value' },
  { name: 'Q', args: 'path__lookup=v, …', summary: 'whether all conditions hold' },
  { name: 'JSONObject', args: 'a=x, …', summary: 'an object' },
  { name: 'ExpressionWrapper', args: 'x, output_field=T', summary: 'x converted to a type' },
];

/** Types of `output_field`; a cast gives null when it is impossible. */
export const casts: Readonly<Record<string, (value: Value) => Value>> = {
  CharField: textOf,
  TextField: textOf,
  IntegerField: (value) => {
    const number = doubleOf(typeof value === 'boolean' ? Number(value) : value);
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

function asNumber(value: Value): Value {
  if (isNumber(value)) return value;
  const number = doubleOf(typeof value === 'boolean' ? Number(value) : value);
  return number === null ? null : finite(number);
}
