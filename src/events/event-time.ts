/**
 * Times of events (EV-2): microseconds since the epoch inside, RFC 3339 UTC with six digits outside.
 */

const FRACTION = /^(?:\.(\d+))?Z$/;
const FORM =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:\s*([Zz]|[+-]\d{2}(?::?\d{2})?))?)?$/;

/** Length of a time up to its second. */
const HEAD = 19;
/** Events come in the order of their times, so that most share the second of the one before. */
const last = { second: Number.NaN, head: '' };

/** The first and the last there is a text for; of the year 9999 a double holds every 32nd microsecond. */
const EARLIEST = Date.parse('0000-01-01T00:00:00Z') * 1000;
const LATEST = 253_402_300_799_999_968;

/** Whether microseconds lie in the years 0 to 9999. */
export function isInRange(micros: number): boolean {
  return micros >= EARLIEST && micros <= LATEST;
}

/** `2026-11-20T23:28:11.247690Z`. For the years 0 to 9999, whose texts sort as the times do. */
export function timeText(micros: number): string {
  const second = Math.floor(micros / 1_000_000);
  if (second !== last.second) {
    last.head = new Date(second * 1000).toISOString().slice(0, HEAD);
    last.second = second;
  }
  return `${last.head}.${String(micros - second * 1_000_000).padStart(6, '0')}Z`;
}

/**
 * Microseconds of any RFC 3339 form, `T` or space, also a bare date; without offset UTC; finer fractions are cut. Null
 * for anything else and for years outside 0 to 9999.
 */
export function parseTime(text: string): number | null {
  if (text.length > HEAD && last.head !== '' && text.startsWith(last.head)) {
    const fraction = FRACTION.exec(text.slice(HEAD));
    if (fraction !== null) return rounded(last.second * 1_000_000 + micros(fraction[1]));
  }
  return parsed(text);
}

/** Of the digits behind the point. */
function micros(fraction = ''): number {
  return Number(fraction.slice(0, 6).padEnd(6, '0'));
}

function parsed(text: string): number | null {
  const match = FORM.exec(text.trim());
  if (match === null) return null;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    match;
  const whole = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // Date.parse takes 24:00 and 30 February for the day after.
  if (Number.isNaN(whole) || hour === '24' || new Date(whole).getUTCDate() !== Number(day))
    return null;
  const offset = offsetMinutes(zone);
  if (offset === null) return null;
  const ms = whole - offset * 60_000;
  const shifted = new Date(ms).getUTCFullYear();
  if (shifted < 0 || shifted > 9999) return null;
  return rounded(ms * 1000 + micros(fraction));
}

/** The last microseconds of the year 9999 would be the next year as a double: programs write them for no end. */
function rounded(micros: number): number {
  return Math.min(micros, LATEST);
}

function offsetMinutes(zone: string): number | null {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || 0);
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
