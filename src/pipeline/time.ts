/**
 * Times as text that sorts by time: `YYYY-MM-DDTHH:MM:SS.ffffffZ` (SL-13), and arithmetic on them in UTC.
 *
 * Milliseconds are counted by the platform; the three digits below them travel as text, because a double cannot hold
 * the microseconds of every year from 0 to 9999. Weeks start on Monday.
 */

/** A unit of SL-62. */
export type TimeUnit = 's' | 'm' | 'h' | 'd' | 'w' | 'mon' | 'q' | 'y';

const MOMENT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s?([Zz]|[+-]\d{2}:?\d{2})?)?$/;
const CANONICAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;
const UNIT_MS: Readonly<Partial<Record<TimeUnit, number>>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const UNIT_MONTHS: Readonly<Partial<Record<TimeUnit, number>>> = { mon: 1, q: 3, y: 12 };
/** 1970-01-05 was a Monday. */
const FIRST_MONDAY_MS = 4 * 86_400_000;

/** True for a text in the one form times are shown in. */
export function isTime(text: string): boolean {
  return text.length === 27 && CANONICAL.test(text);
}

/** The moment a text of RFC 3339 or a bare date means (EV-2), in the form of SL-13; null for anything else. */
export function timeOf(text: string): string | null {
  if (isTime(text)) return text;
  const match = MOMENT.exec(text);
  if (!match) return null;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    match;
  const date = `${year}-${month}-${day}`;
  const local = new Date(`${date}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(local.getTime()) || local.toISOString().slice(0, 10) !== date) return null;
  const micros = fraction.slice(0, 6).padEnd(6, '0');
  return timeFromMs(local.getTime() - offsetMs(zone) + Number(micros.slice(0, 3)), micros.slice(3));
}

function offsetMs(zone: string): number {
  if (zone.length === 1) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** Milliseconds since 1970 as a time; `rest` is the three digits below. Null outside the years 0 to 9999. */
export function timeFromMs(ms: number, rest = '000'): string | null {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return null;
  const iso = date.toISOString();
  return iso.length === 24 ? `${iso.slice(0, 23)}${rest}Z` : null;
}

/** Seconds since 1970 as a time, cut to microseconds; null when out of range. */
export function timeFromEpoch(seconds: number): string | null {
  const micros = Math.round(seconds * 1e6);
  const ms = Math.floor(micros / 1000);
  return timeFromMs(ms, String(micros - ms * 1000).padStart(3, '0'));
}

/** Milliseconds since 1970 of a time in the form of SL-13, its microseconds left out. */
export function msOf(time: string): number {
  return Date.parse(`${time.slice(0, 23)}Z`);
}

/** Seconds since 1970, an integer when the time has no fraction. */
export function epochOf(time: string): number {
  const micros = Number(time.slice(20, 26));
  return Date.parse(`${time.slice(0, 19)}Z`) / 1000 + micros / 1e6;
}

/** The start of the unit a time lies in, in milliseconds. */
export function floorMs(ms: number, unit: TimeUnit, count = 1): number {
  const size = UNIT_MS[unit];
  if (size !== undefined) {
    const origin = unit === 'w' ? FIRST_MONDAY_MS : 0;
    const span = size * count;
    return Math.floor((ms - origin) / span) * span + origin;
  }
  const months = UNIT_MONTHS[unit]! * count;
  const date = new Date(ms);
  const index = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
  return monthStart(Math.floor(index / months) * months);
}

function monthStart(index: number): number {
  const date = new Date(0);
  date.setUTCFullYear(1970 + Math.floor(index / 12), ((index % 12) + 12) % 12, 1);
  return date.getTime();
}

/** A time moved by whole units; a day a month does not have becomes its last one. */
export function moveMs(ms: number, count: number, unit: TimeUnit): number {
  const size = UNIT_MS[unit];
  if (size !== undefined) return ms + size * count;
  const date = new Date(ms);
  const index = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
  const start = monthStart(index + UNIT_MONTHS[unit]! * count);
  const after = monthStart(index + UNIT_MONTHS[unit]! * count + 1);
  const day = date.getUTCDate() - 1;
  const lastDay = Math.round((after - start) / 86_400_000) - 1;
  return (
    start + Math.min(day, lastDay) * 86_400_000 + (((ms % 86_400_000) + 86_400_000) % 86_400_000)
  );
}

const RELATIVE = /^(?:([+-])(\d+)(s|mon|m|h|d|w|q|y))?(?:@(s|mon|m|h|d|w|q|y))?$/;

/** A time moved and snapped down as `-1d@d` says (SL-62); null for no such spec or a result out of range. */
export function relativeTime(time: string, spec: string): string | null {
  const match = spec === '' ? null : RELATIVE.exec(spec);
  if (!match) return null;
  const [, sign, amount, unit, snap] = match;
  let ms = msOf(time);
  if (unit !== undefined)
    ms = moveMs(ms, Number(amount) * (sign === '-' ? -1 : 1), unit as TimeUnit);
  if (snap === undefined) return timeFromMs(ms, time.slice(23, 26));
  return Number.isFinite(ms) ? timeFromMs(floorMs(ms, snap as TimeUnit)) : null;
}

/** Any time a search term may name: `now`, relative, epoch seconds or a moment (SL-62). */
export function searchTime(text: string, now: string): string | null {
  if (text === 'now') return now;
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return timeFromEpoch(Number(text));
  return relativeTime(now, text) ?? timeOf(text);
}

/** Microseconds of which every start of the span is a multiple: a stage that only floors to it cannot tell less. */
export function stepOf({ unit, count = 1 }: { readonly unit: TimeUnit; readonly count?: number }): {
  readonly micros: number;
} {
  // Weeks and months begin with a day.
  const size = unit === 'w' ? undefined : UNIT_MS[unit];
  return { micros: size === undefined ? 86_400_000_000 : size * count * 1000 };
}

/** A span of `bin` and `timechart`. */
export type Span =
  | { readonly kind: 'number'; readonly size: number }
  | { readonly kind: 'time'; readonly count: number; readonly unit: TimeUnit };

/** A number, or a number with a unit of time; null for anything else and for nothing. */
export function spanOf(text: string): Span | null {
  const match = /^(\d+(?:\.\d+)?)(s|mon|m|h|d|w|q|y)?$/.exec(text);
  if (!match) return null;
  const size = Number(match[1]);
  if (!(size > 0) || !Number.isFinite(size)) return null;
  if (match[2] === undefined) return { kind: 'number', size };
  return Number.isSafeInteger(size)
    ? { kind: 'time', count: size, unit: match[2] as TimeUnit }
    : null;
}
