/** Dates in a form that a companion names, as `strptime` has it. Years of two digits are those from 1969 to 2068. */
import { daysIn, momentKey } from './date-scan.ts';
import { MONTHS } from './date-form.ts';

type Field = 'year' | 'month' | 'day' | 'hour' | 'half' | 'minute' | 'second' | 'fraction' | 'zone';

interface Directive {
  readonly field: Field;
  readonly regex: string;
}

const SHORT_MONTHS = MONTHS.map((name) => name.slice(0, 3));
const TWO_DIGITS = '(\\d{1,2})';

const DIRECTIVES: Readonly<Record<string, Directive>> = {
  Y: { field: 'year', regex: '(\\d{4})' },
  y: { field: 'year', regex: '(\\d{2})' },
  m: { field: 'month', regex: TWO_DIGITS },
  b: { field: 'month', regex: `(${SHORT_MONTHS.join('|')})` },
  B: { field: 'month', regex: `(${MONTHS.join('|')})` },
  d: { field: 'day', regex: TWO_DIGITS },
  e: { field: 'day', regex: ' ?(\\d{1,2})' },
  H: { field: 'hour', regex: TWO_DIGITS },
  I: { field: 'hour', regex: TWO_DIGITS },
  p: { field: 'half', regex: '(AM|PM)' },
  M: { field: 'minute', regex: '(\\d{2})' },
  S: { field: 'second', regex: '(\\d{2})' },
  f: { field: 'fraction', regex: '(\\d{1,9})' },
  z: { field: 'zone', regex: '(Z|[+-]\\d{2}:?\\d{2})' },
};

interface DatePattern {
  readonly hasTime: boolean;
  readonly hasZone: boolean;
  readonly regex: RegExp;
  /** Letters of directives in the order of their groups. */
  readonly letters: readonly string[];
  /** Texts between the directives, one more than those. */
  readonly texts: readonly string[];
}

const MAX_PATTERN = 64;

/** Null for a text that names no whole date, or something twice. */
export function parseDatePattern(text: string): DatePattern | null {
  if (text.length > MAX_PATTERN) return null;
  const letters: string[] = [];
  const texts = [''];
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '%') texts[texts.length - 1] += text[at]!;
    else {
      // As in `%-d`: written without a zero; read either way.
      if (text[at + 1] === '-') at++;
      const letter = text[++at] ?? '';
      if (letter === '%') texts[texts.length - 1] += '%';
      else if (!Object.hasOwn(DIRECTIVES, letter)) return null;
      else {
        letters.push(text[at - 1] === '-' ? `-${letter}` : letter);
        texts.push('');
      }
    }
  }
  const fields = letters.map((letter) => directiveOf(letter).field);
  const has = (field: Field) => fields.includes(field);
  const isWhole =
    has('year') && has('month') && has('day') && new Set(fields).size === fields.length;
  const isClear = !has('half') || letters.some((letter) => letter.endsWith('I'));
  const isNested =
    (!has('minute') || has('hour')) &&
    (!has('second') || has('minute')) &&
    (!has('fraction') || has('second'));
  if (!isWhole || !isClear || !isNested || has('half') !== letters.some((one) => one.endsWith('I')))
    return null;
  const source = letters
    .map((letter, index) => escaped(texts[index]!) + directiveOf(letter).regex)
    .join('');
  return {
    hasTime: has('hour'),
    hasZone: has('zone'),
    regex: new RegExp(`^ *${source}${escaped(texts.at(-1)!)} *$`, 'i'),
    letters,
    texts,
  };
}

function directiveOf(letter: string): Directive {
  return DIRECTIVES[letter.at(-1)!]!;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

let last: { readonly text: string; readonly pattern: DatePattern | null } | null = null;

/** Remembers one: all columns of a file have the same. */
export function datePattern(text: string): DatePattern | null {
  if (last?.text !== text) last = { text, pattern: parseDatePattern(text) };
  return last.pattern;
}

/** As `dateKey`; null for a text that does not fit. */
export function patternKey(text: string, { regex, letters }: DatePattern): string | null {
  const match = text.length > 4 * MAX_PATTERN ? null : regex.exec(text);
  if (!match) return null;
  const found: Partial<Record<Field, string>> = {};
  letters.forEach((letter, index) => {
    found[directiveOf(letter).field] = match[index + 1]!;
  });
  const year = yearOf(found.year!);
  const month = monthOf(found.month!);
  const day = Number(found.day);
  const hour = hourOf(Number(found.hour ?? 0), found.half);
  const [minute, second] = [Number(found.minute ?? 0), Number(found.second ?? 0)];
  const offset = offsetOf(found.zone);
  const isDate = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
  if (!isDate || hour === null || hour > 23 || minute > 59 || second > 59) return null;
  if (Math.abs(offset) >= 24 * 60) return null;
  return momentKey({
    year,
    month,
    day,
    hour,
    minute,
    second,
    fraction: found.fraction ?? '',
    offset,
  });
}

function yearOf(digits: string): number {
  if (digits.length === 4) return Number(digits);
  return Number(digits) + (Number(digits) < 69 ? 2000 : 1900);
}

function monthOf(text: string): number {
  return Number(text) || SHORT_MONTHS.indexOf(text.slice(0, 3).toLowerCase()) + 1;
}

/** Null for hours past 12 beside AM or PM. */
function hourOf(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half.toUpperCase() === 'PM' ? 12 : 0);
}

function offsetOf(zone: string | undefined): number {
  if (zone === undefined || zone.length === 1) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return zone.startsWith('-') ? -minutes : minutes;
}

/** A moment in UTC by its key; null when the pattern would not show all of it. */
export function patternText(key: string, pattern: DatePattern): string | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?$/.exec(key);
  if (!match) return null;
  const [
    ,
    year = '',
    month = '',
    day = '',
    hour = '00',
    minute = '00',
    second = '00',
    fraction = '',
  ] = match;
  const half = Number(hour) < 12 ? 'AM' : 'PM';
  const name = MONTHS[Number(month) - 1]!;
  const whole = name[0]!.toUpperCase() + name.slice(1);
  const values: Readonly<Record<string, string>> = {
    Y: year,
    y: year.slice(2),
    m: month,
    b: whole.slice(0, 3),
    B: whole,
    d: day,
    e: day.replace(/^0/, ' '),
    H: hour,
    I: String(Number(hour) % 12 || 12).padStart(2, '0'),
    p: half,
    M: minute,
    S: second,
    f: fraction.padEnd(6, '0'),
    z: '+0000',
  };
  const text = pattern.letters.reduce((sum, letter, index) => {
    const value = values[letter.at(-1)!]!;
    return (
      sum +
      (letter.startsWith('-') ? value.replace(/^0(?=\d)/, '') : value) +
      pattern.texts[index + 1]!
    );
  }, pattern.texts[0]!);
  return patternKey(text, pattern) === key ? text : null;
}
