/**
 * Contents of files that were replaced or deleted through the service, so that they can be seen and put back.
 *
 * Each is kept compressed under its SHA-256 before the file changes, equal ones once; the change log knows which change
 * replaced which. A content that no entry has any more is deleted.
 */
import { createHash } from 'node:crypto';
import { createReadStream, fstatSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { AppError, asNoSpace } from '../base/errors.ts';
import {
  type FileStamp,
  isAbsence,
  sameStamp,
  stampOf,
  unlessGone,
} from '../base/files/file-stamp.ts';
import { shortId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { Mutex } from '../base/scheduling/semaphore.ts';
import { replaceFile, syncPath } from '../base/files/atomic-file.ts';
import type { ReplacedFiles } from '../base/files/replaced-files.ts';
import type {
  ChangeLog,
  HistoryLimits,
  KeptContent,
  NewFileEntry,
} from '../tables/history/change-log.ts';
import type { DocumentRoot } from './document-root.ts';
import type { FileLocks, HeldLock } from './locks.ts';
import { type OpenedFile, openForRead, targetPath } from './opener.ts';

/** Folder of the state; part of a backup. */
export const VERSIONS_FOLDER = 'versions';

const NAME = /^([0-9a-f]{64})\.zst$/;
const DRAFT = /^[0-9a-f]{16}\.new$/;
/** Text takes a tenth to a twentieth; what is larger than this is not tried. */
const MAX_RATIO = 32;
const CHUNK_BYTES = 262_144;
const SWEPT_AT_ONCE = 500;
/** A command beside the server may be about to write the entry. */
const UNNAMED_MS = 60_000;
/** Of all room: so much may be taken by what is forgotten already. */
const SWEPT_SHARE = 1 / 8;

export interface VersionAuthor extends Pick<NewFileEntry, 'userId' | 'username' | 'action'> {
  /** The entry whose content is put back. */
  readonly undoes?: number;
  /** SHA-256 of what comes in its place: nothing is kept when that is the same. */
  readonly nextHash?: string;
}

export interface KeptVersion {
  /** The entry in the change log; null: there is none. */
  readonly id: number | null;
  /** Of the file as it was kept: what is replaced must still be this. Undefined: nothing was there. */
  readonly stamp: FileStamp | undefined;
  /** The file holds already what comes in its place. */
  readonly isSame: boolean;
  /** Call it when the file was replaced, or was not; never throws. */
  close(isMade: boolean): Promise<void>;
}

/** Ends a write that would change nothing. */
class SameContent extends AppError {
  constructor() {
    super('conflict', 'The file holds that already');
  }
}

interface FileVersionsOptions {
  readonly dir: string;
  readonly root: DocumentRoot;
  readonly locks: FileLocks;
  readonly replaced: ReplacedFiles;
  readonly changeLog: ChangeLog;
  readonly limits: () => HistoryLimits;
  readonly log: Log;
}

export class FileVersions {
  readonly #options: FileVersionsOptions;
  /** Nothing is swept while a content is about to get its entry. */
  readonly #writing = new Mutex();
  #storedSinceSweep = 0;

  constructor(options: FileVersionsOptions) {
    this.#options = options;
  }

  /**
   * Keeps what the file holds, because it is about to be replaced or deleted. Hold its lock. Throws `no-space` and
   * `unavailable`, unless `history.required` is off; then the file must stay as it is.
   */
  async keep(rel: string, author: VersionAuthor): Promise<KeptVersion> {
    const { limits, root, log } = this.#options;
    const none: KeptVersion = { id: null, stamp: undefined, isSame: false, close: async () => {} };
    if (!limits().enabled) return none;
    let file: OpenedFile;
    try {
      file = await openForRead(root, rel);
    } catch (error) {
      if (error instanceof AppError && error.code === 'not-found') return none;
      return this.#unlessRequired(error, none);
    }
    try {
      return await this.#writing.run(() => this.#keepOpened(rel, file, author));
    } catch (error) {
      log.debug('a version of a file was not kept', { resource: rel, error });
      return this.#unlessRequired(error, none);
    } finally {
      await file.close();
    }
  }

  #unlessRequired(error: unknown, otherwise: KeptVersion): KeptVersion {
    const { limits, log } = this.#options;
    const found = asNoSpace(error);
    if (limits().required) {
      if (found instanceof AppError) throw found;
      throw new AppError('unavailable', 'The version that would be replaced cannot be kept', {
        cause: error,
      });
    }
    log.warning('a change is made without keeping what was there', { error });
    return otherwise;
  }

  async #keepOpened(rel: string, file: OpenedFile, author: VersionAuthor): Promise<KeptVersion> {
    const { changeLog, limits } = this.#options;
    const most = limits().max_bytes_per_table;
    const { userId, username, action, undoes, nextHash } = author;
    const kept = file.size > most * MAX_RATIO ? null : await this.#store(file, most);
    const { stamp } = file;
    if (nextHash !== undefined && kept?.hash === nextHash) {
      return { id: null, stamp, isSame: true, close: async () => {} };
    }
    this.#storedSinceSweep += kept?.stored ?? 0;
    if (this.#storedSinceSweep > limits().max_bytes * SWEPT_SHARE) void this.sweep();
    const id = await changeLog.beginFile(rel, {
      userId,
      username,
      action,
      version: kept && { hash: kept.hash, size: file.size },
      storedBytes: kept?.stored ?? 0,
      undoes,
    });
    return {
      id,
      stamp,
      isSame: false,
      close: (isMade) => changeLog.close(id === null ? [] : [id], isMade),
    };
  }

  /** Null when it takes more than `most` bytes. */
  async #store(file: OpenedFile, most: number): Promise<{ hash: string; stored: number } | null> {
    const { dir } = this.#options;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const draft = join(dir, `${shortId()}.new`);
    const handle = await open(draft, 'wx', 0o600);
    const hash = createHash('sha256');
    let stored = 0;
    try {
      await pipeline(
        chunksOf(file, hash),
        createZstdCompress({ chunkSize: CHUNK_BYTES }),
        async (chunks) => {
          for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
            stored += chunk.length;
            if (stored > most) return;
            await handle.writeFile(chunk);
          }
        },
      );
      if (stored > most) return null;
      if (!sameStamp(stampOf(fstatSync(file.fd, { bigint: true })), file.stamp)) {
        throw new AppError('conflict', 'The file changed while it was read');
      }
      await handle.sync();
      const digest = hash.digest('hex');
      await rename(draft, join(dir, `${digest}.zst`));
      await syncPath(dir);
      return { hash: digest, stored };
    } catch (error) {
      // Who stops reading a pipeline breaks it.
      if (stored > most) return null;
      throw error;
    } finally {
      await handle.close();
      await rm(draft, { force: true });
    }
  }

  /** Its bytes; the stream fails when they are damaged. Throws `not-found` when they are gone. */
  async read({ hash, size }: KeptContent): Promise<Readable> {
    const path = join(this.#options.dir, `${hash}.zst`);
    if ((await unlessGone(stat(path))) === null) throw damaged();
    // Opened when it is read: who never begins need not close it.
    return Readable.from(checked(path, hash, size));
  }

  /**
   * The file holds this again, or is there again, as a change of its own; false when it held that already. Throws as
   * `keep`, `read` and `replaceFile`, and `locked`; then the file is as it was. `check` is called under its lock.
   */
  async putBack(
    rel: string,
    content: KeptContent,
    author: Omit<VersionAuthor, 'nextHash'>,
    check: () => Promise<void>,
  ): Promise<boolean> {
    const { root, locks, replaced } = this.#options;
    const held: HeldLock[] = [];
    let kept = null as KeptVersion | null;
    let isMade = false;
    try {
      await replaceFile({
        path: targetPath(root, rel),
        rel,
        base: 'any',
        pieces: await this.read(content),
        replaced,
        beforeCommit: async () => {
          const owner = author.username;
          held.push(await locks.acquire({ resource: rel, owner, reason: 'upload' }));
          await check();
          kept = await this.keep(rel, { ...author, nextHash: content.hash });
          if (kept.isSame) throw new SameContent();
          return kept.stamp;
        },
      });
      isMade = true;
      return true;
    } catch (error) {
      if (error instanceof SameContent) return false;
      throw error;
    } finally {
      await kept?.close(isMade);
      for (const lock of held) await lock.release();
    }
  }

  /** Decides about entries that a killed process left open: by what the file holds now. */
  async settle(): Promise<void> {
    const { changeLog, log } = this.#options;
    try {
      for (const { id, rel, hash } of await changeLog.openFileEntries()) {
        await changeLog.close([id], hash === null || (await this.#hashOf(rel)) !== hash);
      }
    } catch (error) {
      log.warning('changes of files that were under way are not decided', { error });
    }
  }

  async #hashOf(rel: string): Promise<string | null> {
    let file: OpenedFile;
    try {
      file = await openForRead(this.#options.root, rel);
    } catch {
      return null;
    }
    try {
      const hash = createHash('sha256');
      for await (const _ of chunksOf(file, hash));
      return hash.digest('hex');
    } finally {
      await file.close();
    }
  }

  /** Deletes contents without an entry. Only in the process that serves. */
  async sweep(): Promise<void> {
    const { dir, changeLog, log } = this.#options;
    this.#storedSinceSweep = 0;
    try {
      const names = (await unlessGone(readdir(dir))) ?? [];
      for (const name of names.filter((one) => DRAFT.test(one))) await this.#deleteOld(name);
      const hashes = names.flatMap((name) => NAME.exec(name)?.[1] ?? []);
      for (let from = 0; from < hashes.length; from += SWEPT_AT_ONCE) {
        await this.#writing.run(async () => {
          const unkept = await changeLog.unkept(hashes.slice(from, from + SWEPT_AT_ONCE));
          for (const hash of unkept) {
            const path = join(dir, `${hash}.zst`);
            const { mtimeMs } = await stat(path);
            if (Date.now() - mtimeMs > UNNAMED_MS) await unlink(path);
          }
        });
      }
    } catch (error) {
      log.warning('versions that are forgotten could not be deleted', { error });
    }
  }

  async #deleteOld(name: string): Promise<void> {
    await this.#writing.run(() => rm(join(this.#options.dir, name), { force: true }));
  }

  /** What is wrong with a content; null: nothing. Reads all of it. */
  async problemOf(content: KeptContent): Promise<string | null> {
    try {
      await stat(join(this.#options.dir, `${content.hash}.zst`));
      for await (const _ of await this.read(content));
      return null;
    } catch (error) {
      return isAbsence(error) ? 'it is gone' : 'it is damaged';
    }
  }
}

async function* chunksOf(
  file: OpenedFile,
  hash: { update(bytes: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < file.size; offset += CHUNK_BYTES) {
    const chunk = await file.read(offset, CHUNK_BYTES);
    hash.update(chunk);
    yield chunk;
  }
}

async function* checked(path: string, expected: string, size: number): AsyncGenerator<Uint8Array> {
  const handle = await unlessGone(open(path, 'r'));
  if (handle === null) throw damaged();
  const hash = createHash('sha256');
  let length = 0;
  try {
    const source = createReadStream('', { fd: handle.fd, autoClose: false, start: 0 });
    const decoder = createZstdDecompress({ chunkSize: CHUNK_BYTES });
    source.on('error', (error) => decoder.destroy(error));
    for await (const chunk of source.pipe(decoder) as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > size) throw damaged();
      hash.update(chunk);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof AppError ? error : damaged(error);
  } finally {
    await handle.close();
  }
  if (length !== size || hash.digest('hex') !== expected) throw damaged();
}

function damaged(cause?: unknown): AppError {
  return new AppError('gone', 'The content that was kept is damaged or gone', { cause });
}
