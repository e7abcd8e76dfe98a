/** Never beyond the size the directory claims; size and checksum must match it. */
import { pipeline, Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { unreadable } from '../../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../../src/base/files/file-source.ts';
import type { Archive, ArchiveEntry } from './archive.ts';
import { MAX_PART_BYTES } from '../limits.ts';

/** ZIP compression methods that office programs write. */
export const STORED = 0;
export const DEFLATED = 8;

const CHUNK_BYTES = 256 * 1024;

/** Chunks are not empty and belong to the caller. Off the event loop, one chunk ahead. Throws `unreadable-file`. */
export async function* expand(archive: Archive, entry: ArchiveEntry): AsyncGenerator<Buffer> {
  const chunks =
    entry.method === STORED
      ? stored(archive.source, entry)
      : entry.method === DEFLATED
        ? inflated(archive.source, entry)
        : null;
  if (chunks === null) {
    throw unreadable(`${entry.name} is compressed by the unsupported method ${entry.method}`);
  }
  let size = 0;
  let crc = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > entry.size) throw unreadable(`${entry.name} expands to more than it claims`);
    crc = crc32(chunk, crc);
    if (chunk.length > 0) yield chunk;
  }
  if (size !== entry.size || crc !== entry.crc) throw damaged(entry);
}

/** Throws `unreadable-file` past MAX_PART_BYTES too. */
export async function expandWhole(archive: Archive, entry: ArchiveEntry): Promise<Buffer> {
  if (entry.size > MAX_PART_BYTES) throw unreadable(`${entry.name} is too large`);
  const chunks: Buffer[] = [];
  for await (const chunk of expand(archive, entry)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* stored(source: FileSource, entry: ArchiveEntry): AsyncGenerator<Buffer> {
  const end = entry.dataOffset + entry.compressedSize;
  for (let at = entry.dataOffset; at < end; at += CHUNK_BYTES) {
    yield readBytes(source, at, Math.min(CHUNK_BYTES, end - at));
  }
}

async function* inflated(source: FileSource, entry: ArchiveEntry): AsyncGenerator<Buffer> {
  try {
    yield* inflatedChunks(stored(source, entry));
  } catch (error) {
    if (isZlibError(error)) throw damaged(entry);
    throw error;
  }
}

/** Throws errors of zlib. */
export async function* inflatedChunks(
  compressed: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  // Errors end the iteration below.
  pipeline(Readable.from(compressed, { objectMode: false }), inflate, () => {});
  try {
    for await (const chunk of inflate) yield chunk as Buffer;
  } finally {
    inflate.destroy();
  }
}

function isZlibError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('Z_');
}

function damaged(entry: ArchiveEntry): Error {
  return unreadable(`${entry.name} is damaged`);
}
