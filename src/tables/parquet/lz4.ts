/** LZ4 blocks (github.com/lz4/lz4, doc/lz4_Block_format.md), read and written within given bounds. */

const MIN_MATCH = 4;
/** The format wants the last bytes as literals, and no match to begin within the last twelve. */
const LAST_LITERALS = 5;
const MATCH_LIMIT = 12;
const MAX_DISTANCE = 65_535;
const HASH_BITS = 14;

/** Throws RangeError unless `input` is a block of exactly `length` bytes. */
export function lz4Decompress(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  let at = 0;
  let filled = 0;
  /** A length whose first four bits are all set continues byte by byte. */
  const extended = (start: number): number => {
    let size = start;
    for (let byte = 255; byte === 255; size += byte) {
      if (at >= input.length) throw new RangeError('LZ4 block ends early');
      byte = input[at++]!;
    }
    return size;
  };
  while (at < input.length) {
    const token = input[at++]!;
    const literals = token >> 4 === 15 ? extended(15) : token >> 4;
    if (literals > input.length - at || literals > length - filled) {
      throw new RangeError('LZ4 literals out of range');
    }
    output.set(input.subarray(at, at + literals), filled);
    at += literals;
    filled += literals;
    if (at === input.length) break;
    if (at + 2 > input.length) throw new RangeError('LZ4 block ends early');
    const distance = input[at]! | (input[at + 1]! << 8);
    at += 2;
    const size = ((token & 15) === 15 ? extended(15) : token & 15) + MIN_MATCH;
    if (distance === 0 || distance > filled || size > length - filled) {
      throw new RangeError('LZ4 match out of range');
    }
    if (distance >= size) output.copyWithin(filled, filled - distance, filled - distance + size);
    else
      for (let end = filled + size, to = filled; to < end; to++)
        output[to] = output[to - distance]!;
    filled += size;
  }
  if (filled !== length) throw new RangeError('LZ4 block has another size');
  return output;
}

/** The bytes as one block. */
export function lz4Compress(input: Uint8Array): Uint8Array {
  const output = new Uint8Array(input.length + Math.ceil(input.length / 255) + 16);
  const table = new Int32Array(1 << HASH_BITS).fill(-1);
  const word = (at: number): number =>
    input[at]! | (input[at + 1]! << 8) | (input[at + 2]! << 16) | (input[at + 3]! << 24);
  let length = 0;
  const extend = (size: number): void => {
    let rest = size - 15;
    for (; rest >= 255; rest -= 255) output[length++] = 255;
    output[length++] = rest;
  };
  const sequence = (from: number, to: number, matched: number): void => {
    const literals = to - from;
    const code = matched - MIN_MATCH;
    output[length++] = (Math.min(literals, 15) << 4) | (matched > 0 ? Math.min(code, 15) : 0);
    if (literals >= 15) extend(literals);
    output.set(input.subarray(from, to), length);
    length += literals;
  };
  let anchor = 0;
  for (let at = 0; at < input.length - MATCH_LIMIT;) {
    const current = word(at);
    const slot = Math.imul(current, 0x9e3779b1) >>> (32 - HASH_BITS);
    const candidate = table[slot]!;
    table[slot] = at;
    if (candidate < 0 || at - candidate > MAX_DISTANCE || word(candidate) !== current) {
      at++;
      continue;
    }
    let size = MIN_MATCH;
    const limit = input.length - LAST_LITERALS - at;
    while (size < limit && input[candidate + size] === input[at + size]) size++;
    sequence(anchor, at, size);
    const distance = at - candidate;
    output[length++] = distance & 0xff;
    output[length++] = distance >> 8;
    if (size - MIN_MATCH >= 15) extend(size - MIN_MATCH);
    at += size;
    anchor = at;
  }
  sequence(anchor, input.length, 0);
  return output.slice(0, length);
}
