/**
 * Exact sums of many groups at once.
 *
 * A double is an integer of 53 bits times a power of two. Per group and power the high and the low half of those
 * integers are added as integers, which loses nothing; `ExactSum` puts them together. A number costs two additions.
 */
import { PackedNumbers } from './exact-sum.ts';

/** Additions after which the low halves, below 2^32 each, may come near 2^53. */
const CARRY_EVERY = 2 ** 20;
const WORD = 2 ** 32;
/** 2^52, the hidden bit, as seen in the high word. */
const HIDDEN = 0x10_0000;
/** Of the lowest bit of a double whose exponent bits are 0 or 1. */
const LEAST_EXPONENT = -1074;

/** What is wanted of a measure's numbers besides their count and sum. */
export interface MeasureOrder {
  /** `least` and `most`; else they are Infinity and -Infinity. */
  readonly isCompared: boolean;
  /** `values`, for percentiles. */
  readonly keepsValues: boolean;
}

export class GroupSums {
  readonly #order: MeasureOrder;
  counts = new Float64Array(64);
  #least = new Float64Array(64);
  #most = new Float64Array(64);
  #values: number[][] = [];
  /** Numbers in `#values`. */
  kept = 0;
  /** By group and slot. */
  #high = new Float64Array(64);
  #low = new Float64Array(64);
  /** Sums of integers of 32 bits, by group. */
  #whole = new Float64Array(64);
  /** By exponent bits; -1 for none. Few powers occur in a column. */
  readonly #slots = new Int16Array(2048).fill(-1);
  readonly #exponents: number[] = [];
  #width = 1;
  #capacity = 64;
  #added = 0;

  constructor(order: MeasureOrder) {
    this.#order = order;
    this.#clear(0, 64);
  }

  /** Doubles held per group. */
  get width(): number {
    return 2 * this.#width + 4;
  }

  /**
   * Adds `values[codes[i]]` (without codes `values[i]`) to group `groups[i]`; negative groups are skipped. Numbers are
   * finite.
   */
  add(
    groups: Int32Array,
    groupCount: number,
    values: Float64Array | Int32Array,
    codes: ArrayLike<number> | null,
  ): void {
    const { length } = groups;
    if (values instanceof Float64Array) this.#noteExponents(values);
    this.#reserve(groupCount);
    if (values instanceof Float64Array) this.#addDoubles(groups, values, codes);
    else this.#addIntegers(groups, values, codes);
    this.#count(groups);
    if (this.#order.isCompared) this.#rangeOf(groups, values, codes);
    if (this.#order.keepsValues) this.#keep(groups, values, codes);
    this.#added += length;
    if (this.#added >= CARRY_EVERY) this.#carry();
  }

  #addDoubles(groups: Int32Array, values: Float64Array, codes: ArrayLike<number> | null): void {
    const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
    const high = this.#high;
    const low = this.#low;
    const slots = this.#slots;
    const width = this.#width;
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row]!;
      if (group < 0) continue;
      const at = 2 * (codes === null ? row : codes[row]!);
      const top = words[at + 1]!;
      const bits = (top >>> 20) & 0x7ff;
      const cell = group * width + slots[bits]!;
      const upper = bits === 0 ? top & 0xf_ffff : (top & 0xf_ffff) | HIDDEN;
      if (top >>> 31 === 0) {
        high[cell]! += upper;
        low[cell]! += words[at]!;
      } else {
        high[cell]! -= upper;
        low[cell]! -= words[at]!;
      }
    }
  }

  #addIntegers(groups: Int32Array, values: Int32Array, codes: ArrayLike<number> | null): void {
    const whole = this.#whole;
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row]!;
      if (group >= 0) whole[group]! += values[codes === null ? row : codes[row]!]!;
    }
  }

  #count(groups: Int32Array): void {
    const { counts } = this;
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row]!;
      if (group >= 0) counts[group]!++;
    }
  }

  #rangeOf(
    groups: Int32Array,
    values: Float64Array | Int32Array,
    codes: ArrayLike<number> | null,
  ): void {
    const least = this.#least;
    const most = this.#most;
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row]!;
      if (group < 0) continue;
      const value = values[codes === null ? row : codes[row]!]!;
      if (value < least[group]!) least[group] = value;
      if (value > most[group]!) most[group] = value;
    }
  }

  #keep(
    groups: Int32Array,
    values: Float64Array | Int32Array,
    codes: ArrayLike<number> | null,
  ): void {
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row]!;
      if (group < 0) continue;
      (this.#values[group] ??= []).push(values[codes === null ? row : codes[row]!]!);
      this.kept++;
    }
  }

  /** Null for a group without numbers. */
  packed(group: number): PackedNumbers | null {
    const count = group < this.#capacity ? this.counts[group]! : 0;
    if (count === 0) return null;
    const parts = [{ value: this.#whole[group]!, exponent: 0 }];
    this.#exponents.forEach((exponent, slot) => {
      const cell = group * this.#width + slot;
      parts.push({ value: this.#high[cell]!, exponent: exponent + 32 });
      parts.push({ value: this.#low[cell]!, exponent });
    });
    const used = parts.filter(({ value }) => value !== 0);
    const values = this.#values[group] ?? [];
    return new PackedNumbers(count, used, this.#least[group]!, this.#most[group]!, values);
  }

  /** Back to no groups. */
  reset(): void {
    this.#values = [];
    this.kept = 0;
    this.#added = 0;
    this.#high.fill(0);
    this.#low.fill(0);
    this.#clear(0, this.#capacity);
  }

  #noteExponents(values: Float64Array): void {
    const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
    const slots = this.#slots;
    let known = this.#exponents.length;
    for (let at = 1; at < words.length; at += 2) {
      const bits = (words[at]! >>> 20) & 0x7ff;
      if (slots[bits]! >= 0) continue;
      slots[bits] = known++;
      this.#exponents.push(Math.max(1, bits) - 1 + LEAST_EXPONENT);
    }
  }

  #reserve(groupCount: number): void {
    const width = this.#exponents.length;
    if (groupCount <= this.#capacity && width <= this.#width) return;
    const before = { capacity: this.#capacity, width: this.#width };
    const high = this.#high;
    const low = this.#low;
    // Some powers more: others will come, and each time all groups move.
    if (width > this.#width) this.#width = width + 4;
    if (groupCount > this.#capacity) this.#capacity = 2 ** Math.ceil(Math.log2(groupCount));
    this.#high = new Float64Array(this.#capacity * this.#width);
    this.#low = new Float64Array(this.#capacity * this.#width);
    for (let group = 0; group < before.capacity; group++) {
      const from = group * before.width;
      this.#high.set(high.subarray(from, from + before.width), group * this.#width);
      this.#low.set(low.subarray(from, from + before.width), group * this.#width);
    }
    if (this.#capacity === before.capacity) return;
    const grown = (old: Float64Array): Float64Array<ArrayBuffer> => {
      const all = new Float64Array(this.#capacity);
      all.set(old);
      return all;
    };
    [this.counts, this.#whole] = [grown(this.counts), grown(this.#whole)];
    [this.#least, this.#most] = [grown(this.#least), grown(this.#most)];
    this.#clear(before.capacity, this.#capacity);
  }

  #clear(from: number, to: number): void {
    this.counts.fill(0, from, to);
    this.#whole.fill(0, from, to);
    this.#least.fill(Infinity, from, to);
    this.#most.fill(-Infinity, from, to);
  }

  #carry(): void {
    this.#added = 0;
    const low = this.#low;
    for (let cell = 0; cell < low.length; cell++) {
      const carried = Math.trunc(low[cell]! / WORD);
      if (carried === 0) continue;
      this.#high[cell]! += carried;
      low[cell]! -= carried * WORD;
    }
  }
}
