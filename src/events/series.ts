/**
 * Counts of a histogram by value (EV-80), whatever the values are: of ids there may be millions.
 */

/** Counts kept at a time, in all buckets together: 32 MiB. */
const MAX_CELLS = 4 * 1024 * 1024;
const MAX_SERIES = 20_000;
/** Values are names of series; longer ones are cut. */
const MAX_NAME = 1_000;

/** A bucket that series are put into. */
export interface SplitBucket {
  series?: Record<string, number>;
}

interface One {
  size: number;
  readonly counts: Float64Array;
}

/**
 * Counts by value and bucket in bounded memory. Past its bound the rarest half of the values so far goes into `OTHER`; what
 * is common stays, unless it was rare for thousands of values.
 */
export class Series {
  readonly #buckets: number;
  readonly #most: number;
  readonly #byName = new Map<string, One>();
  /** Null until a value was left out. */
  #others: Float64Array | null = null;
  /** Values were left out before all were counted. */
  isCapped = false;

  constructor(buckets: number) {
    this.#buckets = buckets;
    this.#most = Math.min(MAX_SERIES, Math.floor(MAX_CELLS / buckets));
  }

  count(value: string, bucket: number): void {
    const name = value.length > MAX_NAME ? `${value.slice(0, MAX_NAME)}…` : value;
    let series = this.#byName.get(name);
    if (series === undefined) {
      if (this.#byName.size >= this.#most) {
        this.#leaveOut(this.#most / 2);
        this.isCapped = true;
      }
      series = { size: 0, counts: new Float64Array(this.#buckets) };
      this.#byName.set(name, series);
    }
    series.size += 1;
    series.counts[bucket]! += 1;
  }

  /** Puts the largest series into the buckets and the others into `OTHER`; answers the names, largest first. */
  addTo(buckets: readonly SplitBucket[], limit: number, complete: number): string[] {
    if (this.#byName.size > limit) this.#leaveOut(limit);
    const shown = this.#bySize();
    const others = this.#others;
    for (const [index, bucket] of buckets.entries()) {
      const at = (counts: Float64Array): number => (index < complete ? counts[index]! : 0);
      bucket.series = Object.fromEntries(shown.map(([name, { counts }]) => [name, at(counts)]));
      if (others !== null) bucket.series['OTHER'] = (bucket.series['OTHER'] ?? 0) + at(others);
    }
    const names = shown.map(([name]) => name);
    return others === null ? names : [...names.filter((name) => name !== 'OTHER'), 'OTHER'];
  }

  #bySize(): [string, One][] {
    return [...this.#byName].sort(
      ([a, { size: ofA }], [b, { size: ofB }]) => ofB - ofA || (a < b ? -1 : 1),
    );
  }

  /** Keeps the `kept` largest. */
  #leaveOut(kept: number): void {
    const others = (this.#others ??= new Float64Array(this.#buckets));
    for (const [name, { counts }] of this.#bySize().slice(Math.floor(kept))) {
      for (const [index, count] of counts.entries()) others[index]! += count;
      this.#byName.delete(name);
    }
  }
}
