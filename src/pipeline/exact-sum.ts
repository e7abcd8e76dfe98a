/**
 * Sums of doubles without loss: what is kept adds up to the exact sum, which is rounded once, at the end. So a sum is the same
 * in any order, and whether equal numbers come one by one or with how often (Shewchuk, Adaptive Precision Floating-Point
 * Arithmetic, 1997; the rounding is that of Python's fsum).
 */

/** Integers another part has added up. */
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

/** A sum in the making. Past the range of doubles it is no number. */
export class ExactSum {
  count = 0;
  /** Most sums are sums of small integers: they need no parts. */
  #integer = 0;
  /** Do not overlap, smallest first. */
  #parts: number[] = [];

  /** Takes a number so many times. */
  add(x: number, times = 1): void {
    this.count += times;
    const next = this.#integer + x * times;
    if (Number.isInteger(x) && Number.isSafeInteger(next) && Number.isSafeInteger(x * times)) {
      this.#integer = next;
      return;
    }
    // Twice a double is a double: so many times is exact in steps of powers of two.
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

/** The double nearest to what parts that do not overlap add up to. */
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
  // A tie is no tie when what is left of it has the same sign.
  if (at > 0 && low !== 0 && low < 0 === parts[at - 1]! < 0) {
    const twice = low * 2;
    const next = high + twice;
    if (twice === next - high) return next;
  }
  return high;
}
