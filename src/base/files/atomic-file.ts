/**
 * Replaces a file so that every reader, and every restart, finds the old bytes or the new ones.
 *
 * New bytes go to a temporary file in the same folder, are synced, and exchanged with the old file in one step. The
 * replaced version is compared with the one the edit was made from: when another program wrote in the last instant,
 * the exchange is undone. Hard links to the old file keep the old content.
 */
import { accessSync, constants, fstatSync, lstatSync, type BigIntStats } from 'node:fs';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError, errnoOf, outOfDescriptors } from '../errors.ts';
import {
  hashFile,
  isAbsence,
  sameContent,
  sameStamp,
  stampOf,
  type FileStamp,
} from './file-stamp.ts';
import { sourceOf } from './file-source.ts';
import { placeNew, placeOver, putBack } from './file-swap.ts';
import { askAnew, copyExtendedAttributes } from './libc.ts';
import { writePieces, type Piece } from './piece-writer.ts';
import type { ReplacedFiles } from './replaced-files.ts';
import { createTemporary } from './temporary-files.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY, W_OK } = constants;
/** Another program is creating and deleting the file if this many attempts fail. */
const PLACE_ATTEMPTS = 10;

/** The new file, and what must still be true of the old one. */
export interface ReplaceOptions {
  /** Absolute and without symlinks (`targetPath` of docroot/opener.ts). */
  readonly path: string;
  /** For error texts. */
  readonly rel: string;
  /** What the pieces were made from; null: the file must not exist; `any`: anything or nothing. */
  readonly base: FileStamp | null | 'any';
  /** `hashFile` of a base whose stamp is racy; compared with what was replaced. */
  readonly baseHash?: string;
  /** Ranges need a base stamp. An error of the iteration abandons the write. */
  readonly pieces: Iterable<Piece> | AsyncIterable<Piece>;
  /** Takes the replaced version, to notice programs that go on writing to it. Absent: deleted at once. */
  readonly replaced?: ReplacedFiles;
  readonly signal?: AbortSignal;
  /** On disk but not visible; only the ctime of the stamp will change. */
  readonly onPrepared?: (stamp: FileStamp) => Promise<void>;
  /** Right before the new bytes become visible; throw to abandon the write. A stamp it resolves with becomes the base. */
  readonly beforeCommit?: () => Promise<FileStamp | undefined | void>;
}

/** What stands at the path now. */
export interface ReplaceResult {
  /** If the file changed again in the same instant, a stamp it no longer has. */
  readonly stamp: FileStamp;
  /** `hashFile` of the new content. */
  readonly hash: string;
  /** False when the file was created. */
  readonly overwritten: boolean;
}

/** Nothing was written. The caller rereads and retries; uncaught it becomes a 409. */
export class ChangedDuringWrite extends AppError {
  constructor(rel: string) {
    super('conflict', `Resource '${rel}' changed during the write`);
    this.name = 'ChangedDuringWrite';
  }
}

interface Work {
  request: ReplaceOptions;
  readonly directory: FileHandle;
  readonly temporary: FileHandle;
  readonly temporaryPath: string;
  /** As found at the start. */
  readonly old: BigIntStats | null;
  /** Deleted at the end in any case. */
  leftover: string | null;
}

/**
 * Durable when it resolves. On any error the old file is untouched or restored.
 *
 * Throws `ChangedDuringWrite`, `not-writable`, `no-space`, `unavailable` (out of descriptors), `internal` (the disk
 * failed), the signal's reason, or what a callback or the pieces threw. Costs about a copy of the file, an fsync of
 * it and one of its folder; memory is 2 MiB. Hold the file's lock: two replacements of one file must not overlap.
 */
export async function replaceFile(request: ReplaceOptions): Promise<ReplaceResult> {
  let work: Work | undefined;
  try {
    request.signal?.throwIfAborted();
    work = await begin(request);
    const { stamp, hash } = await prepare(work);
    await request.onPrepared?.(stamp);
    const base = (await request.beforeCommit?.()) ?? request.base;
    request.signal?.throwIfAborted();
    work.request = { ...request, base };
    return { ...(await commit(work, stamp)), hash };
  } catch (error) {
    throw writeFailure(error, request.rel);
  } finally {
    if (work !== undefined) await end(work);
  }
}

async function begin(request: ReplaceOptions): Promise<Work> {
  const old = inspect(request.path);
  requireBase(request, old);
  // Replacing needs rights on the folder only.
  if (old !== null) accessSync(request.path, W_OK);
  const directory = await open(dirname(request.path), O_RDONLY | O_DIRECTORY);
  try {
    const { path, handle } = await createTemporary(request.path);
    return { request, directory, temporary: handle, temporaryPath: path, old, leftover: path };
  } catch (error) {
    await directory.close();
    throw error;
  }
}

/** Syncs the new bytes, still under the temporary name. */
async function prepare(work: Work): Promise<{ stamp: FileStamp; hash: string }> {
  const { request, temporary } = work;
  const source = await openOld(work);
  try {
    const { size, hash } = await writePieces(request.pieces, {
      source,
      sourceSize: request.base === 'any' || work.old === null ? 0 : Number(work.old.size),
      target: temporary,
      signal: request.signal,
      onSourceCut: () => new ChangedDuringWrite(request.rel),
    });
    await dateApart(temporary);
    if (source === null || work.old === null) await temporary.chmod(0o666 & ~process.umask());
    else await carryAttributes(source, work.old, temporary);
    await temporary.sync();
    const stamp = stampOf(fstatSync(temporary.fd, { bigint: true }));
    if (stamp.size !== size) throw new Error(`wrote ${size} bytes, the file has ${stamp.size}`);
    return { stamp, hash };
  } finally {
    // Closing the last descriptor of a deleted file frees its blocks, which takes milliseconds.
    await source?.close();
  }
}

/**
 * A microsecond before the last tick of the file system's clock: a later write to it, or to another file with its
 * inode number, has another mtime even within the same tick (10 ms on older kernels, 2 s on FAT).
 */
async function dateApart(file: FileHandle): Promise<void> {
  const { mtimeNs } = fstatSync(file.fd, { bigint: true });
  const seconds = Number(mtimeNs / 1000n - 1n) / 1e6;
  await file.utimes(seconds, seconds);
}

async function openOld({ request, old }: Work): Promise<FileHandle | null> {
  if (old === null) return null;
  const source = await open(request.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    requireBase(request, fstatSync(source.fd, { bigint: true }));
    return source;
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** The result of making the new file visible. */
interface Placed {
  /** Null when there was none, or it could not be kept. */
  readonly replaced: string | null;
  readonly overwritten: boolean;
}

async function commit(
  work: Work,
  prepared: FileStamp,
): Promise<{ stamp: FileStamp; overwritten: boolean }> {
  const { request } = work;
  const placed = place(work);
  // Taken before anything slow, so that later changes show.
  const visible = stampOf(fstatSync(work.temporary.fd, { bigint: true }));
  let before: FileStamp | null;
  try {
    before = requireReplaced(request, placed);
    await bothOf(requireHash(request, placed), syncDirectory(work.directory));
    // Catches writes that keep size and mtime: nothing else moves the ctime of the replaced version from here on.
    if (before !== null && !sameStamp(requireReplaced(request, placed), before)) {
      throw new ChangedDuringWrite(request.rel);
    }
  } catch (error) {
    await takeBack(work, placed, prepared, error);
    throw error;
  }
  if (placed.replaced !== null && before !== null && request.replaced !== undefined) {
    work.leftover = null;
    await request.replaced.take(placed.replaced, request.path, before);
  }
  return {
    stamp: sameContent(visible, prepared) ? visible : prepared,
    overwritten: placed.overwritten,
  };
}

/** No other work of this process runs between check and exchange. */
function place(work: Work): Placed {
  const { request, temporaryPath } = work;
  for (let attempt = 0; attempt < PLACE_ATTEMPTS; attempt++) {
    const current = inspect(request.path);
    requireBase(request, current);
    const placed =
      current === null
        ? placeNew(temporaryPath, request.path) && { replaced: null }
        : placeOver(temporaryPath, request.path);
    if (placed !== false) {
      work.leftover = placed.replaced;
      return { replaced: placed.replaced, overwritten: current !== null };
    }
    // The file came or went since it was checked; only `any` allows that.
    if (request.base !== 'any') break;
  }
  throw new ChangedDuringWrite(request.rel);
}

/** Throws unless it is the base; null when there is none. */
function requireReplaced(request: ReplaceOptions, { replaced }: Placed): FileStamp | null {
  if (replaced === null) return null;
  // FUSE treats two names of a file as two files and remembers old attributes for the second.
  askAnew(replaced);
  const found = inspect(replaced);
  if (found === null || !found.isFile()) throw new ChangedDuringWrite(request.rel);
  const stamp = stampOf(found);
  if (request.base === 'any' || request.base === null || sameContent(stamp, request.base)) {
    return stamp;
  }
  throw new ChangedDuringWrite(request.rel);
}

/** Waits for both; throws what either threw. */
async function bothOf(one: Promise<void>, other: Promise<void>): Promise<void> {
  for (const result of await Promise.allSettled([one, other])) {
    if (result.status === 'rejected') throw result.reason;
  }
}

async function requireHash(request: ReplaceOptions, { replaced }: Placed): Promise<void> {
  if (request.baseHash === undefined || replaced === null) return;
  const handle = await open(replaced, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { size } = fstatSync(handle.fd);
    if ((await hashFile(sourceOf(handle.fd, size))) !== request.baseHash) {
      throw new ChangedDuringWrite(request.rel);
    }
  } finally {
    await handle.close();
  }
}

/** Undoes `place`, as far as the file system allows. */
async function takeBack(
  work: Work,
  { replaced, overwritten }: Placed,
  prepared: FileStamp,
  reason: unknown,
): Promise<void> {
  const { request } = work;
  // Until it is restored, the replaced version is the only copy.
  work.leftover = null;
  try {
    if (replaced !== null) work.leftover = putBack(replaced, request.path);
    else if (!overwritten && isStill(request.path, prepared)) work.leftover = request.path;
  } catch (error) {
    throw new AppError('internal', 'Internal Server Error', {
      cause: new AggregateError([reason, error], 'a replaced file could not be put back'),
    });
  }
  const displaced = work.leftover;
  if (overwritten && displaced !== null && request.replaced !== undefined) {
    // It was visible for an instant: changes made to it then must not be lost.
    work.leftover = null;
    await request.replaced.take(displaced, request.path, prepared);
  }
  try {
    await syncDirectory(work.directory);
  } catch {
    // The error that led here says the same and is being thrown.
  }
}

function isStill(path: string, prepared: FileStamp): boolean {
  const found = inspect(path);
  return found !== null && sameContent(stampOf(found), prepared);
}

async function end(work: Work): Promise<void> {
  try {
    await Promise.all([work.temporary.close(), work.directory.close()]);
    if (work.leftover !== null) await unlink(work.leftover);
  } catch {
    // The bytes are synced or abandoned by now. A file that stays is hidden by its name and removed at the next start.
  }
}

function inspect(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}

function requireBase({ base, rel }: ReplaceOptions, found: BigIntStats | null): void {
  const isFit =
    base === 'any'
      ? found === null || found.isFile()
      : sameStamp(found === null ? null : stampOf(found), base);
  if (!isFit) throw new ChangedDuringWrite(rel);
}

async function syncDirectory(directory: FileHandle): Promise<void> {
  try {
    await directory.sync();
  } catch (error) {
    // Some network file systems cannot sync a folder; they order a rename after the file's own sync.
    if (errnoOf(error) !== 'EINVAL' && errnoOf(error) !== 'ENOTSUP') throw error;
  }
}

/** Other errors are returned unchanged. */
export function writeFailure(error: unknown, rel: string): unknown {
  if (error instanceof AppError || isAbsence(error)) {
    return error instanceof AppError ? error : new ChangedDuringWrite(rel);
  }
  switch (errnoOf(error)) {
    case undefined:
      return error;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new AppError('not-writable', `Resource '${rel}' is not writable`, { cause: error });
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new AppError('no-space', 'Insufficient storage', { cause: error });
    case 'EMFILE':
    case 'ENFILE':
      return outOfDescriptors(error);
    default:
      return new AppError('internal', 'Internal Server Error', { cause: error });
  }
}

/**
 * Owner, group, mode and extended attributes, where the process may set them; times are not carried over. `old` is the
 * `stat` of the open file `source`.
 */
async function carryAttributes(
  source: FileHandle,
  old: BigIntStats,
  target: FileHandle,
): Promise<void> {
  const isOwned = await carryOwner(old, target);
  copyExtendedAttributes(source.fd, target.fd);
  // Last: changing the owner clears the set-id bits.
  await target.chmod(Number(old.mode) & (isOwned ? 0o7777 : 0o777));
}

/** True when the target now has the old owner and group. */
async function carryOwner(old: BigIntStats, target: FileHandle): Promise<boolean> {
  const own = fstatSync(target.fd, { bigint: true });
  if (own.uid === old.uid && own.gid === old.gid) return true;
  for (const uid of new Set([old.uid, own.uid])) {
    try {
      await target.chown(Number(uid), Number(old.gid));
      return uid === old.uid;
    } catch (error) {
      // Only root may give files away; a group one is not in is refused too.
      if (errnoOf(error) !== 'EPERM') throw error;
    }
  }
  return false;
}

/** So that it survives a power loss; of a folder, its entries. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
