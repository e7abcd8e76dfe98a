/**
 * Thrift's compact protocol as Parquet uses it, read into a tree that keeps every field, known or not, so that a file
 * rewritten from it loses nothing.
 *
 * Sizes are checked before anything is allocated and nesting is bounded: the bytes come from strangers. Source:
 * github.com/apache/thrift, doc/specs/thrift-compact-protocol.md.
 */
import { AppError } from '../../base/errors.ts';

/** Field and element types of the protocol. */
export const ThriftType = {
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const;

/** Integers are numbers as far as those are exact. */
export type ThriftValue =
  boolean | number | bigint | Uint8Array | ThriftList | ThriftMap | ThriftStruct;

/** A list or set with its element type. */
export interface ThriftList {
  readonly element: number;
  readonly items: ThriftValue[];
}

/** A map; Parquet has none, so it is only carried along. */
export interface ThriftMap {
  readonly key: number;
  readonly value: number;
  readonly entries: readonly (readonly [ThriftValue, ThriftValue])[];
}

/** Parquet's own structures nest eight deep. */
const MAX_DEPTH = 32;
/** Values of one tree; a footer of the largest size has a million. */
const MAX_VALUES = 4_000_000;
const decoder = new TextDecoder();

/** Raised when the bytes end inside a structure: more of them may help. */
export class ThriftEnd extends Error {}

/** A struct by field id. The accessors answer null for a field that is absent or of another type. */
export class ThriftStruct {
  readonly #ids: number[] = [];
  readonly #types: number[] = [];
  readonly #values: ThriftValue[] = [];

  get(id: number): ThriftValue | null {
    const index = this.#ids.indexOf(id);
    return index < 0 ? null : this.#values[index]!;
  }

  /** An integer of any width that a number holds exactly. */
  int(id: number): number | null {
    const value = this.get(id);
    return typeof value === 'number' ? value : null;
  }

  boolean(id: number): boolean | null {
    const value = this.get(id);
    return typeof value === 'boolean' ? value : null;
  }

  bytes(id: number): Uint8Array | null {
    const value = this.get(id);
    return value instanceof Uint8Array ? value : null;
  }

  text(id: number): string | null {
    const value = this.bytes(id);
    return value && decoder.decode(value);
  }

  struct(id: number): ThriftStruct | null {
    const value = this.get(id);
    return value instanceof ThriftStruct ? value : null;
  }

  /** Items of a list of structs; empty when there is no such list. */
  structs(id: number): ThriftStruct[] {
    return this.list(id).filter((item) => item instanceof ThriftStruct);
  }

  /** Items of a list; empty when there is no such list. */
  list(id: number): readonly ThriftValue[] {
    const value = this.get(id);
    return value !== null && typeof value === 'object' && 'element' in value ? value.items : [];
  }

  /** Ids and types of the fields, in ascending order of their ids. */
  fields(): { readonly id: number; readonly type: number; readonly value: ThriftValue }[] {
    return this.#ids
      .map((id, index) => ({ id, type: this.#types[index]!, value: this.#values[index]! }))
      .sort((a, b) => a.id - b.id);
  }

  /** Sets or replaces a field; `type` is ignored for booleans. */
  set(id: number, type: number, value: ThriftValue): this {
    const found = this.#ids.indexOf(id);
    const index = found < 0 ? this.#ids.length : found;
    this.#ids[index] = id;
    this.#types[index] =
      typeof value === 'boolean' ? (value ? ThriftType.true : ThriftType.false) : type;
    this.#values[index] = value;
    return this;
  }

  remove(...ids: number[]): this {
    for (const id of ids) {
      const index = this.#ids.indexOf(id);
      if (index < 0) continue;
      for (const list of [this.#ids, this.#types, this.#values]) list.splice(index, 1);
    }
    return this;
  }

  /** A copy whose own fields can be changed; values are shared. */
  copy(): ThriftStruct {
    const copy = new ThriftStruct();
    for (const { id, type, value } of this.fields()) copy.set(id, type, value);
    return copy;
  }
}

/** A list of structs as a field value. */
export function structList(items: ThriftStruct[]): ThriftList {
  return { element: ThriftType.struct, items };
}

/**
 * The struct at `from` and the offset after it. Throws `ThriftEnd` when the bytes end within it and `unreadable-file`
 * when they are none.
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

  /** Up to five bytes; further bits are dropped as the protocol's 32-bit arithmetic does. */
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

/** The bytes of a struct, fields in ascending order. */
export function thriftBytes(struct: ThriftStruct): Uint8Array {
  const writer = new ThriftWriter();
  writer.struct(struct);
  return writer.bytes();
}

class ThriftWriter {
  #buffer = new Uint8Array(256);
  #length = 0;

  bytes(): Uint8Array {
    return this.#buffer.slice(0, this.#length);
  }

  struct(struct: ThriftStruct): void {
    let last = 0;
    for (const { id, type, value } of struct.fields()) {
      const step = id - last;
      last = id;
      if (step > 0 && step <= 15) this.#byte((step << 4) | type);
      else {
        this.#byte(type);
        this.#varint(BigInt.asUintN(32, BigInt((id << 1) ^ (id >> 31))));
      }
      if (typeof value !== 'boolean') this.#value(type, value);
    }
    this.#byte(0);
  }

  #value(type: number, value: ThriftValue): void {
    if (value instanceof ThriftStruct) this.struct(value);
    else if (value instanceof Uint8Array) {
      this.#varint(BigInt(value.length));
      this.#raw(value);
    } else if (typeof value === 'boolean') {
      this.#byte(value ? ThriftType.true : ThriftType.false);
    } else if (typeof value === 'object') this.#collection(value);
    else if (type === ThriftType.byte) this.#byte(Number(value) & 0xff);
    else if (type === ThriftType.double) {
      const bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setFloat64(0, Number(value), true);
      this.#raw(bytes);
    } else {
      const long = BigInt(value);
      this.#varint(BigInt.asUintN(64, (long << 1n) ^ (long >> 63n)));
    }
  }

  #collection(value: ThriftList | ThriftMap): void {
    if ('items' in value) {
      const { element, items } = value;
      if (items.length < 15) this.#byte((items.length << 4) | element);
      else {
        this.#byte(0xf0 | element);
        this.#varint(BigInt(items.length));
      }
      for (const item of items) this.#value(element, item);
      return;
    }
    this.#varint(BigInt(value.entries.length));
    if (value.entries.length === 0) return;
    this.#byte((value.key << 4) | value.value);
    for (const [key, item] of value.entries) {
      this.#value(value.key, key);
      this.#value(value.value, item);
    }
  }

  #varint(value: bigint): void {
    let rest = value;
    while (rest > 0x7fn) {
      this.#byte(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.#byte(Number(rest));
  }

  #byte(byte: number): void {
    this.#ensure(1);
    this.#buffer[this.#length++] = byte;
  }

  #raw(bytes: Uint8Array): void {
    this.#ensure(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #ensure(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(this.#length + bytes, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

function damaged(reason: string): AppError {
  return new AppError('unreadable-file', `damaged Parquet structure: ${reason}`);
}
