/**
 * Sums stay exact until rounded at the end (exact-sum.ts), so a result depends neither on row order nor on whether
 * SQL added some rows up before.
 */
import { ExactSum, PackedIntegers } from './exact-sum.ts';
import type { Meter } from '../run/operator.ts';
import type { Use } from '../run/schema.ts';
import { timeValue } from './calendar-parts.ts';
import { MAX_LISTED } from '../limits.ts';
import {
  compareValues,
  doubleOf,
  finite,
  isNumber,
  keyOf,
  sizeOf,
  type Row,
  type Value,
  type Evaluate,
} from './value.ts';

export interface Accumulator {
  add(row: Row, times: number): void;
  result(): Value;
}

export interface AccumulatorFactory {
  (meter: Meter): Accumulator;
  /** The result depends neither on row order nor on whether equal rows come as one with a weight. */
  readonly takesWeights?: boolean;
}

function weighing(make: (meter: Meter) => Accumulator): AccumulatorFactory {
  return Object.assign(make, { takesWeights: true });
}

interface AggregateInput {
  readonly get: Evaluate | null;
  /** For `earliest` and `latest`. */
  readonly time: Evaluate | null;
}

interface AggregateDefinition {
  readonly summary: string;
  readonly needsTime?: boolean;
  readonly make: (input: AggregateInput) => AccumulatorFactory;
}

interface NumberFold {
  add(x: number, times: number): void;
  addPacked?(packed: PackedIntegers): void;
  result(): Value;
}

/** Numbers and numeric texts count; other values are skipped. */
function overNumbers(make: () => NumberFold): AggregateDefinition['make'] {
  return ({ get }) =>
    () => {
      const inner = make();
      return {
        add: (row, times) => {
          const value: unknown = get!(row);
          if (value instanceof PackedIntegers) {
            inner.addPacked!(value);
            return;
          }
          const number =
            typeof value === 'string' || isNumber(value as Value) ? doubleOf(value as Value) : null;
          if (number !== null) inner.add(number, times);
        },
        result: () => inner.result(),
      };
    };
}

function weighingNumbers(make: () => Required<NumberFold>): AggregateDefinition['make'] {
  const build = overNumbers(make);
  return (input) => weighing(build(input));
}

const sum = weighingNumbers(() => {
  const total = new ExactSum();
  return {
    add: (x, times) => total.add(x, times),
    addPacked: (packed) => total.addPacked(packed),
    result: () => (total.count === 0 ? null : finite(total.value)),
  };
});

const average = weighingNumbers(() => {
  const total = new ExactSum();
  return {
    add: (x, times) => total.add(x, times),
    addPacked: (packed) => total.addPacked(packed),
    result: () => (total.count === 0 ? null : finite(total.value / total.count)),
  };
});

/** Squared distances from the mean, by Welford's method. */
function spread(
  finish: (squares: number, count: number) => number | null,
): AggregateDefinition['make'] {
  return overNumbers(() => {
    let count = 0;
    let mean = 0;
    let squares = 0;
    return {
      add: (x) => {
        count++;
        const before = x - mean;
        mean += before / count;
        squares += before * (x - mean);
      },
      result: () => {
        const value = finish(squares, count);
        return value === null ? null : finite(value);
      },
    };
  });
}

const population = (squares: number, count: number): number | null =>
  count === 0 ? null : squares / count;
const sample = (squares: number, count: number): number | null =>
  count < 2 ? null : squares / (count - 1);
const root = (value: number | null): number | null => (value === null ? null : Math.sqrt(value));

const rangeOf = weighingNumbers(() => {
  let least = Infinity;
  let most = -Infinity;
  return {
    addPacked: ({ least: low, most: high }) => {
      least = Math.min(least, low);
      most = Math.max(most, high);
    },
    add: (x) => {
      least = Math.min(least, x);
      most = Math.max(most, x);
    },
    result: () => (least > most ? null : finite(most - least)),
  };
});

/** Interpolated between the closest ranks. */
function percentile(percent: number): AggregateDefinition['make'] {
  return ({ get }) =>
    (meter) => {
      const numbers: number[] = [];
      return {
        add: (row) => {
          const value = get!(row);
          const number = typeof value === 'string' || isNumber(value) ? doubleOf(value) : null;
          if (number === null) return;
          meter.hold(8);
          numbers.push(number);
        },
        result: () => {
          if (numbers.length === 0) return null;
          numbers.sort((a, b) => a - b);
          const rank = (percent / 100) * (numbers.length - 1);
          const low = numbers[Math.floor(rank)]!;
          const high = numbers[Math.ceil(rank)]!;
          return finite(low + (high - low) * (rank - Math.floor(rank)));
        },
      };
    };
}

function extreme(sign: number): AggregateDefinition['make'] {
  return ({ get }) =>
    weighing(() => {
      let best: Value = null;
      return {
        add: (row) => {
          const given: unknown = get!(row);
          const value =
            given instanceof PackedIntegers
              ? sign > 0
                ? given.most
                : given.least
              : (given as Value);
          if (value !== null && (best === null || compareValues(value, best) * sign > 0))
            best = value;
        },
        result: () => best,
      };
    });
}

function counted(
  finish: (values: Map<string, { value: Value; count: number }>) => Value,
): AggregateDefinition['make'] {
  return ({ get }) =>
    weighing((meter) => {
      const seen = new Map<string, { value: Value; count: number }>();
      return {
        add: (row, times) => {
          const value = get!(row);
          if (value === null) return;
          const key = keyOf(value);
          const known = seen.get(key);
          if (known) known.count += times;
          else {
            meter.hold(sizeOf(value) + key.length * 2 + 64);
            seen.set(key, { value, count: times });
          }
        },
        result: () => finish(seen),
      };
    });
}

function byOrder(isLast: boolean): AggregateDefinition['make'] {
  return ({ get }) =>
    () => {
      let kept: Value = null;
      return {
        add: (row) => {
          if (!isLast && kept !== null) return;
          const value = get!(row);
          if (value !== null) kept = value;
        },
        result: () => kept,
      };
    };
}

function byTime(sign: number): AggregateDefinition['make'] {
  return ({ get, time }) =>
    () => {
      let kept: Value = null;
      let at: string | null = null;
      return {
        add: (row) => {
          const value = get!(row);
          const moment = timeValue(time!(row));
          if (value === null || moment === null) return;
          if (at !== null && (moment < at ? -1 : moment > at ? 1 : 0) * sign <= 0) return;
          kept = value;
          at = moment;
        },
        result: () => kept,
      };
    };
}

const count: AggregateDefinition['make'] = ({ get }) =>
  weighing(() => {
    let rows = 0;
    return {
      add: (row, times) => {
        const value: unknown = get === null ? true : get(row);
        if (value instanceof PackedIntegers) rows += value.count;
        else if (value !== null) rows += times;
      },
      result: () => rows,
    };
  });

export function countTrue(condition: Evaluate): AccumulatorFactory {
  return weighing(() => {
    let rows = 0;
    return {
      add: (row, times) => {
        if (condition(row) === true) rows += times;
      },
      result: () => rows,
    };
  });
}

const distinct = counted((values) => values.size);
const ordered = (values: Map<string, { value: Value; count: number }>): Value[] =>
  [...values.values()].map(({ value }) => value).sort(compareValues);

const definitions: Record<string, AggregateDefinition> = {
  count: { summary: 'number of rows, or of values that are not null', make: count },
  dc: { summary: 'number of different values', make: distinct },
  distinct_count: { summary: 'same as dc', make: distinct },
  sum: { summary: 'sum of the numbers', make: sum },
  avg: { summary: 'mean of the numbers', make: average },
  mean: { summary: 'same as avg', make: average },
  min: { summary: 'smallest value', make: extreme(-1) },
  max: { summary: 'largest value', make: extreme(1) },
  range: { summary: 'largest number less the smallest', make: rangeOf },
  median: { summary: 'the middle of the numbers', make: percentile(50) },
  mode: {
    summary: 'the most frequent value; the smallest of several',
    make: counted((values) => {
      let best: { value: Value; count: number } | null = null;
      for (const one of values.values()) {
        const isBetter =
          best === null ||
          one.count > best.count ||
          (one.count === best.count && compareValues(one.value, best.value) < 0);
        if (isBetter) best = one;
      }
      return best?.value ?? null;
    }),
  },
  stdev: { summary: 'standard deviation of a sample', make: spread((s, n) => root(sample(s, n))) },
  var: { summary: 'variance of a sample', make: spread(sample) },
  stdevp: { summary: 'standard deviation of all', make: spread((s, n) => root(population(s, n))) },
  varp: { summary: 'variance of all', make: spread(population) },
  first: { summary: 'first value, in row order', make: byOrder(false) },
  last: { summary: 'last value, in row order', make: byOrder(true) },
  earliest: { summary: 'value of the earliest row by _time', needsTime: true, make: byTime(-1) },
  latest: { summary: 'value of the latest row by _time', needsTime: true, make: byTime(1) },
  values: {
    summary: 'the different values, in order',
    make: counted((values) => (values.size === 0 ? null : ordered(values))),
  },
  list: {
    summary: `the values in row order, the first ${MAX_LISTED}`,
    make:
      ({ get }) =>
      (meter) => {
        const kept: Value[] = [];
        return {
          add: (row) => {
            const value = kept.length < MAX_LISTED ? get!(row) : null;
            if (value === null) return;
            meter.hold(sizeOf(value));
            kept.push(value);
          },
          result: () => (kept.length === 0 ? null : kept),
        };
      },
  },
};

export const terseAggregates: ReadonlyMap<string, AggregateDefinition> = new Map(
  Object.entries(definitions),
);

export function terseAggregate(name: string): AggregateDefinition | null {
  const known = terseAggregates.get(name);
  if (known) return known;
  const match = /^(?:perc|p)(\d{1,3})$/.exec(name);
  const percent = Number(match?.[1] ?? -1);
  if (percent < 0 || percent > 100) return null;
  return { summary: 'percentile', make: percentile(percent) };
}

export function useOfAggregate(name: string): Use {
  if (['count', 'sum', 'avg', 'mean'].includes(name)) return 'sum';
  return ['min', 'max', 'range'].includes(name) ? 'numbers' : 'value';
}

export const flagAggregates: Readonly<Record<string, AggregateDefinition['make']>> = {
  sum,
  avg: average,
  count,
  min: extreme(-1),
  max: extreme(1),
  stddev: spread((s, n) => root(population(s, n))),
  variance: spread(population),
  distinct,
};
