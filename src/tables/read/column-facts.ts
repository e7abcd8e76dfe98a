/** Memory is bounded, so the facts on a large column may cover only its first part. */
import { ExactSum } from '../../columns/exact-sum.ts';

export type FactValue = string | number | boolean | null;

/** Rows between `from` (inclusive) and `to` (exclusive, except in the last bar). */
interface Bar {
  readonly from: number;
  readonly to: number;
  readonly rows: number;
}

export interface ColumnFacts {
  readonly rows: number;
  readonly blanks: number;
  /** Without blanks; a lower bound when `isDistinctBound`. */
  readonly distinct: number;
  readonly isDistinctBound: boolean;
  /** Most frequent first; ties in order of appearance. */
  readonly top: readonly { readonly value: string | number | boolean; readonly rows: number }[];
  /** Of the numbers if there are any, else of the texts, dates by time and others in code unit order; null without values. */
  readonly min: string | number | null;
  readonly max: string | number | null;
  /** Of the numbers; null without any. */
  readonly mean: number | null;
  /** At most `MAX_BARS`; empty when fewer than two numbers differ. */
  readonly histogram: readonly Bar[];
}

/** Values met after so many different ones are not counted. */
const MAX_DISTINCT = 50_000;
const MAX_TOP = 10;
const MAX_BARS = 24;
/** Longer texts are counted by their beginning. */
const MAX_TEXT = 200;
/** Kept for the histogram; 32 MB. */
const MAX_NUMBERS = 2_000_000;

export class ColumnFactsCollector {
  #rows = 0;
  #blanks = 0;
  #isBound = false;
  readonly #counts = new Map<string | number | boolean, number>();
  readonly #numbers: number[] = [];
  /** How often each of `#numbers` stands there. */
  readonly #times: number[] = [];
  readonly #sum = new ExactSum();
  readonly #isoOf: (text: string) => string | null;
  #least: { readonly text: string; readonly key: string } | null = null;
  #greatest: { readonly text: string; readonly key: string } | null = null;

  /** `isoOf` reads the column's dates, as it spells them. */
  constructor(isoOf: (text: string) => string | null = (text) => text) {
    this.#isoOf = isoOf;
  }

  /** `times`: of so many rows, which may come one by one as well. */
  add(value: FactValue, times = 1): void {
    this.#rows += times;
    if (value === null || value === '') {
      this.#blanks += times;
      return;
    }
    this.#count(typeof value === 'string' ? value.slice(0, MAX_TEXT) : value, times);
    if (typeof value === 'number') this.#addNumber(value, times);
    else if (typeof value === 'string') this.#addText(value);
  }

  facts(): ColumnFacts {
    const range = rangeOf(this.#numbers);
    const top = [...this.#counts].sort(([, a], [, b]) => b - a).slice(0, MAX_TOP);
    return {
      rows: this.#rows,
      blanks: this.#blanks,
      distinct: this.#counts.size,
      isDistinctBound: this.#isBound,
      top: top.map(([value, rows]) => ({ value, rows })),
      min: range?.min ?? this.#least?.text ?? null,
      max: range?.max ?? this.#greatest?.text ?? null,
      mean: this.#sum.count === 0 ? null : this.#sum.value / this.#sum.count,
      histogram: range === null ? [] : histogramOf(this.#numbers, MAX_BARS, this.#times),
    };
  }

  #count(value: string | number | boolean, times: number): void {
    const known = this.#counts.get(value);
    if (known === undefined && this.#counts.size >= MAX_DISTINCT) this.#isBound = true;
    else this.#counts.set(value, (known ?? 0) + times);
  }

  #addNumber(value: number, times: number): void {
    if (this.#numbers.length >= MAX_NUMBERS) return;
    this.#numbers.push(value);
    this.#times.push(times);
    this.#sum.add(value, times);
  }

  #addText(value: string): void {
    const key = this.#isoOf(value);
    // What is no date of its column is neither the first nor the last.
    if (key === null) return;
    if (this.#least === null || key < this.#least.key)
      this.#least = { text: value.slice(0, MAX_TEXT), key };
    if (this.#greatest === null || key > this.#greatest.key)
      this.#greatest = { text: value.slice(0, MAX_TEXT), key };
  }
}

/** Null without numbers. */
export function rangeOf(numbers: readonly number[]): { min: number; max: number } | null {
  if (numbers.length === 0) return null;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const number of numbers) {
    if (number < min) min = number;
    if (number > max) max = number;
  }
  return { min, max };
}

/**
 * Of equal width (1, 2 or 5 times a power of ten), at most `bars` plus two at the ends. Empty when fewer than two
 * numbers differ.
 */
export function histogramOf(
  numbers: readonly number[],
  bars: number,
  times: readonly number[] | null = null,
): Bar[] {
  const range = rangeOf(numbers);
  if (range === null || range.min === range.max) return [];
  const width = roundWidth((range.max - range.min) / bars);
  const first = Math.floor(range.min / width);
  const last = Math.max(first, Math.ceil(range.max / width) - 1);
  // The numbers are too close for a double to count in steps.
  if (!Number.isFinite(width) || width === 0 || last - first > bars + 2) return [];
  const rows = Array.from({ length: last - first + 1 }, () => 0);
  numbers.forEach((number, index) => {
    const at = Math.min(rows.length - 1, Math.max(0, Math.floor(number / width) - first));
    rows[at]! += times?.[index] ?? 1;
  });
  return rows.map((count, index) => ({
    from: tidy((first + index) * width),
    to: tidy((first + index + 1) * width),
    rows: count,
  }));
}

/** The next 1, 2 or 5 times a power of ten. */
export function roundWidth(width: number): number {
  const power = 10 ** Math.floor(Math.log10(width));
  const factor = [1, 2, 5, 10].find((one) => one * power >= width * (1 - 1e-9)) ?? 10;
  return tidy(factor * power);
}

/** Drops digits that only binary fractions have: 0.30000000000000004 becomes 0.3. */
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}
