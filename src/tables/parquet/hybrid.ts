/**
 * The run-length and bit-packing hybrid of levels, dictionary indexes and booleans (parquet-format, Encodings.md, RLE =
 * 3).
 */
import { type AppError, unreadable } from '../../base/errors.ts';
import { BitReader, ByteSink } from './bytes.ts';

/** Levels fit bytes. */
type HybridValues = Uint8Array | Int32Array;

/** Shorter runs are bit-packed. */
const MIN_RUN = 8;
/** Above this a 32-bit accumulator could overflow. */
const MAX_QUICK_WIDTH = 24;

/**
 * Fills `out` from `from` to `to`; `width` is the bits of a value. Returns where it stopped. Throws `unreadable-file`
 * when the bytes end early or the width is invalid.
 */
export function readHybrid(
  bytes: Uint8Array,
  from: number,
  to: number,
  width: number,
  out: HybridValues,
): number {
  if (width > 32 || to > bytes.length) throw damaged();
  if (width === 0) {
    out.fill(0);
    return from;
  }
  const valueBytes = (width + 7) >> 3;
  let at = from;
  let filled = 0;
  while (filled < out.length) {
    let head = 0;
    let shift = 0;
    for (;;) {
      if (at >= to || shift > 28) throw damaged();
      const byte = bytes[at++]!;
      head += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
      shift += 7;
    }
    if (head % 2 === 0) {
      const end = Math.min(filled + head / 2, out.length);
      if (at + valueBytes > to) throw damaged();
      let value = 0;
      for (let index = 0; index < valueBytes; index++) value |= bytes[at++]! << (index * 8);
      out.fill(value, filled, end);
      filled = end;
    } else {
      const groups = (head - 1) / 2;
      const count = Math.min(groups * 8, out.length - filled);
      // Some writers leave out the padding of the last group.
      if (at + Math.ceil((count * width) / 8) > to) throw damaged();
      unpack(bytes, at, width, out, filled, count);
      at = Math.min(at + groups * width, to);
      filled += count;
    }
  }
  return at;
}

function unpack(
  bytes: Uint8Array,
  from: number,
  width: number,
  out: HybridValues,
  start: number,
  count: number,
): void {
  if (width > MAX_QUICK_WIDTH) {
    const reader = new BitReader(bytes, from);
    for (let index = start; index < start + count; index++) out[index] = reader.bits(width);
    return;
  }
  const mask = (1 << width) - 1;
  let at = from;
  let held = 0;
  let bits = 0;
  for (let index = start; index < start + count; index++) {
    while (bits < width) {
      held |= bytes[at++]! << bits;
      bits += 8;
    }
    out[index] = held & mask;
    held >>>= width;
    bits -= width;
  }
}

/** For values up to `largest`. */
export function bitWidth(largest: number): number {
  return 32 - Math.clz32(largest);
}

/** `width`: bits of a value. */
export function hybridBytes(values: HybridValues, width: number): Uint8Array {
  // The worst case is short runs alternating with single groups: a head and a value each.
  const out = new ByteSink((Math.ceil(values.length / 8) + 1) * (width + 16));
  let packedFrom = 0;
  let at = 0;
  while (at < values.length) {
    let end = at + 1;
    while (end < values.length && values[end] === values[at]) end++;
    if (end - at >= MIN_RUN) {
      pack(out, values, packedFrom, at, width);
      out.varint((end - at) * 2);
      out.bits(values[at]!, Math.ceil(width / 8) * 8);
      packedFrom = at = end;
    } else at = Math.min(at + 8, values.length);
  }
  pack(out, values, packedFrom, at, width);
  return out.written();
}

/** Groups of eight, filled up with zeros at the end. */
function pack(out: ByteSink, values: HybridValues, from: number, to: number, width: number): void {
  const groups = Math.ceil((to - from) / 8);
  if (groups === 0) return;
  out.varint(groups * 2 + 1);
  for (let index = from; index < from + groups * 8; index++) out.bits(values[index] ?? 0, width);
}

function damaged(): AppError {
  return unreadable('damaged run-length data');
}
