/**
 * Parts of a time and starts of its units, by the names both forms use.
 */
import { dayOfYear } from './time-format.ts';
import { floorMs, msOf, timeFromMs, timeOf, type TimeUnit } from './time.ts';
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

/** The time a value is or spells, else null. */
export function timeValue(value: Value): string | null {
  return typeof value === 'string' ? timeOf(value) : null;
}

/** The start of the unit; null for an unknown unit and for what is no time. */
export function truncated(value: Value, unit: string): Value {
  const time = timeValue(value);
  const size = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  return time === null || size === undefined ? null : timeFromMs(floorMs(msOf(time), size));
}

/** One part as an integer; weeks are those of ISO 8601, weekdays count from Sunday, 1. */
export function datePart(unit: string, value: Value): Value {
  const time = timeValue(value);
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

/** The week that holds the Thursday of the same week. */
function isoWeek(time: string): number | null {
  const thursday = timeFromMs(floorMs(msOf(time), 'w') + 3 * 86_400_000);
  return thursday === null ? null : Math.ceil(dayOfYear(thursday) / 7);
}
