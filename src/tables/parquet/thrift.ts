/**
 * Values of Thrift's compact protocol as Parquet uses it: a tree that keeps every field, known or not, so that
 * rewriting a file loses nothing.
 *
 * Source: github.com/apache/thrift, doc/specs/thrift-compact-protocol.md.
 */
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

export interface ThriftList {
  readonly element: number;
  readonly items: ThriftValue[];
}

/** Parquet has none; it is only carried along. */
export interface ThriftMap {
  readonly key: number;
  readonly value: number;
  readonly entries: readonly (readonly [ThriftValue, ThriftValue])[];
}

const decoder = new TextDecoder();

/** By field id. Accessors return null for a field that is absent or of another type. */
export class ThriftStruct {
  readonly #ids: number[] = [];
  readonly #types: number[] = [];
  readonly #values: ThriftValue[] = [];

  get(id: number): ThriftValue | null {
    const index = this.#ids.indexOf(id);
    return index < 0 ? null : this.#values[index]!;
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
  fields(): { readonly id: number; readonly type: number; readonly value: ThriftValue }[] {
    return this.#ids
      .map((id, index) => ({ id, type: this.#types[index]!, value: this.#values[index]! }))
      .sort((a, b) => a.id - b.id);
  }

  /** `type` is ignored for booleans. */
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

  /** Own fields can be changed; values are shared. */
  copy(): ThriftStruct {
    const copy = new ThriftStruct();
    for (const { id, type, value } of this.fields()) copy.set(id, type, value);
    return copy;
  }
}

export function structList(items: ThriftStruct[]): ThriftList {
  return { element: ThriftType.struct, items };
}
