/**
 * One run of a recipe: how large it is, the seed of its choices, what it counted and what it found wrong.
 */

/** `short` runs with every test; `long` is for `bun run faults`. */
export type TrialSize = 'short' | 'long';

/** The record of one run. A recipe decides by it alone: no clock, no other source of chance. */
export class Trial {
  readonly size: TrialSize;
  readonly seed: number;
  /** How many times as long as usual something takes whose length is time; 1 unless the caller asked for more. */
  readonly lengthening: number;
  readonly #only: RegExp;
  readonly #counts = new Map<string, number>();
  readonly #failures: string[] = [];
  #state: number;

  constructor(size: TrialSize, seed: number, lengthening = 1, only = '') {
    this.size = size;
    this.lengthening = lengthening;
    this.#only = new RegExp(only);
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** What was done, by name, in the order it was first done. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  get failures(): readonly string[] {
    return this.#failures;
  }

  /** How often to repeat something in a run of this size. */
  times(short: number, long: number): number {
    return this.size === 'short' ? short : long;
  }

  /** Whether a part of a long recipe is wanted, by its name. */
  isWanted(part: string): boolean {
    return this.#only.test(part);
  }

  count(what: string, amount = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + amount);
  }

  /** Notes the largest of the values given under a name. */
  countMost(what: string, value: number): void {
    this.#counts.set(what, Math.max(this.#counts.get(what) ?? 0, value));
  }

  fail(text: string): void {
    this.#failures.push(text);
  }

  /** Notes `text` as a failure unless `isGood`. */
  check(isGood: boolean, text: string): void {
    if (!isGood) this.fail(text);
  }

  /** At least 0, less than 1; the same sequence for the same seed (mulberry32). */
  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` to `most`, both inclusive. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.random() * (most - least + 1));
  }

  pick<T>(items: readonly T[]): T {
    return items[this.integer(0, items.length - 1)]!;
  }
}
