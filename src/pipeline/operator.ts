/**
 * How stages work on rows: an operator takes batches and gives batches; the naive interpreter and the streaming runner
 * use the same ones, so they are the reference semantics (SL-150).
 */
import { Problem } from './problem.ts';
import type { Schema } from './schema.ts';
import { compareValues, sizeOf, type Row, type Value } from './value.ts';

/** Budgets of one run (SL-152). */
export interface Meter {
  /** To be called at least every few thousand rows. Throws `time_budget`. */
  tick(): void;
  /** Counts bytes that stay in memory. Throws `memory_budget`. */
  hold(bytes: number): void;
}

/** A stage at work; used once. */
export interface Operator {
  /** The rows that are ready after these came in. */
  push(rows: Row[]): Row[];
  /** The rows that had to wait for the end of the input. */
  finish(): Row[];
  /** True when no further input can change anything. */
  isDone?(): boolean;
}

/** Rows that stand for several equal ones, and for how many. */
export type Weights = ReadonlyMap<Row, number>;

/** A stage that fits its input. */
export type Compiled =
  /** Output columns are known before rows are. */
  | {
      readonly kind: 'rows';
      readonly schema: Schema;
      readonly start: (meter: Meter, weights?: Weights) => Operator;
      /** Takes rows with weights, in any order, and gives the same as for the rows they stand for. */
      readonly takesWeights?: boolean;
    }
  /** Output columns depend on the rows; `schema` is what is known without them, and open. */
  | {
      readonly kind: 'table';
      readonly schema: Schema;
      readonly run: (
        rows: Row[],
        meter: Meter,
        weights?: Weights,
      ) => { readonly schema: Schema; readonly rows: Row[] };
      /** As above. */
      readonly takesWeights?: boolean;
    };

/** Rows one by one, in place. */
export function mapped(schema: Schema, map: (row: Row) => Row): Compiled {
  return {
    kind: 'rows',
    schema,
    start: () => ({ push: (rows) => rows.map(map), finish: () => [] }),
  };
}

/** The rows that pass. */
export function filtered(schema: Schema, test: (row: Row) => boolean): Compiled {
  return {
    kind: 'rows',
    schema,
    start: () => ({ push: (rows) => rows.filter(test), finish: () => [] }),
  };
}

/** Everything unchanged. */
export function unchanged(schema: Schema): Compiled {
  return { kind: 'rows', schema, start: () => ({ push: (rows) => rows, finish: () => [] }) };
}

/** All rows at once, when they are there. */
export function collected(schema: Schema, run: (rows: Row[], meter: Meter) => Row[]): Compiled {
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

/** Counts rows that are kept. */
export function holdRows(meter: Meter, rows: readonly Row[]): void {
  meter.hold(rows.reduce((sum, row) => sum + sizeOfRow(row), 0));
}

function sizeOfRow(row: Row): number {
  let bytes = 32;
  for (const value of row) bytes += sizeOf(value);
  return bytes;
}

/** The first rows. */
export function head(schema: Schema, count: number): Compiled {
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

const TAIL_SLACK_ROWS = 512;

/** The last rows. Counts those that are kept, not those that pass. */
export function tail(schema: Schema, count: number): Compiled {
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
          // Now and then: to begin a new list with each batch would cost as much as the list is long.
          if (kept.length - count > Math.max(TAIL_SLACK_ROWS, count / 4)) {
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

/** What rows are ordered by. */
export interface SortKey {
  readonly get: (row: Row) => Value;
  readonly isDescending: boolean;
}

/** All rows in the order of SL-11, stable; `limit` keeps the first. */
export function sorted(schema: Schema, keys: readonly SortKey[], limit: number | null): Compiled {
  return collected(schema, (rows, meter) => {
    const compare = rowOrder(keys);
    let calls = 0;
    rows.sort((a, b) => {
      if ((++calls & 0xfff) === 0) meter.tick();
      return compare(a, b);
    });
    return limit === null ? rows : rows.slice(0, limit);
  });
}

/** The order of rows by keys. */
function rowOrder(keys: readonly SortKey[]): (a: Row, b: Row) => number {
  return (a, b) => {
    for (const { get, isDescending } of keys) {
      const order = compareValues(get(a), get(b));
      if (order !== 0) return isDescending ? -order : order;
    }
    return 0;
  };
}

/** Refuses more than a stage may make; `what` completes "A stage may make <n> <what>". */
export function requireAtMost(count: number, limit: number, what: string): void {
  if (count > limit) throw new Problem('too_large', `A stage may make ${limit} ${what}`);
}
