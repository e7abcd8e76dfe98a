/**
 * The identity of a file's content on disk, cheap enough to be asked on every read.
 *
 * A stamp is size, mtime, ctime and inode. It misses one thing: kernels before 6.13 tick file times every 1 to 10 ms
 * and coarse file systems every 2 s, so a second write within the tick of the first can leave the stamp as it was.
 * A stamp taken that close to its own times is *racy* (as in git's index): it proves a change, never the absence of
 * one, until the content was read again, or hashed, after the tick has passed.
 */
import { statSync, type BigIntStats } from 'node:fs';
import { errnoOf, lookFailure } from './errors.ts';
import type { FileSource } from './file-source.ts';

/** Two equal stamps mean the same bytes (DS-143); see `isRacy` for the limit. */
export interface FileStamp {
  readonly size: number;
  /** Nanoseconds as decimal text; a number would lose digits. */
  readonly mtimeNs: string;
  /** Changes with every write, also when a program restores the mtime. */
  readonly ctimeNs: string;
  readonly inode: string;
}

/** How long after a file's times its stamp stays racy: the coarsest tick in use (FAT), in milliseconds. */
export const RACY_WINDOW_MS = 2_000;

/** The unit of `ContentHash`. */
export const HASH_CHUNK_BYTES = 1 << 20;

/** The stamp in the answer of a `stat` call made with `bigint: true`. */
export function stampOf(stats: BigIntStats): FileStamp {
  return {
    size: Number(stats.size),
    mtimeNs: stats.mtimeNs.toString(),
    ctimeNs: stats.ctimeNs.toString(),
    inode: stats.ino.toString(),
  };
}

/** Whether both name the same content; two nulls (no file) are the same. */
export function sameStamp(a: FileStamp | null, b: FileStamp | null): boolean {
  return a === null || b === null ? a === b : sameContent(a, b) && a.ctimeNs === b.ctimeNs;
}

/** As `sameStamp` across a rename, which moves the ctime and nothing else. */
export function sameContent(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.inode === b.inode;
}

/**
 * The stamp of the file at `path` now, symlinks followed; null when there is no regular file. Synchronous because a
 * read cannot be answered before it: 2 to 5 µs on a local disk. Other failures (`EACCES`, `EIO`) are thrown as they come, or
 * for a published file, whose `rel` is given, as `lookFailure`.
 */
export function statFile(path: string, rel?: string): FileStamp | null {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats?.isFile() ? stampOf(stats) : null;
  } catch (error) {
    if (isAbsence(error)) return null;
    throw rel === undefined ? error : lookFailure(error, rel);
  }
}

/** Whether a failed call says that the path names nothing, rather than that the answer is unknown. */
export function isAbsence(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ELOOP' || errno === 'ENAMETOOLONG';
}

/**
 * Whether a stamp taken at `takenAtMs` (wall clock, epoch milliseconds) may hide a later change. Times further in the
 * future than the window do not count: a change made now would move them back.
 */
export function isRacy(stamp: FileStamp, takenAtMs: number): boolean {
  return isClose(stamp.ctimeNs, takenAtMs) || isClose(stamp.mtimeNs, takenAtMs);
}

function isClose(timeNs: string, takenAtMs: number): boolean {
  // A double is exact to about 0.2 µs here, far below the window.
  return Math.abs(takenAtMs - Number(timeNs) / 1e6) <= RACY_WINDOW_MS;
}

/**
 * The hash of `hashFile`, built while the content passes by: every chunk but the last is HASH_CHUNK_BYTES long.
 * Tells accidents apart, not forgeries.
 */
export class ContentHash {
  readonly #hashes: bigint[] = [];
  #size = 0;

  /** About 50 µs a chunk. */
  add(chunk: Uint8Array): void {
    if (chunk.byteLength === 0) return;
    this.#hashes.push(Bun.hash.xxHash3(chunk));
    this.#size += chunk.byteLength;
  }

  /** 16 hex digits: XXH3 over the XXH3 of every chunk, and the size. */
  digest(): string {
    const all = new BigUint64Array([...this.#hashes, BigInt(this.#size)]);
    return Bun.hash.xxHash3(all).toString(16).padStart(16, '0');
  }
}

/**
 * The hash of the whole content. Reads the whole file, about 0.2 ms a MiB from memory, and gives way to other work
 * between chunks. Throws the signal's reason when aborted.
 */
export async function hashFile(source: FileSource, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  const hash = new ContentHash();
  let offset = 0;
  let next = source.read(offset, HASH_CHUNK_BYTES);
  for (;;) {
    const chunk = await next;
    signal?.throwIfAborted();
    offset += chunk.byteLength;
    const isLast = chunk.byteLength < HASH_CHUNK_BYTES;
    // The next chunk is read while this one is hashed; nothing in between waits or throws.
    if (!isLast) next = source.read(offset, HASH_CHUNK_BYTES);
    hash.add(chunk);
    if (isLast) return hash.digest();
  }
}
