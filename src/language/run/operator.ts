/**
 * An operator takes batches and returns batches. The naive interpreter and the streaming runner use the same
 * operators, so these are the reference semantics.
 */
import { STRATEGY } from '../limits.ts';
import { Problem } from '../syntax/problem.ts';
import type { Schema } from './schema.ts';
import { compareValues, sizeOf, type Row, type Value } from '../expressions/value.ts';

export interface Meter {
  /** Call at least every few thousand rows. Throws `time_budget`. */
  tick(): void;
  /** Counts bytes that stay in memory; negative when freed. Throws `memory_budget`. */
  hold(bytes: number): void;
}

/** Used once. */
export interface Operator {
  push(rows: Row[]): Row[];
  finish(): Row[];
  /** True when no further input can change the output. */
  isDone?(): boolean;
}

/** Rows that stand for several equal ones, and for how many. */
export type Weights = ReadonlyMap<Row, number>;

interface Step {
  readonly schema: Schema;
  /** Takes weighted rows in any order, with the result of the rows they stand for. */
  readonly takesWeights?: boolean;
}

/** Output columns are known before rows are. */
export interface Rows extends Step {
  readonly kind: 'rows';
  readonly start: (meter: Meter, weights?: Weights) => Operator;
}

/** Output columns depend on the rows; `schema` is what is known without them, and open. */
interface WholeTable extends Step {
  readonly kind: 'table';
  readonly run: (
    rows: Row[],
    meter: Meter,
    weights?: Weights,
  ) => { readonly schema: Schema; readonly rows: Row[] };
}

export type Compiled = Rows | WholeTable;

/** Each batch by itself, with what `start` remembers of those before. */
export function streamed(schema: Schema, start: (meter: Meter) => Operator['push']): Rows {
  return {
    kind: 'rows',
    schema,
    start: (meter) => ({ push: start(meter), finish: () => [] }),
  };
}

export function mapped(schema: Schema, map: (row: Row, meter: Meter) => Row): Rows {
  return streamed(schema, (meter) => (rows) => rows.map((row) => map(row, meter)));
}

export function filtered(schema: Schema, test: (row: Row) => boolean): Rows {
  return streamed(schema, () => (rows) => rows.filter(test));
}

export function unchanged(schema: Schema): Rows {
  return streamed(schema, () => (rows) => rows);
}

/** The first `count` rows of each combination; `keyOf` is null for rows that are left out. */
export function firstOfEach(
  schema: Schema,
  keyOf: (row: Row) => string | null,
  count: number,
): Rows {
  return streamed(schema, (meter) => {
    const seen = new Map<string, number>();
    return (rows) =>
      rows.filter((row) => {
        const key = keyOf(row);
        if (key === null) return false;
        const times = seen.get(key) ?? 0;
        if (times === 0) meter.hold(key.length * 2 + 48);
        seen.set(key, times + 1);
        return times < count;
      });
  });
}

/** One step after the other. */
export function chained(input: Schema, steps: readonly Rows[]): Rows {
  if (steps.length < 2) return steps[0] ?? unchanged(input);
  return {
    kind: 'rows',
    schema: steps.at(-1)!.schema,
    start: (meter) => chain(steps.map((step) => step.start(meter))),
  };
}

export function chain(operators: readonly Operator[]): Operator {
  return {
    push: (rows) => operators.reduce((batch, operator) => operator.push(batch), rows),
    finish: () =>
      operators.reduce<Row[]>(
        (batch, operator) => operator.push(batch).concat(operator.finish()),
        [],
      ),
    // A step behind a full one may still hold rows, which `finish` returns.
    isDone: () => operators.some((operator) => operator.isDone?.()),
  };
}

export function collected(schema: Schema, run: (rows: Row[], meter: Meter) => Row[]): Rows {
  return {
    kind: 'rows',
    schema,
    start: (meter) => {
      const held: Row[] = [];
      return {
        push: (rows) => {
          holdRows(meter, rows);
          for (const row of rows) held.push(row);
          return [];
        },
        finish: () => run(held, meter),
      };
    },
  };
}

export function holdRows(meter: Meter, rows: readonly Row[]): void {
  meter.hold(rows.reduce((sum, row) => sum + sizeOfRow(row), 0));
}

function sizeOfRow(row: Row): number {
  let bytes = 32;
  for (const value of row) bytes += sizeOf(value);
  return bytes;
}

export function head(schema: Schema, count: number): Rows {
  return {
    kind: 'rows',
    schema,
    start: () => {
      let rest = count;
      return {
        push: (rows) => {
          const taken = rows.slice(0, rest);
          rest -= taken.length;
          return taken;
        },
        finish: () => [],
        isDone: () => rest === 0,
      };
    },
  };
}

/** Memory counts the rows kept, not those that pass. */
export function tail(schema: Schema, count: number): Rows {
  return {
    kind: 'rows',
    schema,
    start: (meter) => {
      let kept: Row[] = [];
      let bytes = 0;
      let most = 0;
      return {
        push: (rows) => {
          for (const row of lastOf(rows, count)) {
            kept.push(row);
            bytes += sizeOfRow(row);
          }
          // Rarely: a new list per batch would cost as much as the list is long.
          if (kept.length - count > Math.max(STRATEGY.tailSlackRows, count / 4)) {
            for (const row of kept.slice(0, kept.length - count)) bytes -= sizeOfRow(row);
            kept = lastOf(kept, count);
          }
          if (bytes > most) {
            meter.hold(bytes - most);
            most = bytes;
          }
          return [];
        },
        finish: () => lastOf(kept, count),
      };
    },
  };
}

function lastOf(rows: readonly Row[], count: number): Row[] {
  return count === 0 ? [] : rows.slice(-count);
}

interface SortKey {
  readonly get: (row: Row) => Value;
  readonly isDescending: boolean;
}

/** Stable; `limit` keeps the first. */
export function sorted(schema: Schema, keys: readonly SortKey[], limit: number | null): Rows {
  return collected(schema, (rows, meter) => {
    let calls = 0;
    rows.sort((a, b) => {
      if ((++calls & 0xfff) === 0) meter.tick();
      for (const { get, isDescending } of keys) {
        const order = compareValues(get(a), get(b));
        if (order !== 0) return isDescending ? -order : order;
      }
      return 0;
    });
    return limit === null ? rows : rows.slice(0, limit);
  });
}

/** `what` completes "A stage may make <n> <what>". */
export function requireAtMost(count: number, limit: number, what: string): void {
  if (count > limit) throw new Problem('too_large', `A stage may make ${limit} ${what}`);
}
