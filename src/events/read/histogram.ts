/** Event counts over time. Reads the time index and stops at its time budget. */
import { TimeZone } from '../../base/time-zone.ts';
import { timeText } from '../event-time.ts';
import {
  type EventFilter,
  type FilterQuery,
  type FilterLimit,
  filteredRows,
  type FilterRow,
} from './query-filter.ts';
import type { EventReader, Wanted } from '../store/reader.ts';
import type { GroupRows } from '../parts/group-rows.ts';
import type { PartProblem } from '../parts/sealed-tier.ts';
import { isHinted, type Selection, selectionHint, selectionSql } from './selection.ts';
import { Series } from './series.ts';
import { memberAt } from '../../base/json/member-path.ts';

export interface HistogramOrder {
  readonly stateDir: string;
  readonly selection: Selection;
  /** `<n>s|m|h|d|w|mon`, or `auto`. */
  readonly interval: string;
  /** Sets where days and longer intervals begin. */
  readonly timezone: string;
  /** Member to split by; null: no series. */
  readonly by: string | null;
  readonly limit: number;
  readonly budgetMs: number;
  /** Null: count all selected events. */
  readonly query: FilterQuery | null;
}

interface Bucket {
  t: string;
  count: number;
  series?: Record<string, number>;
}

export type Histogram =
  | {
      readonly interval: string;
      readonly from: string | null;
      readonly to: string | null;
      readonly buckets: readonly Bucket[];
      readonly total: number;
      readonly series?: readonly string[];
      /** Past the limit of distinct values, those dropped at the time are in `OTHER`. */
      readonly series_capped?: true;
      readonly truncated: boolean;
      /** Events that cannot be read and are missing here. */
      readonly incomplete?: readonly PartProblem[];
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
const NO_SPLIT: SplitSql = {
  sql: 'NULL',
  params: [],
  textOf: () => null,
  sealed: (rows) => timed(rows, () => null),
};

export function isInterval(text: string): boolean {
  return text === 'auto' || /^[1-9]\d{0,5}(?:s|m|h|d|w|mon)$/.test(text);
}

export function countOverTime(
  reader: EventReader,
  order: HistogramOrder,
  filter: EventFilter | null,
): Histogram {
  const startedAt = performance.now();
  const wanted: Wanted = {
    where: (isSealed) => selectionSql(reader, order.selection, isSealed),
    hint: selectionHint(order.selection),
    isHinted: isHinted(order.selection),
  };
  const { earliest, latest } = order.selection;
  const ends = earliest !== null && latest !== null ? null : reader.ends(wanted);
  const from = earliest ?? ends?.low ?? null;
  const to = latest ?? (ends === null ? null : ends.high + 1);
  if (from === null || to === null || to <= from) {
    const empty = emptyAnswer(order.interval === 'auto' ? '1s' : order.interval, startedAt);
    return { ...empty, ...incompleteOf(reader) };
  }
  const zone = TimeZone.named(order.timezone)!;
  const span = { from, to, zone };
  const interval = order.interval === 'auto' ? automatic(span) : order.interval;
  const starts = startsOf(interval, span);
  if (typeof starts === 'number') return { tooMany: starts };
  const cut: Cut = { at: null };
  const limit = {
    untilMs: startedAt + order.budgetMs,
    onCut: ({ time }: { readonly time: number }) => (cut.at = time),
  };
  const rows = rowsOf(reader, order, wanted, filter === null ? null : { filter, limit });
  const counted = count(rows, order, { starts, startedAt, cut });
  return {
    interval,
    from: timeText(from),
    to: timeText(to),
    ...counted,
    ...incompleteOf(reader),
    elapsed_ms: Math.round(performance.now() - startedAt),
  };
}

/** A member for the answer, where something is missing. */
export function incompleteOf({ sealed }: EventReader): {
  readonly incomplete?: readonly PartProblem[];
} {
  const { problems } = sealed;
  return problems.length === 0 ? {} : { incomplete: problems };
}

function emptyAnswer(interval: string, startedAt: number): Counted & { readonly interval: string } {
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

/** Microseconds; `to` is exclusive. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly zone: TimeZone;
}

function automatic(span: Span): string {
  return AUTO.find((interval) => Array.isArray(startsOf(interval, span, AUTO_BUCKETS))) ?? '1mon';
}

/** Starts of all buckets that touch [from, to), or their number when there are too many. */
function startsOf(interval: string, span: Span, max = MAX_BUCKETS): number[] | number {
  const [, amount = '1', unit = 's'] = /^(\d+)(\w+)$/.exec(interval) ?? [];
  if (/^[smh]$/.test(unit) || span.zone.isUtc)
    return startsByClock(Number(amount), unit, span, max);
  // Steps in the zone's civil time, then converts.
  const { from, to, zone } = span;
  const local = {
    from: moved(from, (ms) => zone.toLocal(ms)),
    to: moved(to, (ms) => zone.toLocal(ms)),
  };
  const starts = startsByClock(Number(amount), unit, local, max);
  if (typeof starts === 'number') return starts;
  return starts.map((start) => moved(start, (ms) => zone.toUtc(ms))).filter((start) => start < to);
}

function moved(micros: number, move: (ms: number) => number): number {
  const ms = Math.floor(micros / 1000);
  return move(ms) * 1000 + (micros - ms * 1000);
}

function startsByClock(
  amount: number,
  unit: string,
  { from, to }: Pick<Span, 'from' | 'to'>,
  max: number,
): number[] | number {
  if (unit === 'mon') return monthsFrom(amount, from, to, max);
  const width = amount * SECONDS[unit]! * MICROS;
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

/** Milliseconds; months count from the year 0. `Date.UTC` would move years below 100 into the 1900s. */
function startOfMonth(month: number): number {
  return new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1);
}

/** Where filtering stopped early; null when it did not. */
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

/** In time order, with the value to split by. */
function rowsOf(
  reader: EventReader,
  { by }: HistogramOrder,
  wanted: Wanted,
  filtering: Filtering | null,
): Iterable<TimedValue> {
  if (filtering !== null) return filteredValues(reader, by, wanted, filtering);
  const split = by === null ? NO_SPLIT : splitSql(by);
  return valuesOf(
    reader.rows<{ time: number; value: unknown }>(
      `time, ${split.sql} AS value`,
      'time',
      {
        ...wanted,
        where: (isSealed) => {
          const { sql, params } = wanted.where(isSealed);
          // Bound in the order they stand in: those of the list first.
          return { sql, params: [...split.params, ...params] };
        },
      },
      { sealed: split.sealed },
    ),
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
  reader: EventReader,
  by: string | null,
  wanted: Wanted,
  filtering: Filtering,
): Generator<TimedValue> {
  for (const rows of filteredRows(reader, wanted, { order: 'time', ...filtering })) {
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
  // A bucket cut off in the middle is incomplete.
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

interface SplitSql {
  readonly sql: string;
  readonly params: readonly string[];
  /** The same of sealed events. */
  readonly sealed: (rows: GroupRows) => (place: number) => { time: number; value: unknown };
  /** Converts an SQL value; null when missing. */
  readonly textOf: (value: unknown) => string | null;
}

const COLUMNS: Readonly<Record<string, string>> = {
  index: '"index"',
  sourcetype: 'sourcetype',
  source: 'source',
  host: 'host',
};
const PREFIX = 'extracted_fields.';

/** By its name in the search language: a column or a member of `extracted_fields`. */
function splitSql(name: string): SplitSql {
  if (Object.hasOwn(COLUMNS, name))
    return {
      sql: COLUMNS[name]!,
      params: [],
      textOf,
      sealed: (rows) => timed(rows, rows.column(name as 'host')),
    };
  const member = memberName(name);
  if (member.includes('.')) {
    return {
      sql: 'json(fields)',
      params: [],
      sealed: (rows) => timed(rows, rows.column('fields')),
      textOf: (json) => textOf(memberAt(JSON.parse(String(json)), member, false)),
    };
  }
  const path = `$.${JSON.stringify(member)}`;
  // `->>` would give 1 for true.
  const sql = `CASE fields -> ? WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE fields ->> ? END`;
  return {
    sql,
    params: [path, path],
    textOf,
    sealed: (rows) => timed(rows, memberText(rows, member)),
  };
}

function timed(rows: GroupRows, valueAt: (place: number) => unknown) {
  const timeAt = rows.column('time') as (place: number) => number;
  return (place: number) => ({ time: timeAt(place), value: valueAt(place) });
}

/** As `->>` gives it, and truth values as words. */
function memberText(rows: GroupRows, member: string): (place: number) => unknown {
  const jsonAt = rows.member(member);
  const known = new Map<string, unknown>();
  return (place) => {
    const json = jsonAt(place);
    if (json === null || /^[[{]/.test(json)) return json;
    return known.getOrInsertComputed(json, (text) => JSON.parse(text) as unknown);
  };
}

function splitText(row: FilterRow, name: string): string | null {
  if (Object.hasOwn(COLUMNS, name)) return row[name as 'host'];
  return textOf(memberAt(JSON.parse(row.fields), memberName(name), false));
}

function memberName(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
