/** Civil times of a time zone as microseconds, and time formats read from text. */

import { TimeZone } from '../../../base/time-zone.ts';
import { isInRange } from '../../event-time.ts';

export const MONTHS = [
  'Jan',
  'Feb',
  'Mar',
  'Apr',
  'May',
  'Jun',
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
];

/**
 * `parts`: year, month from 0, day, hour, minute, second; `timezone`: `UTC`, `+02:00` or a name. Null for a day that
 * does not exist and outside years 0 to 9999.
 */
export function zonedMicros(parts: readonly number[], timezone: string): number | null {
  const [year = 0, month = 0, day = 1, hour = 0, minute = 0, second = 0] = parts;
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  date.setUTCHours(hour, minute, second);
  if (date.getUTCMonth() !== month || date.getUTCDate() !== day || hour > 23 || minute > 59)
    return null;
  return inRange((date.getTime() - offsetMs(date.getTime(), timezone)) * 1000);
}

function inRange(micros: number): number | null {
  return isInRange(micros) ? micros : null;
}

let last = TimeZone.UTC;

/** The configuration has checked the name. */
function zoneNamed(name: string): TimeZone {
  if (last.name !== name) last = TimeZone.named(name) ?? TimeZone.UTC;
  return last;
}

function offsetMs(localMs: number, timezone: string): number {
  if (timezone === 'UTC' || timezone === '') return 0;
  const fixed = /^([+-])(\d{2}):?(\d{2})$/.exec(timezone);
  if (fixed !== null) {
    return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000;
  }
  // Twice: the first guess may be on the other side of a clock change.
  const zone = zoneNamed(timezone);
  return zone.offsetAt(localMs - zone.offsetAt(localMs));
}

const FORMAT_PARTS: Readonly<Record<string, string>> = {
  Y: '(?<Y>\\d{4})',
  m: '(?<m>\\d{1,2})',
  d: '(?<d>\\d{1,2})',
  H: '(?<H>\\d{1,2})',
  M: '(?<M>\\d{1,2})',
  S: '(?<S>\\d{1,2})',
  f: '(?<f>\\d{1,9})',
  y: '(?<y>\\d{2})',
  j: '(?<j>\\d{1,3})',
  a: '[A-Za-z]{3}',
  b: '(?<b>[A-Za-z]{3})',
  z: '(?<z>Z|[+-]\\d{2}:?\\d{2})',
  Z: '(?:UTC|GMT|Z)',
  s: '(?<s>\\d+)',
  F: '(?<Y>\\d{4})-(?<m>\\d{2})-(?<d>\\d{2})',
  T: '(?<H>\\d{2}):(?<M>\\d{2}):(?<S>\\d{2})',
  '%': '%',
};

/** The reader returns microseconds or null; null instead of a reader when the format is invalid. */
export function timeReader(
  format: string,
  timezone: string,
): ((text: string) => number | null) | null {
  let isKnown = true;
  const source = format.replace(/%(.)|[^%]+/gs, (part, letter: string | undefined) => {
    if (letter === undefined) return RegExp.escape(part);
    const known = FORMAT_PARTS[letter];
    if (known === undefined) isKnown = false;
    return known ?? '';
  });
  if (!isKnown) return null;
  let pattern: RegExp;
  try {
    pattern = new RegExp(`^${source}$`);
  } catch {
    // Repeated part.
    return null;
  }
  return (text) => {
    const groups = pattern.exec(text.trim())?.groups;
    return groups === undefined ? null : microsOf(groups, timezone);
  };
}

function microsOf(
  groups: Readonly<Record<string, string | undefined>>,
  timezone: string,
): number | null {
  const fraction = Number((groups['f'] ?? '').slice(0, 6).padEnd(6, '0'));
  if (groups['s'] !== undefined) return inRange(Number(groups['s']) * 1_000_000 + fraction);
  const shortYear = Number(groups['y'] ?? 0);
  const year = Number(groups['Y'] ?? (shortYear < 69 ? 2000 : 1900) + shortYear);
  const month =
    groups['b'] === undefined
      ? Number(groups['m'] ?? 1) - 1
      : MONTHS.indexOf(titleCase(groups['b']));
  const day = Number(groups['d'] ?? 1);
  const clock = [groups['H'], groups['M'], groups['S']].map((part) => Number(part ?? 0));
  const zone = groups['z'] === undefined ? timezone : groups['z'] === 'Z' ? 'UTC' : groups['z'];
  const micros = zonedMicros(
    [year, groups['j'] === undefined ? month : 0, groups['j'] === undefined ? day : 1, ...clock],
    zone,
  );
  if (micros === null) return null;
  const days = groups['j'] === undefined ? 0 : Number(groups['j']) - 1;
  return inRange(micros + days * 86_400_000_000 + fraction);
}

function titleCase(month: string): string {
  return month.charAt(0).toUpperCase() + month.slice(1).toLowerCase();
}
