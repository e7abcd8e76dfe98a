/**
 * Text that sorts by time: `YYYY-MM-DDTHH:MM:SS.ffffffZ`.
 *
 * The three digits below the platform's milliseconds stay text, because a double cannot hold the microseconds of
 * every year from 0 to 9999. Weeks start on Monday.
 */
import type { Value } from './value.ts';
import { zone } from './zone.ts';

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

export function isTime(text: string): boolean {
  return text.length === 27 && CANONICAL.test(text);
}

export function timeValue(value: Value): string | null {
  return typeof value === 'string' ? timeOf(value) : null;
}

/** RFC 3339 or a bare date; null for anything else. */
export function timeOf(text: string): string | null {
  if (isTime(text)) return text;
  const match = MOMENT.exec(text);
  if (!match) return null;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset] =
    match;
  const date = `${year}-${month}-${day}`;
  const local = new Date(`${date}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(local.getTime()) || local.toISOString().slice(0, 10) !== date) return null;
  const micros = fraction.slice(0, 6).padEnd(6, '0');
  const utc =
    offset === undefined ? zone().toUtc(local.getTime()) : local.getTime() - offsetMs(offset);
  return timeFromMs(utc + Number(micros.slice(0, 3)), micros.slice(3));
}

function offsetMs(offset: string): number {
  if (offset.length === 1) return 0;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2));
  return (offset.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** `rest` is the three digits below a millisecond. Null outside the years 0 to 9999. */
export function timeFromMs(ms: number, rest = '000'): string | null {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return null;
  const iso = date.toISOString();
  return iso.length === 24 ? `${iso.slice(0, 23)}${rest}Z` : null;
}

/** Cut to microseconds; null when out of range. */
export function timeFromEpoch(seconds: number): string | null {
  const micros = Math.round(seconds * 1e6);
  const ms = Math.floor(micros / 1000);
  return timeFromMs(ms, String(micros - ms * 1000).padStart(3, '0'));
}

export function msOf(time: string): number {
  return Date.parse(`${time.slice(0, 23)}Z`);
}

let lastMinute = Number.NaN;
let lastText = '';

/** Rows come in order of time: the minute is mostly the previous one. */
export function timeFromMicros(micros: number): string {
  const minute = Math.floor(micros / 60_000_000);
  if (minute !== lastMinute) {
    lastText = new Date(minute * 60_000).toISOString().slice(0, 17);
    lastMinute = minute;
  }
  const rest = micros - minute * 60_000_000;
  const digits = String(rest).padStart(8, '0');
  return `${lastText}${digits.slice(0, 2)}.${digits.slice(2)}Z`;
}

export function microsOf(time: string): number {
  return msOf(time) * 1000 + Number(time.slice(23, 26));
}

/** An integer when the time has no fraction. */
export function epochOf(time: string): number {
  const micros = Number(time.slice(20, 26));
  return Date.parse(`${time.slice(0, 19)}Z`) / 1000 + micros / 1e6;
}

/** Written as if it were UTC; null outside the years 0 to 9999. */
export function localTime(time: string): string | null {
  return zone().isUtc ? time : timeFromMs(zone().toLocal(msOf(time)), time.slice(23, 26));
}

/** Days and longer begin by the run's zone. */
export function floorMs(ms: number, unit: TimeUnit, count = 1): number {
  if (zone().isUtc || !isOfDays(unit)) return floorUtc(ms, unit, count);
  return zone().toUtc(floorUtc(zone().toLocal(ms), unit, count));
}

export function startOf(ms: number, unit: TimeUnit): number {
  if (isOfDays(unit)) return floorMs(ms, unit);
  // Within an hour that comes twice, keep its own offset.
  const offset = zone().offsetAt(ms);
  return floorUtc(ms + offset, unit, 1) - offset;
}

function isOfDays(unit: TimeUnit): boolean {
  return unit !== 's' && unit !== 'm' && unit !== 'h';
}

function floorUtc(ms: number, unit: TimeUnit, count: number): number {
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

/** Days and longer move by the run's zone; a day a month does not have becomes its last one. */
export function moveMs(ms: number, count: number, unit: TimeUnit): number {
  if (zone().isUtc || !isOfDays(unit)) return moveUtc(ms, count, unit);
  return zone().toUtc(moveUtc(zone().toLocal(ms), count, unit));
}

function moveUtc(ms: number, count: number, unit: TimeUnit): number {
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

/** `-1d@d`: moved, then rounded down; null for no such spec or a result out of range. */
export function relativeTime(time: string, spec: string): string | null {
  const match = spec === '' ? null : RELATIVE.exec(spec);
  if (!match) return null;
  const [, sign, amount, unit, snap] = match;
  let ms = msOf(time);
  if (unit !== undefined)
    ms = moveMs(ms, Number(amount) * (sign === '-' ? -1 : 1), unit as TimeUnit);
  if (snap === undefined) return timeFromMs(ms, time.slice(23, 26));
  return Number.isFinite(ms) ? timeFromMs(startOf(ms, snap as TimeUnit)) : null;
}

/** `now`, relative, epoch seconds or a moment. */
export function searchTime(text: string, now: string): string | null {
  if (text === 'now') return now;
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return timeFromEpoch(Number(text));
  return relativeTime(now, text) ?? timeOf(text);
}

/** Microseconds every start of the span is a multiple of: a stage that only rounds down to it needs no finer times. */
export function stepOf({ unit, count = 1 }: { readonly unit: TimeUnit; readonly count?: number }): {
  readonly micros: number;
} {
  // In other zones a day may begin at any second of UTC.
  if (!zone().isUtc && isOfDays(unit)) return { micros: 1_000_000 };
  const size = unit === 'w' ? undefined : UNIT_MS[unit];
  return { micros: size === undefined ? 86_400_000_000 : size * count * 1000 };
}

export interface TimeSpan {
  readonly kind: 'time';
  readonly count: number;
  readonly unit: TimeUnit;
}

export type Span = TimeSpan | { readonly kind: 'number'; readonly size: number };

/** A number, with or without a unit of time; null for anything else and for zero. */
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
