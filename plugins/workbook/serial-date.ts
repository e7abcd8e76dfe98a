/**
 * Serial numbers and the date texts they read as: `YYYY-MM-DD HH:MM:SS`, midnight for dates, and
 * `HH:MM:SS` for times.
 *
 * The 1900 system has a 29 February 1900 that never was, as serial 60; the 1904 system begins with
 * 0.
 */
import type { DateKind } from './number-format.ts';

const DAY_SECONDS = 86_400;
const DAY_MS = 86_400_000;
/** Base of 1900 serials after the wrong leap day. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const WRONG_DAY = 60;
const LAST_DAY = Date.UTC(9999, 11, 31);

export function serialText(serial: number, kind: DateKind, is1904: boolean): string | null {
  if (kind === 'none' || !(serial >= 0)) return null;
  // Seconds are the finest unit shown, and fractions of days are never exact.
  const seconds = Math.round(serial * DAY_SECONDS);
  if (kind === 'elapsed') return clockText(seconds);
  const days = Math.floor(seconds / DAY_SECONDS);
  const clock = clockText(seconds % DAY_SECONDS);
  if (serial < 1 && (kind === 'time' || !is1904)) return clock;
  const date = dayText(days, is1904);
  return date === null ? null : `${date} ${clock}`;
}

function clockText(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  return `${two(hours)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

function dayText(days: number, is1904: boolean): string | null {
  if (!is1904 && days === WRONG_DAY) return '1900-02-29';
  const skipped = !is1904 && days < WRONG_DAY ? 1 : 0;
  const time = (is1904 ? EPOCH_1904 : EPOCH_1900) + (days + skipped) * DAY_MS;
  return time > LAST_DAY ? null : new Date(time).toISOString().slice(0, 10);
}

const DATE = String.raw`(\d{4})-(\d\d)-(\d\d)`;
const CLOCK = String.raw`(\d{2,7}):([0-5]\d)(?::([0-5]\d)(\.\d{1,9})?)?`;
const ISO_LIKE = new RegExp(`^ *(?:${DATE}(?:[T ]${CLOCK}Z?)?|${CLOCK}) *$`);

/**
 * From an ISO-like text (date, time, or both with `T` or a space between; a trailing `Z` is
 * ignored); null when it is none or out of range. Hours past 24 only for elapsed time.
 */
export function serialOf(text: string, kind: DateKind, is1904: boolean): number | null {
  const match = kind === 'none' ? null : ISO_LIKE.exec(text);
  if (match === null) return null;
  const [year, month, day] = match.slice(1, 4);
  if (year === undefined) return clockDays(match.slice(8), kind === 'elapsed');
  const days = serialDay(Number(year), Number(month), Number(day), is1904);
  const clock = match[4] === undefined ? 0 : clockDays(match.slice(4, 8), false);
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

function serialDay(year: number, month: number, day: number, is1904: boolean): number | null {
  if (!is1904 && year === 1900 && month === 2 && day === 29) return WRONG_DAY;
  const time = Date.UTC(year, month - 1, day);
  const date = new Date(time);
  const isReal = year >= 1900 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isReal) return null;
  const days = (time - (is1904 ? EPOCH_1904 : EPOCH_1900)) / DAY_MS;
  const serial = !is1904 && days <= WRONG_DAY ? days - 1 : days;
  // Day 0 of the 1900 system reads as a time.
  return serial < (is1904 ? 0 : 1) ? null : serial;
}
