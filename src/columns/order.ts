/** Steps of numbers, such as spans of time, and the rows that come first. */
import {
  type DictionaryColumn,
  isNullAt,
  narrowed,
  type NumberColumn,
  type Selection,
} from './column.ts';

/** Numbers rounded down to multiples of `step` since `origin`: as keys of a grouping they are a histogram. */
export function floored(column: NumberColumn, step: number, origin = 0): DictionaryColumn {
  const { values, nulls } = column;
  const codeOf = new Map<number | null, number>();
  const codes = new Int32Array(values.length);
  let code = 0;
  /** Of the step of `code`. */
  let [from, to] = [0, -Infinity];
  for (let row = 0; row < values.length; row++) {
    // Neighbours mostly fall into the same step.
    if (values[row]! < to && values[row]! >= from && !isNullAt(nulls, row)) {
      codes[row] = code;
      continue;
    }
    // The remainder is exact also where the quotient is not.
    const past = (values[row]! - origin) % step;
    const start = isNullAt(nulls, row) ? null : values[row]! - (past < 0 ? past + step : past);
    code = codeOf.get(start) ?? codeOf.size;
    codeOf.set(start, code);
    codes[row] = code;
    // Past 2^53 bounds are rounded.
    const isExact = start !== null && [start, start + step].every(Number.isSafeInteger);
    [from, to] = isExact ? [start, start + step] : [0, -Infinity];
  }
  return { kind: 'dictionary', codes: narrowed(codes, codeOf.size), entries: [...codeOf.keys()] };
}

export interface Ranked {
  readonly value: number;
  readonly row: number;
}

/**
 * Keeps the rows with the `count` greatest numbers; of equal ones those pushed first. Rows are numbered by the caller
 * (`firstRow` of a batch). Rows without a number never rank.
 */
export class TopRows {
  readonly #count: number;
  /** Unsorted between cuts. */
  #held: Ranked[] = [];
  /** A number must be above it to matter. */
  #floor = -Infinity;

  constructor(count: number) {
    this.#count = count;
  }

  /** False when no row of the column can rank, by its statistics. */
  mayTake({ most }: NumberColumn): boolean {
    return this.#count > 0 && (most > this.#floor || this.#held.length < this.#count);
  }

  push(column: NumberColumn, selection: Selection, firstRow: number): void {
    if (!this.mayTake(column)) return;
    const { values, nulls } = column;
    for (let at = 0; at < values.length; at++) {
      const value = values[at]!;
      const isBelow = this.#held.length >= this.#count && value <= this.#floor;
      if (isBelow || selection?.[at] === 0 || isNullAt(nulls, at)) continue;
      this.#held.push({ value, row: firstRow + at });
      if (this.#held.length >= 2 * this.#count + 64) this.#cut();
    }
    this.#cut();
  }

  /** Greatest first. */
  rows(): readonly Ranked[] {
    this.#cut();
    return this.#held;
  }

  #cut(): void {
    // Stable: equal ones stay in the order they were pushed.
    this.#held = this.#held.sort((a, b) => b.value - a.value).slice(0, this.#count);
    if (this.#held.length === this.#count) this.#floor = this.#held.at(-1)!.value;
  }
}
