/**
 * Compression of Parquet pages (parquet-format, Compression.md).
 *
 * Nothing expands past the size the page announces. All codecs but LZO can be read and written.
 */
import * as zlib from 'node:zlib';
import { snappyCompressor, snappyUncompressor } from 'hysnappy';
import { AppError } from '../../base/errors.ts';
import { lz4Compress, lz4Decompress } from './lz4.ts';

/** By number. */
export const CODEC_NAMES = [
  'UNCOMPRESSED',
  'SNAPPY',
  'GZIP',
  'LZO',
  'BROTLI',
  'LZ4',
  'ZSTD',
  'LZ4_RAW',
] as const;

/** Codec numbers used by name. */
export const Codec = { uncompressed: 0, snappy: 1, gzip: 2, lzo: 3, zstd: 6 } as const;

/** Brotli's highest level takes a hundred times as long. */
const BROTLI_LEVEL = 4;

// Its memory grows to the largest page and is shared by all.
let snappy: Snappy | null = null;

interface Snappy {
  readonly compress: ReturnType<typeof snappyCompressor>;
  readonly uncompress: ReturnType<typeof snappyUncompressor>;
}

function loadedSnappy(): Snappy {
  snappy ??= { compress: snappyCompressor(), uncompress: snappyUncompressor() };
  return snappy;
}

/** Throws `unreadable-file` unless `input` is a page of `length` bytes. */
export function decompress(codec: number, input: Uint8Array, length: number): Uint8Array {
  if (codec === Codec.uncompressed) {
    if (input.length !== length) throw damaged(codec);
    return input;
  }
  if (length === 0) return new Uint8Array(0);
  let output: Uint8Array;
  try {
    output = expanded(codec, input, length);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw damaged(codec, error);
  }
  if (output.length !== length) throw damaged(codec);
  // A Buffer's slices behave differently from those of plain bytes.
  return new Uint8Array(output.buffer, output.byteOffset, length);
}

function expanded(codec: number, input: Uint8Array, length: number): Uint8Array {
  const limit = { maxOutputLength: length };
  switch (CODEC_NAMES[codec]) {
    case 'SNAPPY':
      // The decoder trusts this size and writes as much.
      if (snappySize(input) !== length) throw damaged(codec);
      return loadedSnappy().uncompress(input, length);
    case 'GZIP':
      return zlib.gunzipSync(input, limit);
    case 'BROTLI':
      return zlib.brotliDecompressSync(input, limit);
    case 'ZSTD':
      return zlib.zstdDecompressSync(input, limit);
    case 'LZ4':
      return hadoopLz4(input, length) ?? lz4Decompress(input, length);
    case 'LZ4_RAW':
      return lz4Decompress(input, length);
    default:
      throw new AppError('unreadable-file', `unsupported compression ${codecName(codec)}`);
  }
}

/** `codec` must be one that `decompress` reads. */
export function compress(codec: number, input: Uint8Array): Uint8Array {
  switch (CODEC_NAMES[codec]) {
    case 'UNCOMPRESSED':
      return input;
    case 'SNAPPY':
      return input.length === 0 ? new Uint8Array([0]) : loadedSnappy().compress(input);
    case 'GZIP':
      return zlib.gzipSync(input);
    case 'BROTLI':
      return zlib.brotliCompressSync(input, {
        params: { [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL },
      });
    case 'ZSTD':
      return zlib.zstdCompressSync(input);
    case 'LZ4': {
      const block = lz4Compress(input);
      const framed = new Uint8Array(block.length + 8);
      const view = new DataView(framed.buffer);
      view.setUint32(0, input.length);
      view.setUint32(4, block.length);
      framed.set(block, 8);
      return framed;
    }
    case 'LZ4_RAW':
      return lz4Compress(input);
    default:
      throw new AppError('unreadable-file', `unsupported compression ${codecName(codec)}`);
  }
}

export function codecName(codec: number): string {
  return CODEC_NAMES[codec] ?? `codec ${codec}`;
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

function damaged(codec: number, cause?: unknown): AppError {
  return new AppError('unreadable-file', `damaged ${codecName(codec)} page`, { cause });
}
