/**
 * Sums stay exact until rounded at the end (exact-sum.ts), so a result depends neither on row order nor on whether
 * SQL added some rows before.
 */
import { ExactSum, PackedNumbers } from '../../columns/exact-sum.ts';
import type { Meter } from '../run/operator.ts';
import type { Use } from '../run/schema.ts';
import { timeValue } from './time.ts';
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
  /** How many values it skipped because they are text and no numbers, blank ones apart. */
  leftOut?(): number;
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
  addPacked?(packed: PackedNumbers): void;
  result(): number | null;
}

/** Numbers and numeric texts count; other values are skipped. */
function overNumbers(make: (meter: Meter) => NumberFold): AggregateDefinition['make'] {
  return ({ get }) =>
    (meter) => {
      const { add, addPacked, result } = make(meter);
      let texts = 0;
      return {
        add: (row, times) => {
          const value: unknown = get!(row);
          if (value instanceof PackedNumbers) {
            addPacked!(value);
            return;
          }
          const number =
            typeof value === 'string' || isNumber(value as Value) ? doubleOf(value as Value) : null;
          if (number !== null) add(number, times);
          else if (typeof value === 'string' && /\S/.test(value)) texts += times;
        },
        leftOut: () => texts,
        result: () => {
          const value = result();
          return value === null ? null : finite(value);
        },
      };
    };
}

function weighingNumbers(
  make: (meter: Meter) => Required<NumberFold>,
): AggregateDefinition['make'] {
  const build = overNumbers(make);
  return (input) => weighing(build(input));
}

function summed(finish: (total: ExactSum) => number): AggregateDefinition['make'] {
  return weighingNumbers(() => {
    const total = new ExactSum();
    return {
      add: (x, times) => total.add(x, times),
      addPacked: (packed) => total.addPacked(packed),
      result: () => (total.count === 0 ? null : finish(total)),
    };
  });
}

/** Squared distances from the mean, by Welford's method; `missing` is 1 for a sample. */
function spread(missing: 0 | 1, finish: (variance: number) => number = (x) => x) {
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
      result: () => (count <= missing ? null : finish(squares / (count - missing))),
    };
  });
}

const rangeOf = weighingNumbers(() => {
  let least = Infinity;
  let most = -Infinity;
  const widen = (low: number, high: number): void => {
    least = Math.min(least, low);
    most = Math.max(most, high);
  };
  return {
    add: (x) => widen(x, x),
    addPacked: ({ least: low, most: high }) => widen(low, high),
    result: () => (least > most ? null : most - least),
  };
});

/** Interpolated between the closest ranks. */
function percentile(percent: number): AggregateDefinition['make'] {
  return weighingNumbers((meter) => {
    const numbers: number[] = [];
    const add = (x: number): void => {
      meter.hold(8);
      numbers.push(x);
    };
    return {
      add: (x, times) => {
        for (let time = 0; time < times; time++) add(x);
      },
      addPacked: ({ values }) => values.forEach(add),
      result: () => {
        if (numbers.length === 0) return null;
        const sorted = Float64Array.from(numbers).sort();
        const rank = (percent / 100) * (sorted.length - 1);
        const low = sorted[Math.floor(rank)]!;
        const high = sorted[Math.ceil(rank)]!;
        return low + (high - low) * (rank - Math.floor(rank));
      },
    };
  });
}

function extreme(sign: number): AggregateDefinition['make'] {
  return ({ get }) =>
    weighing(() => {
      let best: Value = null;
      return {
        add: (row) => {
          const given: unknown = get!(row);
          const value =
            given instanceof PackedNumbers
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

interface Seen {
  readonly value: Value;
  count: number;
}

function counted(finish: (values: readonly Seen[]) => Value): AggregateDefinition['make'] {
  return ({ get }) =>
    weighing((meter) => {
      const seen: Seen[] = [];
      // A text is its own key: another one made of it would have to be read again.
      const texts = new Map<string, Seen>();
      const others = new Map<string, Seen>();
      return {
        add: (row, times) => {
          const value = get!(row);
          if (value === null) return;
          const isText = typeof value === 'string';
          const key = isText ? value : keyOf(value);
          const keyed = isText ? texts : others;
          const known = keyed.get(key);
          if (known) known.count += times;
          else {
            meter.hold(sizeOf(value) + key.length * 2 + 64);
            const first = { value, count: times };
            keyed.set(key, first);
            seen.push(first);
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
        if (value instanceof PackedNumbers) rows += value.count;
        else if (value !== null) rows += times;
      },
      result: () => rows,
    };
  });

/** Other values that are not null count as well, unless `isStrict`. */
export function countTrue(condition: Evaluate, isStrict: boolean): AccumulatorFactory {
  const get: Evaluate = (row) => {
    const value = condition(row);
    return typeof value === 'boolean' || isStrict ? value === true || null : value;
  };
  return count({ get, time: null });
}

export const countRows = count({ get: null, time: null });

const average = summed((total) => total.value / total.count);
const distinct = counted(({ length }) => length);
const ordered = (values: readonly Seen[]): Value[] =>
  values.map(({ value }) => value).sort(compareValues);

const definitions: Record<string, AggregateDefinition> = {
  count: { summary: 'number of rows, or of values that are not null', make: count },
  dc: { summary: 'number of different values', make: distinct },
  distinct_count: { summary: 'same as dc', make: distinct },
  sum: { summary: 'sum of the numbers', make: summed(({ value }) => value) },
  avg: { summary: 'mean of the numbers', make: average },
  mean: { summary: 'same as avg', make: average },
  min: { summary: 'smallest value', make: extreme(-1) },
  max: { summary: 'largest value', make: extreme(1) },
  range: { summary: 'largest number less the smallest', make: rangeOf },
  median: { summary: 'the middle of the numbers', make: percentile(50) },
  mode: {
    summary: 'the most frequent value; the smallest of several',
    make: counted((values) => {
      let best: Seen | null = null;
      for (const one of values) {
        const isBetter =
          best === null ||
          one.count > best.count ||
          (one.count === best.count && compareValues(one.value, best.value) < 0);
        if (isBetter) best = one;
      }
      return best?.value ?? null;
    }),
  },
  stdev: { summary: 'standard deviation of a sample', make: spread(1, Math.sqrt) },
  var: { summary: 'variance of a sample', make: spread(1) },
  stdevp: { summary: 'standard deviation of all', make: spread(0, Math.sqrt) },
  varp: { summary: 'variance of all', make: spread(0) },
  first: { summary: 'first value, in row order', make: byOrder(false) },
  last: { summary: 'last value, in row order', make: byOrder(true) },
  earliest: { summary: 'value of the earliest row by _time', needsTime: true, make: byTime(-1) },
  latest: { summary: 'value of the latest row by _time', needsTime: true, make: byTime(1) },
  values: {
    summary: 'the different values, in order',
    make: counted((values) => (values.length === 0 ? null : ordered(values))),
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

const PERCENTILE = /^(?:perc|p)(\d{1,3})$/;

export function terseAggregate(name: string): AggregateDefinition | null {
  const known = terseAggregates.get(name);
  if (known) return known;
  const match = PERCENTILE.exec(name);
  const percent = Number(match?.[1] ?? -1);
  if (percent < 0 || percent > 100) return null;
  return { summary: 'percentile', make: percentile(percent) };
}

export function useOfAggregate(name: string): Use {
  if (['count', 'sum', 'avg', 'mean'].includes(name)) return 'sum';
  if (name === 'median' || PERCENTILE.test(name)) return 'list';
  return ['min', 'max', 'range'].includes(name) ? 'numbers' : 'value';
}

const FLAG_NAMES: Readonly<Record<string, string>> = {
  Sum: 'sum',
  Avg: 'avg',
  Count: 'count',
  Max: 'max',
  Min: 'min',
  StdDev: 'stdevp',
  Variance: 'varp',
};

/** Their case does not matter. */
export const flagAggregateNames = Object.keys(FLAG_NAMES);

/** As spelled in the reference, with the terse aggregate it stands for. */
export function flagAggregate(
  called: string,
): { readonly name: string; readonly terse: string } | null {
  const name = flagAggregateNames.find((one) => one.toLowerCase() === called.toLowerCase());
  return name === undefined ? null : { name, terse: FLAG_NAMES[name]! };
}
