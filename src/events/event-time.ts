/** Event times: microseconds since the epoch inside, RFC 3339 UTC with six digits outside. */

const FRACTION = /^(?:\.(\d+))?Z$/;
const FORM =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:\s*([Zz]|[+-]\d{2}(?::?\d{2})?))?)?$/;

/** Length of a time up to its seconds. */
const HEAD = 19;
/** Events come in time order, so most share the second of the previous one. */
const last = { second: Number.NaN, head: '', text: '', micros: 0 };
/** Its first second, and its text up to the `T`. */
const lastDay = { second: Number.NaN, head: '' };
const DAY_SECONDS = 86_400;
const DAY_HEAD = 11;
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** In the year 9999 a double holds only every 32nd microsecond. */
const EARLIEST = Date.parse('0000-01-01T00:00:00Z') * 1000;
const LATEST = 253_402_300_799_999_968;

/** Years 0 to 9999. */
export function isInRange(micros: number): boolean {
  return micros >= EARLIEST && micros <= LATEST;
}

/** `2026-11-20T23:28:11.247690Z`; only for years 0 to 9999, whose texts sort like the times. */
export function timeText(micros: number): string {
  const second = Math.floor(micros / 1_000_000);
  if (second !== last.second) {
    last.head = headOf(second);
    last.second = second;
  }
  last.text = `${last.head}.${String(1_000_000 + micros - second * 1_000_000).slice(1)}Z`;
  last.micros = micros;
  return last.text;
}

/** Composed of the day of the previous one where it is the same, in a fifth of the time. */
function headOf(second: number): string {
  const inDay = second - lastDay.second;
  if (inDay >= 0 && inDay < DAY_SECONDS) {
    const minute = Math.floor(inDay / 60);
    const hour = Math.floor(minute / 60);
    return `${lastDay.head}${TWO_DIGITS[hour]}:${TWO_DIGITS[minute - hour * 60]}:${TWO_DIGITS[inDay - minute * 60]}`;
  }
  const head = new Date(second * 1000).toISOString().slice(0, HEAD);
  lastDay.second = Math.floor(second / DAY_SECONDS) * DAY_SECONDS;
  lastDay.head = head.slice(0, DAY_HEAD);
  return head;
}

/**
 * `amount` is in a unit `digits` decimal places above microseconds. Finer fractions are cut from the written digits,
 * because multiplying a double may round up.
 */
export function cutMicros(amount: number | string, digits: 3 | 6): number {
  const text = /[eE]/.test(String(amount)) ? String(Number(amount)) : String(amount);
  const match = /^([+-]?)(\d*)\.?(\d*)$/.exec(text);
  if (match === null) return Math.floor(Number(text) * 10 ** digits);
  const [, sign, whole = '', fraction = ''] = match;
  const micros = Number(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  if (sign !== '-') return micros;
  // Rounds down: before 1970 a cut fraction belongs to the microsecond before.
  return /[1-9]/.test(fraction.slice(digits)) ? -micros - 1 : -micros;
}

/**
 * Any RFC 3339 form, with `T` or space, or a bare date; UTC without an offset; finer fractions are cut. Null for
 * anything else and outside years 0 to 9999.
 */
export function parseTime(text: string): number | null {
  if (text === last.text) return last.micros;
  if (text.length > HEAD && last.head !== '' && text.startsWith(last.head)) {
    const fraction = FRACTION.exec(text.slice(HEAD));
    if (fraction !== null) return rounded(last.second * 1_000_000 + micros(fraction[1]));
  }
  return parsed(text);
}

function micros(fraction = ''): number {
  return Number(fraction.slice(0, 6).padEnd(6, '0'));
}

function parsed(text: string): number | null {
  const match = FORM.exec(text.trim());
  if (match === null) return null;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    match;
  const whole = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // Date.parse accepts 24:00 and 30 February as the day after.
  if (Number.isNaN(whole) || hour === '24' || new Date(whole).getUTCDate() !== Number(day))
    return null;
  const offset = offsetMinutes(zone);
  if (offset === null) return null;
  const ms = whole - offset * 60_000;
  const shifted = new Date(ms).getUTCFullYear();
  if (shifted < 0 || shifted > 9999) return null;
  return rounded(ms * 1000 + micros(fraction));
}

/** Programs write the last microseconds of 9999 to mean "no end"; as a double they would round into the next year. */
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
