/**
 * Serial numbers and the texts they read as: `YYYY-MM-DD HH:MM:SS`, midnight for dates, and `HH:MM:SS` for times.
 *
 * The 1900 system has a 29 February 1900 that never was, as serial 60; the 1904 system begins with 0.
 */
import { dateText, daysOf, timeText } from '../../src/tables/values/calendar.ts';

/**
 * By the number format (ECMA-376-1, 18.8.30 and 18.8.31). `date` may include a time; `elapsed` (`[h]:mm`) goes past
 * 24 hours.
 */
export type DateKind = 'none' | 'date' | 'time' | 'elapsed';

/** Not plain numbers; East Asian formats included. */
const BUILT_IN: readonly (readonly [first: number, last: number, kind: DateKind])[] = [
  [14, 17, 'date'],
  [18, 21, 'time'],
  [22, 22, 'date'],
  [27, 31, 'date'],
  [32, 33, 'time'],
  [34, 36, 'date'],
  [45, 45, 'time'],
  [46, 46, 'elapsed'],
  [47, 47, 'time'],
  [50, 58, 'date'],
];

export function builtInKind(id: number): DateKind {
  return BUILT_IN.find(([first, last]) => first <= id && id <= last)?.[2] ?? 'none';
}

/** Decided by the first section, the one for positive numbers. */
export function formatKind(code: string): DateKind {
  const literals = /"[^"]*"?|\\[^]?|[_*][^]?/g;
  const section = code.replaceAll(literals, '').split(';', 1)[0]!.toLowerCase();
  if (/\[(?:h+|m+|s+)\]/.test(section)) return 'elapsed';
  const plain = section.replaceAll(/\[[^[\]]*\]|am\/pm|a\/p|general|e[+-]/g, '');
  // Years and eras (e, g, b), months, days; `m` next to hours or seconds is minutes.
  if (/[ydegb]/.test(plain)) return 'date';
  if (/[hs]/.test(plain)) return 'time';
  return plain.includes('m') ? 'date' : 'none';
}

const DAY_SECONDS = 86_400;
/** After the wrong leap day of the 1900 system, and in that of 1904. */
const EPOCH_1900 = -25_569;
const EPOCH_1904 = -24_107;
const WRONG_DAY = 60;
/** 9999-12-31. */
const LAST_DAY = 2_932_896;

export function serialText(serial: number, kind: DateKind, is1904: boolean): string | null {
  if (kind === 'none' || !(serial >= 0)) return null;
  // Seconds are the finest unit shown, and fractions of days are never exact.
  const seconds = Math.round(serial * DAY_SECONDS);
  if (kind === 'elapsed') return timeText(seconds * 1000, 'ms');
  const days = Math.floor(seconds / DAY_SECONDS);
  const clock = timeText((seconds % DAY_SECONDS) * 1000, 'ms');
  if (serial < 1 && (kind === 'time' || !is1904)) return clock;
  const date = dayText(days, is1904);
  return date === null ? null : `${date} ${clock}`;
}

function dayText(days: number, is1904: boolean): string | null {
  if (!is1904 && days === WRONG_DAY) return '1900-02-29';
  const skipped = !is1904 && days < WRONG_DAY ? 1 : 0;
  const day = (is1904 ? EPOCH_1904 : EPOCH_1900) + days + skipped;
  return day > LAST_DAY ? null : dateText(day);
}

const CLOCK = String.raw`(\d{2,7}):([0-5]\d)(?::([0-5]\d)(\.\d{1,9})?)?`;
const ISO_LIKE = new RegExp(`^ *(?:(\\d{4}-\\d\\d-\\d\\d)(?:[T ]${CLOCK}Z?)?|${CLOCK}) *$`);

/**
 * Date, time, or both with `T` or a space between; a trailing `Z` is ignored. Null for other text or out of range.
 * Hours past 24 only for elapsed time.
 */
export function serialOf(text: string, kind: DateKind, is1904: boolean): number | null {
  const match = kind === 'none' ? null : ISO_LIKE.exec(text);
  if (match === null) return null;
  const date = match[1];
  if (date === undefined) return clockDays(match.slice(6), kind === 'elapsed');
  const days = serialDay(date, is1904);
  const clock = match[2] === undefined ? 0 : clockDays(match.slice(2, 6), false);
  return days === null || clock === null ? null : days + clock;
}

function clockDays(
  [hours, minutes, seconds, fraction]: readonly (string | undefined)[],
  isElapsed: boolean,
): number | null {
  if (!isElapsed && (hours!.length > 2 || Number(hours) > 23)) return null;
  const whole = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0);
  return (whole + Number(fraction ?? 0)) / DAY_SECONDS;
}

function serialDay(date: string, is1904: boolean): number | null {
  if (!is1904 && date === '1900-02-29') return WRONG_DAY;
  const day = date < '1900' ? null : daysOf(date);
  if (day === null) return null;
  const days = day - (is1904 ? EPOCH_1904 : EPOCH_1900);
  const serial = !is1904 && days <= WRONG_DAY ? days - 1 : days;
  // Day 0 of the 1900 system reads as a time.
  return serial < (is1904 ? 0 : 1) ? null : serial;
}
