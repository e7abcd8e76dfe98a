import {
  BARE,
  DATE_FORMS,
  DAY_FIRST,
  EITHER,
  FIELDS,
  MONTH_FIRST,
  MONTHS,
  NAME_LENGTH,
  NEUTRAL,
  PADDED,
  PATTERNS,
  SIZES,
  STRIDES,
  ZONES,
  partsOf,
  type DateOrder,
  type Field,
  type FormParts,
  type Pattern,
  type Zone,
} from './date-form.ts';
import { dateForm, keyOfScanned, monthAndDay, padded, scanned } from './date-scan.ts';

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
        parts.outer === 0 &&
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
 * As text of a sortable column, and whether it is finer than those: the column's texts up to it are then the moments
 * before. Null for years the text cannot show.
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

/** See `writtenDate`. */
export function writtenIn(
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

/** As `dateKey`, of ISO text; null for any other. */
export function isoKey(text: string): string | null {
  if (!BY_ISO.test(text)) return null;
  const form = dateForm(text.replace(/z *$/, 'Z'));
  return form < 0 ? null : keyOfScanned(form, null);
}

/** As `dateKey`, of text in the pattern of a column; null for any other. */
export function styledKey(text: string, style: DateStyle | null): string | null {
  const form = dateForm(text);
  if (form < 0 || style === null || !isOfPattern(partsOf(form), style)) return null;
  return keyOfScanned(form, style.order);
}
