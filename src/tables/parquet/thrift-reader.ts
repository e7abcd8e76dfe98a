/**
 * Reads Thrift's compact protocol. Sizes are checked before allocation and nesting is bounded, because the bytes are
 * untrusted.
 */
import { AppError } from '../../base/errors.ts';
import {
  type ThriftList,
  type ThriftMap,
  ThriftStruct,
  ThriftType,
  type ThriftValue,
} from './thrift.ts';

/** Parquet's own structures nest eight deep. */
const MAX_DEPTH = 32;
/** Per tree; a footer of the largest size has a million. */
const MAX_VALUES = 4_000_000;

/** The bytes end inside a structure: more of them may help. */
export class ThriftEnd extends Error {}

/**
 * Returns the offset after the struct too. Throws `ThriftEnd` when the bytes end within it and `unreadable-file` when
 * they are invalid.
 */
export function readThrift(bytes: Uint8Array, from = 0): { value: ThriftStruct; end: number } {
  const reader = new ThriftReader(bytes, from);
  const value = reader.struct(0);
  return { value, end: reader.offset };
}

class ThriftReader {
  offset: number;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #values = 0;

  constructor(bytes: Uint8Array, offset: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.offset = offset;
  }

  struct(depth: number): ThriftStruct {
    if (depth > MAX_DEPTH) throw damaged('nested too deep');
    const struct = new ThriftStruct();
    let id = 0;
    for (;;) {
      const head = this.#byte();
      if (head === 0) return struct;
      const type = head & 0x0f;
      id = head >> 4 === 0 ? this.#zigzag() : id + (head >> 4);
      struct.set(id, type, this.#value(type, depth));
    }
  }

  #value(type: number, depth: number): ThriftValue {
    if (++this.#values > MAX_VALUES) throw damaged('more values than a file can need');
    switch (type) {
      case ThriftType.true:
        return true;
      case ThriftType.false:
        return false;
      case ThriftType.byte:
        return (this.#byte() << 24) >> 24;
      case ThriftType.i16:
      case ThriftType.i32:
        return this.#zigzag();
      case ThriftType.i64:
        return this.#long();
      case ThriftType.double:
        this.#need(8);
        this.offset += 8;
        return this.#view.getFloat64(this.offset - 8, true);
      case ThriftType.binary:
        return this.#binary();
      case ThriftType.list:
      case ThriftType.set:
        return this.#list(depth);
      case ThriftType.map:
        return this.#map(depth);
      case ThriftType.struct:
        return this.struct(depth + 1);
      default:
        throw damaged(`unknown field type ${type}`);
    }
  }

  #list(depth: number): ThriftList {
    if (depth > MAX_DEPTH) throw damaged('nested too deep');
    const head = this.#byte();
    const element = head & 0x0f;
    const count = head >> 4 === 15 ? this.#size() : head >> 4;
    const items: ThriftValue[] = [];
    for (let index = 0; index < count; index++) items.push(this.#element(element, depth + 1));
    return { element, items };
  }

  #map(depth: number): ThriftMap {
    if (depth > MAX_DEPTH) throw damaged('nested too deep');
    const count = this.#size();
    if (count === 0) return { key: 0, value: 0, entries: [] };
    const types = this.#byte();
    const [key, value] = [types >> 4, types & 0x0f];
    const entries: [ThriftValue, ThriftValue][] = [];
    for (let index = 0; index < count; index++) {
      entries.push([this.#element(key, depth + 1), this.#element(value, depth + 1)]);
    }
    return { key, value, entries };
  }

  /** Unlike a field's, the type of a boolean element does not tell its value. */
  #element(type: number, depth: number): ThriftValue {
    if (type !== ThriftType.true && type !== ThriftType.false) return this.#value(type, depth);
    if (++this.#values > MAX_VALUES) throw damaged('more values than a file can need');
    return this.#byte() === ThriftType.true;
  }

  #binary(): Uint8Array {
    const size = this.#size();
    this.#need(size);
    this.offset += size;
    return this.#bytes.subarray(this.offset - size, this.offset);
  }

  #size(): number {
    const size = this.#varint();
    if (size >= 2 ** 31) throw damaged('a negative size');
    return size;
  }

  /** Up to five bytes; further bits are dropped as in the protocol's 32-bit arithmetic. */
  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw damaged('a number of too many bytes');
  }

  #zigzag(): number {
    const value = this.#varint();
    return (value >>> 1) ^ -(value & 1);
  }

  #long(): number | bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      const long = BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
      const number = Number(long);
      return Number.isSafeInteger(number) ? number : long;
    }
    throw damaged('a number of too many bytes');
  }

  #byte(): number {
    this.#need(1);
    return this.#bytes[this.offset++]!;
  }

  #need(bytes: number): void {
    if (this.offset + bytes > this.#bytes.length) throw new ThriftEnd();
  }
}

function damaged(reason: string): AppError {
  return new AppError('unreadable-file', `damaged Parquet structure: ${reason}`);
}
