/** The values of a column in a row group, in PLAIN encoding (parquet-format, Encodings.md). */
import { ByteSink } from './bytes.ts';

const HALF = 4_294_967_296;

export type WritableValue = string | number | bigint | null;

/** In plain form. */
export interface ValueBounds {
  readonly least: Uint8Array;
  readonly greatest: Uint8Array;
}

interface ValueDictionary {
  readonly values: Uint8Array;
  readonly count: number;
  readonly indexes: Int32Array;
}

export abstract class ColumnValues extends ByteSink {
  constructor() {
    super(8192);
  }

  /** False for a value that does not fit. */
  abstract add(value: WritableValue): boolean;

  plain(): Uint8Array {
    return this.written();
  }

  /** Null when it would not pay. */
  dictionary(): ValueDictionary | null {
    return null;
  }

  /** Null when not known. */
  bounds(): ValueBounds | null {
    return null;
  }

  clear(): void {
    this.length = 0;
  }
}

/** Integers of 64 bits, also unsigned ones from texts. */
export class LongValues extends ColumnValues {
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

  override bounds(): ValueBounds | null {
    const count = this.length / 8;
    const values = this.#valueOf
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

/** Integers of 32 bits. */
export class IntegerValues extends ColumnValues {
  add(value: WritableValue): boolean {
    if (typeof value !== 'number' || (value | 0) !== value) return false;
    this.ensure(4);
    this.view.setInt32(this.length, value, true);
    this.length += 4;
    return true;
  }

  override bounds(): ValueBounds | null {
    const values = new Int32Array(this.bytes.buffer, 0, this.length / 4);
    let [least, greatest] = [values[0]!, values[0]!];
    for (const value of values) {
      if (value < least) least = value;
      else if (value > greatest) greatest = value;
    }
    const bytesOf = (value: number): Uint8Array => new Uint8Array(new Int32Array([value]).buffer);
    return { least: bytesOf(least), greatest: bytesOf(greatest) };
  }
}

export class DoubleValues extends ColumnValues {
  add(value: WritableValue): boolean {
    if (typeof value !== 'number' && typeof value !== 'bigint') return false;
    this.ensure(8);
    this.view.setFloat64(this.length, Number(value), true);
    this.length += 8;
    return true;
  }

  override bounds(): ValueBounds | null {
    let least = Infinity;
    let greatest = -Infinity;
    for (let at = 0; at < this.length; at += 8) {
      const value = this.view.getFloat64(at, true);
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
    const bytesOf = (value: number): Uint8Array => new Uint8Array(new Float64Array([value]).buffer);
    // The format wants signed zeros so that both lie within.
    return { least: bytesOf(least === 0 ? -0 : least), greatest: bytesOf(greatest + 0) };
  }
}

/** Eight to a byte. */
export class BooleanValues extends ColumnValues {
  add(value: WritableValue): boolean {
    if (typeof value !== 'number' && typeof value !== 'bigint') return false;
    this.ensure(1);
    this.byte(Number(value) === 1 ? 1 : 0);
    return true;
  }

  override plain(): Uint8Array {
    return packedBits(this.written());
  }
}

/** From a byte each to eight in one. */
export function packedBits(bits: Uint8Array): Uint8Array {
  const packed = new Uint8Array(Math.ceil(bits.length / 8));
  for (let index = 0; index < bits.length; index++)
    packed[index >> 3]! |= bits[index]! << (index & 7);
  return packed;
}

/** Values of one width, from texts. */
export class FixedValues extends ColumnValues {
  readonly #bytesOf: (text: string) => Uint8Array;

  constructor(bytesOf: (text: string) => Uint8Array) {
    super();
    this.#bytesOf = bytesOf;
  }

  add(value: WritableValue): boolean {
    if (typeof value !== 'string') return false;
    this.raw(this.#bytesOf(value));
    return true;
  }
}

/** Bytes of any length, from base64. */
export class BinaryValues extends ColumnValues {
  add(value: WritableValue): boolean {
    if (typeof value !== 'string') return false;
    const bytes = Uint8Array.fromBase64(value);
    this.ensure(4);
    this.view.setUint32(this.length, bytes.length, true);
    this.length += 4;
    this.raw(bytes);
    return true;
  }
}

/** More different texts in a row group are not worth a dictionary. */
const MAX_DICTIONARY = 16_384;

/** UTF-8 texts with a dictionary. */
export class TextValues extends ColumnValues {
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
    let place = this.#places.get(text);
    if (place === undefined) {
      place = this.#places.size;
      if (place < MAX_DICTIONARY) this.#places.set(text, place);
    } else this.#saved += text.length + 4;
    this.#indexes[this.#count++] = place;
    this.text(text);
    return true;
  }

  /** Null unless it halves the size. */
  override dictionary(): ValueDictionary | null {
    const count = this.#places.size;
    if (count >= MAX_DICTIONARY || this.#saved * 2 < this.length) return null;
    const values = new ByteSink(8192);
    for (const text of this.#places.keys()) values.text(text);
    return { values: values.written(), count, indexes: this.#indexes.slice(0, this.#count) };
  }

  override clear(): void {
    super.clear();
    this.#places.clear();
    this.#count = this.#saved = 0;
  }
}
