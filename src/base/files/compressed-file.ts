/**
 * Compressed files as if they were not: sizes and positions are those of the content.
 *
 * Decompressed as it is read, and again from the start when a reader goes back, so nothing is written and little is
 * held. A first pass measures it and checks that it is whole.
 */
import { Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { type AppError, unreadable } from '../errors.ts';
import { sizeText } from '../text/size-text.ts';
import { type FileSource, readBytes } from './file-source.ts';

/** Of the names of compressed files. */
const SUFFIX = /\.(gz|zst)$/i;

export const COMPRESSED_IS_READ_ONLY =
  'Compressed files are read-only; decompress the file to edit it';

export function isCompressed(rel: string): boolean {
  return SUFFIX.test(rel);
}

/** Without `.gz` or `.zst`. */
export function plainName(rel: string): string {
  return rel.replace(SUFFIX, '');
}

/** The extensions and their compressed forms. */
export function withCompressed(extensions: readonly string[]): string[] {
  return [...extensions, ...extensions.flatMap((one) => [`${one}.gz`, `${one}.zst`])];
}

/** Text and logs take a tenth to a fiftieth; a bomb a thousandth. */
const MAX_RATIO = 200;
/** Up to here any ratio is harmless. */
const FREE_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 262_144;
/** Kept behind the position, for readers that look at a piece twice. */
const KEPT_BYTES = 1024 * 1024;

/**
 * Throws `unreadable-file` for damage and for content of more than `maxBytes`, or 200 times the file above 64 MiB.
 */
export async function contentOf(
  source: FileSource,
  rel: string,
  maxBytes: number,
): Promise<FileSource> {
  const suffix = SUFFIX.exec(rel)?.[1]?.toLowerCase();
  if (suffix === undefined) return source;
  if (suffix === 'zst') await requireWholeFrames(source);
  const limit = Math.min(maxBytes, Math.max(FREE_BYTES, source.size * MAX_RATIO));
  let size = 0;
  for await (const chunk of decompressed(source, suffix)) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
  }
  return new Content(source, suffix, size);
}

function tooLarge(limit: number): AppError {
  return unreadable(`its content takes more than ${sizeText(limit)}, which is not expanded`);
}

async function* decompressed(source: FileSource, suffix: string): AsyncGenerator<Buffer> {
  const options = { chunkSize: CHUNK_BYTES };
  const decoder = suffix === 'gz' ? createGunzip(options) : createZstdDecompress(options);
  const input = Readable.from(chunksOf(source));
  // What the source throws must reach the reader of the content.
  input.on('error', (error) => decoder.destroy(error));
  try {
    for await (const chunk of input.pipe(decoder)) yield chunk as Buffer;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (typeof code !== 'string' || !/^Z(?:STD)?_/i.test(code)) throw error;
    throw unreadable('its compressed bytes are damaged or cut short', error);
  } finally {
    input.destroy();
    decoder.destroy();
  }
}

async function* chunksOf(source: FileSource): AsyncGenerator<Buffer> {
  for (let at = 0; at < source.size; at += CHUNK_BYTES) {
    yield await readBytes(source, at, CHUNK_BYTES);
  }
}

class Content implements FileSource {
  readonly size: number;
  readonly #source: FileSource;
  readonly #suffix: string;
  #stream: AsyncGenerator<Buffer> | null = null;
  /** From `#from` to `#to` of the content. */
  #chunks: Buffer[] = [];
  #from = 0;
  #to = 0;

  constructor(source: FileSource, suffix: string, size: number) {
    this.#source = source;
    this.#suffix = suffix;
    this.size = size;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const end = Math.min(this.size, offset + length);
    if (offset < this.#from || this.#stream === null) await this.#restart();
    while (this.#to < end) {
      const { value, done } = await this.#stream!.next();
      if (done === true) break;
      this.#chunks.push(value);
      this.#to += value.length;
      this.#forget(offset - KEPT_BYTES);
    }
    return Buffer.concat(this.#chunks).subarray(offset - this.#from, end - this.#from);
  }

  async #restart(): Promise<void> {
    await this.#stream?.return(undefined);
    this.#stream = decompressed(this.#source, this.#suffix);
    this.#chunks = [];
    this.#from = this.#to = 0;
  }

  #forget(before: number): void {
    while (this.#chunks.length > 0 && this.#from + this.#chunks[0]!.length <= before) {
      this.#from += this.#chunks.shift()!.length;
    }
  }
}

const FRAME = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;
/** Bytes of a dictionary's id and of the content's size, by their flags (RFC 8878). */
const DICTIONARY_BYTES = [0, 1, 2, 4];
const SIZE_BYTES = [0, 2, 4, 8];

/** The decompressor takes a file that is cut short as whole, so its frames and blocks are walked. */
async function requireWholeFrames(source: FileSource): Promise<void> {
  let at = 0;
  const byteAt = async (offset: number, count: number): Promise<number> => {
    if (offset + count > source.size) throw cutShort();
    return (await readBytes(source, offset, count)).readUIntLE(0, count);
  };
  while (at < source.size) {
    const magic = await byteAt(at, 4);
    if ((magic & ~0xf) === SKIPPABLE) {
      at += 8 + (await byteAt(at + 4, 4));
      if (at > source.size) throw cutShort();
      continue;
    }
    if (magic !== FRAME) throw unreadable('it is no Zstandard file');
    const flags = await byteAt(at + 4, 1);
    const isSingle = (flags & 0x20) !== 0;
    const sizeFlag = flags >> 6;
    const sizeBytes = sizeFlag === 0 && isSingle ? 1 : SIZE_BYTES[sizeFlag]!;
    at += 5 + (isSingle ? 0 : 1) + DICTIONARY_BYTES[flags & 3]! + sizeBytes;
    for (let isLast = false; !isLast;) {
      const block = await byteAt(at, 3);
      isLast = (block & 1) === 1;
      // A repeated byte takes one.
      at += 3 + (((block >> 1) & 3) === 1 ? 1 : block >> 3);
    }
    if ((flags & 4) !== 0) at += 4;
    if (at > source.size) throw cutShort();
  }
}

function cutShort(): AppError {
  return unreadable('its compressed bytes are cut short');
}
