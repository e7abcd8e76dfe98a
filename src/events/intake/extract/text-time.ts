/** Times that stand at the start of a text, in the forms programs write whatever their locale. */
import { MONTHS, zonedMicros } from './calendar.ts';

export interface TextTime {
  readonly micros: number;
  /** Offset of what follows the time and the bracket, quote or colon after it. */
  readonly end: number;
  /** Has a `T` and an offset from UTC. */
  readonly isRfc3339: boolean;
}

/** Only abbreviations that mean one zone. */
const ZONES: Readonly<Record<string, string>> = {
  ...{ Z: 'UTC', UTC: 'UTC', GMT: 'UTC', WET: 'UTC', WEST: '+01:00', CET: '+01:00' },
  ...{ CEST: '+02:00', EET: '+02:00', EEST: '+03:00', MSK: '+03:00', JST: '+09:00' },
  ...{ EST: '-05:00', EDT: '-04:00', CDT: '-05:00', MST: '-07:00', MDT: '-06:00' },
  ...{ PST: '-08:00', PDT: '-07:00' },
};
const ZONE = `(?: ?(Z|[+-]\\d\\d:?\\d\\d|(?:${Object.keys(ZONES).slice(1).join('|')})(?![A-Za-z])))?`;
const CLOCK = '(\\d\\d:\\d\\d:\\d\\d)(?:[.,](\\d{1,9}))?';
const OPEN = '^[[("\']?';
const CLOSE = '[\\])"\']?:?[ \\t]*';
const WEEKDAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';

/** 2026-11-20T10:00:00.5+01:00, 2026/11/20 10:00:00 */
const YMD = new RegExp(`${OPEN}(\\d{4})([-/.])(\\d\\d)\\2(\\d\\d)([T ])${CLOCK}${ZONE}${CLOSE}`);
/** 20/Nov/2026:10:00:00 +0000, Fri, 20 Nov 2026 10:00:00 GMT */
const DMY = new RegExp(
  `${OPEN}(?:${WEEKDAY}, )?(\\d{1,2})([-/ ])([A-Z][a-z]{2})\\2(\\d{4})[ :]${CLOCK}${ZONE}${CLOSE}`,
);
/** Fri Nov 20 10:00:00.123456 2026 */
const CTIME = new RegExp(
  `${OPEN}${WEEKDAY} ([A-Z][a-z]{2}) {1,2}(\\d{1,2}) ${CLOCK}${ZONE} (\\d{4})${CLOSE}`,
);
/** Nov 20, 2026 10:00:00 AM, Nov 20 2026 10:00:00 */
const MDY = new RegExp(
  `${OPEN}([A-Z][a-z]{2}) {1,2}(\\d{1,2}),? (\\d{4}) (\\d{1,2}:\\d\\d:\\d\\d)(?:\\.(\\d{1,9}))?(?: ([AP])M)?${ZONE}${CLOSE}`,
);
/** 1795168800.123, [1795168800]; a bare number may be anything. */
const EPOCH = /^(?:\[(\d{10})(?:\.(\d{1,9}))?\]|(\d{10})\.(\d{3,9})(?=\s))[ \t]*/;

/** Lines come in time order, so most share the second of the previous one. */
const last = { key: '', micros: 0 };
/** `2026-11-20`, with its start in microseconds. */
const lastDay = { text: '-', micros: 0 };
const AFTER_CLOCK = new RegExp(`(?:[.,](\\d{1,9}))?${ZONE}${CLOSE}`, 'y');

/** `timezone`: of times without one. Null when the text begins otherwise. */
export function leadingTime(text: string, timezone: string): TextTime | null {
  const match = sameDay(text, timezone) ?? YMD.exec(text);
  if (match !== null && !Array.isArray(match)) return match;
  if (match !== null) {
    const [whole, year, , month, day, letter, clock, fraction, zone] = match;
    const date = [year!, Number(month) - 1, day!] as const;
    const dayText = `${year}-${month}-${day}`;
    const start = dayText === lastDay.text ? null : microsOf(date, '00:00:00', 'UTC');
    if (start !== null) Object.assign(lastDay, { text: dayText, micros: start });
    const micros = microsOf(date, clock!, zone ?? timezone);
    const isRfc3339 = letter === 'T' && zone !== undefined;
    return ending(micros, fraction, { end: whole.length, isRfc3339 });
  }
  return named(text, timezone) ?? epoch(text);
}

/** A UTC time of the day that was read last, in a fifth of the time; null for any other text. */
function sameDay(text: string, timezone: string): TextTime | null {
  if (!text.startsWith(lastDay.text)) return null;
  const letter = text.charCodeAt(10);
  const [hour, minute, second] = [digits(text, 11), digits(text, 14), digits(text, 17)];
  const isClock = text.charCodeAt(13) === 0x3a && text.charCodeAt(16) === 0x3a;
  if ((letter !== 0x54 && letter !== 0x20) || !isClock) return null;
  if (!(hour < 24 && minute < 60 && second < 60)) return null;
  AFTER_CLOCK.lastIndex = 19;
  const [whole, fraction, zone] = AFTER_CLOCK.exec(text)!;
  if (ZONES[zone ?? timezone] !== 'UTC') return null;
  const micros = lastDay.micros + ((hour * 60 + minute) * 60 + second) * 1_000_000;
  const isRfc3339 = letter === 0x54 && zone !== undefined;
  return { micros: micros + fractionMicros(fraction), end: 19 + whole.length, isRfc3339 };
}

/** The number of two digits; NaN for other text. */
function digits(text: string, at: number): number {
  const [tens, ones] = [text.charCodeAt(at) - 0x30, text.charCodeAt(at + 1) - 0x30];
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** The whole text is a time. */
export function wholeTime(text: string, timezone: string): number | null {
  const found = leadingTime(text, timezone);
  return found !== null && found.end === text.length ? found.micros : null;
}

/** Forms with the name of a month. */
function named(text: string, timezone: string): TextTime | null {
  let match = DMY.exec(text);
  if (match !== null) {
    const [whole, day, , month, year, clock, fraction, zone] = match;
    const micros = microsOf([year!, MONTHS.indexOf(month!), day!], clock!, zone ?? timezone);
    return ending(micros, fraction, { end: whole.length, isRfc3339: false });
  }
  match = CTIME.exec(text);
  if (match !== null) {
    const [whole, month, day, clock, fraction, zone, year] = match;
    const micros = microsOf([year!, MONTHS.indexOf(month!), day!], clock!, zone ?? timezone);
    return ending(micros, fraction, { end: whole.length, isRfc3339: false });
  }
  match = MDY.exec(text);
  if (match === null) return null;
  const [whole, month, day, year, clock, fraction, half, zone] = match;
  const [hour = '', ...rest] = clock!.split(':');
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half === 'P' ? 12 : 0);
  const time = [String(hours), ...rest].join(':');
  const micros = microsOf([year!, MONTHS.indexOf(month!), day!], time, zone ?? timezone);
  return ending(micros, fraction, { end: whole.length, isRfc3339: false });
}

function epoch(text: string): TextTime | null {
  const match = EPOCH.exec(text);
  if (match === null) return null;
  const micros = Number(match[1] ?? match[3]) * 1_000_000;
  return ending(micros, match[2] ?? match[4], { end: match[0].length, isRfc3339: false });
}

function microsOf(
  date: readonly [string, number, string],
  clock: string,
  zone: string,
): number | null {
  const key = `${date[0]} ${date[1]} ${date[2]} ${clock} ${zone}`;
  if (last.key === key) return last.micros;
  const parts = [...date, ...clock.split(':')].map(Number);
  if (parts[5]! > 59) return null;
  const micros = zonedMicros(parts, ZONES[zone] ?? zone);
  if (micros !== null) Object.assign(last, { key, micros });
  return micros;
}

function ending(
  micros: number | null,
  fraction: string | undefined,
  place: Pick<TextTime, 'end' | 'isRfc3339'>,
): TextTime | null {
  if (micros === null) return null;
  return { micros: micros + fractionMicros(fraction), ...place };
}

/** Finer digits are cut. */
export function fractionMicros(fraction: string | undefined): number {
  return fraction === undefined ? 0 : Number(fraction.slice(0, 6).padEnd(6, '0'));
}
