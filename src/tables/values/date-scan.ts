/** Reads dates and times as files spell them. By hand, because it looks at every text of a column. */
import {
  BARE,
  DAY_FIRST,
  EITHER,
  MONTH_FIRST,
  MONTHS,
  NAME_LENGTH,
  NEUTRAL,
  PADDED,
  PATTERNS,
  SIZES,
  STRIDES,
  type DateOrder,
} from './date-form.ts';

const SPACE = 0x20;
const PLUS = 0x2b;
const COMMA = 0x2c;
const DASH = 0x2d;
const POINT = 0x2e;
const SLASH = 0x2f;
const ZERO = 0x30;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_U = 0x55;
const LETTER_Z = 0x5a;
const CASE_BIT = 0x20;
const LETTER_A = 0x61;
const LETTER_M = 0x6d;
const LETTER_P = 0x70;

/** `2.1.2024`; a longer text than the other has spaces without end inside or is no date. */
const MIN_LENGTH = 8;
const MAX_LENGTH = 64;

/** The parts of the text scanned last; `first` and `second` are day and month where the order is open. */
class ScannedDate {
  form = 0;
  year = 0;
  first = 0;
  second = 0;
  hour = 0;
  minute = 0;
  secondOfMinute = 0;
  /** Digits, maybe none. */
  fraction = '';
  /** Minutes ahead of UTC; null without a zone. */
  offset: number | null = null;
}

/** Reused, because it is filled for each cell of a column. */
export const scanned = new ScannedDate();

/** The form of a date, outer spaces ignored; -1 for any other text. */
export function dateForm(text: string): number {
  const { length } = text;
  const quick = isoForm(text);
  if (quick >= 0) {
    readIso(text);
    return quick;
  }
  if (length < MIN_LENGTH) return -1;
  let from = 0;
  while (text.charCodeAt(from) === SPACE) from++;
  const code = text.charCodeAt(from);
  const letter = code | CASE_BIT;
  if (!isDigit(code) && !(letter >= LETTER_A && letter <= 0x73)) return -1;
  let to = length;
  while (text.charCodeAt(to - 1) === SPACE) to--;
  const form = to - from > MAX_LENGTH ? -1 : scan(text, from, to);
  return form < 0 || to - from === length ? form : form + STRIDES.outer;
}

/**
 * The form of `YYYY-MM-DD`, also with `HH:MM:SS`, by far the most frequent ones, with nothing around them; -1 for any other
 * text. Leaves `scanned` alone.
 */
export function isoForm(text: string): number {
  const isTimed = text.length === 19;
  if (!isTimed && text.length !== 10) return -1;
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return -1;
  const century = pairAt(text, 0);
  const rest = pairAt(text, 2);
  const month = pairAt(text, 5);
  const day = pairAt(text, 8);
  const year = century * 100 + rest;
  if (century < 0 || rest < 0 || year < 1 || month < 1 || month > 12 || day < 1) return -1;
  if (day > 28 && day > daysIn(year, month)) return -1;
  const form = (day < 10 ? PADDED * STRIDES.day : 0) + (month < 10 ? PADDED * STRIDES.month : 0);
  if (!isTimed) return form;
  const mark = text.charCodeAt(10);
  if (mark !== SPACE && mark !== LETTER_T) return -1;
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return -1;
  const hour = pairAt(text, 11);
  const minute = pairAt(text, 14);
  const second = pairAt(text, 17);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return -1;
  return form + timeForm(mark === SPACE ? 3 : 1, hour, 2) + STRIDES.seconds;
}

function readIso(text: string): void {
  const isTimed = text.length === 19;
  scanned.year = pairAt(text, 0) * 100 + pairAt(text, 2);
  scanned.first = pairAt(text, 5);
  scanned.second = pairAt(text, 8);
  scanned.hour = isTimed ? pairAt(text, 11) : 0;
  scanned.minute = isTimed ? pairAt(text, 14) : 0;
  scanned.secondOfMinute = isTimed ? pairAt(text, 17) : 0;
  scanned.fraction = '';
  scanned.offset = null;
}

function timeForm(separator: number, hour: number, digits: number): number {
  return separator * STRIDES.time + padding(hour, digits) * STRIDES.hour;
}

/** Of two digits; -1 for anything else. */
function pairAt(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >>> 0 > 9 || ones >>> 0 > 9 ? -1 : tens * 10 + ones;
}

function numberAt(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return NaN;
    value = value * 10 + digit;
  }
  return value;
}

export function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9;
}

export function digitsEnd(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && isDigit(text.charCodeAt(at))) at++;
  return at;
}

function lettersEnd(text: string, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const letter = text.charCodeAt(at) | CASE_BIT;
    if (letter < LETTER_A || letter > 0x7a) break;
    at++;
  }
  return at;
}

export function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
}

function padding(value: number, digits: number): number {
  return value >= 10 ? NEUTRAL : digits === 2 ? PADDED : BARE;
}

function scan(text: string, from: number, to: number): number {
  const end = digitsEnd(text, from, to);
  const digits = end - from;
  if (digits === 0) return scanNamed(text, from, to, NaN, 0);
  const mark = text.charCodeAt(end);
  if (digits === 4 && (mark === DASH || mark === SLASH || mark === POINT)) {
    const pattern = mark === DASH ? 0 : mark === SLASH ? 1 : 2;
    return scanYearFirst(text, from, to, end, pattern);
  }
  if (digits > 2) return -1;
  const number = numberAt(text, from, end);
  if ((mark === DASH || mark === SPACE) && !isDigit(text.charCodeAt(end + 1))) {
    return scanNamed(text, end, to, number, digits);
  }
  if (mark !== DASH && mark !== SLASH && mark !== POINT) return -1;
  const secondFrom = end + 1;
  const secondTo = digitsEnd(text, secondFrom, to);
  const secondDigits = secondTo - secondFrom;
  if (secondDigits < 1 || secondDigits > 2 || text.charCodeAt(secondTo) !== mark) return -1;
  const yearTo = digitsEnd(text, secondTo + 1, to);
  if (yearTo - secondTo !== 5) return -1;
  const second = numberAt(text, secondFrom, secondTo);
  const year = numberAt(text, secondTo + 1, yearTo);
  const isDayFirst = isDate(year, second, number);
  const isMonthFirst = mark !== POINT && isDate(year, number, second);
  if (!isDayFirst && !isMonthFirst) return -1;
  scanned.year = year;
  scanned.first = number;
  scanned.second = second;
  const order = !isMonthFirst ? DAY_FIRST : isDayFirst ? EITHER : MONTH_FIRST;
  const pattern = mark === POINT ? 3 : mark === SLASH ? 4 : 5;
  const form =
    pattern +
    order * STRIDES.order +
    padding(number, digits) * (order === MONTH_FIRST ? STRIDES.month : STRIDES.day) +
    padding(second, secondDigits) * (order === MONTH_FIRST ? STRIDES.day : STRIDES.month);
  return withTime(text, yearTo, to, form);
}

function isDate(year: number, month: number, day: number): boolean {
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function scanYearFirst(
  text: string,
  from: number,
  to: number,
  yearTo: number,
  pattern: number,
): number {
  const mark = text.charCodeAt(yearTo);
  const monthTo = digitsEnd(text, yearTo + 1, to);
  const monthDigits = monthTo - yearTo - 1;
  const dayTo = digitsEnd(text, monthTo + 1, to);
  const dayDigits = dayTo - monthTo - 1;
  if (monthDigits < 1 || monthDigits > 2 || dayDigits < 1 || dayDigits > 2) return -1;
  if (text.charCodeAt(monthTo) !== mark) return -1;
  const year = numberAt(text, from, yearTo);
  const month = numberAt(text, yearTo + 1, monthTo);
  const day = numberAt(text, monthTo + 1, dayTo);
  if (!isDate(year, month, day)) return -1;
  scanned.year = year;
  scanned.first = month;
  scanned.second = day;
  const form =
    pattern + padding(day, dayDigits) * STRIDES.day + padding(month, monthDigits) * STRIDES.month;
  return withTime(text, dayTo, to, form);
}

/** `-Jan-2024`, or `Jan 5, 2024`. */
function scanNamed(
  text: string,
  from: number,
  to: number,
  dayBefore: number,
  digitsBefore: number,
): number {
  const isFirst = digitsBefore === 0;
  const nameFrom = isFirst ? from : from + 1;
  const nameTo = lettersEnd(text, nameFrom, to);
  const name = text.slice(nameFrom, nameTo);
  const month = monthNamed(name);
  if (month === 0) return -1;
  let [day, dayDigits, at] = [dayBefore, digitsBefore, nameTo];
  if (isFirst) {
    const dayTo = digitsEnd(text, nameTo + 1, to);
    dayDigits = dayTo - nameTo - 1;
    const isSpelled = text.charCodeAt(nameTo) === SPACE && text.charCodeAt(dayTo) === COMMA;
    if (!isSpelled || dayDigits < 1 || dayDigits > 2) return -1;
    day = numberAt(text, nameTo + 1, dayTo);
    at = dayTo + 1;
  }
  const mark = isFirst ? SPACE : text.charCodeAt(from);
  if (text.charCodeAt(at) !== mark) return -1;
  const yearTo = digitsEnd(text, at + 1, to);
  const year = numberAt(text, at + 1, yearTo);
  if (yearTo - at !== 5 || !isDate(year, month, day)) return -1;
  scanned.year = year;
  scanned.first = month;
  scanned.second = day;
  const length = name.length === MONTHS[month - 1]!.length ? 2 : 1;
  const isShort = MONTHS[month - 1]!.length === NAME_LENGTH;
  const letters = name.slice(1);
  const nameCase =
    letters === letters.toUpperCase() ? 1 : name[0] === name[0]!.toLowerCase() ? 2 : 0;
  const form =
    (isFirst ? 8 : mark === DASH ? 6 : 7) +
    padding(day, dayDigits) * STRIDES.day +
    (isShort ? 0 : length) * STRIDES.name +
    nameCase * STRIDES.nameCase;
  return withTime(text, yearTo, to, form);
}

/** 0 for a word that is no month. */
function monthNamed(word: string): number {
  if (word.length < NAME_LENGTH) return 0;
  const folded = word.toLowerCase();
  return MONTHS.findIndex((name) => name === folded || name.slice(0, NAME_LENGTH) === folded) + 1;
}

function withTime(text: string, at: number, to: number, date: number): number {
  scanned.hour = scanned.minute = scanned.secondOfMinute = 0;
  scanned.fraction = '';
  scanned.offset = null;
  if (at === to) return date;
  const mark = text.charCodeAt(at);
  const separator =
    mark === LETTER_T ? 1 : mark === (LETTER_T | CASE_BIT) ? 2 : mark === SPACE ? 3 : 0;
  const hourTo = digitsEnd(text, at + 1, to);
  const hourDigits = hourTo - at - 1;
  if (separator === 0 || hourDigits < 1 || hourDigits > 2) return -1;
  const hour = numberAt(text, at + 1, hourTo);
  const minute = text.charCodeAt(hourTo) === COLON ? twoDigits(text, hourTo + 1, to, 59) : -1;
  if (minute < 0) return -1;
  scanned.hour = hour;
  scanned.minute = minute;
  let form = date + timeForm(separator, hour, hourDigits);
  let next = hourTo + 3;
  if (text.charCodeAt(next) === COLON) {
    const second = twoDigits(text, next + 1, to, 59);
    if (second < 0) return -1;
    scanned.secondOfMinute = second;
    next += 3;
    form += STRIDES.seconds;
    const point = text.charCodeAt(next);
    if (next < to && (point === POINT || point === COMMA)) {
      const fractionTo = digitsEnd(text, next + 1, to);
      const digits = fractionTo - next - 1;
      if (digits < 1 || digits > 9) return -1;
      scanned.fraction = text.slice(next + 1, fractionTo);
      next = fractionTo;
      form += digits * STRIDES.fraction + (point === COMMA ? STRIDES.comma : 0);
    }
  }
  return next === to && hour < 24 ? form : withClockAndZone(text, next, to, form);
}

function twoDigits(text: string, from: number, to: number, most: number): number {
  if (digitsEnd(text, from, to) - from !== 2) return -1;
  const value = numberAt(text, from, from + 2);
  return value <= most ? value : -1;
}

function withClockAndZone(text: string, from: number, to: number, timed: number): number {
  let at = from;
  let form = timed;
  const hasSpace = text.charCodeAt(at) === SPACE;
  const half = hasSpace ? at + 1 : at;
  const letter = text.charCodeAt(half) | CASE_BIT;
  const isHalf =
    (letter === LETTER_A || letter === LETTER_P) &&
    (text.charCodeAt(half + 1) | CASE_BIT) === LETTER_M &&
    half + 2 <= to;
  if (isHalf) {
    if (scanned.hour < 1 || scanned.hour > 12) return -1;
    const isLower = text.charCodeAt(half) >= LETTER_A;
    scanned.hour = (scanned.hour % 12) + (letter === LETTER_P ? 12 : 0);
    form += (1 + (hasSpace ? 1 : 0) + (isLower ? 2 : 0)) * STRIDES.clock;
    at = half + 2;
  } else if (scanned.hour > 23) return -1;
  if (at === to) return form;
  if (text.charCodeAt(at) === SPACE) {
    form += STRIDES.zoneSpace;
    at++;
  }
  const zone = zoneOf(text, at, to);
  return zone < 0 ? -1 : form + zone * STRIDES.zone;
}

/** Index of ZONES, -1 for none of them. */
function zoneOf(text: string, from: number, to: number): number {
  const sign = text.charCodeAt(from);
  scanned.offset = 0;
  if (sign === LETTER_Z && to - from === 1) return 1;
  if (sign === LETTER_U && text.slice(from, to) === 'UTC') return 2;
  if (sign !== PLUS && sign !== DASH) return -1;
  const hours = twoDigits(text, from + 1, Math.min(to, from + 3), 23);
  if (hours < 0) return -1;
  let zone = 5;
  let minutes = 0;
  if (to - from > 3) {
    const hasColon = text.charCodeAt(from + 3) === COLON;
    zone = hasColon ? 3 : 4;
    minutes = twoDigits(text, from + (hasColon ? 4 : 3), to, 59);
    if (minutes < 0 || to - from !== (hasColon ? 6 : 5)) return -1;
  }
  scanned.offset = (sign === DASH ? -1 : 1) * (hours * 60 + minutes);
  return zone;
}

/**
 * Text that sorts by time: `YYYY-MM-DD[THH:MM:SS[.f]]` in UTC, without needless zeros. Null for text that is no date,
 * or one whose day and month `order` leaves open.
 */
export function dateKey(text: string, order: DateOrder | null): string | null {
  // A date alone is spelled as its own key.
  if (text.length === 10 && isoForm(text) >= 0) return text;
  const form = dateForm(text);
  return form < 0 ? null : keyOfScanned(form, order);
}

export function keyOfScanned(form: number, order: DateOrder | null): string | null {
  const day = monthAndDay(form, order);
  if (day === null) return null;
  const { year, hour, minute, secondOfMinute: second, fraction, offset } = scanned;
  return momentKey({ year, month: day[0], day: day[1], hour, minute, second, fraction, offset });
}

/** See `dateKey`. */
export function momentKey(moment: {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Digits, maybe none. */
  readonly fraction: string;
  /** Minutes ahead of UTC. */
  readonly offset: number | null;
}): string {
  const { year, month, day, hour, minute, second, offset } = moment;
  const digits = moment.fraction === '' ? '' : moment.fraction.replace(/0+$/, '');
  const rest = digits === '' ? '' : `.${digits}`;
  if (offset !== null && offset !== 0) {
    const shifted = new Date(0);
    shifted.setUTCFullYear(year, month - 1, day);
    shifted.setUTCHours(hour, minute - offset, second);
    // The first day of the year 10000 must still sort after all others.
    const iso = shifted.toISOString().replace(/^\+010/, ':');
    return rest === '' ? iso.slice(0, -5).replace(/T00:00:00$/, '') : iso.slice(0, -5) + rest;
  }
  const date = `${year > 999 ? year : padded(year, 4)}-${TWO[month]!}-${TWO[day]!}`;
  if (hour + minute + second === 0 && rest === '') return date;
  return `${date}T${TWO[hour]!}:${TWO[minute]!}:${TWO[second]!}${rest}`;
}

const TWO = Array.from({ length: 60 }, (_, value) => padded(value, 2));

export function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

/** Of the text scanned last. */
export function monthAndDay(
  form: number,
  order: DateOrder | null,
): readonly [number, number] | null {
  const pattern = PATTERNS[form % SIZES.pattern]!;
  const { first, second } = scanned;
  if (pattern === 'day-point') return [second, first];
  if (pattern !== 'slash' && pattern !== 'dash') return [first, second];
  const fits = Math.floor(form / STRIDES.order) % SIZES.order;
  if (order === 'dmy') return fits === MONTH_FIRST ? null : [second, first];
  if (order === 'mdy') return fits === DAY_FIRST ? null : [first, second];
  return null;
}
