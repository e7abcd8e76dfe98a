/** Histogram counts by value; of ids there may be millions of values. */

const MAX_SERIES = 20_000;
/** Counts in memory: one per value and bucket. */
const MAX_CELLS = 1_000_000;
/** Longer values are cut. */
const MAX_NAME = 1_000;

interface SplitBucket {
  series?: Record<string, number>;
}

/** Buckets a value was seen in, in order, with counts. */
interface One {
  size: number;
  readonly buckets: number[];
  readonly counts: number[];
}

/**
 * Counts in bounded memory, in bucket order. Past the bound the rarest half of the values moves to `OTHER`; frequent
 * values stay, unless they were rare for thousands of values.
 */
export class Series {
  readonly #byName = new Map<string, One>();
  readonly #others: Float64Array;
  #hasOthers = false;
  readonly #missing: Float64Array;
  #hasMissing = false;
  #cells = 0;
  /** Some values were dropped before all were counted. */
  isCapped = false;

  constructor(buckets: number) {
    this.#others = new Float64Array(buckets);
    this.#missing = new Float64Array(buckets);
  }

  /** `bucket` must not decrease; `value` null: missing. */
  count(value: string | null, bucket: number): void {
    if (value === null) {
      this.#missing[bucket]! += 1;
      this.#hasMissing = true;
      return;
    }
    const name = value.length > MAX_NAME ? `${value.slice(0, MAX_NAME)}…` : value;
    const one = this.#byName.get(name) ?? this.#begin(name);
    const last = one.buckets.length - 1;
    one.size += 1;
    if (one.buckets[last] === bucket) {
      one.counts[last]! += 1;
      return;
    }
    one.buckets.push(bucket);
    one.counts.push(1);
    this.#cells += 1;
  }

  /** The others as `OTHER`, missing values as `NULL`; returns the names in this order. */
  addTo(buckets: readonly SplitBucket[], limit: number, complete: number): string[] {
    this.#leaveOut(limit);
    const shown = this.#bySize();
    const names = shown.map(([name]) => name);
    if (this.#hasOthers && !names.includes('OTHER')) names.push('OTHER');
    if (this.#hasMissing && !names.includes('NULL')) names.push('NULL');
    const empty = names.map((name) => [name, 0] as const);
    for (const bucket of buckets) bucket.series = Object.fromEntries(empty);
    const add = (name: string, at: number, count: number): void => {
      if (at < complete) buckets[at]!.series![name]! += count;
    };
    for (const [name, one] of shown)
      for (const [index, at] of one.buckets.entries()) add(name, at, one.counts[index]!);
    if (this.#hasOthers) for (const [at, count] of this.#others.entries()) add('OTHER', at, count);
    if (this.#hasMissing) for (const [at, count] of this.#missing.entries()) add('NULL', at, count);
    return names;
  }

  #begin(name: string): One {
    if (this.#byName.size >= MAX_SERIES || this.#cells >= MAX_CELLS) {
      this.#leaveOut(Math.ceil(this.#byName.size / 2));
      this.isCapped = true;
    }
    const one: One = { size: 0, buckets: [], counts: [] };
    this.#byName.set(name, one);
    return one;
  }

  #bySize(): [string, One][] {
    return [...this.#byName].sort(
      ([a, { size: ofA }], [b, { size: ofB }]) => ofB - ofA || (a < b ? -1 : 1),
    );
  }

  #leaveOut(kept: number): void {
    for (const [name, one] of this.#bySize().slice(kept)) {
      for (const [index, at] of one.buckets.entries()) this.#others[at]! += one.counts[index]!;
      this.#cells -= one.buckets.length;
      this.#byName.delete(name);
      this.#hasOthers = true;
    }
  }
}
