/**
 * Thrift's compact protocol (github.com/apache/thrift, doc/specs/thrift-compact-protocol.md) as trees that keep every
 * field, known or not, so that rewriting a file loses nothing.
 */
import { ByteReader, ByteSink, damaged } from './bytes.ts';

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

/** Integers are numbers where exact. */
export type ThriftValue =
  boolean | number | bigint | Uint8Array | ThriftList | ThriftMap | ThriftStruct;

interface ThriftList {
  readonly element: number;
  readonly items: ThriftValue[];
}

/** Parquet has none; it is only carried along. */
interface ThriftMap {
  readonly key: number;
  readonly value: number;
  readonly entries: readonly (readonly [ThriftValue, ThriftValue])[];
}

interface ThriftField {
  readonly id: number;
  readonly type: number;
  readonly value: ThriftValue;
}

const decoder = new TextDecoder();

/** By field id. Accessors return null for a field that is absent or of another type. */
export class ThriftStruct {
  #fields: ThriftField[] = [];

  get(id: number): ThriftValue | null {
    return this.#fields.find((field) => field.id === id)?.value ?? null;
  }

  /** Any width that a number holds exactly. */
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

  /** Empty when there is no such list. */
  structs(id: number): ThriftStruct[] {
    return this.list(id).filter((item) => item instanceof ThriftStruct);
  }

  /** Empty when there is no such list. */
  list(id: number): readonly ThriftValue[] {
    const value = this.get(id);
    return value !== null && typeof value === 'object' && 'element' in value ? value.items : [];
  }

  /** In ascending order of ids. */
  fields(): readonly ThriftField[] {
    return this.#fields.toSorted((a, b) => a.id - b.id);
  }

  /** `type` is ignored for booleans. */
  set(id: number, type: number, value: ThriftValue): this {
    const own = typeof value === 'boolean' ? (value ? ThriftType.true : ThriftType.false) : type;
    const index = this.#fields.findIndex((field) => field.id === id);
    this.#fields[index < 0 ? this.#fields.length : index] = { id, type: own, value };
    return this;
  }

  /** Fields 1, 2, … */
  numbers(...values: readonly number[]): this {
    values.forEach((value, index) => this.set(index + 1, ThriftType.i32, value));
    return this;
  }

  remove(...ids: readonly number[]): this {
    this.#fields = this.#fields.filter(({ id }) => !ids.includes(id));
    return this;
  }

  /** Own fields can be changed; values are shared. */
  copy(): ThriftStruct {
    const copy = new ThriftStruct();
    copy.#fields = [...this.#fields];
    return copy;
  }
}

export function structList(items: ThriftStruct[]): ThriftList {
  return { element: ThriftType.struct, items };
}

/** Parquet's own structures nest eight deep. */
const MAX_DEPTH = 32;
/** Per tree; a footer of the largest size has a million. */
const MAX_VALUES = 4_000_000;

/** The bytes end inside a structure: more of them may help. */
export class ThriftEnd extends Error {}

/**
 * Returns the offset after the struct too. Throws `ThriftEnd` when the bytes end within it and
 * `unreadable-file` when they are invalid.
 */
export function readThrift(bytes: Uint8Array, from = 0): { value: ThriftStruct; end: number } {
  const reader = new ThriftReader(bytes, from, () => new ThriftEnd());
  const value = reader.struct(0);
  return { value, end: reader.offset };
}

/** The bytes are untrusted: sizes are checked before allocation and nesting is bounded. */
class ThriftReader extends ByteReader {
  #values = 0;

  struct(depth: number): ThriftStruct {
    this.#check(depth);
    const struct = new ThriftStruct();
    for (let id = 0; ;) {
      const head = this.byte();
      if (head === 0) return struct;
      const type = head & 0x0f;
      id = head >> 4 === 0 ? this.#zigzag() : id + (head >> 4);
      struct.set(id, type, this.#value(type, depth));
    }
  }

  #value(type: number, depth: number): ThriftValue {
    this.#count();
    switch (type) {
      case ThriftType.true:
        return true;
      case ThriftType.false:
        return false;
      case ThriftType.byte:
        return (this.byte() << 24) >> 24;
      case ThriftType.i16:
      case ThriftType.i32:
        return this.#zigzag();
      case ThriftType.i64: {
        const long = this.long();
        const number = Number(long);
        return Number.isSafeInteger(number) ? number : long;
      }
      case ThriftType.double: {
        const { buffer, byteOffset } = this.take(8);
        return new DataView(buffer, byteOffset).getFloat64(0, true);
      }
      case ThriftType.binary:
        return this.take(this.#size());
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
    this.#check(depth);
    const head = this.byte();
    const element = head & 0x0f;
    const count = head >> 4 === 15 ? this.#size() : head >> 4;
    const items: ThriftValue[] = [];
    for (let index = 0; index < count; index++) items.push(this.#element(element, depth + 1));
    return { element, items };
  }

  #map(depth: number): ThriftMap {
    this.#check(depth);
    const count = this.#size();
    const types = count === 0 ? 0 : this.byte();
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
    this.#count();
    return this.byte() === ThriftType.true;
  }

  #size(): number {
    const size = this.varint();
    if (size >= 2 ** 31) throw damaged('a negative size');
    return size;
  }

  #zigzag(): number {
    const value = this.varint();
    return (value >>> 1) ^ -(value & 1);
  }

  #count(): void {
    if (++this.#values > MAX_VALUES) throw damaged('more values than a file can need');
  }

  #check(depth: number): void {
    if (depth > MAX_DEPTH) throw damaged('nested too deep');
  }
}

export function thriftBytes(struct: ThriftStruct): Uint8Array {
  const out = new ByteSink(256);
  writeStruct(out, struct);
  return out.written().slice();
}

/** Of a field's head, and of a number. */
const MOST_BYTES = 16;

function writeStruct(out: ByteSink, struct: ThriftStruct): void {
  let last = 0;
  for (const { id, type, value } of struct.fields()) {
    out.ensure(MOST_BYTES);
    const step = id - last;
    last = id;
    if (step > 0 && step <= 15) out.byte((step << 4) | type);
    else {
      out.byte(type);
      out.zigzag(id);
    }
    if (typeof value !== 'boolean') writeValue(out, type, value);
  }
  out.ensure(1);
  out.byte(0);
}

function writeValue(out: ByteSink, type: number, value: ThriftValue): void {
  out.ensure(MOST_BYTES);
  if (value instanceof ThriftStruct) writeStruct(out, value);
  else if (value instanceof Uint8Array) {
    out.varint(value.length);
    out.raw(value);
  } else if (typeof value === 'boolean') out.byte(value ? ThriftType.true : ThriftType.false);
  else if (typeof value === 'object') writeCollection(out, value);
  else if (type === ThriftType.byte) out.byte(Number(value) & 0xff);
  else if (type === ThriftType.double) {
    out.raw(new Uint8Array(new Float64Array([Number(value)]).buffer));
  } else out.zigzag(value);
}

function writeCollection(out: ByteSink, value: ThriftList | ThriftMap): void {
  if ('items' in value) {
    const { element, items } = value;
    out.byte((Math.min(items.length, 15) << 4) | element);
    if (items.length >= 15) out.varint(items.length);
    for (const item of items) writeValue(out, element, item);
    return;
  }
  out.varint(value.entries.length);
  if (value.entries.length === 0) return;
  out.byte((value.key << 4) | value.value);
  for (const [key, item] of value.entries) {
    writeValue(out, value.key, key);
    writeValue(out, value.value, item);
  }
}
