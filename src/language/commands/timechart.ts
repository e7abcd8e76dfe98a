import { defineCommand, type StageContext } from '../command.ts';
import { countRows } from '../expressions/aggregates.ts';
import { Groups } from '../expressions/grouping.ts';
import {
  floorMs,
  moveMs,
  msOf,
  spanOf,
  stepOf,
  timeFromMs,
  type TimeSpan,
} from '../expressions/time.ts';
import { compareValues, keyOf, textOf, type Row, type Value } from '../expressions/value.ts';
import { MAX_BUCKETS } from '../limits.ts';
import { requireAtMost, type Meter, type Weights } from '../run/operator.ts';
import { isOfDates, Schema, timeOfColumn, type Reference } from '../run/schema.ts';
import type { Word } from '../syntax/ast.ts';
import { isNo, limitOf } from '../syntax/count.ts';
import { unmarkPlaceholders, type Parameters } from '../syntax/placeholder.ts';
import { Problem, type Place } from '../syntax/problem.ts';
import { requireSpan } from '../syntax/span.ts';
import { quoted } from '../syntax/terse-reader.ts';
import {
  bindAggregate,
  parseAggregates,
  printAggregates,
  type AggregateArguments,
  type BoundAggregate,
} from '../syntax/terse-aggregate.ts';

interface Args extends AggregateArguments {
  readonly span: Word | undefined;
  /** The column of times. */
  readonly field: Word | undefined;
  readonly limit: number;
  readonly usesOther: boolean;
}

/** Finest first. */
const AUTO = '1s 5s 10s 30s 1m 5m 10m 30m 1h 3h 6h 12h 1d 1w 1mon'
  .split(' ')
  .map((text) => spanOf(text) as TimeSpan);
const AUTO_BUCKETS = 100;

const OPTIONS = ['span', 'field', 'limit', 'useother'] as const;

export const timechart = defineCommand<Args>({
  name: 'timechart',
  summary: 'Computes aggregates per bucket of _time or field; with BY one column per value.',
  syntax: {
    terse:
      'timechart [span=<n><unit>] [field=<time>] [limit=<n>] [useother=false] <aggregate>, … [BY <field>]',
  },
  examples: [
    '* | timechart span=5m count BY index',
    'index=web | timechart span=1h count, avg(bytes) AS mean',
    '* | timechart span=1h field=created count',
  ],
  parse: (reader) => {
    const before = reader.options(OPTIONS);
    const aggregates = parseAggregates(reader, OPTIONS);
    const { span, field, limit, useother } = { ...before, ...reader.options(OPTIONS) };
    // Placeholders stand for values, not names.
    const over = field && { ...field, text: unmarkPlaceholders(field.text) };
    return { span, field: over, limit: limitOf(limit), usesOther: !isNo(useother), ...aggregates };
  },
  print: ({ span, field, limit, usesOther, ...aggregates }) => {
    const size = span ? `span=${unmarkPlaceholders(span.text)} ` : '';
    const over = field ? `field=${quoted(field.text)} ` : '';
    return `${size}${over}limit=${limit} ${usesOther ? '' : 'useother=false '}${printAggregates(aggregates)}`;
  },
  bind: (args, input, context, place) => {
    const { aggregates, by } = args;
    if (by.length > 0 && (aggregates.length > 1 || by.length > 1)) {
      throw new Problem('bad_value', 'timechart BY allows one aggregate', { place: by[0]!.place });
    }
    const { range, notice } = context;
    const over = args.field ?? { text: usualTime(input, place), place };
    // The bounds of the search are of `_time`.
    const bounds = over.text === '_time' ? range : { earliest: null, latest: null };
    const span = args.span ? requireTimeSpan(args.span, context.parameters) : spanOver(bounds);
    const use = span === null ? 'value' : stepOf(span);
    const reference = input.require(over.text, 'terse', over.place, use);
    const time = timeOfColumn(reference);
    const [series] = input.requireAll(by);
    const bound = aggregates.map((call) => bindAggregate(call, input, context));
    const chart = {
      span,
      time,
      bound,
      range: bounds,
      notice,
      of: { ...reference, name: over.text },
    };
    return {
      kind: 'table',
      schema: series ? new Schema([TIME], { isOpen: true }) : schemaOf(bound),
      takesWeights: bound.every(({ factory }) => factory.takesWeights),
      run: (rows, meter, weights) => {
        if (reference.type !== 'time') noteTimeless(chart, rows, weights);
        return series
          ? bySeries(chart, args, series, rows, meter, weights)
          : plain(chart, rows, meter, weights);
      },
    };
  },
});

const TIME = { name: '_time', type: 'time' } as const;

/** Rows without `_time` may have one column of dates. */
function usualTime(input: Schema, place: Place): string {
  const dates = input.shown
    .filter(({ column }) => isOfDates(column))
    .map(({ column }) => column.name);
  if (input.has('_time') || dates.length === 0) return '_time';
  if (dates.length === 1) return dates[0]!;
  const text = `timechart needs field=, one of ${dates.join(', ')}`;
  throw new Problem('bad_value', text, { place, allowed: dates });
}

function schemaOf(columns: readonly { readonly name: string }[]): Schema {
  return new Schema([TIME, ...columns.map(({ name }) => ({ name, type: 'json' as const }))]);
}

function requireTimeSpan(word: Word, parameters: Parameters): TimeSpan {
  const span = requireSpan(word, parameters);
  return span.kind === 'time'
    ? span
    : { kind: 'time', count: Math.max(1, Math.trunc(span.size)), unit: 's' };
}

interface Chart {
  readonly span: TimeSpan | null;
  readonly time: (row: Row) => string | null;
  readonly bound: readonly BoundAggregate[];
  readonly range: StageContext['range'];
  readonly notice: StageContext['notice'];
  /** The column of times. */
  readonly of: Reference & { readonly name: string };
}

function plain(chart: Chart, rows: readonly Row[], meter: Meter, weights?: Weights) {
  const { bound } = chart;
  const { starts, bucketOf } = buckets(chart, rows);
  const factories = bound.map(({ factory }) => factory);
  const groups = new Groups([bucketOf], factories, meter);
  for (const row of rows) if (bucketOf(row) !== null) groups.add(row, weights?.get(row));
  groups.noteLeftOut(bound, chart.notice);
  const results = new Map(
    groups
      .all()
      .map(({ keys, accumulators }) => [keys[0]!, accumulators.map((one) => one.result())]),
  );
  const empty = bound.map(({ kind }) => emptyOf(kind));
  return {
    schema: schemaOf(bound),
    rows: starts.map((start) => [start, ...(results.get(start) ?? empty)]),
  };
}

function bySeries(
  chart: Chart,
  { limit, usesOther }: Args,
  series: Reference,
  rows: readonly Row[],
  meter: Meter,
  weights?: Weights,
) {
  const [aggregate] = chart.bound;
  const { starts, bucketOf } = buckets(chart, rows);
  const inRange = rows.filter((row) => bucketOf(row) !== null);
  // The series shown: by count and sum of all, else by rows; ties by value.
  const isBySize = aggregate!.kind === 'count' || aggregate!.kind === 'sum';
  const sizes = new Groups([series.get], [isBySize ? aggregate!.factory : countRows], meter);
  for (const row of inRange) sizes.add(row, weights?.get(row));
  const all = sizes.ordered().map(({ keys: [value], accumulators: [size] }) => ({
    value: value!,
    size: size!.result(),
  }));
  const values = all.filter(({ value }) => value !== null);
  values.sort((a, b) => compareValues(b.size, a.size));
  const chosen = values.slice(0, limit).map(({ value }) => value);
  const chosenKeys = new Set(chosen.map(keyOf));
  const columnOf = (row: Row): string | null => {
    const value = series.get(row);
    if (value === null) return 'NULL';
    return chosenKeys.has(keyOf(value)) ? textOf(value) : usesOther ? 'OTHER' : null;
  };
  const groups = new Groups([bucketOf, columnOf], [aggregate!.factory], meter);
  for (const row of inRange) if (columnOf(row) !== null) groups.add(row, weights?.get(row));
  groups.noteLeftOut(chart.bound, chart.notice);
  const results = new Map<Value, Map<Value, Value>>();
  for (const { keys, accumulators } of groups.all()) {
    const cells = results.getOrInsertComputed(keys[0]!, () => new Map<Value, Value>());
    cells.set(keys[1]!, accumulators[0]!.result());
  }
  const columns = new Set(chosen.map((value) => textOf(value)!));
  if (values.length > limit && usesOther) columns.add('OTHER');
  if (all.length > values.length) columns.add('NULL');
  const shown = [...columns];
  const empty = emptyOf(aggregate!.kind);
  return {
    schema: schemaOf(shown.map((name) => ({ name }))),
    rows: starts.map((start) => [
      start,
      ...shown.map((name) => results.get(start)?.get(name) ?? empty),
    ]),
  };
}

/** Rows without a value have no place on the axis; those with another value should have had one. */
function noteTimeless({ time, of, notice }: Chart, rows: readonly Row[], weights?: Weights): void {
  let count = 0;
  for (const row of rows) {
    const value = of.get(row);
    const isOther = value !== null && value !== '' && time(row) === null;
    if (isOther) count += weights?.get(row) ?? 1;
  }
  if (count > 0)
    notice(
      `timechart left out ${count} ${count === 1 ? 'row' : 'rows'} whose ${of.name} is no time`,
    );
}

function buckets(
  { time, range, span: given }: Chart,
  rows: readonly Row[],
): { readonly starts: readonly string[]; readonly bucketOf: (row: Row) => string | null } {
  let first: string | null = range.earliest;
  let last: string | null = range.latest;
  for (const row of rows) {
    const moment = time(row);
    if (moment === null) continue;
    if (range.earliest === null && (first === null || moment < first)) first = moment;
    if (range.latest === null && (last === null || moment > last)) last = moment;
  }
  if (first === null || last === null || first > last) return { starts: [], bucketOf: () => null };
  const from = msOf(first);
  // `latest` is exclusive: no bucket begins at it.
  const to = range.latest === null ? msOf(last) : msOf(last) - 1;
  const span = given ?? autoSpan(from, Math.max(from, to));
  const known = new Set<string>();
  for (const start of startsOf(span, from, to)) {
    requireAtMost(known.size + 1, MAX_BUCKETS, 'time buckets');
    known.add(timeFromMs(start)!);
  }
  return {
    starts: [...known],
    bucketOf: (row) => {
      const moment = time(row);
      if (moment === null) return null;
      const start = timeFromMs(floorMs(msOf(moment), span.unit, span.count));
      return start !== null && known.has(start) ? start : null;
    },
  };
}

/** A start that clocks skip moves to when they go on; the bucket after it does not move. */
function* startsOf({ unit, count }: TimeSpan, from: number, to: number): Generator<number> {
  for (
    let at = floorMs(from, unit, count);
    at <= to;
    at = floorMs(moveMs(at, count, unit), unit, count)
  )
    yield at;
}

/** Known before the rows, of which coarser times are needed then. */
function spanOver({ earliest, latest }: Chart['range']): TimeSpan | null {
  if (earliest === null || latest === null) return null;
  const from = msOf(earliest);
  return autoSpan(from, Math.max(from, msOf(latest) - 1));
}

function autoSpan(from: number, to: number): TimeSpan {
  const fits = (span: TimeSpan): boolean =>
    startsOf(span, from, to).drop(AUTO_BUCKETS).next().done === true;
  return AUTO.find(fits) ?? AUTO.at(-1)!;
}

function emptyOf(kind: string): Value {
  return kind === 'count' || kind === 'dc' || kind === 'distinct_count' ? 0 : null;
}
