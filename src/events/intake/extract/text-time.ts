/** Times that stand at the start of a text, in the forms programs write whatever their locale. */
import { MONTHS, zonedMicros } from './calendar.ts';

interface TextTime {
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
/** `2026-11-20` or `2026/11/20` as the lines write it, with its start in microseconds. */
const lastDay = { text: '-', micros: 0 };
const AFTER_FRACTION = new RegExp(`${ZONE}${CLOSE}`, 'y');
/** What a zone may begin with, behind a space. */
const ZONE_START = /[-+ZUGWCEMJP]/;

/** `timezone`: of times without one. Null when the text begins otherwise. */
export function leadingTime(text: string, timezone: string): TextTime | null {
  const match = sameDay(text, timezone) ?? YMD.exec(text);
  if (match !== null && !Array.isArray(match)) return match;
  if (match !== null) {
    const [whole, year, , month, day, letter, clock, fraction, zone] = match;
    const date = [year!, Number(month) - 1, day!] as const;
    const isFirst = text.startsWith(year!);
    const start = isFirst ? microsOf(date, '00:00:00', 'UTC') : null;
    if (start !== null) {
      lastDay.text = text.slice(0, 10);
      lastDay.micros = start;
    }
    const micros = microsOf(date, clock!, zone ?? timezone);
    const isRfc3339 = letter === 'T' && zone !== undefined;
    return ending(micros, fraction, whole.length, isRfc3339);
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
  const whole = lastDay.micros + ((hour * 60 + minute) * 60 + second) * 1_000_000;
  let fraction = 0;
  let at = 19;
  const mark = text.charCodeAt(at);
  if ((mark === 0x2e || mark === 0x2c) && isDigit(text.charCodeAt(at + 1))) {
    at += 1;
    let unit = 100_000;
    for (const most = at + 9; at < most && isDigit(text.charCodeAt(at)); at += 1) {
      // Finer digits are cut.
      if (unit >= 1) fraction += (text.charCodeAt(at) - 0x30) * unit;
      unit /= 10;
    }
  }
  const micros = whole + fraction;
  const hasZone = text.charCodeAt(at) === 0x5a;
  if (hasZone) at += 1;
  else {
    const isSpaced = text.charCodeAt(at) === 0x20;
    if (ZONE_START.test(text.charAt(isSpaced ? at + 1 : at))) {
      AFTER_FRACTION.lastIndex = at;
      const [rest, zone] = AFTER_FRACTION.exec(text)!;
      if (ZONES[zone ?? timezone] !== 'UTC') return null;
      const isRfc3339 = letter === 0x54 && zone !== undefined;
      return { micros, end: at + rest.length, isRfc3339 };
    }
  }
  if (!hasZone && ZONES[timezone] !== 'UTC') return null;
  return { micros, end: closed(text, at), isRfc3339: letter === 0x54 && hasZone };
}

/** Behind `CLOSE`. */
function closed(text: string, from: number): number {
  let at = from;
  const mark = text.charCodeAt(at);
  if (mark === 0x5d || mark === 0x29 || mark === 0x22 || mark === 0x27) at += 1;
  if (text.charCodeAt(at) === 0x3a) at += 1;
  while (text.charCodeAt(at) === 0x20 || text.charCodeAt(at) === 0x09) at += 1;
  return at;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
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
    return ending(micros, fraction, whole.length);
  }
  match = CTIME.exec(text);
  if (match !== null) {
    const [whole, month, day, clock, fraction, zone, year] = match;
    const micros = microsOf([year!, MONTHS.indexOf(month!), day!], clock!, zone ?? timezone);
    return ending(micros, fraction, whole.length);
  }
  match = MDY.exec(text);
  if (match === null) return null;
  const [whole, month, day, year, clock, fraction, half, zone] = match;
  const [hour = '', ...rest] = clock!.split(':');
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half === 'P' ? 12 : 0);
  const time = [String(hours), ...rest].join(':');
  const micros = microsOf([year!, MONTHS.indexOf(month!), day!], time, zone ?? timezone);
  return ending(micros, fraction, whole.length);
}

function epoch(text: string): TextTime | null {
  const match = EPOCH.exec(text);
  if (match === null) return null;
  const micros = Number(match[1] ?? match[3]) * 1_000_000;
  return ending(micros, match[2] ?? match[4], match[0].length);
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
  end: number,
  isRfc3339 = false,
): TextTime | null {
  return micros === null ? null : { micros: micros + fractionMicros(fraction), end, isRfc3339 };
}

/** Finer digits are cut. */
export function fractionMicros(fraction: string | undefined): number {
  return fraction === undefined ? 0 : Number(fraction.slice(0, 6).padEnd(6, '0'));
}
