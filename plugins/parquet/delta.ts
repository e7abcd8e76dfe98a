/**
 * DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY and BYTE_STREAM_SPLIT (parquet-format,
 * Encodings.md).
 */
import { BitReader, ByteSink, damaged, joined } from '../../src/tables/parquet/bytes.ts';
import { Encoding, Physical } from '../../src/tables/parquet/format.ts';
import {
  fixedValues,
  int32View,
  int64Views,
  type RawValues,
  scatteredValues,
  widthOf,
} from './raw-values.ts';
import type { Leaf } from './schema.ts';

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
  const first = reader.long();
  const isShort = out instanceof Int32Array;
  if (isShort) out.fill(Number(BigInt.asIntN(32, first)), 0, 1);
  else out.fill(first, 0, 1);
  for (let filled = 1; filled < out.length;) {
    const least = reader.long();
    const widths = reader.take(miniblocks);
    for (let index = 0; index < miniblocks && filled < out.length; index++) {
      const width = widths[index]!;
      if (width > (isShort ? 32 : 64)) throw damaged('wrong delta widths');
      const end = reader.offset + Math.ceil((perMiniblock * width) / 8);
      const to = Math.min(filled + perMiniblock, out.length);
      if (isShort) addShort(reader, out, filled, to, least, width);
      else addLong(reader, out, filled, to, least, width);
      filled = to;
      reader.skipTo(end);
    }
  }
  return reader.offset;
}

/** Sums wrap around in 32 bits, as the format requires. */
function addShort(
  reader: BitReader,
  out: Int32Array,
  from: number,
  to: number,
  least: bigint,
  width: number,
): void {
  const step = Number(BigInt.asIntN(32, least));
  let value = out[from - 1]!;
  for (let index = from; index < to; index++) {
    value = (value + step + reader.bits(width)) | 0;
    out[index] = value;
  }
}

function addLong(
  reader: BitReader,
  out: BigInt64Array,
  from: number,
  to: number,
  least: bigint,
  width: number,
): void {
  let value = out[from - 1]!;
  for (let index = from; index < to; index++) {
    value = BigInt.asIntN(64, value + least + reader.wideBits(width));
    out[index] = value;
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

export function readStreams(bytes: Uint8Array, width: number, count: number): RawValues {
  if (bytes.length < width * count) throw damaged('a page is too short for its values');
  return fixedValues(transposed(bytes, width, count), width, count);
}

function transposed(bytes: Uint8Array, rows: number, columns: number): Uint8Array {
  const out = new Uint8Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++)
      out[column * rows + row] = bytes[row * columns + column]!;
  }
  return out;
}

/** Values of a block, in miniblocks of 32, as all writers do. */
const BLOCK = 128;
const MINIBLOCKS = 4;
const MINIBLOCK = BLOCK / MINIBLOCKS;
/** Differences below this are exact as numbers, even doubled. */
const SAFE_LIMIT = 2 ** 50;

interface EncodedValues {
  readonly encoding: number;
  readonly bytes: Uint8Array;
}

/** In the encoding their page had, so that edits do not grow a file; other encodings become PLAIN. */
export function encodeLike(
  wanted: number,
  plain: Uint8Array,
  count: number,
  { physical, typeLength }: Leaf,
): EncodedValues {
  if (count > 0 && wanted === Encoding.deltaBinary) {
    const numbers = numbersOf(plain, count, physical);
    const isShort = physical === Physical.int32;
    if (numbers) return { encoding: wanted, bytes: deltaBinary(numbers, isShort) };
  }
  const isDelta = wanted === Encoding.deltaLength || wanted === Encoding.deltaBytes;
  if (count > 0 && isDelta && physical === Physical.bytes) {
    return { encoding: Encoding.deltaLength, bytes: deltaLength(plain, count) };
  }
  if (count > 0 && wanted === Encoding.byteStreamSplit) {
    const bytes = transposed(plain, count, widthOf(physical, typeLength));
    return { encoding: wanted, bytes };
  }
  return { encoding: Encoding.plain, bytes: plain };
}

/** Null when some are too large for exact differences. */
function numbersOf(plain: Uint8Array, count: number, physical: number): Float64Array | null {
  const isShort = physical === Physical.int32;
  const values = fixedValues(plain, isShort ? 4 : 8, count);
  if (isShort) return Float64Array.from(int32View(values));
  const numbers = Float64Array.from(int64Views(values).longs, Number);
  return numbers.every((number) => Math.abs(number) <= SAFE_LIMIT) ? numbers : null;
}

/** `isShort`: differences wrap around in 32 bits, as the format requires. */
function deltaBinary(numbers: Float64Array, isShort: boolean): Uint8Array {
  // 8 bytes per integer, plus block headers.
  const out = new ByteSink((Math.ceil(numbers.length / BLOCK) + 1) * (BLOCK * 8 + 20));
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
  return out.written();
}

function writeBlock(out: ByteSink, deltas: Float64Array, least: number): void {
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
  return joined([deltaBinary(lengths, true), texts]);
}
