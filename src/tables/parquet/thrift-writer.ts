import {
  type ThriftList,
  type ThriftMap,
  ThriftStruct,
  ThriftType,
  type ThriftValue,
} from './thrift.ts';

/** `fields` ascend. */
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
