/**
 * Writes a backup while the server goes on: databases as snapshots of one moment, files as whole versions.
 *
 * The archive gets its name only when it is complete and on disk. A file that another program changes in place while it is
 * read is read again; svc itself replaces files, so what was opened stays as it was.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { timestamp } from '../base/clock.ts';
import { AppError, errnoOf } from '../base/errors.ts';
import { isAbsence } from '../base/file-stamp.ts';
import { shortId } from '../base/ids.ts';
import { syncPath } from '../base/sync-path.ts';
import { createTemporary } from '../base/temporary-files.ts';
import { version } from '../base/version.ts';
import type { DocumentRoot } from '../docroot/document-root.ts';
import { ARCHIVE_FORMAT, CHECKSUMS, MANIFEST, type Manifest } from './archive-format.ts';
import { type ArchiveFile, listDocroot, snapshotState, snapshotTables } from './backup-contents.ts';

/** How often a file that keeps changing is read. */
const MAX_READS = 5;

interface BackupOrder {
  readonly root: DocumentRoot;
  readonly stateDir: string;
  /** Path of the archive, where an existing file is replaced, or what takes its bytes. */
  readonly target: string | Writable;
  readonly withDocroot: boolean;
  /** Schema version of the state database. */
  readonly schema: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What was written. */
export interface Backup {
  readonly files: number;
  /** Before compression. */
  readonly bytes: number;
}

/** Throws `conflict` for a file that never stands still or a target that cannot be made, `no-space`, and the system's errors. No file is left behind then; what a stream has got is no whole archive. */
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

/** The other side of a pipe is gone. */
function isUnread(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

async function writeArchive(sink: () => Writable, order: BackupOrder): Promise<Backup> {
  const { root, stateDir, withDocroot } = order;
  const folder = join(stateDir, 'tmp', `backup-${shortId()}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    // Files first: a change of rows that happens meanwhile may then be in the audit but not in the file, never the reverse.
    const parts = [
      () => listDocroot(root, withDocroot),
      () => (withDocroot ? snapshotTables(stateDir, folder, root) : []),
      () => snapshotState(stateDir, folder),
    ];
    const archive = pack();
    const written = pipeline(archive, createGzip(), sink());
    const adding = addEverything(archive, manifestOf(order), parts);
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

/** Each of `parts` is looked for when those before it are in the archive. */
async function addEverything(
  archive: Pack,
  manifest: Manifest,
  parts: readonly (() => readonly ArchiveFile[] | Promise<readonly ArchiveFile[]>)[],
): Promise<Backup> {
  const sums = new Map<string, string>();
  let bytes = 0;
  let count = 0;
  await addText(archive, MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`, sums);
  for (const part of parts) {
    const files = await part();
    for (const file of files) bytes += await addFile(archive, file, sums);
    count += files.length;
  }
  const lines = [...sums].map(([name, sum]) => `${sum}  ${name}\n`);
  await addText(archive, CHECKSUMS, lines.join(''), new Map());
  archive.finalize();
  return { files: count, bytes };
}

async function addText(
  archive: Pack,
  name: string,
  text: string,
  sums: Map<string, string>,
): Promise<void> {
  const bytes = Buffer.from(text);
  sums.set(name, createHash('sha256').update(bytes).digest('hex'));
  const entry = archive.entry({ name, size: bytes.length, mode: 0o600 });
  await pipeline(Readable.from([bytes]), entry);
}

/** Adds the file, again when it changed meanwhile; answers its size. A file that is gone by now is left out. */
async function addFile(
  archive: Pack,
  file: ArchiveFile,
  sums: Map<string, string>,
): Promise<number> {
  if (file.link !== null) {
    const name = `${file.part}/${file.rel}`;
    archive.entry({ name, type: 'symlink', linkname: file.link });
    return 0;
  }
  let handle: FileHandle;
  try {
    handle = await open(file.path, 'r');
  } catch (error) {
    if (isAbsence(error)) return 0;
    throw error;
  }
  try {
    return await addOpened(archive, file, handle, sums);
  } finally {
    await handle.close();
  }
}

/** Read from the same handle each time: what was replaced or deleted since is whole in it. */
async function addOpened(
  archive: Pack,
  { part, rel, path }: ArchiveFile,
  handle: FileHandle,
  sums: Map<string, string>,
): Promise<number> {
  const name = `${part}/${rel}`;
  for (let read = 1; read <= MAX_READS; read++) {
    const before = await handle.stat();
    const hash = createHash('sha256');
    const entry = archive.entry({
      name,
      size: before.size,
      mode: part === 'state' ? 0o600 : before.mode & 0o777,
      mtime: before.mtime,
    });
    await pipeline(exactly(path, handle.fd, before.size, hash), entry);
    const after = await handle.stat();
    sums.set(name, hash.digest('hex'));
    if (after.size === before.size && after.mtimeMs === before.mtimeMs) return before.size;
  }
  throw new AppError('conflict', `'${rel}' changes faster than it can be read`);
}

/** `size` bytes of an open file, whatever became of it since its size was asked. */
async function* exactly(
  path: string,
  fd: number,
  size: number,
  hash: { update(bytes: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  let left = size;
  if (left > 0) {
    const stream = createReadStream(path, { fd, autoClose: false, start: 0, end: size - 1 });
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
      left -= chunk.length;
      yield chunk;
    }
  }
  // Cut meanwhile: the entry has announced its size, so it is filled up and the file read again.
  while (left > 0) {
    const filler = new Uint8Array(Math.min(left, 65_536));
    left -= filler.length;
    yield filler;
  }
}

async function publish(temporary: string, target: string): Promise<void> {
  await syncPath(temporary);
  const stat = await lstat(target).catch((error: unknown) => {
    if (isAbsence(error)) return null;
    throw error;
  });
  if (stat !== null && !stat.isFile())
    throw new AppError(
      'conflict',
      'The target is no file; name the archive to write, such as svc-backup.tar.gz',
    );
  await rename(temporary, target);
  await syncPath(dirname(target));
}
