/**
 * The identity of a file's content on disk, cheap enough for every read: size, mtime, ctime and inode.
 *
 * Kernels before 6.13 tick file times every 1 to 10 ms and coarse file systems every 2 s, so a second write within
 * the same tick can leave the stamp unchanged. A stamp taken that close to its own times is *racy* (as in git's
 * index): it proves a change, never the absence of one, until the content was read again after the tick.
 */
import { statSync, type BigIntStats } from 'node:fs';
import { errnoOf, lookFailure } from '../errors.ts';
import type { FileSource } from './file-source.ts';
import { Glance } from './libc.ts';

/** Equal stamps mean the same bytes; see `isRacy` for the limit. */
export interface FileStamp {
  readonly size: number;
  /** Nanoseconds as decimal text; a number would lose digits. */
  readonly mtimeNs: string;
  /** Changes with every write, even when a program restores the mtime. */
  readonly ctimeNs: string;
  readonly inode: string;
}

/** A stamp stays racy this long after the file's times: the coarsest tick in use (FAT), in milliseconds. */
export const RACY_WINDOW_MS = 2_000;

/** The kernel's file clock ticks every 10 ms at most. */
export const CLOCK_TICK_MS = 12;

/** The unit of `ContentHash`. */
export const HASH_CHUNK_BYTES = 1 << 20;

/** `stats` from a `stat` call with `bigint: true`. */
export function stampOf(stats: BigIntStats): FileStamp {
  return {
    size: Number(stats.size),
    mtimeNs: stats.mtimeNs.toString(),
    ctimeNs: stats.ctimeNs.toString(),
    inode: stats.ino.toString(),
  };
}

export function sameStamp(a: FileStamp | null, b: FileStamp | null): boolean {
  return a === b || (a !== null && b !== null && sameContent(a, b) && a.ctimeNs === b.ctimeNs);
}

/** As `sameStamp` across a rename, which moves only the ctime. */
export function sameContent(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.inode === b.inode;
}

/**
 * Follows symlinks; null when there is no regular file. Synchronous: 2 to 5 µs on a local disk. Other failures are
 * thrown unchanged, or as `lookFailure` when `rel` names a published file.
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

/** Repeated `statFile` of one path: the same object as long as nothing changed. */
export class StampedPath {
  readonly path: string;
  readonly #rel: string | undefined;
  readonly #glance: Glance;
  /** Undefined: not known. */
  #last: FileStamp | null | undefined;

  constructor(path: string, rel?: string) {
    this.path = path;
    this.#rel = rel;
    this.#glance = new Glance(path);
  }

  stamp(): FileStamp | null {
    // First, so that a change before the stamp is taken differs at the next one.
    if (this.#glance.isUnchanged() && this.#last !== undefined) return this.#last;
    this.#last = undefined;
    return (this.#last = statFile(this.path, this.#rel));
  }
}

/** The path names nothing, rather than that the answer is unknown. */
export function isAbsence(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ELOOP' || errno === 'ENAMETOOLONG';
}

/** Null for what is not there, or not any more. */
export async function unlessGone<T>(look: Promise<T>): Promise<T | null> {
  try {
    return await look;
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}

/**
 * Whether it may hide a later change. Times further in the future than the window do not count: a change now would
 * move them back.
 */
export function isRacy(stamp: FileStamp, takenAtMs: number, windowMs = RACY_WINDOW_MS): boolean {
  // A double is exact to about 0.2 µs here, far below the window.
  const isClose = (timeNs: string) => Math.abs(takenAtMs - Number(timeNs) / 1e6) <= windowMs;
  return isClose(stamp.ctimeNs) || isClose(stamp.mtimeNs);
}

/** Every chunk but the last is HASH_CHUNK_BYTES long. Detects accidents, not forgeries. */
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

/** About 0.2 ms a MiB from memory; yields between chunks. Throws the signal's reason. */
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
    // Read while this chunk is hashed; nothing in between waits or throws.
    if (!isLast) next = source.read(offset, HASH_CHUNK_BYTES);
    hash.add(chunk);
    if (isLast) return hash.digest();
  }
}
