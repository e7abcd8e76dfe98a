import type { FileColumn, FileType, TimeUnit } from '../infer/file-type.ts';
import type { Reading } from '../types.ts';
import { daysOf, momentOf, timeOf, UNITS_PER_SECOND } from '../values/calendar.ts';
import { type ColumnDates, columnKey } from '../values/column-dates.ts';
import { POWERS_OF_TEN } from '../values/short-decimal.ts';

type Shown = string | number | bigint;

const LONG_BITS = 64;
const SECONDS_PER_DAY = 86_400;

export interface NativeColumn {
  /** Blank cells of numbers, booleans and dates may come as empty texts. */
  readonly isBlankNull?: boolean;
  readonly file?: FileColumn;
  readonly format?: Reading['format'];
  readonly dates?: ColumnDates;
}

/** Microseconds for dates with a time: what is finer does not fit. Null for a column that has only its plain type. */
export function nativeType({ file, format, dates }: NativeColumn): FileType | null {
  if (file) return file.type;
  if (!dates) return null;
  if (format === 'date') return { kind: 'date' };
  return { kind: 'timestamp', unit: 'us', isUtc: dates.style?.hasZone ?? false };
}

/** What the column's cells stand for, in ISO form; null for a text that is no date. */
export function isoDates({ dates }: NativeColumn): (text: string) => string | null {
  return dates ? (text) => columnKey(text, dates) : (text) => text;
}

/**
 * Days, units since midnight or since 1970, or a decimal without its point; null for a value the type cannot hold. Null
 * for types whose values are stored as they are shown, and for wide numbers.
 */
export function nativeValue(type: FileType): ((value: Shown) => number | bigint | null) | null {
  switch (type.kind) {
    case 'date': {
      const days = rememberedDays();
      return (value) => days(String(value));
    }
    case 'time':
      return (value) => timeUnits(String(value), type.unit);
    case 'timestamp':
      return timestampUnits(type.unit);
    case 'decimal':
      return (value) => shortDecimalUnits(value, type.precision, type.scale);
    default:
      return null;
  }
}

/** Rows that follow one another mostly share a day. */
export function rememberedDays(): (date: string) => number | null {
  let last = '';
  let days: number | null = null;
  return (date) => {
    if (date !== last) {
      last = date;
      days = daysOf(date);
    }
    return days;
  };
}

function timeUnits(text: string, unit: TimeUnit): number | null {
  // Some writers use it, and reading shows it.
  return text === '24:00:00' ? SECONDS_PER_DAY * UNITS_PER_SECOND[unit] : timeOf(text, unit);
}

const DATE_LENGTH = 10;
const CLOCK = /^T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{3}|\d{6}|\d{9}))?Z?$/;

function timestampUnits(unit: TimeUnit): (value: Shown) => number | bigint | null {
  const daysOfDate = rememberedDays();
  const perSecond = UNITS_PER_SECOND[unit];
  const places = String(perSecond).length - 1;
  // As reading shows it, without BigInt and five times as fast as `momentOf`.
  const usual = (text: string): number => {
    const match = CLOCK.exec(text.slice(DATE_LENGTH));
    const days = match && daysOfDate(text.slice(0, DATE_LENGTH));
    if (!match || days === null || (match[4]?.length ?? 0) > places) return NaN;
    const seconds = Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3]);
    const fraction = match[4] === undefined ? 0 : Number(match[4].padEnd(places, '0'));
    return (days * SECONDS_PER_DAY + seconds) * perSecond + fraction;
  };
  return (value) => {
    const text = String(value);
    const units = usual(text);
    if (Number.isSafeInteger(units)) return units;
    const moment = momentOf(text, unit);
    return moment !== null && BigInt.asIntN(LONG_BITS, moment) === moment ? moment : null;
  };
}

function shortDecimalUnits(value: Shown, precision: number, scale: number): number | null {
  const power = POWERS_OF_TEN[scale]!;
  const units = typeof value === 'string' ? NaN : Math.round(Number(value) * power);
  // Of 15 digits the quotient is the very double that has them as its shortest form.
  return Math.abs(units) < POWERS_OF_TEN[precision]! && units / power === Number(value)
    ? units
    : null;
}
