/**
 * Lossless sums of doubles, rounded once at the end, so independent of order and weights (Shewchuk, Adaptive
 * Precision Floating-Point Arithmetic, 1997; rounding as in Python's fsum).
 */

/** Integers added up by SQL. */
export class PackedIntegers {
  constructor(
    readonly count: number,
    /** The sum is `high` * 2^32 + `low`; both exact. */
    readonly high: number,
    readonly low: number,
    readonly least: number,
    readonly most: number,
  ) {}
}

/** A sum past the range of doubles is no number. */
export class ExactSum {
  count = 0;
  /** Most sums are of small integers and need no parts. */
  #integer = 0;
  /** Non-overlapping, smallest first. */
  #parts: number[] = [];

  add(x: number, times = 1): void {
    this.count += times;
    const next = this.#integer + x * times;
    if (Number.isInteger(x) && Number.isSafeInteger(next) && Number.isSafeInteger(x * times)) {
      this.#integer = next;
      return;
    }
    // Doubling is exact: the multiple is added in powers of two.
    let step = x;
    for (let rest = times; rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) this.#take(step);
      step *= 2;
    }
  }

  addPacked({ count, high, low }: PackedIntegers): void {
    this.count += count;
    this.#take(high * 4_294_967_296);
    this.#take(low);
  }

  #take(given: number): void {
    let x = given;
    let kept = 0;
    const parts = this.#parts;
    for (let part of parts) {
      if (Math.abs(x) < Math.abs(part)) [x, part] = [part, x];
      const high = x + part;
      const low = part - (high - x);
      if (low !== 0) parts[kept++] = low;
      x = high;
    }
    parts.length = kept;
    parts.push(x);
  }

  get value(): number {
    if (this.#parts.length === 0) return this.#integer;
    const all = new ExactSum();
    all.#parts = [...this.#parts];
    all.#take(this.#integer);
    return rounded(all.#parts);
  }
}

function rounded(parts: readonly number[]): number {
  let at = parts.length - 1;
  let high = parts[at]!;
  if (!Number.isFinite(high)) return high;
  let low = 0;
  while (at > 0 && low === 0) {
    const x = high;
    const y = parts[--at]!;
    high = x + y;
    low = y - (high - x);
  }
  // No tie when the remainder has the same sign.
  if (at > 0 && low !== 0 && low < 0 === parts[at - 1]! < 0) {
    const twice = low * 2;
    const next = high + twice;
    if (twice === next - high) return next;
  }
  return high;
}
