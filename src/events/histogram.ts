/**
 * How many events there were over time (EV-80). Works through the index of times and stops at its time budget.
 */
import { timeText } from './event-time.ts';
import type { EventFilter, FilterQuery } from './query-filter.ts';
import { type FilterLimit, filteredRows } from './query-filter.ts';
import type { EventReader } from './reader.ts';
import type { Selection } from './selection.ts';
import { selectionSql } from './selection.ts';
import { Series } from './series.ts';
import { splitSql, type SplitSql, splitText } from './split-value.ts';
import type { SqlCondition } from './term.ts';

/** Order of the `events-histogram` job. */
export interface HistogramOrder {
  readonly stateDir: string;
  readonly selection: Selection;
  /** `<n>s|m|h|d|w|mon`, or `auto`. */
  readonly interval: string;
  /** A member to split by; null: no series. */
  readonly by: string | null;
  /** Most series. */
  readonly limit: number;
  readonly budgetMs: number;
  /** Null: every event of the selection counts. */
  readonly query: FilterQuery | null;
}

/** One bucket; `series` only with `by`. */
interface Bucket {
  t: string;
  count: number;
  series?: Record<string, number>;
}

/** The answer, or too many buckets. */
export type Histogram =
  | {
      readonly interval: string;
      readonly from: string | null;
      readonly to: string | null;
      readonly buckets: readonly Bucket[];
      readonly total: number;
      readonly series?: readonly string[];
      /** There were more values than are counted one by one: those left out at the time are in `OTHER`. */
      readonly series_capped?: true;
      readonly truncated: boolean;
      readonly elapsed_ms: number;
    }
  | { readonly tooMany: number };

type Counted = Exclude<Histogram, { tooMany: number }>;

const MAX_BUCKETS = 2_000;
const AUTO_BUCKETS = 100;
const AUTO = [
  '1s',
  '5s',
  '10s',
  '30s',
  '1m',
  '5m',
  '10m',
  '30m',
  '1h',
  '3h',
  '6h',
  '12h',
  '1d',
  '1w',
  '1mon',
];
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const MICROS = 1_000_000;
/** 1970-01-01 was a Thursday; weeks start on Monday. */
const MONDAY_SHIFT = 4 * 86_400 * MICROS;
const CHECK_ROWS = 2_000;
const NO_SPLIT: SplitSql = { sql: 'NULL', params: [], textOf: () => null };

/** Whether a text is an interval of the contract. */
export function isInterval(text: string): boolean {
  return text === 'auto' || /^[1-9]\d{0,5}(?:s|m|h|d|w|mon)$/.test(text);
}

/** Counts the selected events by `_time`; with a filter, those that remain. */
export function countOverTime(
  reader: EventReader,
  order: HistogramOrder,
  filter: EventFilter | null,
): Histogram {
  const startedAt = performance.now();
  const { sql, params } = selectionSql(reader, order.selection);
  const { low, high } = reader.db
    .query<{ low: number | null; high: number | null }, (string | number)[]>(
      `SELECT min(time) AS low, max(time) AS high FROM events WHERE ${sql}`,
    )
    .get(...params)!;
  const from = order.selection.earliest ?? low;
  const to = order.selection.latest ?? (high === null ? null : high + 1);
  if (from === null || to === null || to <= from) {
    return emptyAnswer(order.interval === 'auto' ? '1s' : order.interval, startedAt);
  }
  const interval = order.interval === 'auto' ? automatic(from, to) : order.interval;
  const starts = startsOf(interval, from, to);
  if (typeof starts === 'number') return { tooMany: starts };
  const cut: Cut = { at: null };
  const limit = {
    untilMs: startedAt + order.budgetMs,
    onCut: ({ time }: { readonly time: number }) => (cut.at = time),
  };
  const rows = rowsOf(reader, order, { sql, params }, filter === null ? null : { filter, limit });
  const counted = count(rows, order, { starts, startedAt, cut });
  return {
    interval,
    from: timeText(from),
    to: timeText(to),
    ...counted,
    elapsed_ms: Math.round(performance.now() - startedAt),
  };
}

function emptyAnswer(interval: string, startedAt: number): Histogram {
  const elapsed = Math.round(performance.now() - startedAt);
  return {
    interval,
    from: null,
    to: null,
    buckets: [],
    total: 0,
    truncated: false,
    elapsed_ms: elapsed,
  };
}

function automatic(from: number, to: number): string {
  return (
    AUTO.find((interval) => Array.isArray(startsOf(interval, from, to, AUTO_BUCKETS))) ?? '1mon'
  );
}

/** The starts of all buckets that touch [from, to), or how many there would be. */
function startsOf(
  interval: string,
  from: number,
  to: number,
  max = MAX_BUCKETS,
): number[] | number {
  const [, amount = '1', unit = 's'] = /^(\d+)(\w+)$/.exec(interval) ?? [];
  if (unit === 'mon') return monthsFrom(Number(amount), from, to, max);
  const width = Number(amount) * SECONDS[unit]! * MICROS;
  const shift = unit === 'w' ? MONDAY_SHIFT : 0;
  const first = Math.floor((from - shift) / width) * width + shift;
  const total = Math.ceil((to - first) / width);
  return total > max ? total : Array.from({ length: total }, (_, index) => first + index * width);
}

function monthsFrom(amount: number, from: number, to: number, max: number): number[] | number {
  const start = new Date(from / 1000);
  const months = start.getUTCFullYear() * 12 + start.getUTCMonth();
  const starts: number[] = [];
  for (let at = Math.floor(months / amount) * amount; ; at += amount) {
    const micros = startOfMonth(at) * 1000;
    if (micros >= to) return starts;
    starts.push(micros);
    if (starts.length > max) return Math.ceil((to - starts[0]!) / (30 * 86_400 * MICROS * amount));
  }
}

/** Milliseconds; months are counted from the year 0. `Date.UTC` takes the years before 100 for those of the last century. */
function startOfMonth(month: number): number {
  return new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1);
}

/** Where filtering ended before its rows did; null when it did not. */
interface Cut {
  at: number | null;
}

interface Filtering {
  readonly filter: EventFilter;
  readonly limit: FilterLimit;
}

interface TimedValue {
  readonly time: number;
  readonly value: string | null;
}

/** Times in order, each with the value to split by. */
function rowsOf(
  reader: EventReader,
  { by }: HistogramOrder,
  { sql, params }: SqlCondition,
  filtering: Filtering | null,
): Iterable<TimedValue> {
  if (filtering !== null) return filteredValues(reader, by, { sql, params }, filtering);
  const split = by === null ? NO_SPLIT : splitSql(by);
  return valuesOf(
    reader.db
      .query<{ time: number; value: unknown }, (string | number)[]>(
        `SELECT time, ${split.sql} AS value FROM events WHERE ${sql} ORDER BY time`,
      )
      .iterate(...split.params, ...params),
    split,
  );
}

function* valuesOf(
  rows: Iterable<{ readonly time: number; readonly value: unknown }>,
  { textOf }: SplitSql,
): Generator<TimedValue> {
  for (const { time, value } of rows) yield { time, value: textOf(value) };
}

function* filteredValues(
  { db }: EventReader,
  by: string | null,
  condition: SqlCondition,
  filtering: Filtering,
): Generator<TimedValue> {
  for (const rows of filteredRows(db, condition, { order: 'time', ...filtering })) {
    for (const row of rows) {
      yield { time: row.time, value: by === null ? null : splitText(row, by) };
    }
  }
}

function count(
  rows: Iterable<TimedValue>,
  order: HistogramOrder,
  {
    starts,
    startedAt,
    cut,
  }: { readonly starts: readonly number[]; readonly startedAt: number; readonly cut: Cut },
): Pick<Counted, 'buckets' | 'total' | 'series' | 'series_capped' | 'truncated'> {
  const counts = new Float64Array(starts.length);
  const series = new Series(starts.length);
  let bucket = 0;
  let seen = 0;
  let isTruncated = false;
  for (const { time, value: by } of rows) {
    while (bucket + 1 < starts.length && starts[bucket + 1]! <= time) bucket += 1;
    counts[bucket]! += 1;
    if (order.by !== null) series.count(by, bucket);
    seen += 1;
    if (seen % CHECK_ROWS === 0 && performance.now() - startedAt > order.budgetMs) {
      isTruncated = true;
      break;
    }
  }
  if (cut.at !== null) {
    isTruncated = true;
    while (bucket + 1 < starts.length && starts[bucket + 1]! <= cut.at) bucket += 1;
  }
  // What was cut off in the middle of a bucket is not complete.
  if (isTruncated) counts.fill(0, bucket);
  const buckets: Bucket[] = starts.map((start, index) => ({
    t: timeText(start),
    count: counts[index]!,
  }));
  const total = counts.reduce((sum, one) => sum + one, 0);
  if (order.by === null) return { buckets, total, truncated: isTruncated };
  const names = series.addTo(buckets, order.limit, isTruncated ? bucket : starts.length);
  const capped = series.isCapped ? ({ series_capped: true } as const) : {};
  return { buckets, total, series: names, ...capped, truncated: isTruncated };
}
