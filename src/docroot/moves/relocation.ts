/**
 * A file or a folder gets another name in one step, and its companions follow it.
 *
 * What is about to happen is written down first, so that a process killed anywhere in between leaves the file at exactly
 * one of the two names, and the next start brings the companions to it. Folders are opened before they are checked and
 * names are used through them, so that a folder exchanged for a link in between changes nothing.
 */
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { posix } from 'node:path';
import { AppError, errnoOf } from '../../base/errors.ts';
import { replaceFile, writeFailure } from '../../base/files/atomic-file.ts';
import { isAbsence } from '../../base/files/file-stamp.ts';
import { placeNew } from '../../base/files/file-swap.ts';
import { shortId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { COMPANION_FOLDER, type DocumentRoot } from '../document-root.ts';

/** Hidden names below `.svc`, which no companion can have. */
const JOURNALS = `${COMPANION_FOLDER}/.moves`;
const JOURNAL = /^[0-9a-f]{16}\.json$/;

/** Paths relative to the document root. */
export interface Relocation {
  readonly from: string;
  readonly to: string;
  /** The public name it had, where what is kept under that name shall follow it; null: that stays. */
  readonly was: string | null;
  /** Files; those that are not there are left out. */
  readonly companions: readonly (readonly [from: string, to: string])[];
}

interface Journal extends Relocation {
  /** Of what is moved, as text: proof that it arrived, whatever stands at the old name by then. */
  readonly inode: string;
}

/** For what goes by the path of a file, or of all below a folder; may be called twice for one move. */
export type Followed = (was: string, to: string) => Promise<void>;

/**
 * Durable when it resolves. Throws `not-found` when nothing is there, `conflict` when the new name is taken or on another
 * file system, `not-writable`, `no-space`; then nothing has moved. What fails
 * once it has moved is thrown too, and done at the next start. Hold the locks of both names.
 */
export async function relocate(
  root: DocumentRoot,
  relocation: Relocation,
  followed: Followed,
  onPlaced: () => void = () => {},
): Promise<void> {
  const { from, to } = relocation;
  using source = HeldFolder.open(root, posix.dirname(from));
  using target = HeldFolder.open(root, posix.dirname(to));
  const found = lstatSync(source.at(from), { bigint: true, throwIfNoEntry: false });
  if (found === undefined) throw new AppError('not-found', 'Not Found');
  const journal: Journal = { ...relocation, inode: String(found.ino) };
  const path = await writeJournal(root, journal);
  try {
    if (!placeNew(source.at(from), target.at(to))) throw taken(to);
  } catch (error) {
    rmSync(path, { force: true });
    throw moveFailure(error, from);
  }
  // Nothing else of this process runs before it.
  onPlaced();
  target.sync();
  source.sync();
  await finish(root, journal, followed);
  rmSync(path, { force: true });
}

/** Ends what a killed process began. Only while no other process changes the folder. */
export async function recoverRelocations(
  root: DocumentRoot,
  followed: Followed,
  log: Log,
): Promise<void> {
  for (const name of namesIn(root.absolute(JOURNALS))) {
    if (!JOURNAL.test(name)) continue;
    const path = root.absolute(`${JOURNALS}/${name}`);
    try {
      const journal = JSON.parse(readFileSync(path, 'utf8')) as Journal;
      const arrived = lstatSync(root.absolute(journal.to), { bigint: true, throwIfNoEntry: false });
      if (arrived !== undefined && String(arrived.ino) === journal.inode) {
        await finish(root, journal, followed);
        log.info('a move that was interrupted is complete', journalFields(journal));
      }
      rmSync(path, { force: true });
    } catch (error) {
      log.warning('an interrupted move could not be completed', { journal: name, error });
    }
  }
}

const journalFields = ({ from, to }: Relocation) => ({ from, to });

async function writeJournal(root: DocumentRoot, journal: Journal): Promise<string> {
  makeFolder(root, JOURNALS);
  const rel = `${JOURNALS}/${shortId()}.json`;
  const pieces = [Buffer.from(JSON.stringify(journal))];
  await replaceFile({ path: root.absolute(rel), rel, base: null, pieces });
  return root.absolute(rel);
}

async function finish(root: DocumentRoot, journal: Journal, followed: Followed): Promise<void> {
  for (const [from, to] of journal.companions) {
    if (!existsSync(root.absolute(from))) continue;
    makeFolder(root, posix.dirname(to));
    // One that is there already belonged to a file that is gone.
    renameSync(root.absolute(from), root.absolute(to));
    syncFolder(root.absolute(posix.dirname(to)));
    syncFolder(root.absolute(posix.dirname(from)));
  }
  const { was, to } = journal;
  // Another file may have the name by now.
  if (was !== null && !existsSync(root.absolute(was))) await followed(was, to);
}

/** Missing folders too, each synced. Throws `not-writable` when one on the way is a link. */
export function makeFolder(root: DocumentRoot, rel: string): void {
  const path = root.absolute(rel);
  try {
    make(path, root.realPath);
    if (realpathSync(path) !== path) throw linked(rel);
  } catch (error) {
    throw writeFailure(error, rel);
  }
}

/** Only its owner looks into `.svc`. */
function make(path: string, top: string): void {
  if (path === top || existsSync(path)) return;
  const parent = posix.dirname(path);
  make(parent, top);
  mkdirSync(path, { mode: 0o700 });
  syncFolder(parent);
}

function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    syncFd(fd);
  } finally {
    closeSync(fd);
  }
}

function syncFd(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some network file systems cannot sync a folder.
    if (errnoOf(error) !== 'EINVAL' && errnoOf(error) !== 'ENOTSUP') throw error;
  }
}

/** Names in it mean what they meant when it was opened, whatever becomes of its own name. */
export class HeldFolder implements Disposable {
  readonly #fd: number;
  readonly #path: string;

  private constructor(fd: number, path: string) {
    this.#fd = fd;
    this.#path = path;
  }

  /** `rel` `.` or `''`: the root. Throws `not-found` for what is no folder inside the root, or reached through a link. */
  static open(root: DocumentRoot, rel: string): HeldFolder {
    const path = rel === '.' || rel === '' ? root.realPath : root.absolute(rel);
    let fd: number;
    try {
      fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    } catch (error) {
      if (isAbsence(error)) throw new AppError('not-found', `There is no folder '${rel}'`);
      throw writeFailure(error, rel);
    }
    let real: string;
    let prefix = `/proc/self/fd/${fd}`;
    try {
      real = readlinkSync(prefix);
    } catch {
      // No /proc: the path itself must do.
      real = realpathSync(path);
      prefix = path;
    }
    if (real === path) return new HeldFolder(fd, prefix);
    closeSync(fd);
    throw new AppError('not-found', `There is no folder '${rel}'`);
  }

  /** The last component of `rel`, in this folder. */
  at(rel: string): string {
    return `${this.#path}/${posix.basename(rel)}`;
  }

  sync(): void {
    syncFd(this.#fd);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

export function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

export function taken(rel: string): AppError {
  return new AppError('conflict', `There is a '${rel}' already`);
}

function linked(rel: string): AppError {
  return new AppError('not-writable', `'${rel}' lies behind a symbolic link`);
}

function moveFailure(error: unknown, rel: string): unknown {
  if (errnoOf(error) === 'EXDEV') {
    const text = `'${rel}' lies on another file system, so it cannot be moved there in one step`;
    return new AppError('conflict', text, { cause: error });
  }
  if (errnoOf(error) === 'ENOTEMPTY' || errnoOf(error) === 'EEXIST') return taken(rel);
  return writeFailure(error, rel);
}
