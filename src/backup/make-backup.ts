/**
 * Of a running server: databases as snapshots, files as whole versions. The archive gets its name only when it is
 * complete and on disk.
 */
import { createWriteStream } from 'node:fs';
import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { timestamp } from '../base/clock.ts';
import { AppError, errnoOf } from '../base/errors.ts';
import { unlessGone } from '../base/files/file-stamp.ts';
import { shortId } from '../base/ids.ts';
import { syncPath } from '../base/files/atomic-file.ts';
import { createTemporary } from '../base/files/temporary-files.ts';
import { version } from '../base/version.ts';
import type { DocumentRoot } from '../docroot/document-root.ts';
import { removeLeftovers } from '../store/leftovers.ts';
import { type Backup, ArchiveContents } from './archive-contents.ts';
import { ARCHIVE_FORMAT, type Manifest } from './archive-format.ts';

interface BackupOrder {
  readonly root: DocumentRoot;
  readonly stateDir: string;
  /** A path (an existing file is replaced) or a stream. */
  readonly target: string | Writable;
  readonly withDocroot: boolean;
  /** Of the state database. */
  readonly schema: number;
  readonly now: number;
}

/**
 * Throws `conflict` for a file that keeps changing or a target that cannot be created, `no-space`. A failure leaves
 * no file; a stream is then incomplete.
 */
export async function makeBackup(order: BackupOrder): Promise<Backup> {
  const { target } = order;
  try {
    return await (typeof target === 'string' ? intoFile(target, order) : intoStream(target, order));
  } catch (error) {
    if (errnoOf(error) !== 'ENOSPC') throw error;
    const left = typeof target === 'string' ? 'nothing was written' : 'the archive is not whole';
    throw new AppError('no-space', `The disk is full; ${left}`, { cause: error });
  }
}

async function intoFile(target: string, order: BackupOrder): Promise<Backup> {
  const temporary = await createTemporary(target).catch(refuseTarget);
  await temporary.handle.close();
  try {
    const backup = await writeArchive(
      () => createWriteStream(temporary.path, { flags: 'w' }),
      order,
    );
    await publish(temporary.path, target);
    return backup;
  } catch (error) {
    await rm(temporary.path, { force: true });
    throw error;
  }
}

async function intoStream(target: Writable, order: BackupOrder): Promise<Backup> {
  try {
    return await writeArchive(() => target, order);
  } catch (error) {
    if (!isUnread(error)) throw error;
    throw new AppError('conflict', 'Whoever read the archive left before its end', {
      cause: error,
    });
  }
}

/** The reader of a pipe is gone. */
function isUnread(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

async function writeArchive(sink: () => Writable, order: BackupOrder): Promise<Backup> {
  await removeLeftovers(order.stateDir, Date.now());
  const folder = join(order.stateDir, 'tmp', `backup-${shortId()}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const archive = pack();
    const written = pipeline(archive, createGzip(), sink());
    const adding = new ArchiveContents(archive, order, folder).add(manifestOf(order));
    // Whichever fails first ends the other.
    adding.catch((error: Error) => archive.destroy(error));
    const [backup] = await Promise.all([adding, written]);
    return backup;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function refuseTarget(error: unknown): never {
  const errno = errnoOf(error);
  if (errno === undefined) throw error;
  const reason =
    errno === 'ENOENT' || errno === 'ENOTDIR'
      ? 'its folder does not exist'
      : `its folder cannot be written to (${errno})`;
  throw new AppError('conflict', `The archive cannot be made: ${reason}`, { cause: error });
}

function manifestOf({ schema, withDocroot, now }: BackupOrder): Manifest {
  return {
    format: ARCHIVE_FORMAT,
    svc: version,
    schema,
    created_at: timestamp(now),
    with_docroot: withDocroot,
  };
}

async function publish(temporary: string, target: string): Promise<void> {
  await syncPath(temporary);
  const stat = await unlessGone(lstat(target));
  if (stat !== null && !stat.isFile())
    throw new AppError(
      'conflict',
      'The target is no file; name the archive to write, such as svc-backup.tar.gz',
    );
  await rename(temporary, target);
  await syncPath(dirname(target));
}
