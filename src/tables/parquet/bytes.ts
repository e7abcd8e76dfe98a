import { type AppError, unreadable } from '../../base/errors.ts';

const encoder = new TextEncoder();
const WORD = 2 ** 32;

/** Grows where `ensure` asks, and by itself in `raw` and `text`; the other calls write unchecked. */
export class ByteSink {
  protected bytes: Uint8Array<ArrayBuffer>;
  protected view: DataView;
  protected length = 0;
  #held = 0;
  #used = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
    this.view = new DataView(this.bytes.buffer);
  }

  get size(): number {
    return this.length;
  }

  /** Not a copy. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  ensure(size: number): void {
    if (this.length + size <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(this.length + size, this.bytes.length * 2));
    larger.set(this.written());
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }

  byte(value: number): void {
    this.bytes[this.length++] = value;
  }

  /** Up to 2^53. */
  varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 0x80);
    this.byte(rest);
  }

  /** Of 64 bits. */
  zigzag(value: number | bigint): void {
    if (typeof value === 'number' && Math.abs(value) < 2 ** 52) {
      this.varint(value < 0 ? -value * 2 - 1 : value * 2);
      return;
    }
    const long = BigInt(value);
    let rest = BigInt.asUintN(64, (long << 1n) ^ (long >> 63n));
    for (; rest > 0x7fn; rest >>= 7n) this.byte(Number(rest & 0x7fn) | 0x80);
    this.byte(Number(rest));
  }

  uint32(value: number): void {
    this.view.setUint32(this.length, value, true);
    this.length += 4;
  }

  raw(source: Uint8Array): void {
    this.ensure(source.length);
    this.bytes.set(source, this.length);
    this.length += source.length;
  }

  /** UTF-8 after its length. */
  text(text: string): void {
    this.ensure(4 + text.length * 3);
    const { written } = encoder.encodeInto(text, this.bytes.subarray(this.length + 4));
    this.uint32(written);
    this.length += written;
  }

  /** From the lowest bit up, below 2^53; a byte is written when it is full. */
  bits(value: number, width: number): void {
    if (width > 32) {
      this.bits(value % WORD, 32);
      this.bits(Math.floor(value / WORD), width - 32);
      return;
    }
    let rest = value;
    let held = this.#held;
    let used = this.#used;
    for (let left = width; left > 0;) {
      const taken = Math.min(8 - used, left);
      held |= (rest & ((1 << taken) - 1)) << used;
      rest >>>= taken;
      used += taken;
      left -= taken;
      if (used < 8) continue;
      this.bytes[this.length++] = held;
      held = used = 0;
    }
    this.#held = held;
    this.#used = used;
  }
}

/** Throws the error of `ended` past the end. */
export class ByteReader {
  offset: number;
  protected readonly bytes: Uint8Array;
  protected readonly ended: () => Error;

  constructor(bytes: Uint8Array, offset: number, ended: () => Error) {
    this.bytes = bytes;
    this.offset = offset;
    this.ended = ended;
  }

  byte(): number {
    if (this.offset >= this.bytes.length) throw this.ended();
    return this.bytes[this.offset++]!;
  }

  take(length: number): Uint8Array {
    if (this.offset + length > this.bytes.length) throw this.ended();
    this.offset += length;
    return this.bytes.subarray(this.offset - length, this.offset);
  }

  /** Up to five bytes; further bits are dropped as in Thrift's 32-bit arithmetic. */
  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw damaged('a number of too many bytes');
  }

  /** A zigzag number of 64 bits. */
  long(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
    }
    throw damaged('a number of too many bytes');
  }
}

export class BitReader extends ByteReader {
  #used = 0;

  constructor(bytes: Uint8Array, offset: number) {
    super(bytes, offset, () => damaged('a page that ends early'));
  }

  /** The last miniblock's padding may be missing. */
  skipTo(offset: number): void {
    this.offset = Math.min(offset, this.bytes.length);
    this.#used = 0;
  }

  /** At most 32: higher bits would be lost in 32-bit sums anyway. */
  bits(width: number): number {
    let value = 0;
    for (let have = 0; have < width;) {
      if (this.offset >= this.bytes.length) throw this.ended();
      const taken = Math.min(8 - this.#used, width - have);
      value |= ((this.bytes[this.offset]! >> this.#used) & ((1 << taken) - 1)) << have;
      have += taken;
      this.#used += taken;
      if (this.#used < 8) continue;
      this.#used = 0;
      this.offset++;
    }
    return value;
  }

  wideBits(width: number): bigint {
    const low = BigInt(this.bits(Math.min(width, 32)) >>> 0);
    return width <= 32 ? low : low | (BigInt(this.bits(width - 32) >>> 0) << 32n);
  }
}

/** Two's complement; null when the width is too small. */
export function littleEndian(value: bigint, width: number): Uint8Array | null {
  if (BigInt.asIntN(width * 8, value) !== value) return null;
  const bytes = new Uint8Array(width);
  let rest = BigInt.asUintN(width * 8, value);
  for (let index = 0; index < width; index++) {
    bytes[index] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return bytes;
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export function damaged(reason: string, cause?: unknown): AppError {
  return unreadable(`damaged Parquet file: ${reason}`, cause);
}
