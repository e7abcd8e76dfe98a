/**
 * What the values of one column are like: how many are blank, which are frequent, how numbers are spread. Fed value by
 * value and bounded in memory, so the answer for a large column is about as much of it as was fed.
 */

/** A value as a row presents it; blank cells are null. */
export type FactValue = string | number | boolean | null;

/** A number and how many rows have it between `from` (inclusive) and `to` (exclusive, but for the last one). */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly rows: number;
}

/** The facts about one column. */
export interface ColumnFacts {
  /** Rows looked at. */
  readonly rows: number;
  readonly blanks: number;
  /** Different values, blanks left out; a lower bound when `isDistinctBound`. */
  readonly distinct: number;
  readonly isDistinctBound: boolean;
  /** The most frequent first; equally frequent ones as they were met. */
  readonly top: readonly { readonly value: string | number | boolean; readonly rows: number }[];
  /** Of numbers when there are any, else of texts in code unit order; null without values. */
  readonly min: string | number | null;
  readonly max: string | number | null;
  /** Of the numbers; null without any. */
  readonly mean: number | null;
  /** Of the numbers, at most `MAX_BARS`; empty when fewer than two differ. */
  readonly histogram: readonly Bar[];
}

/** Different values counted; the counts of those met later are not known. */
const MAX_DISTINCT = 50_000;
const MAX_TOP = 10;
const MAX_BARS = 24;
/** Longer texts are counted by their beginning: a facet is for reading. */
const MAX_TEXT = 200;
/** Numbers kept for the histogram; 16 MB. */
const MAX_NUMBERS = 2_000_000;

/** Collects the facts about a column. */
export class ColumnFactsCollector {
  #rows = 0;
  #blanks = 0;
  #isBound = false;
  readonly #counts = new Map<string | number | boolean, number>();
  readonly #numbers: number[] = [];
  #sum = 0;
  #minText: string | null = null;
  #maxText: string | null = null;

  /** Takes the next row's value. */
  add(value: FactValue): void {
    this.#rows++;
    if (value === null || value === '') {
      this.#blanks++;
      return;
    }
    this.#count(typeof value === 'string' ? value.slice(0, MAX_TEXT) : value);
    if (typeof value === 'number') this.#addNumber(value);
    else if (typeof value === 'string') this.#addText(value);
  }

  /** What is known after the values so far. */
  facts(): ColumnFacts {
    const range = rangeOf(this.#numbers);
    const top = [...this.#counts].sort(([, a], [, b]) => b - a).slice(0, MAX_TOP);
    return {
      rows: this.#rows,
      blanks: this.#blanks,
      distinct: this.#counts.size,
      isDistinctBound: this.#isBound,
      top: top.map(([value, rows]) => ({ value, rows })),
      min: range?.min ?? this.#minText,
      max: range?.max ?? this.#maxText,
      mean: this.#numbers.length === 0 ? null : this.#sum / this.#numbers.length,
      histogram: range === null ? [] : histogramOf(this.#numbers, MAX_BARS),
    };
  }

  #count(value: string | number | boolean): void {
    const known = this.#counts.get(value);
    if (known === undefined && this.#counts.size >= MAX_DISTINCT) this.#isBound = true;
    else this.#counts.set(value, (known ?? 0) + 1);
  }

  #addNumber(value: number): void {
    if (this.#numbers.length >= MAX_NUMBERS) return;
    this.#numbers.push(value);
    this.#sum += value;
  }

  #addText(value: string): void {
    if (this.#minText === null || value < this.#minText) this.#minText = value.slice(0, MAX_TEXT);
    if (this.#maxText === null || value > this.#maxText) this.#maxText = value.slice(0, MAX_TEXT);
  }
}

/** Least and greatest; null without numbers. */
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
 * Numbers counted in bars of equal, round width (1, 2 or 5 times a power of ten), at most `bars` and two more at the
 * ends. Empty when fewer than two differ.
 */
export function histogramOf(numbers: readonly number[], bars: number): Bar[] {
  const range = rangeOf(numbers);
  if (range === null || range.min === range.max) return [];
  const width = roundWidth((range.max - range.min) / bars);
  const first = Math.floor(range.min / width);
  const last = Math.max(first, Math.ceil(range.max / width) - 1);
  // Numbers that differ by less than a double can count in steps.
  if (!Number.isFinite(width) || width === 0 || last - first > bars + 2) return [];
  const rows = Array.from({ length: last - first + 1 }, () => 0);
  for (const number of numbers) {
    const at = Math.min(rows.length - 1, Math.max(0, Math.floor(number / width) - first));
    rows[at]!++;
  }
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

/** Without the last digits that only binary fractions have: 0.30000000000000004 is 0.3. */
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}
