/**
 * Compression of Parquet pages (parquet-format, Compression.md).
 *
 * Nothing expands past the size the page announces. All codecs but LZO can be read and written.
 */
import * as zlib from 'node:zlib';
import { snappyCompressor, snappyUncompressor } from 'hysnappy';
import { AppError, unreadable } from '../../base/errors.ts';
import { joined } from './bytes.ts';
import { lz4Compress, lz4Decompress } from './lz4.ts';

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
