/**
 * Lossless sums of doubles, rounded once at the end, so independent of order and weights (Shewchuk, Adaptive
 * Precision Floating-Point Arithmetic, 1997; rounding as in Python's fsum).
 */

/** Finite numbers added up before they come here. */
export class PackedNumbers {
  constructor(
    readonly count: number,
    /** Their sum is exactly that of these; see `ExactSum.addScaled`. */
    readonly parts: readonly { readonly value: number; readonly exponent: number }[],
    readonly least: number,
    readonly most: number,
    /** All of them in any order, where they were asked for. */
    readonly values: readonly number[] = [],
  ) {}
}

/** From here on numbers are kept apart, divided by SCALE, so that no intermediate sum leaves the range of doubles. */
const BIG = 2 ** 970;
const SCALE = 2 ** 200;

/** A sum past the range of doubles is no number. */
export class ExactSum {
  count = 0;
  /** Most sums are of small integers and need no parts. */
  #integer = 0;
  /** Non-overlapping, smallest first. */
  #parts: number[] = [];
  #bigParts: number[] = [];
  /** Infinities, which no other number changes. */
  #infinite = 0;

  add(x: number, times = 1): void {
    this.count += times;
    const next = this.#integer + x * times;
    if (Number.isInteger(x) && Number.isSafeInteger(next) && Number.isSafeInteger(x * times)) {
      this.#integer = next;
      return;
    }
    // Doubling is exact: the multiple is added in powers of two.
    let power = 0;
    for (let rest = times; rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) this.addScaled(x, power);
      power++;
    }
  }

  addPacked({ count, parts }: PackedNumbers): void {
    this.count += count;
    for (const { value, exponent } of parts) this.addScaled(value, exponent);
  }

  /** `value` * 2^`exponent`, which must lose no digits, and may be past the range of doubles. */
  addScaled(value: number, exponent: number): void {
    if (!Number.isFinite(value)) this.#infinite += value;
    else if (Math.abs(scaled(value, exponent)) < BIG) grow(this.#parts, scaled(value, exponent));
    else grow(this.#bigParts, scaled(value, exponent - 200));
  }

  get value(): number {
    if (this.#infinite !== 0) return this.#infinite;
    if (this.#parts.length === 0 && this.#bigParts.length === 0) return this.#integer;
    const parts = [...this.#parts];
    grow(parts, this.#integer);
    const bigParts = [...this.#bigParts];
    if (!bigParts.some((part) => part !== 0)) return rounded(parts);
    for (const part of parts) {
      const small = part / SCALE;
      // Of a part too small for a double only the sign can matter.
      grow(bigParts, small === 0 ? Math.sign(part) * Number.MIN_VALUE : small);
    }
    return rounded(bigParts) * SCALE;
  }
}

/** Exact unless the result is out of range; in two steps, because a power of two may be out of range itself. */
function scaled(value: number, exponent: number): number {
  const half = Math.trunc(exponent / 2);
  return value * 2 ** half * 2 ** (exponent - half);
}

/** Adds to the parts without loss. */
function grow(parts: number[], given: number): void {
  let x = given;
  let kept = 0;
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

function rounded(parts: readonly number[]): number {
  let at = parts.length - 1;
  let high = parts[at]!;
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
