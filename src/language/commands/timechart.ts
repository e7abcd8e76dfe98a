import type { Word } from '../syntax/ast.ts';
import { fillText, unmarkPlaceholders } from '../syntax/placeholder.ts';
import { defineCommand, type StageContext } from '../command.ts';
import { isNo, notWhole } from '../syntax/count.ts';
import { Groups } from '../expressions/grouping.ts';
import { MAX_BUCKETS } from '../limits.ts';
import { requireAtMost, type Meter, type Weights } from '../run/operator.ts';
import { Problem } from '../syntax/problem.ts';
import { Schema, type Reference } from '../run/schema.ts';
import { requireSpan } from '../syntax/span.ts';
import {
  bindAggregate,
  parseAggregates,
  printAggregates,
  type AggregateArguments,
  type BoundAggregate,
} from '../syntax/terse-aggregate.ts';
import { timeValue } from '../expressions/calendar-parts.ts';
import { floorMs, moveMs, msOf, stepOf, timeFromMs, type Span } from '../expressions/time.ts';
import { compareValues, keyOf, textOf, type Row, type Value } from '../expressions/value.ts';

interface Args extends AggregateArguments {
  readonly span: Word | null;
  readonly limit: number;
  readonly usesOther: boolean;
}

type TimeSpan = Extract<Span, { kind: 'time' }>;

/** Finest first. */
const AUTO: readonly TimeSpan[] = (
  [
    [1, 's'],
    [5, 's'],
    [10, 's'],
    [30, 's'],
    [1, 'm'],
    [5, 'm'],
    [10, 'm'],
    [30, 'm'],
    [1, 'h'],
    [3, 'h'],
    [6, 'h'],
    [12, 'h'],
    [1, 'd'],
    [1, 'w'],
    [1, 'mon'],
  ] as const
).map(([count, unit]) => ({ kind: 'time', count, unit }));
const AUTO_BUCKETS = 100;

const OPTIONS = ['span', 'limit', 'useother'];

export const timechart = defineCommand<Args>({
  name: 'timechart',
  forms: ['terse'],
  summary: 'Computes aggregates per bucket of _time; with BY one column per value.',
  syntax: {
    terse: 'timechart [span=<n><unit>] [limit=<n>] [useother=false] <aggregate>, … [BY <field>]',
  },
  isRowWise: false,
  examples: [
    '* | timechart span=5m count BY index',
    'index=web | timechart span=1h count, avg(bytes) AS mean',
  ],
  parse: (reader) => {
    const options = reader.options(OPTIONS);
    const aggregates = parseAggregates(reader, OPTIONS);
    for (const [name, value] of reader.options(OPTIONS)) options.set(name, value);
    const limit = options.get('limit');
    if (limit && !/^\d{1,9}$/.test(limit.text)) throw notWhole('limit', limit);
    return {
      span: options.get('span') ?? null,
      limit: limit ? Number(limit.text) : 10,
      usesOther: !isNo(options.get('useother')),
      ...aggregates,
    };
  },
  print: ({ span, limit, usesOther, ...aggregates }) => {
    const size = span ? `span=${unmarkPlaceholders(span.text)} ` : '';
    return `${size}limit=${limit} ${usesOther ? '' : 'useother=false '}${printAggregates(aggregates)}`;
  },
  bind: (args, input, context, { word }) => {
    const { span: written, aggregates, by } = args;
    const span =
      written &&
      requireTimeSpan({
        ...written,
        text: fillText(written.text, context.parameters, written.place),
      });
    if (by.length > 0 && (aggregates.length > 1 || by.length > 1)) {
      throw new Problem('bad_value', 'timechart BY allows one aggregate', { place: by[0]!.place });
    }
    const time = input!.require('_time', 'terse', word, span === null ? 'value' : stepOf(span));
    const series = by[0] ? input!.require(by[0].text, 'terse', by[0].place) : null;
    const bound = aggregates.map((call) => bindAggregate(call, input!, context));
    const takesWeights = bound.every(({ factory }) => factory.takesWeights);
    const chart = new Chart({ args, span, time, series, bound, range: context.range });
    if (series === null) {
      const schema = new Schema([
        { name: '_time', type: 'time' },
        ...bound.map(({ name }) => ({ name, type: 'json' as const })),
      ]);
      return {
        kind: 'table',
        schema,
        takesWeights,
        run: (rows, meter, weights) => ({ schema, rows: chart.plain(rows, meter, weights) }),
      };
    }
    const open = new Schema([{ name: '_time', type: 'time' }], { isOpen: true });
    return {
      kind: 'table',
      schema: open,
      takesWeights,
      run: (rows, meter, weights) => chart.bySeries(rows, meter, weights),
    };
  },
});

function requireTimeSpan(word: Word): TimeSpan {
  const span = requireSpan(word);
  return span.kind === 'time'
    ? span
    : { kind: 'time', count: Math.max(1, Math.trunc(span.size)), unit: 's' };
}

interface ChartOptions {
  readonly args: Args;
  readonly span: TimeSpan | null;
  readonly time: Reference;
  readonly series: Reference | null;
  readonly bound: readonly BoundAggregate[];
  readonly range: StageContext['range'];
}

class Chart {
  readonly #options: ChartOptions;

  constructor(options: ChartOptions) {
    this.#options = options;
  }

  plain(rows: readonly Row[], meter: Meter, weights?: Weights): Row[] {
    const { bound } = this.#options;
    const { starts, bucketOf } = this.#buckets(rows);
    const groups = new Groups(
      [bucketOf],
      bound.map(({ factory }) => factory),
      meter,
    );
    for (const row of rows) if (bucketOf(row) !== null) groups.add(row, weights?.get(row));
    const results = new Map(
      [...groups.all()].map(({ keys, accumulators }) => [
        keys[0]!,
        accumulators.map((one) => one.result()),
      ]),
    );
    return starts.map((start) => [
      start,
      ...(results.get(start) ?? bound.map(({ kind }) => emptyOf(kind))),
    ]);
  }

  bySeries(rows: readonly Row[], meter: Meter, weights?: Weights): { schema: Schema; rows: Row[] } {
    const { series, bound, args } = this.#options;
    const [aggregate] = bound;
    const { starts, bucketOf } = this.#buckets(rows);
    const inRange = rows.filter((row) => bucketOf(row) !== null);
    const { chosen, hasOther, hasNull } = this.#choose(inRange, meter, weights);
    const names = chosen.map((value) => textOf(value)!);
    const columnOf = (value: Value): string | null => {
      if (value === null) return 'NULL';
      const name = textOf(value)!;
      return chosenKeys.has(keyOf(value)) ? name : args.usesOther ? 'OTHER' : null;
    };
    const chosenKeys = new Set(chosen.map(keyOf));
    const groups = new Groups(
      [bucketOf, (row) => columnOf(series!.get(row))],
      [aggregate!.factory],
      meter,
    );
    for (const row of inRange)
      if (columnOf(series!.get(row)) !== null) groups.add(row, weights?.get(row));
    const results = new Map<string, Map<string, Value>>();
    for (const { keys, accumulators } of groups.all()) {
      const bucket = keys[0] as string;
      const cells = results.get(bucket) ?? new Map<string, Value>();
      cells.set(keys[1] as string, accumulators[0]!.result());
      results.set(bucket, cells);
    }
    const columns = [
      ...names,
      ...(hasOther && args.usesOther ? ['OTHER'] : []),
      ...(hasNull ? ['NULL'] : []),
    ];
    const shown = [...new Set(columns)];
    const schema = new Schema([
      { name: '_time', type: 'time' },
      ...shown.map((name) => ({ name, type: 'json' as const })),
    ]);
    const empty = emptyOf(aggregate!.kind);
    return {
      schema,
      rows: starts.map((start) => [
        start,
        ...shown.map((name) => results.get(start)?.get(name) ?? empty),
      ]),
    };
  }

  /** By count and sum of all, else by rows; ties by value. */
  #choose(
    rows: readonly Row[],
    meter: Meter,
    weights?: Weights,
  ): { chosen: readonly Value[]; hasOther: boolean; hasNull: boolean } {
    const { series, bound, args } = this.#options;
    const [aggregate] = bound;
    const isBySize = aggregate!.kind === 'count' || aggregate!.kind === 'sum';
    const groups = new Groups([series!.get], [isBySize ? aggregate!.factory : countRows], meter);
    for (const row of rows) groups.add(row, weights?.get(row));
    const all = groups.ordered();
    const values = all.filter(({ keys }) => keys[0] !== null);
    const sizes = new Map(values.map((group) => [group, group.accumulators[0]!.result()]));
    const bySize = values.sort((a, b) => compareValues(sizes.get(b)!, sizes.get(a)!));
    return {
      chosen: bySize.slice(0, args.limit).map(({ keys }) => keys[0]!),
      hasOther: bySize.length > args.limit,
      hasNull: all.length > bySize.length,
    };
  }

  #buckets(rows: readonly Row[]): { starts: readonly string[]; bucketOf: (row: Row) => Value } {
    const { time, range } = this.#options;
    let first: string | null = range.earliest;
    let last: string | null = range.latest;
    for (const row of rows) {
      const moment = timeValue(time.get(row));
      if (moment === null) continue;
      if (range.earliest === null && (first === null || moment < first)) first = moment;
      if (range.latest === null && (last === null || moment > last)) last = moment;
    }
    if (first === null || last === null || first > last)
      return { starts: [], bucketOf: () => null };
    const from = msOf(first);
    // `latest` is exclusive: no bucket begins at it.
    const to = range.latest === null ? msOf(last) : msOf(last) - 1;
    const span = this.#options.span ?? autoSpan(from, Math.max(from, to));
    const starts: string[] = [];
    for (let at = floorMs(from, span.unit, span.count); at <= to; at = after(at, span)) {
      requireAtMost(starts.length + 1, MAX_BUCKETS, 'time buckets');
      starts.push(timeFromMs(at)!);
    }
    const known = new Set(starts);
    return {
      starts,
      bucketOf: (row) => {
        const moment = timeValue(time.get(row));
        const start =
          moment === null ? null : timeFromMs(floorMs(msOf(moment), span.unit, span.count));
        return start !== null && known.has(start) ? start : null;
      },
    };
  }
}

function countRows(): { add(row: Row, times: number): void; result(): number } {
  let rows = 0;
  return {
    add: (_row, times) => {
      rows += times;
    },
    result: () => rows,
  };
}

function emptyOf(kind: string): Value {
  return kind === 'count' || kind === 'dc' || kind === 'distinct_count' ? 0 : null;
}

/** A start that clocks skip moves to when they go on; the bucket after it does not move. */
function after(start: number, { unit, count }: TimeSpan): number {
  return floorMs(moveMs(start, count, unit), unit, count);
}

function autoSpan(from: number, to: number): TimeSpan {
  const fits = (span: TimeSpan): boolean => {
    let count = 0;
    for (let at = floorMs(from, span.unit, span.count); at <= to; at = after(at, span)) {
      if (++count > AUTO_BUCKETS) return false;
    }
    return true;
  };
  return AUTO.find(fits) ?? AUTO.at(-1)!;
}
