/**
 * Proleptic Gregorian, years of at least four digits, fractions in groups of three digits and only where not zero.
 */
import type { TimeUnit } from '../infer/file-type.ts';

const DAYS_PER_ERA = 146_097;
/** Days from 0000-03-01 to 1970-01-01. */
const EPOCH_SHIFT = 719_468;
const DATE_TEXT = /^(-?\d{4,9})-(\d{2})-(\d{2})$/;
/** Leaves out trailing zeros of the fraction. */
const TIME_TEXT = /^(\d{2}):(\d{2}):(\d{2})(?:\.(?=\d)(\d{0,9}?)0*)?$/;
const MOMENT_TEXT =
  /^(-?\d{4,9}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d+)?)([Zz]|[+-]\d{2}:\d{2})?)?$/;

export const UNITS_PER_SECOND: Readonly<Record<TimeUnit, number>> = { ms: 1e3, us: 1e6, ns: 1e9 };
const SECONDS_PER_DAY = 86_400;

const TWO_DIGITS = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'));

/** From days since 1970-01-01 to `YYYY-MM-DD`. */
export function dateText(days: number): string {
  const shifted = days + EPOCH_SHIFT;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * month + 2) / 5) + 1;
  const year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0);
  const yearText = year >= 1000 && year <= 9999 ? String(year) : paddedYear(year);
  return `${yearText}-${TWO_DIGITS[month < 10 ? month + 3 : month - 9]!}-${TWO_DIGITS[day]!}`;
}

function paddedYear(year: number): string {
  return `${year < 0 ? '-' : ''}${String(Math.abs(year)).padStart(4, '0')}`;
}

/** Days since 1970-01-01; null unless the text is as `dateText` writes it. */
export function daysOf(text: string): number | null {
  const match = DATE_TEXT.exec(text);
  if (!match) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  const days = era * DAYS_PER_ERA + dayOfEra - EPOCH_SHIFT;
  // Otherwise 30 February would be a day in March.
  return dateText(days) === text ? days : null;
}

/** `HH:MM:SS[.fff]`. */
export function timeText(value: number, unit: TimeUnit): string {
  const perSecond = UNITS_PER_SECOND[unit];
  const seconds = Math.floor(value / perSecond);
  const fraction = value - seconds * perSecond;
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const clock = `${TWO_DIGITS[hours] ?? hours}:${TWO_DIGITS[minutes - hours * 60]!}:${TWO_DIGITS[seconds - minutes * 60]!}`;
  return fraction === 0 ? clock : `${clock}.${fractionText(fraction, unit)}`;
}

function fractionText(fraction: number, unit: TimeUnit): string {
  let digits = String(fraction).padStart(unit === 'ms' ? 3 : unit === 'us' ? 6 : 9, '0');
  while (digits.endsWith('000')) digits = digits.slice(0, -3);
  return digits;
}

/** Null unless the text is a time from 00:00:00 to 23:59:59.99… without digits past the unit. */
export function timeOf(text: string, unit: TimeUnit): number | null {
  const match = TIME_TEXT.exec(text);
  if (!match) return null;
  const [hours, minutes, seconds] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (hours > 23 || minutes > 59 || seconds > 59) return null;
  const perSecond = UNITS_PER_SECOND[unit];
  const digits = match[4] ?? '';
  const places = String(perSecond).length - 1;
  if (digits.length > places) return null;
  return (hours * 3600 + minutes * 60 + seconds) * perSecond + Number(digits.padEnd(places, '0'));
}

export function momentText(days: number, time: number, unit: TimeUnit, isUtc: boolean): string {
  return `${dateText(days)}T${timeText(time, unit)}${isUtc ? 'Z' : ''}`;
}

/** Faster than single `momentText` calls: consecutive moments often share a day. */
export function momentTexts(
  unit: TimeUnit,
  isUtc: boolean,
): (days: number, time: number) => string {
  const zone = isUtc ? 'Z' : '';
  let lastDays = NaN;
  let date = '';
  return (days, time) => {
    if (days !== lastDays) {
      date = dateText(days);
      lastDays = days;
    }
    return `${date}T${timeText(time, unit)}${zone}`;
  };
}

/**
 * Counted in the unit since 1970 UTC; null for other text or digits past the unit. A date alone is midnight; without a
 * zone it is UTC.
 */
export function momentOf(text: string, unit: TimeUnit): bigint | null {
  const match = MOMENT_TEXT.exec(text);
  if (!match) return null;
  const [, date = '', clock = '00:00:00', zone] = match;
  const days = daysOf(date);
  const time = timeOf(clock, unit);
  if (days === null || time === null) return null;
  const minutes = zone === undefined ? 0 : zoneMinutes(zone);
  if (minutes === null) return null;
  const perSecond = BigInt(UNITS_PER_SECOND[unit]);
  return (
    (BigInt(days) * BigInt(SECONDS_PER_DAY) - BigInt(minutes) * 60n) * perSecond + BigInt(time)
  );
}

function zoneMinutes(zone: string): number | null {
  if (zone.length === 1) return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))];
  if (hours > 23 || minutes > 59) return null;
  return zone.startsWith('-') ? -(hours * 60 + minutes) : hours * 60 + minutes;
}
