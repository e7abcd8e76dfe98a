/** In the zone of the run; English names, directives of `strftime` without a locale. */
import {
  epochOf,
  localTime,
  msOf,
  startOf,
  timeFromMs,
  timeOf,
  timeValue,
  type TimeUnit,
} from './time.ts';
import type { Value } from './value.ts';
import { inZone, zone } from './zone.ts';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAY_MS = 86_400_000;

/** Where parts stand in a time. */
const DIGITS: Readonly<Record<string, readonly [number, number]>> = {
  Y: [0, 4],
  y: [2, 4],
  m: [5, 7],
  d: [8, 10],
  H: [11, 13],
  M: [14, 16],
  S: [17, 19],
  f: [20, 26],
  F: [0, 10],
  T: [11, 19],
};

const UNITS: Readonly<Record<string, { readonly unit: TimeUnit; readonly digits?: string }>> = {
  second: { unit: 's', digits: 'S' },
  minute: { unit: 'm', digits: 'M' },
  hour: { unit: 'h', digits: 'H' },
  day: { unit: 'd', digits: 'd' },
  week: { unit: 'w' },
  month: { unit: 'mon', digits: 'm' },
  quarter: { unit: 'q' },
  year: { unit: 'y', digits: 'Y' },
};

export function dateOf(value: Value): string | null {
  const time = timeValue(value);
  return time === null ? null : (localTime(time)?.slice(0, 10) ?? null);
}

export function truncated(value: Value, unit: string): Value {
  const time = timeValue(value);
  const size = Object.hasOwn(UNITS, unit) ? UNITS[unit]!.unit : undefined;
  return time === null || size === undefined ? null : timeFromMs(startOf(msOf(time), size));
}

/** Weeks are those of ISO 8601; weekdays count from Sunday, 1. */
export function datePart(unit: string, value: Value): Value {
  const moment = timeValue(value);
  const time = moment && localTime(moment);
  if (time === null) return null;
  const digits = Object.hasOwn(UNITS, unit) ? UNITS[unit]!.digits : undefined;
  if (digits !== undefined) return Number(time.slice(...DIGITS[digits]!));
  switch (unit) {
    case 'quarter':
      return Math.ceil(Number(time.slice(5, 7)) / 3);
    case 'week':
      return isoWeek(time);
    case 'weekday':
    case 'week_day':
      return weekdayOf(time) + 1;
    default:
      return null;
  }
}

/** From Sunday, 0. */
function weekdayOf(time: string): number {
  return new Date(msOf(time)).getUTCDay();
}

/** An ISO week belongs to the year of its Thursday. */
function isoWeek(time: string): number | null {
  const weekday = (weekdayOf(time) + 6) % 7;
  const thursday = timeFromMs(msOf(time) + (3 - weekday) * DAY_MS);
  return thursday === null ? null : Math.ceil(dayOfYear(thursday) / 7);
}

/** From 1. */
function dayOfYear(time: string): number {
  const start = Date.parse(`${time.slice(0, 4)}-01-01T00:00:00Z`);
  return Math.round((Date.parse(`${time.slice(0, 10)}T00:00:00Z`) - start) / DAY_MS) + 1;
}

/** Unknown directives stay as they are. */
export function formatTime(time: string, format: string): string {
  const local = localTime(time);
  // Outside the years a zone can show, UTC is used.
  if (local === null) return inZone('UTC', () => formatTime(time, format));
  return format.replace(/%(.)/gsu, (whole, directive: string) => {
    const digits = Object.hasOwn(DIGITS, directive) ? DIGITS[directive]! : null;
    return digits ? local.slice(...digits) : (part(local, directive, time) ?? whole);
  });
}

function part(local: string, directive: string, moment: string): string | null {
  switch (directive) {
    case 's':
      return String(Math.floor(epochOf(moment)));
    case 'j':
      return String(dayOfYear(local)).padStart(3, '0');
    case 'a':
      return DAYS[weekdayOf(local)]!;
    case 'b':
      return MONTHS[Number(local.slice(5, 7)) - 1]!;
    case 'z':
      return offsetText(zone().offsetAt(msOf(moment)));
    case 'Z':
      return zone().name;
    case '%':
      return '%';
    default:
      return null;
  }
}

function offsetText(ms: number): string {
  const minutes = Math.trunc(Math.abs(ms) / 60_000);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`;
}

const PATTERNS: Readonly<Record<string, string>> = {
  Y: '(?<Y>\\d{4})',
  m: '(?<m>\\d{1,2})',
  d: '(?<d>\\d{1,2})',
  H: '(?<H>\\d{1,2})',
  M: '(?<M>\\d{1,2})',
  S: '(?<S>\\d{1,2})',
  f: '(?<f>\\d{1,6})',
  y: '(?<y>\\d{2})',
  j: '(?<j>\\d{1,3})',
  a: `(?:${DAYS.join('|')})`,
  b: `(?<b>${MONTHS.join('|')})`,
  z: '(?<z>[Zz]|[+-]\\d{2}:?\\d{2})',
  Z: '(?<Z>UTC|GMT|Z)',
  s: '(?<s>-?\\d{1,12})',
  '%': '%',
};

/** Null when it does not fit. Missing parts are the earliest. */
export function parseTimeBy(text: string, format: string): string | null {
  const pattern = patternOf(format);
  const groups = pattern?.exec(text)?.groups;
  if (!groups) return null;
  if (groups['s'] !== undefined) return timeFromMs(Number(groups['s']) * 1000);
  const year = groups['Y'] ?? (groups['y'] === undefined ? '1970' : century(groups['y']));
  const month = groups['b'] ? String(MONTHS.indexOf(groups['b']) + 1) : (groups['m'] ?? '1');
  const two = (digits: string | undefined): string => (digits ?? '0').padStart(2, '0');
  const clock = `${two(groups['H'])}:${two(groups['M'])}:${two(groups['S'])}`;
  const offset = groups['z'] ?? (groups['Z'] === undefined ? '' : 'Z');
  const fraction = groups['f'] === undefined ? '' : `.${groups['f']}`;
  if (groups['j'] !== undefined) {
    const ms = Date.parse(`${year}-01-01T${clock}Z`) + (Number(groups['j']) - 1) * DAY_MS;
    return Number.isNaN(ms) ? null : timeFromMs(offset === '' ? zone().toUtc(ms) : ms);
  }
  const date = `${year}-${two(month)}-${two(groups['d'] ?? '1')}`;
  return timeOf(`${date}T${clock}${fraction}${offset}`);
}

function century(digits: string): string {
  return `${Number(digits) < 69 ? '20' : '19'}${digits}`;
}

let last: { readonly format: string; readonly pattern: RegExp | null } | null = null;

/** Fixed parts of bounded length, so matching is linear. */
function patternOf(format: string): RegExp | null {
  if (last?.format === format) return last.pattern;
  const spelled = format.replace(/%F/g, '%Y-%m-%d').replace(/%T/g, '%H:%M:%S');
  const seen = new Set<string>();
  let source = '';
  for (const [piece, directive] of spelled.matchAll(/%(.)|[\s\S]/gu)) {
    if (directive === undefined) source += piece!.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    else if (seen.has(directive))
      source += (PATTERNS[directive] ?? '(?!)').replace(/\?<\w+>/, '?:');
    else source += PATTERNS[directive] ?? '(?!)';
    if (directive !== undefined) seen.add(directive);
  }
  let pattern: RegExp | null = null;
  try {
    pattern = new RegExp(`^${source}$`, 'u');
  } catch {
    // A format no text can fit.
  }
  last = { format, pattern };
  return pattern;
}
