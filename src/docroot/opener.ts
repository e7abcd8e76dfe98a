/**
 * All reads of the document root go through here.
 *
 * A path is opened first and checked afterwards, by what the descriptor refers to, so swapping a file for a symlink
 * in between has no effect. Only regular files inside the root pass, directly or through a symlink in the last
 * component; devices and pipes never block.
 */
import {
  close,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
  type BigIntStats,
} from 'node:fs';
import { posix } from 'node:path';
import { AppError, errnoOf, lookFailure } from '../base/errors.ts';
import { type HeldFile, sourceOf } from '../base/files/file-source.ts';
import { isAbsence, stampOf, type FileStamp } from '../base/files/file-stamp.ts';
import { COMPANION_FOLDER, isAtOrBelow, isPlainRel, type DocumentRoot } from './document-root.ts';

/** `path`: absolute, without symlinks, as of opening. */
export interface OpenedFile extends HeldFile {
  readonly stamp: FileStamp;
}

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
/** A file replaced between open and check is opened again; then refused. */
const OPEN_ATTEMPTS = 8;

/**
 * Throws `not-found` for anything but a regular file inside the root, `unreadable-file` when the file system refuses
 * or fails, and `unavailable` when it does not answer.
 */
export async function openForRead(root: DocumentRoot, rel: string): Promise<OpenedFile> {
  if (!isPlainRel(rel) || !root.mayPublish(rel)) throw notFound();
  return openInside(root, rel, (real) => root.mayPublish(real));
}

/** As `openForRead`, for a companion file (`.svc/<rel>.schema.json`), which must not be a symlink. */
export async function openCompanion(root: DocumentRoot, rel: string): Promise<OpenedFile> {
  if (!isPlainRel(rel) || !isAtOrBelow(rel, COMPANION_FOLDER) || !rel.endsWith('.json')) {
    throw notFound();
  }
  return openInside(root, rel, (real) => real === rel);
}

/**
 * Absolute, without symlinks, inside the root; for a symlink the file behind it. Throws `not-found` when something
 * else than a regular file has that name, the folder does not exist, or it leads out of the root; `not-writable` when
 * a folder may not be searched; `unavailable` when the storage does not answer.
 */
export function targetPath(root: DocumentRoot, rel: string): string {
  if (!isPlainRel(rel) || !root.mayPublish(rel)) throw notFound();
  const path = root.absolute(rel);
  try {
    const folder = posix.dirname(path);
    if (realpathSync(folder) !== folder) throw notFound();
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return path;
    const real = found.isSymbolicLink() ? realpathSync(path) : path;
    const realRel = root.relOf(real);
    if (realRel === null || !root.mayPublish(realRel) || !statSync(real).isFile()) throw notFound();
    return real;
  } catch (error) {
    if (isAbsence(error)) throw notFound();
    if (errnoOf(error) !== 'EACCES') throw lookFailure(error, rel);
    throw new AppError('not-writable', `Resource '${rel}' is not writable`, { cause: error });
  }
}

function openInside(
  root: DocumentRoot,
  rel: string,
  isAllowed: (realRel: string) => boolean,
): OpenedFile {
  const path = root.absolute(rel);
  for (let attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
    const opened = tryOpen(path, rel);
    const real = pathOfOpened(opened.fd, path, opened.stats);
    const realRel = real === null ? null : root.relOf(real);
    if (real !== null && realRel !== null && isAllowed(realRel) && isDirect(path, real)) {
      return openedFile(opened.fd, real, opened.stats);
    }
    closeSync(opened.fd);
  }
  throw notFound();
}

function tryOpen(path: string, rel: string): { fd: number; stats: BigIntStats } {
  let fd: number | undefined;
  try {
    // Opening alone can move a tape or answer a pipe; checked again on the open file.
    if (!looksLikeFile(path, rel)) throw notFound();
    fd = openSync(path, FLAGS);
    const stats = fstatSync(fd, { bigint: true });
    if (stats.isFile()) return { fd, stats };
    throw notFound();
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    throw isAbsence(error) ? notFound() : refusal(error, rel);
  }
}

function looksLikeFile(path: string, rel: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    throw isAbsence(error) ? error : lookFailure(error, rel);
  }
}

/** Null when renamed or deleted meanwhile. */
function pathOfOpened(fd: number, path: string, stats: BigIntStats): string | null {
  let real: string;
  try {
    real = readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // No /proc (another system, a bare container).
    return resolvesTo(path, stats);
  }
  // A file may have this suffix in its name: only the inode tells.
  return real.endsWith(' (deleted)') ? resolvesTo(path, stats) : real;
}

function resolvesTo(path: string, stats: BigIntStats): string | null {
  try {
    const real = realpathSync(path);
    const found = lstatSync(real, { bigint: true });
    return found.ino === stats.ino && found.dev === stats.dev ? real : null;
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}

function isDirect(path: string, real: string): boolean {
  if (real === path) return true;
  try {
    const folder = posix.dirname(path);
    return lstatSync(path).isSymbolicLink() && realpathSync(folder) === folder;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

function openedFile(fd: number, path: string, stats: BigIntStats): OpenedFile {
  let isOpen = true;
  const source = sourceOf(fd, Number(stats.size));
  return {
    ...source,
    fd,
    path,
    stamp: stampOf(stats),
    close: () => {
      if (!isOpen) return Promise.resolve();
      isOpen = false;
      // Closing the last descriptor of a deleted file frees its blocks, which takes time.
      return new Promise((resolve) => close(fd, () => resolve()));
    },
  };
}

function notFound(): AppError {
  return new AppError('not-found', 'Not Found');
}

function refusal(error: unknown, rel: string): unknown {
  switch (errnoOf(error)) {
    case 'ENXIO':
    case 'ENODEV':
      return notFound();
    case 'EIO':
      // The storage knew of the file a moment ago, so the file itself is damaged.
      return new AppError('unreadable-file', `Cannot read '${rel}': the disk reported an error`, {
        cause: error,
      });
    default:
      return lookFailure(error, rel);
  }
}
