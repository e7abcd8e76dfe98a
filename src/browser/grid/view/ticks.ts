/**
 * Ticks at the beginnings of years, months, days, hours and so on, labelled with the part that
 * differs from the neighbours. All in UTC, as dates in files are.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The longest month. */
const MONTH = 31 * DAY;

interface Step {
  readonly unit: 'ms' | 'month';
  /** Milliseconds, or months. */
  readonly count: number;
}

const MS_STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14].map((count) => count * DAY),
];
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 2_400, 6_000, 12_000];

interface TimeTicks {
  readonly ticks: readonly number[];
  textOf(time: number): string;
}

/** Two to `count` ticks between two moments in ms since 1970. Default locale: the reader's. */
export function timeTicks(min: number, max: number, count: number, locale?: string): TimeTicks {
  const most = Math.max(2, Math.floor(count));
  for (const step of stepsUp()) {
    if (roughCount(min, max, step) > most + 1) continue;
    const ticks = ticksBy(step, min, max);
    if (ticks.length > most) continue;
    // A span shorter than one step gets its two ends.
    const shown = ticks.length >= 2 ? ticks : [...new Set([min, max])];
    return { ticks: shown, textOf: textFor(shown, locale) };
  }
  const ends = [...new Set([min, max])];
  return { ticks: ends, textOf: textFor(ends, locale) };
}

function* stepsUp(): Generator<Step> {
  for (const count of MS_STEPS) yield { unit: 'ms', count };
  for (const count of MONTH_STEPS) yield { unit: 'month', count };
}

function roughCount(min: number, max: number, { unit, count }: Step): number {
  return (max - min) / (unit === 'ms' ? count : count * MONTH);
}

function ticksBy({ unit, count }: Step, min: number, max: number): number[] {
  const ticks: number[] = [];
  if (unit === 'ms') {
    // Weeks begin on Mondays; 1970 began on a Thursday.
    const from = count % (7 * DAY) === 0 ? 4 * DAY : 0;
    for (let at = Math.ceil((min - from) / count) * count + from; at <= max; at += count) {
      ticks.push(at);
    }
    return ticks;
  }
  const start = new Date(min);
  const months = start.getUTCFullYear() * 12 + start.getUTCMonth();
  for (let month = Math.floor(months / count) * count; ; month += count) {
    const time = monthStart(month);
    if (time > max) return ticks;
    if (time >= min) ticks.push(time);
  }
}

/** Months counted from the year 0. */
function monthStart(month: number): number {
  return new Date(0).setUTCFullYear(Math.floor(month / 12), ((month % 12) + 12) % 12, 1);
}

/** As short as keeps labels distinct; the first always shows the year. */
function textFor(ticks: readonly number[], locale: string | undefined): (time: number) => string {
  const all = (unit: number): boolean => ticks.every((time) => time % unit === 0);
  const isDays = all(DAY);
  const dates = ticks.map((time) => new Date(time));
  const isMonths = isDays && dates.every((date) => date.getUTCDate() === 1);
  const isYears = isMonths && dates.every((date) => date.getUTCMonth() === 0);
  const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options });
  const year = { year: 'numeric' } as const;
  if (isYears && ticks.length > 1) return (time) => format(year).format(time);
  if (isMonths && ticks.length > 1) {
    return (time) => format({ ...year, month: 'short' }).format(time);
  }
  const day = { month: 'short', day: 'numeric' } as const;
  const isOneYear = new Set(dates.map((date) => date.getUTCFullYear())).size === 1;
  const first = ticks[0];
  const withYear = format({ ...day, ...year });
  const plainDay = format(day);
  const dayText = (time: number): string =>
    isOneYear && time !== first ? plainDay.format(time) : withYear.format(time);
  if (isDays) return dayText;
  const clock = format({
    hour: 'numeric',
    minute: '2-digit',
    ...(!all(MINUTE) && { second: '2-digit' }),
    ...(!all(SECOND) && { fractionalSecondDigits: 3 as const }),
  });
  return (time) => {
    const at = ticks.indexOf(time);
    const isNewDay = at <= 0 || dayOf(ticks[at - 1]!) !== dayOf(time);
    return isNewDay ? `${clock.format(time)}\n${dayText(time)}` : clock.format(time);
  };
}

function dayOf(time: number): number {
  return Math.floor(time / DAY);
}

/** Relative to the step: error allowed for float division. */
const ROUNDING = 1e-9;

/**
 * Ticks at multiples of 1, 2 or 5 times a power of ten, wherever the axis begins. At most `count` ticks from one number to
 * another, in order; at least one. `isWhole`: no ticks between integers.
 */
export function numberTicks(min: number, max: number, count: number, isWhole: boolean): number[] {
  if (min === max) return [min];
  const most = Math.max(2, Math.floor(count));
  let power = Math.floor(Math.log10((max - min) / most));
  if (isWhole) power = Math.max(0, power);
  for (;;) {
    for (const digit of [1, 2, 5]) {
      const ticks = multiples(min, max, { digit, power }, most);
      if (ticks === null) continue;
      return ticks.length >= 2 ? ticks : [min, max];
    }
    power++;
  }
}

/** Null when there would be too many. */
function multiples(
  min: number,
  max: number,
  { digit, power }: { readonly digit: number; readonly power: number },
  most: number,
): number[] | null {
  // Divides by an exact power: 0.1 is not exact.
  const scale = 10 ** Math.abs(power);
  const valueOf = (at: number): number => (power < 0 ? (at * digit) / scale : at * digit * scale);
  const unit = valueOf(1);
  const [first, last] = [Math.ceil(min / unit - ROUNDING), Math.floor(max / unit + ROUNDING)];
  if (last - first + 1 > most) return null;
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => valueOf(first + at));
}
