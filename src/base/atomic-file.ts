/**
 * Replaces a file so that every reader, and every restart, finds the old bytes or the new ones, never a mixture.
 *
 * New bytes go to a temporary file in the same folder, are synced, and take the old file's name in one step (DS-84).
 * That step exchanges the two, so the version that was replaced is still there to be compared with the one the edit
 * was made from: when another program wrote in the last instant, the exchange is undone and nothing is lost.
 * Hard links to the old file keep the old content; mode, owner, group and extended attributes are carried over (DS-85).
 */
import { accessSync, constants, fstatSync, lstatSync, type BigIntStats } from 'node:fs';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError, errnoOf, outOfDescriptors } from './errors.ts';
import { carryAttributes } from './file-attributes.ts';
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
import { askAnew } from './libc.ts';
import { writePieces, type Piece } from './piece-writer.ts';
import type { ReplacedFiles } from './replaced-files.ts';
import { createTemporary } from './temporary-files.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY, W_OK } = constants;
/** A file that appears and vanishes under our hands this often is being fought over. */
const PLACE_ATTEMPTS = 10;

/** What the new file is made of, and what must still be true of the old one. */
export interface ReplaceOptions {
  /** Absolute and without symlinks (`targetPath` of docroot/opener.ts); a symlink found there counts as a change. */
  readonly path: string;
  /** How errors name the file. */
  readonly rel: string;
  /** The version the pieces were made from; null: the file must not exist; `any`: whatever is there, if anything. */
  readonly base: FileStamp | null | 'any';
  /** `hashFile` of a base whose stamp is racy: compared with what was actually replaced, before it counts as done. */
  readonly baseHash?: string;
  /** The new file, in order; ranges need a base stamp. What the iteration throws abandons the write. */
  readonly pieces: Iterable<Piece> | AsyncIterable<Piece>;
  /** Takes what goes out of sight, to notice programs that go on writing to it. Absent: it is deleted at once. */
  readonly replaced?: ReplacedFiles;
  readonly signal?: AbortSignal;
  /** When the new bytes are safe on disk and not yet visible; of the stamp only the ctime will still change. */
  readonly onPrepared?: (stamp: FileStamp) => Promise<void>;
  /** Right before the new bytes become visible; throws to abandon the write (DS-91). */
  readonly beforeCommit?: () => Promise<void>;
}

/** What stands at the path now. */
export interface ReplaceResult {
  /** Of the new file. If it was changed again in the same instant, a stamp that the file does not have any more. */
  readonly stamp: FileStamp;
  /** `hashFile` of the new content. */
  readonly hash: string;
  /** False when the file was created. */
  readonly overwritten: boolean;
}

/**
 * The file is not what `ReplaceOptions.base` says; nothing was written. The caller reads it anew and starts over;
 * left alone it becomes the 409 of DS-84.
 */
export class ChangedDuringWrite extends AppError {
  constructor(rel: string) {
    super('conflict', `Resource '${rel}' changed during the write`);
    this.name = 'ChangedDuringWrite';
  }
}

/** What is open while one file is replaced. */
interface Work {
  readonly request: ReplaceOptions;
  readonly directory: FileHandle;
  readonly temporary: FileHandle;
  readonly temporaryPath: string;
  /** The file that is about to be replaced, as found at the start. */
  readonly old: BigIntStats | null;
  /** Deleted at the end, however it ends. */
  leftover: string | null;
}

/**
 * Replaces or creates one file; durable when it resolves.
 *
 * Whatever it throws, the old file is untouched or put back, and no temporary file stays: `ChangedDuringWrite`,
 * `not-writable`, `no-space`, `unavailable` (out of descriptors), `internal` (the disk failed), the signal's reason, or
 * what a callback or the pieces threw. Costs about a copy of the file, an fsync of it and one of its folder; memory
 * is 2 MiB whatever the size. The caller holds the file's lock: two replacements of one file must not overlap.
 */
export async function replaceFile(request: ReplaceOptions): Promise<ReplaceResult> {
  let work: Work | undefined;
  try {
    request.signal?.throwIfAborted();
    work = await begin(request);
    const { stamp, hash } = await prepare(work);
    await request.onPrepared?.(stamp);
    await request.beforeCommit?.();
    request.signal?.throwIfAborted();
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
  // Replacing needs rights on the folder only; a file that was made read-only is refused all the same.
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

/** Writes and syncs the new bytes, still under the temporary name. */
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
    if (source === null || work.old === null) await temporary.chmod(0o666 & ~process.umask());
    else await carryAttributes(source, work.old, temporary);
    await temporary.sync();
    const stamp = stampOf(fstatSync(temporary.fd, { bigint: true }));
    if (stamp.size !== size) throw new Error(`wrote ${size} bytes, the file has ${stamp.size}`);
    return { stamp, hash };
  } finally {
    // Before the exchange: the last descriptor of a deleted file frees its blocks, milliseconds of work.
    await source?.close();
  }
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

/** What a finished write put out of sight. */
interface Placed {
  /** Where the replaced version is now; null when there was none, or when it could not be kept. */
  readonly replaced: string | null;
  readonly overwritten: boolean;
}

async function commit(
  work: Work,
  prepared: FileStamp,
): Promise<{ stamp: FileStamp; overwritten: boolean }> {
  const { request } = work;
  const placed = place(work);
  // Taken before anything slow, so that a change made from now on shows as one.
  const visible = stampOf(fstatSync(work.temporary.fd, { bigint: true }));
  let before: FileStamp | null;
  try {
    before = requireReplaced(request, placed);
    await bothOf(requireHash(request, placed), syncDirectory(work.directory));
    // Once more, for whoever wrote to the replaced version meanwhile: from here on nothing else moves its ctime, which
    // alone shows a write that keeps size and mtime.
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

/** Makes the new file visible in place of the base. No other work of this process runs between check and exchange. */
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
    // The file came or went since it was looked at; only `any` can live with that.
    if (request.base !== 'any') break;
  }
  throw new ChangedDuringWrite(request.rel);
}

/** The stamp of the replaced version, which must be the base; null when there is none to look at. */
function requireReplaced(request: ReplaceOptions, { replaced }: Placed): FileStamp | null {
  if (replaced === null) return null;
  // FUSE takes two names of a file for two files, and remembers of the second what was before the first was given away.
  askAnew(replaced);
  const found = inspect(replaced);
  if (found === null || !found.isFile()) throw new ChangedDuringWrite(request.rel);
  const stamp = stampOf(found);
  if (request.base === 'any' || request.base === null || sameContent(stamp, request.base)) {
    return stamp;
  }
  throw new ChangedDuringWrite(request.rel);
}

/** When both have come to an end; throws what either of them threw. */
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

/** Undoes `place`, as far as the file system lets it. */
async function takeBack(
  work: Work,
  { replaced, overwritten }: Placed,
  prepared: FileStamp,
  reason: unknown,
): Promise<void> {
  const { request } = work;
  // Until it is back in its place the replaced version is the only copy.
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
    // It was visible for an instant: who changed it then, or has it open and will, must not lose that either.
    work.leftover = null;
    await request.replaced.take(displaced, request.path, prepared);
  }
  try {
    await syncDirectory(work.directory);
  } catch {
    // The error that led here says the same and is on its way to the caller.
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
    // The bytes are synced or abandoned by now. A file that stays is hidden from clients by its name, and removed
    // when the service starts again.
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
    // Some network file systems cannot sync a folder; they order a rename after the file's own sync by themselves.
    if (errnoOf(error) !== 'EINVAL' && errnoOf(error) !== 'ENOTSUP') throw error;
  }
}

/**
 * What a failed write of `rel` is to whoever asked for it: `not-writable`, `no-space`, `unavailable`, `internal`; an
 * AppError and what is no failure of the file system stay as they are.
 */
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
