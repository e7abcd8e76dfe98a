/**
 * Compression of Parquet pages (parquet-format, Compression.md). Nothing expands past the size the page announces.
 * All codecs but LZO can be read and written.
 */
import * as zlib from 'node:zlib';
import { snappyCompressor, snappyUncompressor } from 'hysnappy';
import { AppError, unreadable } from '../../base/errors.ts';
import { joined } from './bytes.ts';

interface CodecKind {
  readonly name: string;
  /** `length` is never 0; another length of the result is noticed by the caller. */
  expand?(input: Uint8Array, length: number): Uint8Array;
  pack?(input: Uint8Array): Uint8Array;
}

/** Brotli's highest level takes a hundred times as long. */
const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

/** By number. */
const CODECS: readonly CodecKind[] = [
  { name: 'UNCOMPRESSED', expand: (input) => input, pack: (input) => input },
  {
    name: 'SNAPPY',
    expand(input, length) {
      // The decoder trusts this size and writes as much.
      if (snappySize(input) !== length) throw new RangeError('Snappy block of another size');
      return snappy().expand(input, length);
    },
    pack: (input) => (input.length === 0 ? new Uint8Array([0]) : snappy().pack(input)),
  },
  {
    name: 'GZIP',
    expand: (input, maxOutputLength) => zlib.gunzipSync(input, { maxOutputLength }),
    pack: (input) => zlib.gzipSync(input),
  },
  { name: 'LZO' },
  {
    name: 'BROTLI',
    expand: (input, maxOutputLength) => zlib.brotliDecompressSync(input, { maxOutputLength }),
    pack: (input) => zlib.brotliCompressSync(input, BROTLI),
  },
  {
    name: 'LZ4',
    expand: (input, length) => hadoopLz4(input, length) ?? lz4Decompress(input, length),
    pack(input) {
      const block = lz4Compress(input);
      const sizes = new DataView(new ArrayBuffer(8));
      sizes.setUint32(0, input.length);
      sizes.setUint32(4, block.length);
      return joined([new Uint8Array(sizes.buffer), block]);
    },
  },
  {
    name: 'ZSTD',
    expand: (input, maxOutputLength) => zlib.zstdDecompressSync(input, { maxOutputLength }),
    pack: (input) => zlib.zstdCompressSync(input),
  },
  { name: 'LZ4_RAW', expand: lz4Decompress, pack: lz4Compress },
];

export const CODEC_NAMES: readonly string[] = CODECS.map(({ name }) => name);

/** Codec numbers used by name. */
export const Codec = { uncompressed: 0, snappy: 1, gzip: 2, lzo: 3, zstd: 6 } as const;

/** Throws `unreadable-file` unless `input` is a page of `length` bytes. */
export function decompress(codec: number, input: Uint8Array, length: number): Uint8Array {
  if (length === 0 && codec !== Codec.uncompressed) return new Uint8Array(0);
  const { name, expand } = supportedCodec(codec);
  let output: Uint8Array;
  try {
    output = expand(input, length);
  } catch (error) {
    throw error instanceof AppError ? error : unreadable(`damaged ${name} page`, error);
  }
  if (output.length !== length) throw unreadable(`damaged ${name} page`);
  // A Buffer's slices behave differently from those of plain bytes.
  return new Uint8Array(output.buffer, output.byteOffset, length);
}

export function compress(codec: number, input: Uint8Array): Uint8Array {
  return supportedCodec(codec).pack(input);
}

/** Throws `unreadable-file` for LZO and unknown numbers. */
export function supportedCodec(codec: number): Required<CodecKind> {
  const { name, expand, pack } = CODECS[codec] ?? { name: `codec ${codec}` };
  if (!expand || !pack) throw unreadable(`unsupported compression ${name}`);
  return { name, expand, pack };
}

interface Snappy {
  readonly expand: ReturnType<typeof snappyUncompressor>;
  readonly pack: ReturnType<typeof snappyCompressor>;
}

let loadedSnappy: Snappy | null = null;

/** Its memory grows to the largest page and is shared by all. */
function snappy(): Snappy {
  return (loadedSnappy ??= { expand: snappyUncompressor(), pack: snappyCompressor() });
}

/** -1 when there is none. */
function snappySize(input: Uint8Array): number {
  let size = 0;
  for (let index = 0; index < 5 && index < input.length; index++) {
    size += (input[index]! & 0x7f) * 2 ** (7 * index);
    if (input[index]! < 0x80) return size;
  }
  return -1;
}

/** Hadoop's LZ4 framing (two big-endian sizes before each block); null when it is not that. */
function hadoopLz4(input: Uint8Array, length: number): Uint8Array | null {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const output = new Uint8Array(length);
  let at = 0;
  let filled = 0;
  while (at < input.length) {
    if (at + 8 > input.length) return null;
    const size = view.getUint32(at);
    const packed = view.getUint32(at + 4);
    at += 8;
    if (packed > input.length - at || size > length - filled) return null;
    try {
      output.set(lz4Decompress(input.subarray(at, at + packed), size), filled);
    } catch {
      // The sizes were data: the caller tries the plain form and reports its failure.
      return null;
    }
    at += packed;
    filled += size;
  }
  return filled === length ? output : null;
}

/** LZ4 blocks (github.com/lz4/lz4, doc/lz4_Block_format.md), read and written within given bounds. */

// LZ4 blocks (github.com/lz4/lz4, doc/lz4_Block_format.md).
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
