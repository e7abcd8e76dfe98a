import { dayOfYear } from './time-format.ts';
import { localTime, msOf, startOf, timeFromMs, timeOf, type TimeUnit } from './time.ts';
import type { Value } from './value.ts';

const UNITS: Readonly<Record<string, TimeUnit>> = {
  second: 's',
  minute: 'm',
  hour: 'h',
  day: 'd',
  week: 'w',
  month: 'mon',
  quarter: 'q',
  year: 'y',
};

export function timeValue(value: Value): string | null {
  return typeof value === 'string' ? timeOf(value) : null;
}

export function dateOf(value: Value): string | null {
  const time = timeValue(value);
  return time === null ? null : (localTime(time)?.slice(0, 10) ?? null);
}

export function truncated(value: Value, unit: string): Value {
  const time = timeValue(value);
  const size = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  return time === null || size === undefined ? null : timeFromMs(startOf(msOf(time), size));
}

/** Weeks are those of ISO 8601; weekdays count from Sunday, 1. */
export function datePart(unit: string, value: Value): Value {
  const moment = timeValue(value);
  const time = moment && localTime(moment);
  if (time === null) return null;
  switch (unit) {
    case 'year':
      return Number(time.slice(0, 4));
    case 'quarter':
      return Math.ceil(Number(time.slice(5, 7)) / 3);
    case 'month':
      return Number(time.slice(5, 7));
    case 'week':
      return isoWeek(time);
    case 'day':
      return Number(time.slice(8, 10));
    case 'weekday':
    case 'week_day':
      return new Date(msOf(time)).getUTCDay() + 1;
    case 'hour':
      return Number(time.slice(11, 13));
    case 'minute':
      return Number(time.slice(14, 16));
    case 'second':
      return Number(time.slice(17, 19));
    default:
      return null;
  }
}

/** An ISO week belongs to the year of its Thursday. */
function isoWeek(time: string): number | null {
  const weekday = (new Date(msOf(time)).getUTCDay() + 6) % 7;
  const thursday = timeFromMs(msOf(time) + (3 - weekday) * 86_400_000);
  return thursday === null ? null : Math.ceil(dayOfYear(thursday) / 7);
}
