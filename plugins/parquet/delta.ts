/**
 * The delta encodings (parquet-format, Encodings.md): DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY
 * and DELTA_BYTE_ARRAY, with bounds checks.
 */
import { damaged, type RawValues, scatteredValues } from './raw-values.ts';

/** No writer makes larger blocks. */
const MAX_BLOCK = 1 << 20;
/** Byte arrays that share prefixes can expand without bound. */
const MAX_EXPANDED_BYTES = 64 * 1024 * 1024;

/** 32 or 64 bits; also returns the offset after them. */
export function readDeltaBinary(
  bytes: Uint8Array,
  from: number,
  out: Int32Array | BigInt64Array,
): number {
  const reader = new BitReader(bytes, from);
  const block = reader.varint();
  const miniblocks = reader.varint();
  const count = reader.varint();
  const perMiniblock = block / miniblocks;
  if (block < 1 || block > MAX_BLOCK || !Number.isInteger(perMiniblock) || count < out.length) {
    throw damaged('wrong delta blocks');
  }
  const first = reader.zigzag();
  if (out.length > 0) store(out, 0, first);
  if (out instanceof Int32Array) fill32(reader, out, first, miniblocks, perMiniblock);
  else fill64(reader, out, first, miniblocks, perMiniblock);
  return reader.offset;
}

function store(out: Int32Array | BigInt64Array, index: number, value: bigint): void {
  if (out instanceof Int32Array) out[index] = Number(BigInt.asIntN(32, value));
  else out[index] = value;
}

/** Sums wrap around in 32 bits, as the format requires. */
function fill32(
  reader: BitReader,
  out: Int32Array,
  first: bigint,
  miniblocks: number,
  perMiniblock: number,
): void {
  let value = Number(BigInt.asIntN(32, first));
  for (let filled = 1; filled < out.length;) {
    const least = Number(BigInt.asIntN(32, reader.zigzag()));
    const widths = reader.take(miniblocks);
    for (let index = 0; index < miniblocks && filled < out.length; index++) {
      const width = widths[index]!;
      if (width > 32) throw damaged('wrong delta widths');
      const end = reader.offset + Math.ceil((perMiniblock * width) / 8);
      for (let left = perMiniblock; left > 0 && filled < out.length; left--) {
        value = (value + least + reader.bits(width)) | 0;
        out[filled++] = value;
      }
      reader.skipTo(end);
    }
  }
}

function fill64(
  reader: BitReader,
  out: BigInt64Array,
  first: bigint,
  miniblocks: number,
  perMiniblock: number,
): void {
  let value = first;
  for (let filled = 1; filled < out.length;) {
    const least = reader.zigzag();
    const widths = reader.take(miniblocks);
    for (let index = 0; index < miniblocks && filled < out.length; index++) {
      const width = widths[index]!;
      if (width > 64) throw damaged('wrong delta widths');
      const end = reader.offset + Math.ceil((perMiniblock * width) / 8);
      for (let left = perMiniblock; left > 0 && filled < out.length; left--) {
        value = BigInt.asIntN(64, value + least + reader.wideBits(width));
        out[filled++] = value;
      }
      reader.skipTo(end);
    }
  }
}

/** All lengths come first. */
export function readDeltaLength(bytes: Uint8Array, from: number, count: number): RawValues {
  const lengths = new Int32Array(count);
  let at = readDeltaBinary(bytes, from, lengths);
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  for (let index = 0; index < count; index++) {
    const length = lengths[index]!;
    if (length < 0 || length > bytes.length - at) throw damaged('a value longer than its page');
    starts[index] = at;
    at += length;
    ends[index] = at;
  }
  return scatteredValues(bytes, starts, ends);
}

export function readDeltaBytes(bytes: Uint8Array, from: number, count: number): RawValues {
  const prefixes = new Int32Array(count);
  const suffixes = readDeltaLength(bytes, readDeltaBinary(bytes, from, prefixes), count);
  let total = 0;
  let previous = 0;
  for (let index = 0; index < count; index++) {
    const prefix = prefixes[index]!;
    if (prefix < 0 || prefix > previous) throw damaged('a value that begins like no other');
    previous = prefix + suffixes.ends[index]! - suffixes.starts[index]!;
    total += previous;
    if (total > MAX_EXPANDED_BYTES)
      throw damaged(`a page that expands past ${MAX_EXPANDED_BYTES} bytes`);
  }
  const expanded = new Uint8Array(total);
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  for (let index = 0, at = 0; index < count; index++) {
    starts[index] = at;
    const before = index === 0 ? 0 : starts[index - 1]!;
    expanded.copyWithin(at, before, before + prefixes[index]!);
    at += prefixes[index]!;
    const suffix = bytes.subarray(suffixes.starts[index]!, suffixes.ends[index]!);
    expanded.set(suffix, at);
    at += suffix.length;
    ends[index] = at;
  }
  return scatteredValues(expanded, starts, ends);
}

class BitReader {
  offset: number;
  readonly #bytes: Uint8Array;
  #used = 0;

  constructor(bytes: Uint8Array, offset: number) {
    this.#bytes = bytes;
    this.offset = offset;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw damaged('a number of too many bytes');
  }

  zigzag(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
    }
    throw damaged('a number of too many bytes');
  }

  take(length: number): Uint8Array {
    if (this.offset + length > this.#bytes.length) throw damaged('a page that ends early');
    this.offset += length;
    return this.#bytes.subarray(this.offset - length, this.offset);
  }

  /** The last miniblock's padding may be missing. */
  skipTo(offset: number): void {
    this.offset = Math.min(offset, this.#bytes.length);
    this.#used = 0;
  }

  /** At most 32: higher bits would be lost in 32-bit sums anyway. */
  bits(width: number): number {
    let value = 0;
    for (let have = 0; have < width;) {
      if (this.offset >= this.#bytes.length) throw damaged('a page that ends early');
      const taken = Math.min(8 - this.#used, width - have);
      value |= ((this.#bytes[this.offset]! >> this.#used) & ((1 << taken) - 1)) << have;
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

  #byte(): number {
    if (this.offset >= this.#bytes.length) throw damaged('a page that ends early');
    return this.#bytes[this.offset++]!;
  }
}
