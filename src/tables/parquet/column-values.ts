/** Gathers the values of a column in a row group, in PLAIN encoding (parquet-format, Encodings.md). */

const HALF = 4_294_967_296;

export type WritableValue = string | number | bigint | null;

/** In plain form. */
export interface ValueBounds {
  readonly least: Uint8Array;
  readonly greatest: Uint8Array;
}

export interface GatheredValues {
  add(value: WritableValue): boolean;
  /** In bytes. */
  readonly size: number;
  plain(): Uint8Array;
  dictionary?(): { values: Uint8Array; count: number; indexes: Int32Array } | null;
  bounds?(): ValueBounds | null;
  clear(): void;
}

abstract class Buffered {
  protected bytes = new Uint8Array(8192);
  protected view = new DataView(this.bytes.buffer);
  protected length = 0;

  get size(): number {
    return this.length;
  }

  plain(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  protected ensure(size: number): void {
    if (this.length + size <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(this.length + size, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }
}

/** Integers of 64 bits, also unsigned ones from texts. */
export class LongValues extends Buffered implements GatheredValues {
  readonly #valueOf: ((text: string) => bigint) | null;

  constructor(valueOf: ((text: string) => bigint) | null = null) {
    super();
    this.#valueOf = valueOf;
  }

  add(value: WritableValue): boolean {
    this.ensure(8);
    if (typeof value === 'number' && Number.isSafeInteger(value)) {
      this.view.setUint32(this.length, value >>> 0, true);
      this.view.setInt32(this.length + 4, Math.floor(value / HALF), true);
    } else if (typeof value === 'bigint') this.view.setBigInt64(this.length, value, true);
    else if (typeof value === 'string' && this.#valueOf) {
      this.view.setBigUint64(this.length, this.#valueOf(value), true);
    } else return false;
    this.length += 8;
    return true;
  }

  bounds(): ValueBounds | null {
    const count = this.length / 8;
    const isUnsigned = this.#valueOf !== null;
    const values = isUnsigned
      ? new BigUint64Array(this.bytes.buffer, 0, count)
      : new BigInt64Array(this.bytes.buffer, 0, count);
    let least = 0;
    let greatest = 0;
    for (let index = 1; index < count; index++) {
      if (values[index]! < values[least]!) least = index;
      if (values[index]! > values[greatest]!) greatest = index;
    }
    return {
      least: this.bytes.slice(least * 8, least * 8 + 8),
      greatest: this.bytes.slice(greatest * 8, greatest * 8 + 8),
    };
  }
}

export class DoubleValues extends Buffered implements GatheredValues {
  add(value: WritableValue): boolean {
    if (typeof value !== 'number' && typeof value !== 'bigint') return false;
    this.ensure(8);
    this.view.setFloat64(this.length, Number(value), true);
    this.length += 8;
    return true;
  }

  bounds(): ValueBounds | null {
    let least = Infinity;
    let greatest = -Infinity;
    for (let at = 0; at < this.length; at += 8) {
      const value = this.view.getFloat64(at, true);
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
    // The format wants signed zeros so that both lie within.
    return { least: doubleBytes(least === 0 ? -0 : least), greatest: doubleBytes(greatest + 0) };
  }
}

function doubleBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return bytes;
}

/** Eight to a byte. */
export class BooleanValues extends Buffered implements GatheredValues {
  add(value: WritableValue): boolean {
    if (typeof value !== 'number' && typeof value !== 'bigint') return false;
    this.ensure(1);
    this.bytes[this.length++] = Number(value) === 1 ? 1 : 0;
    return true;
  }

  override plain(): Uint8Array {
    const packed = new Uint8Array(Math.ceil(this.length / 8));
    for (let index = 0; index < this.length; index++) {
      packed[index >> 3]! |= this.bytes[index]! << (index & 7);
    }
    return packed;
  }
}

/** Values of one width, from texts. */
export class FixedValues extends Buffered implements GatheredValues {
  readonly #width: number;
  readonly #bytesOf: (text: string) => Uint8Array;

  constructor(width: number, bytesOf: (text: string) => Uint8Array) {
    super();
    this.#width = width;
    this.#bytesOf = bytesOf;
  }

  add(value: WritableValue): boolean {
    if (typeof value !== 'string') return false;
    this.ensure(this.#width);
    this.bytes.set(this.#bytesOf(value), this.length);
    this.length += this.#width;
    return true;
  }
}

const encoder = new TextEncoder();
/** More different texts in a row group are not worth a dictionary. */
const MAX_DICTIONARY = 16_384;

/** UTF-8 texts with a dictionary. */
export class TextValues extends Buffered implements GatheredValues {
  readonly #places = new Map<string, number>();
  #indexes = new Int32Array(1024);
  #count = 0;
  /** Bytes of repeated values, which a dictionary saves. */
  #saved = 0;

  add(value: WritableValue): boolean {
    if (value === null) return false;
    const text = String(value);
    if (this.#count === this.#indexes.length) {
      const larger = new Int32Array(this.#count * 2);
      larger.set(this.#indexes);
      this.#indexes = larger;
    }
    this.#index(text);
    this.ensure(4 + text.length * 3);
    const { written } = encoder.encodeInto(text, this.bytes.subarray(this.length + 4));
    this.view.setUint32(this.length, written, true);
    this.length += 4 + written;
    return true;
  }

  #index(text: string): void {
    let place = this.#places.get(text);
    if (place === undefined) {
      place = this.#places.size;
      if (place < MAX_DICTIONARY) this.#places.set(text, place);
    } else this.#saved += text.length + 4;
    this.#indexes[this.#count++] = place;
  }

  /** Null unless it halves the size. */
  dictionary(): { values: Uint8Array; count: number; indexes: Int32Array } | null {
    const size = this.#places.size;
    if (size >= MAX_DICTIONARY || this.#saved * 2 < this.length) return null;
    const values = new TextBytes();
    for (const text of this.#places.keys()) values.add(text);
    return { values: values.plain(), count: size, indexes: this.#indexes.slice(0, this.#count) };
  }

  override clear(): void {
    super.clear();
    this.#places.clear();
    this.#count = this.#saved = 0;
  }
}

class TextBytes extends Buffered {
  add(text: string): void {
    this.ensure(4 + text.length * 3);
    const { written } = encoder.encodeInto(text, this.bytes.subarray(this.length + 4));
    this.view.setUint32(this.length, written, true);
    this.length += 4 + written;
  }
}
