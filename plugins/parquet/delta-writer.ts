/**
 * Writes plain values in the encoding their page had (parquet-format, Encodings.md), so that edits
 * do not grow a file: DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY and BYTE_STREAM_SPLIT. Other
 * encodings become PLAIN.
 */
import { Encoding, Physical } from '../../src/tables/parquet/format.ts';
import { int64Views, widthOf } from './raw-values.ts';
import type { Leaf } from './schema.ts';

/** Values of a block, in miniblocks of 32, as all writers do. */
const BLOCK = 128;
const MINIBLOCKS = 4;
const MINIBLOCK = BLOCK / MINIBLOCKS;
/** Differences below this are exact as numbers, even doubled. */
const SAFE_LIMIT = 2 ** 50;

export interface EncodedValues {
  readonly encoding: number;
  readonly bytes: Uint8Array;
}

export function encodeLike(
  wanted: number,
  plain: Uint8Array,
  count: number,
  leaf: Leaf,
): EncodedValues {
  const encoded = count > 0 ? encode(wanted, plain, count, leaf) : null;
  return encoded ?? { encoding: Encoding.plain, bytes: plain };
}

function encode(
  wanted: number,
  plain: Uint8Array,
  count: number,
  leaf: Leaf,
): EncodedValues | null {
  const { physical, typeLength } = leaf;
  switch (wanted) {
    case Encoding.deltaBinary: {
      const numbers = numbersOf(plain, count, physical);
      const isShort = physical === Physical.int32;
      return numbers && { encoding: wanted, bytes: deltaBinary(numbers, isShort) };
    }
    case Encoding.deltaLength:
    case Encoding.deltaBytes:
      return physical === Physical.bytes
        ? { encoding: Encoding.deltaLength, bytes: deltaLength(plain, count) }
        : null;
    case Encoding.byteStreamSplit:
      return { encoding: wanted, bytes: streams(plain, widthOf(physical, typeLength), count) };
    default:
      return null;
  }
}

/** Null when some are too large for exact differences. */
function numbersOf(plain: Uint8Array, count: number, physical: number): Float64Array | null {
  const numbers = new Float64Array(count);
  const bytes = new Uint8Array(plain.subarray(0, count * (physical === Physical.int32 ? 4 : 8)));
  if (physical === Physical.int32) {
    numbers.set(new Int32Array(bytes.buffer));
    return numbers;
  }
  const { longs } = int64Views({
    count,
    bytes,
    width: 8,
    starts: new Int32Array(0),
    ends: new Int32Array(0),
  });
  for (let index = 0; index < count; index++) {
    const number = Number(longs[index]!);
    if (Math.abs(number) > SAFE_LIMIT) return null;
    numbers[index] = number;
  }
  return numbers;
}

/** `isShort`: differences wrap around in 32 bits, as the format requires. */
function deltaBinary(numbers: Float64Array, isShort: boolean): Uint8Array {
  const out = new BitWriter(numbers.length);
  out.varint(BLOCK);
  out.varint(MINIBLOCKS);
  out.varint(numbers.length);
  out.zigzag(numbers[0]!);
  for (let from = 1; from < numbers.length; from += BLOCK) {
    const end = Math.min(from + BLOCK, numbers.length);
    const deltas = new Float64Array(end - from);
    let least = Infinity;
    for (let index = from; index < end; index++) {
      const step = numbers[index]! - numbers[index - 1]!;
      const delta = isShort ? step | 0 : step;
      deltas[index - from] = delta;
      if (delta < least) least = delta;
    }
    out.zigzag(least);
    writeBlock(out, deltas, least);
  }
  return out.bytes();
}

function writeBlock(out: BitWriter, deltas: Float64Array, least: number): void {
  const widths = Array.from({ length: MINIBLOCKS }, (_, part) => {
    let largest = 0;
    for (let index = part * MINIBLOCK; index < (part + 1) * MINIBLOCK; index++) {
      largest = Math.max(largest, (deltas[index] ?? least) - least);
    }
    return bitsOf(largest);
  });
  for (const width of widths) out.byte(width);
  widths.forEach((width, part) => {
    // A miniblock without values has no bytes, and width 0.
    for (let index = part * MINIBLOCK; index < (part + 1) * MINIBLOCK; index++) {
      out.bits((deltas[index] ?? least) - least, width);
    }
  });
}

/** For whole numbers below 2^53. */
function bitsOf(value: number): number {
  return value < 2 ** 32 ? 32 - Math.clz32(value) : 64 - Math.clz32(Math.floor(value / 2 ** 32));
}

function deltaLength(plain: Uint8Array, count: number): Uint8Array {
  const view = new DataView(plain.buffer, plain.byteOffset, plain.byteLength);
  const lengths = new Float64Array(count);
  const texts = new Uint8Array(plain.length - count * 4);
  for (let index = 0, at = 0, filled = 0; index < count; index++) {
    const length = view.getUint32(at, true);
    texts.set(plain.subarray(at + 4, at + 4 + length), filled);
    lengths[index] = length;
    at += 4 + length;
    filled += length;
  }
  const head = deltaBinary(lengths, true);
  const out = new Uint8Array(head.length + texts.length);
  out.set(head);
  out.set(texts, head.length);
  return out;
}

function streams(plain: Uint8Array, width: number, count: number): Uint8Array {
  const out = new Uint8Array(width * count);
  for (let index = 0; index < count; index++) {
    for (let byte = 0; byte < width; byte++)
      out[byte * count + index] = plain[index * width + byte]!;
  }
  return out;
}

class BitWriter {
  readonly #out: Uint8Array;
  #length = 0;
  #held = 0;
  #used = 0;

  /** 8 bytes per integer, plus block headers. */
  constructor(count: number) {
    this.#out = new Uint8Array((Math.ceil(count / BLOCK) + 1) * (BLOCK * 8 + 20));
  }

  bytes(): Uint8Array {
    return this.#out.slice(0, this.#length);
  }

  byte(value: number): void {
    this.#out[this.#length++] = value;
  }

  varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 0x80);
    this.byte(rest);
  }

  zigzag(value: number): void {
    this.varint(value < 0 ? -value * 2 - 1 : value * 2);
  }

  /** Whole miniblocks end at a byte boundary. */
  bits(value: number, width: number): void {
    let rest = value;
    for (let left = width; left > 0;) {
      const taken = Math.min(8 - this.#used, left);
      const power = 2 ** taken;
      this.#held |= (rest % power) << this.#used;
      rest = Math.floor(rest / power);
      this.#used += taken;
      left -= taken;
      if (this.#used < 8) continue;
      this.byte(this.#held);
      this.#held = this.#used = 0;
    }
  }
}
