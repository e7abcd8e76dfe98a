/** In the zone of the run, English names, the directives of `strftime` that make sense without a locale. */
import { epochOf, localTime, msOf, timeFromMs, timeOf } from './time.ts';
import { inZone, zone } from './zone.ts';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Unknown directives stay as they are. */
export function formatTime(time: string, format: string): string {
  const local = localTime(time);
  // Outside the years a zone can show, UTC is used.
  if (local === null) return inZone('UTC', () => formatTime(time, format));
  return format.replace(/%(.)/gsu, (whole, directive: string) =>
    directive === 's' ? String(Math.floor(epochOf(time))) : (part(local, directive, time) ?? whole),
  );
}

function part(time: string, directive: string, moment: string): string | null {
  switch (directive) {
    case 'Y':
      return time.slice(0, 4);
    case 'm':
      return time.slice(5, 7);
    case 'd':
      return time.slice(8, 10);
    case 'H':
      return time.slice(11, 13);
    case 'M':
      return time.slice(14, 16);
    case 'S':
      return time.slice(17, 19);
    case 'f':
      return time.slice(20, 26);
    case 'y':
      return time.slice(2, 4);
    case 'j':
      return String(dayOfYear(time)).padStart(3, '0');
    case 'a':
      return DAYS[new Date(`${time.slice(0, 10)}T00:00:00Z`).getUTCDay()]!;
    case 'b':
      return MONTHS[Number(time.slice(5, 7)) - 1]!;
    case 'z':
      return offsetText(zone().offsetAt(msOf(moment)));
    case 'Z':
      return zone().name;
    case 'F':
      return time.slice(0, 10);
    case 'T':
      return time.slice(11, 19);
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

/** From 1. */
export function dayOfYear(time: string): number {
  const start = Date.parse(`${time.slice(0, 4)}-01-01T00:00:00Z`);
  return Math.round((Date.parse(`${time.slice(0, 10)}T00:00:00Z`) - start) / 86_400_000) + 1;
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
  a: '(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat)',
  b: '(?<b>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)',
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
    const ms = Date.parse(`${year}-01-01T${clock}Z`) + (Number(groups['j']) - 1) * 86_400_000;
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
