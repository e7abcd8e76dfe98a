/**
 * Dates and times as files spell them: `31.12.2023`, `2024-01-31 09:30`, `5-Jan-2024 3:04 PM`.
 *
 * The scanner is written by hand because it looks at every text of a column. It gives each text a *form*, one number
 * that says how it is spelled; the counted forms of a column decide whether its texts are dates.
 */

export type DateOrder = 'dmy' | 'mdy';

/** Where day and month stand; `/` and `-` after two short numbers leave that open. */
type Pattern =
  | 'year-dash'
  | 'year-slash'
  | 'year-point'
  | 'day-point'
  | 'slash'
  | 'dash'
  | 'name-dash'
  | 'name-space'
  | 'name-first';

const PATTERNS: readonly Pattern[] = [
  'year-dash',
  'year-slash',
  'year-point',
  'day-point',
  'slash',
  'dash',
  'name-dash',
  'name-space',
  'name-first',
];
const ZONES = ['', 'Z', 'UTC', '+HH:MM', '+HHMM', '+HH'] as const;
type Zone = (typeof ZONES)[number];

/** What a form is made of: a mixed-radix number, so that all forms together stay below 2^27. */
const SIZES = {
  pattern: PATTERNS.length,
  /** Both orders, only day first, only month first. */
  order: 3,
  /** No evidence (two digits needed), with a zero, without. */
  day: 3,
  month: 3,
  /** No evidence, three letters, whole. */
  name: 3,
  /** `Jan`, `JAN`, `jan`. */
  nameCase: 3,
  /** No time, after `T`, `t` or a space. */
  time: 4,
  seconds: 2,
  fraction: 10,
  comma: 2,
  /** 24 hours; then 12 hours with `PM`, ` PM`, `pm`, ` pm`. */
  clock: 5,
  hour: 3,
  zone: ZONES.length,
  zoneSpace: 2,
} as const;

type Field = keyof typeof SIZES;
const FIELDS = Object.keys(SIZES) as Field[];
type FormParts = Record<Field, number>;

const STRIDES = Object.fromEntries(
  FIELDS.map((field, index) => [
    field,
    FIELDS.slice(0, index).reduce((product, before) => product * SIZES[before], 1),
  ]),
) as FormParts;

/** Above every form of a date. */
export const DATE_FORMS = FIELDS.reduce((product, field) => product * SIZES[field], 1);

const EITHER = 0;
const DAY_FIRST = 1;
const MONTH_FIRST = 2;
const NEUTRAL = 0;
const PADDED = 1;
const BARE = 2;

function partsOf(form: number): FormParts {
  const parts = {} as FormParts;
  let rest = form;
  for (const field of FIELDS) {
    parts[field] = rest % SIZES[field];
    rest = Math.floor(rest / SIZES[field]);
  }
  return parts;
}

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

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
const NAME_LENGTH = 3;
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
const scanned = new ScannedDate();

/** The form of a date, outer spaces ignored; -1 for any other text. */
export function dateForm(text: string): number {
  const { length } = text;
  if (length === 10) {
    const quick = isoDateForm(text);
    if (quick >= 0) return quick;
  }
  if (length < MIN_LENGTH) return -1;
  let from = 0;
  while (text.charCodeAt(from) === SPACE) from++;
  const code = text.charCodeAt(from);
  const letter = code | CASE_BIT;
  if (!isDigit(code) && !(letter >= LETTER_A && letter <= 0x73)) return -1;
  let to = length;
  while (text.charCodeAt(to - 1) === SPACE) to--;
  return to - from > MAX_LENGTH ? -1 : scan(text, from, to);
}

/** `YYYY-MM-DD`, by far the most frequent form, with nothing around it. */
function isoDateForm(text: string): number {
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return -1;
  const century = pairAt(text, 0);
  const rest = pairAt(text, 2);
  const month = pairAt(text, 5);
  const day = pairAt(text, 8);
  const year = century * 100 + rest;
  if (century < 0 || rest < 0 || year < 1 || month < 1 || month > 12 || day < 1) return -1;
  if (day > 28 && day > daysIn(year, month)) return -1;
  scanned.year = year;
  scanned.first = month;
  scanned.second = day;
  scanned.hour = scanned.minute = scanned.secondOfMinute = 0;
  scanned.fraction = '';
  scanned.offset = null;
  return (day < 10 ? PADDED * STRIDES.day : 0) + (month < 10 ? PADDED * STRIDES.month : 0);
}

/** Of two digits; -1 for anything else. */
function pairAt(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >>> 0 > 9 || ones >>> 0 > 9 ? -1 : tens * 10 + ones;
}

/** NaN when one of them is no digit. */
function numberAt(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return NaN;
    value = value * 10 + digit;
  }
  return value;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9;
}

function digitsEnd(text: string, from: number, to: number): number {
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

function daysIn(year: number, month: number): number {
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

/** `-Jan-2024` after the day, or `Jan 5, 2024`. */
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

/** Adds the time from `at`, if there is one. */
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
  let form = date + separator * STRIDES.time + padding(hour, hourDigits) * STRIDES.hour;
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
 * The moment as text that sorts by time: `YYYY-MM-DD[THH:MM:SS[.f]]` in UTC, without needless zeros at its end. Null for
 * text that is no date, or one whose day and month `order` leaves open.
 */
export function dateKey(text: string, order: DateOrder | null): string | null {
  const form = dateForm(text);
  if (form < 0) return null;
  // A date alone is spelled as its own key.
  if (text.length === 10 && form % SIZES.pattern === 0 && !hasTime(form)) return text;
  return keyOfScanned(form, order);
}

function hasTime(form: number): boolean {
  return Math.floor(form / STRIDES.time) % SIZES.time !== 0;
}

function keyOfScanned(form: number, order: DateOrder | null): string | null {
  const day = monthAndDay(form, order);
  if (day === null) return null;
  const { year, hour, minute, secondOfMinute, fraction, offset } = scanned;
  const digits = fraction.replace(/0+$/, '');
  const rest = digits === '' ? '' : `.${digits}`;
  if (offset !== null && offset !== 0) {
    const moment = new Date(0);
    moment.setUTCFullYear(year, day[0] - 1, day[1]);
    moment.setUTCHours(hour, minute - offset, secondOfMinute);
    // The first day of the year 10000 must still sort after all others.
    const iso = moment.toISOString().replace(/^\+010/, ':');
    return shortened(iso.slice(0, -5), rest);
  }
  const date = `${padded(year, 4)}-${padded(day[0], 2)}-${padded(day[1], 2)}`;
  return shortened(
    `${date}T${padded(hour, 2)}:${padded(minute, 2)}:${padded(secondOfMinute, 2)}`,
    rest,
  );
}

function shortened(moment: string, fraction: string): string {
  if (fraction !== '') return moment + fraction;
  return moment.endsWith('T00:00:00') ? moment.slice(0, -9) : moment;
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

/** Of the text scanned last. */
function monthAndDay(form: number, order: DateOrder | null): readonly [number, number] | null {
  const pattern = PATTERNS[form % SIZES.pattern]!;
  const { first, second } = scanned;
  if (pattern === 'day-point') return [second, first];
  if (pattern !== 'slash' && pattern !== 'dash') return [first, second];
  const fits = Math.floor(form / STRIDES.order) % SIZES.order;
  if (order === 'dmy') return fits === MONTH_FIRST ? null : [second, first];
  if (order === 'mdy') return fits === DAY_FIRST ? null : [first, second];
  return null;
}

/** How the dates of a column are spelled. */
export interface DateStyle {
  readonly pattern: Pattern;
  /** Of patterns that leave it open. */
  readonly order: DateOrder | null;
  /** At least half of the values have a time. */
  readonly hasTime: boolean;
  /** Some value has a time. */
  readonly isTimed: boolean;
  readonly hasZone: boolean;
  /** By `FormParts`, what most values have; of what is equally frequent the longer. */
  readonly parts: Readonly<FormParts>;
  /** The texts themselves sort by time, because all are spelled alike from the year on. */
  readonly isSortable: boolean;
}

/** Dates in the forms counted here; null when they are no dates of one form. `order`: where both fit. */
export function dateStyleOf(
  forms: Readonly<Record<string, number>>,
  order: DateOrder | null,
): DateStyle | null {
  const counted = Object.entries(forms).map(
    ([form, count]) => [partsOf(Number(form)), count] as const,
  );
  const [first] = counted;
  if (!first || Object.keys(forms).some((form) => Number(form) >= DATE_FORMS)) return null;
  const { pattern } = first[0];
  if (counted.some(([parts]) => parts.pattern !== pattern)) return null;
  const zoned = counted.filter(([{ zone }]) => zone > 0).length;
  if (zoned > 0 && zoned < counted.length) return null;
  const found = orderOf(counted, PATTERNS[pattern]!, order);
  if (found === undefined) return null;
  return { ...styleOf(counted, found), isSortable: isSortable(counted) };
}

type Counted = readonly (readonly [FormParts, number])[];

/** Of a declared column, whose cells may have any form: that of most. Null without any. */
export function declaredStyleOf(
  forms: Readonly<Record<string, number>>,
  order: DateOrder | null,
): DateStyle | null {
  const dates = Object.entries(forms).filter(([form]) => Number(form) < DATE_FORMS);
  const all = dates.map(([form, count]) => [partsOf(Number(form)), count] as const);
  if (all.length === 0) return null;
  const isOpen = (parts: FormParts) => ['slash', 'dash'].includes(PATTERNS[parts.pattern]!);
  const found =
    orderOf(
      all.filter(([parts]) => isOpen(parts)),
      'slash',
      order,
    ) ?? null;
  const usable = found === null ? all.filter(([parts]) => !isOpen(parts)) : all;
  if (usable.length === 0) return null;
  const pattern = most(usable, 'pattern');
  const alike = usable.filter(([parts]) => parts.pattern === pattern);
  return { ...styleOf(alike, found), isSortable: false };
}

/** Undefined when no order fits them all, or both do and none is named. */
function orderOf(
  counted: Counted,
  pattern: Pattern,
  named: DateOrder | null,
): DateOrder | null | undefined {
  if (pattern !== 'slash' && pattern !== 'dash') return null;
  const has = (order: number) => counted.some(([parts]) => parts.order === order);
  if (has(DAY_FIRST)) return has(MONTH_FIRST) ? undefined : 'dmy';
  return has(MONTH_FIRST) ? 'mdy' : (named ?? undefined);
}

function styleOf(counted: Counted, order: DateOrder | null): Omit<DateStyle, 'isSortable'> {
  const timed = counted.filter(([{ time }]) => time > 0);
  const parts = {} as FormParts;
  for (const field of FIELDS) {
    const isOfTime = STRIDES[field] >= STRIDES.time;
    parts[field] = most(isOfTime && timed.length > 0 ? timed : counted, field);
  }
  swapPadding(parts, counted, order);
  const pattern = PATTERNS[parts.pattern]!;
  const timedRows = timed.reduce((sum, [, count]) => sum + count, 0);
  const rows = counted.reduce((sum, [, count]) => sum + count, 0);
  return {
    pattern,
    order,
    hasTime: timedRows * 2 >= rows,
    isTimed: timed.length > 0,
    hasZone: timed.some(([{ zone }]) => zone > 0),
    parts,
  };
}

/** Forms that fit both orders note their padding as if the day came first. */
function swapPadding(parts: FormParts, counted: Counted, order: DateOrder | null): void {
  if (order !== 'mdy') return;
  const swapped = counted.map(
    ([one, count]) =>
      [one.order === EITHER ? { ...one, day: one.month, month: one.day } : one, count] as const,
  );
  parts.day = most(swapped, 'day');
  parts.month = most(swapped, 'month');
}

/** Higher values are longer; of the others lower ones. */
const LONGER_LATER: ReadonlySet<Field> = new Set(['seconds', 'fraction', 'time', 'name', 'clock']);
const WITH_NEUTRAL: ReadonlySet<Field> = new Set(['day', 'month', 'hour', 'name']);

function most(counted: Counted, field: Field): number {
  const rows = new Array<number>(SIZES[field]).fill(0);
  for (const [parts, count] of counted) rows[parts[field]]! += count;
  if (WITH_NEUTRAL.has(field)) rows[NEUTRAL] = 0;
  const highest = Math.max(...rows);
  if (highest === 0) return field === 'name' ? 1 : WITH_NEUTRAL.has(field) ? PADDED : 0;
  return LONGER_LATER.has(field) ? rows.lastIndexOf(highest) : rows.indexOf(highest);
}

const SPELLED_ALIKE: readonly Field[] = [
  'time',
  'seconds',
  'fraction',
  'comma',
  'clock',
  'zone',
  'zoneSpace',
];

function isSortable(counted: Counted): boolean {
  const [first] = counted[0]!;
  const isFixed = first.pattern <= 2 && first.clock === 0 && first.zone <= 2;
  return (
    isFixed &&
    counted.every(
      ([parts]) =>
        parts.day !== BARE &&
        parts.month !== BARE &&
        parts.hour !== BARE &&
        SPELLED_ALIKE.every((field) => parts[field] === first[field]),
    )
  );
}

/** A moment by `dateKey`. */
const KEY = /^([\d:]\d{3})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?)?$/;

/**
 * A key as a text of a sortable column, and whether it is finer than those: the column's texts up to it are then the
 * moments before. Null for years the text cannot show.
 */
export function sortableText(
  key: string,
  style: DateStyle,
): { readonly text: string; readonly isFiner: boolean } | null {
  const match = KEY.exec(key);
  if (!match || match[1]!.startsWith(':')) return null;
  const [, year, month, day, hour = '00', minute = '00', second = '00', digits = ''] = match;
  const { parts } = style;
  const hasClock = parts.time > 0;
  const fraction = digits.padEnd(9, '0');
  const shown = parts.seconds === 0 ? 0 : parts.fraction;
  const hidden =
    (hasClock ? '' : hour! + minute!) +
    (hasClock && parts.seconds > 0 ? '' : second!) +
    fraction.slice(shown);
  const text = spelled(
    {
      year: year!,
      month: Number(month),
      day: Number(day),
      hour: Number(hour),
      minute: minute!,
      second: parts.seconds > 0 ? second! : '00',
      fraction: fraction.slice(0, shown),
      offset: 0,
    },
    style,
    hasClock,
  );
  return { text, isFiner: /[1-9]/.test(hidden) };
}

interface Moment {
  readonly year: string;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: string;
  readonly second: string;
  /** Digits, maybe none. */
  readonly fraction: string;
  readonly offset: number;
}

function spelled(moment: Moment, style: DateStyle, withClock: boolean): string {
  const date = spelledDate(moment, style);
  return withClock ? date + spelledTime(moment, style.parts) : date;
}

function spelledDate({ year, month, day }: Moment, { pattern, order, parts }: DateStyle): string {
  const dayText = parts.day === BARE ? String(day) : padded(day, 2);
  const monthText = parts.month === BARE ? String(month) : padded(month, 2);
  switch (pattern) {
    case 'year-dash':
      return `${year}-${monthText}-${dayText}`;
    case 'year-slash':
      return `${year}/${monthText}/${dayText}`;
    case 'year-point':
      return `${year}.${monthText}.${dayText}`;
    case 'day-point':
      return `${dayText}.${monthText}.${year}`;
    case 'slash':
      return order === 'mdy'
        ? `${monthText}/${dayText}/${year}`
        : `${dayText}/${monthText}/${year}`;
    case 'dash':
      return order === 'mdy'
        ? `${monthText}-${dayText}-${year}`
        : `${dayText}-${monthText}-${year}`;
    case 'name-dash':
      return `${dayText}-${nameText(month, parts)}-${year}`;
    case 'name-space':
      return `${dayText} ${nameText(month, parts)} ${year}`;
    case 'name-first':
      return `${nameText(month, parts)} ${dayText}, ${year}`;
  }
}

function nameText(month: number, parts: FormParts): string {
  const whole = MONTHS[month - 1]!;
  const name = parts.name === 2 ? whole : whole.slice(0, NAME_LENGTH);
  if (parts.nameCase === 1) return name.toUpperCase();
  return parts.nameCase === 2 ? name : name[0]!.toUpperCase() + name.slice(1);
}

const CLOCKS = [null, ['AM', 'PM'], [' AM', ' PM'], ['am', 'pm'], [' am', ' pm']] as const;

function spelledTime({ hour, minute, second, fraction, offset }: Moment, parts: FormParts): string {
  const halves = CLOCKS[parts.clock]!;
  const shown = halves === null ? hour : hour % 12 || 12;
  const hourText = parts.hour === BARE ? String(shown) : padded(shown, 2);
  const digits = fraction === '' ? '' : `${parts.comma ? ',' : '.'}${fraction}`;
  const hasSeconds = parts.seconds > 0 || second !== '00' || fraction !== '';
  const clock = `${hourText}:${minute}${hasSeconds ? `:${second}${digits}` : ''}`;
  const half = halves === null ? '' : halves[hour < 12 ? 0 : 1];
  const zone = zoneText(ZONES[parts.zone]!, offset);
  const separator = ['', 'T', 't', ' '][parts.time] || ' ';
  return `${separator}${clock}${half}${zone !== '' && parts.zoneSpace ? ' ' : ''}${zone}`;
}

function zoneText(zone: Zone, offset: number): string {
  if (zone === '' || zone === 'Z' || zone === 'UTC') return zone;
  const minutes = Math.abs(offset);
  const hours = (offset < 0 ? '-' : '+') + padded(Math.floor(minutes / 60), 2);
  const rest = padded(minutes % 60, 2);
  if (zone === '+HH:MM') return `${hours}:${rest}`;
  // An offset that the short form cannot say keeps its minutes.
  return zone === '+HHMM' || rest !== '00' ? hours + rest : hours;
}

const BY_ISO =
  /^ *\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)?)? *$/;

/**
 * A date as it is written into a column: as sent where it has the column's form, else ISO text in the column's spelling.
 * Null for what the column cannot take: other text, a time in a column of dates, a zone that is missing or needless.
 */
export function writtenDate(
  text: string,
  format: 'date' | 'date-time',
  style: DateStyle | null,
): string | null {
  const isIso = BY_ISO.test(text);
  const form = dateForm(isIso ? text.replace(/z *$/, 'Z') : text);
  if (form < 0) return null;
  const sent = partsOf(form);
  const isOwn = style === null ? isIso : isOfPattern(sent, style);
  if (!isOwn && !isIso) return null;
  const hasClock = sent.time > 0;
  const { hour, minute, secondOfMinute, fraction, offset } = scanned;
  const isMidnight = hour + minute + secondOfMinute === 0 && !/[1-9]/.test(fraction);
  const isZoned = offset !== null;
  if (format === 'date') {
    if (!isMidnight || (offset ?? 0) !== 0) return null;
    if (!hasClock && isOwn) return text;
    return style === null
      ? text.trim().slice(0, 10)
      : respelled(form, { ...style, hasTime: false });
  }
  if (style === null) return text;
  if (style.hasZone && !isZoned) return null;
  if (isOwn && isZoned === style.hasZone && !/z *$/.test(text)) return text;
  if (!style.hasZone && (offset ?? 0) !== 0) return null;
  return respelled(form, style);
}

function isOfPattern(sent: FormParts, { pattern, order }: DateStyle): boolean {
  if (PATTERNS[sent.pattern] !== pattern) return false;
  return (
    sent.order === EITHER ||
    order === null ||
    sent.order === (order === 'dmy' ? DAY_FIRST : MONTH_FIRST)
  );
}

/** The date scanned last. */
function respelled(form: number, style: DateStyle): string {
  const zone = ZONES[style.parts.zone]!;
  const { offset, fraction } = scanned;
  const isShifted = offset !== null && offset !== 0 && (zone === 'Z' || zone === 'UTC');
  if (isShifted) {
    const match = KEY.exec(keyOfScanned(form, style.order) ?? '');
    if (match) {
      scanned.year = Number(match[1]!.replace(':', '10'));
      scanned.first = Number(match[2]);
      scanned.second = Number(match[3]);
      [scanned.hour, scanned.minute, scanned.secondOfMinute] = [4, 5, 6].map((at) =>
        Number(match[at] ?? 0),
      ) as [number, number, number];
    }
  }
  const day = isShifted
    ? ([scanned.first, scanned.second] as const)
    : monthAndDay(form, style.order)!;
  const digits = fraction.replace(/0+$/, '');
  const { parts } = style;
  const { hour, minute, secondOfMinute } = scanned;
  const isMidnight = hour + minute + secondOfMinute === 0 && digits === '';
  return spelled(
    {
      year: padded(scanned.year, 4),
      month: day[0],
      day: day[1],
      hour,
      minute: padded(minute, 2),
      second: padded(secondOfMinute, 2),
      fraction: digits.padEnd(parts.seconds > 0 ? parts.fraction : 0, '0'),
      offset: isShifted ? 0 : (offset ?? 0),
    },
    style,
    style.hasTime || style.hasZone || !isMidnight,
  );
}

/** Operands of filters: ISO text, or text in the column's pattern. */
export function operandKey(text: string, style: DateStyle | null): string | null {
  const iso = BY_ISO.test(text);
  const form = dateForm(iso ? text.replace(/z *$/, 'Z') : text);
  if (form < 0) return null;
  if (!iso && (style === null || !isOfPattern(partsOf(form), style))) return null;
  return keyOfScanned(form, style?.order ?? null);
}

/** Sorts after every moment. */
export const AFTER_MOMENTS = '~';

/** What a keyed column is compared by: moments in their order, then what is no date; null for a blank. */
export function dateSortKey(
  stored: string | number | bigint | null,
  order: DateOrder | null,
): string | null {
  if (stored === null || stored === '') return null;
  const text = String(stored);
  return dateKey(text, order) ?? AFTER_MOMENTS + text;
}
