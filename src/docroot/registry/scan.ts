/**
 * Finds the publishable files, without following symlinks to folders.
 *
 * A file or folder that cannot be read is out of sight, which is not the same as gone. Without a free descriptor
 * nothing can be said of any file, so the whole scan fails.
 */
import { lstatSync, realpathSync, statSync, type BigIntStats, type Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { errnoOf, isOutOfDescriptors, outOfDescriptors } from '../../base/errors.ts';
import { isAbsence, stampOf, type FileStamp } from '../../base/files/file-stamp.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import { isPlainRel, type DocumentRoot } from '../document-root.ts';
import type { KindTable } from './kind-table.ts';
import type { Kind } from '../kind.ts';

export interface FoundFile {
  readonly rel: string;
  readonly kind: Kind;
  /** Of a symlink's target. */
  readonly stamp: FileStamp;
  readonly isSymlink: boolean;
}

export interface ScanProblem {
  /** `.` for the document root. */
  readonly rel: string;
  readonly text: string;
  /** Of this and everything below: what was known before still holds. */
  readonly isOutOfSight?: true;
}

export interface Scan {
  readonly files: FoundFile[];
  /** Rels of symlinks with a publishable name but no publishable target. */
  readonly brokenLinks: string[];
  readonly problems: ScanProblem[];
  /** Rels of files of no kind. */
  readonly unserved: string[];
}

interface ScanOptions {
  readonly root: DocumentRoot;
  readonly kindOf: KindTable;
  /** With the absolute path and all names in it, hidden ones too. */
  readonly onFolder?: (path: string, names: readonly string[]) => Promise<void>;
}

/**
 * Everything at or below `rel`; the whole document root for `''`. Unordered; empty when nothing is there. Throws
 * `unavailable`.
 */
export async function scan(rel: string, options: ScanOptions): Promise<Scan> {
  const walk = new Walk(options);
  await walk.visit(rel);
  return walk.found;
}

class Walk {
  readonly found: Scan = { files: [], brokenLinks: [], problems: [], unserved: [] };
  readonly #options: ScanOptions;
  readonly #slice = new TimeSlice();

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  async visit(rel: string): Promise<void> {
    const { root } = this.#options;
    if (rel === '') return await this.#folders(['']);
    if (!isPlainRel(rel) || !root.mayPublish(rel) || !this.#isBelowRealFolders(rel)) return;
    const stats = this.#lstat(rel);
    if (stats?.isDirectory()) await this.#folders([rel]);
    else if (stats?.isFile() && this.#options.kindOf(rel) === undefined) {
      this.found.unserved.push(rel);
    } else if (stats !== undefined) this.#file(rel, stats.isSymbolicLink());
  }

  async #folders(pending: string[]): Promise<void> {
    for (let rel = pending.pop(); rel !== undefined; rel = pending.pop()) {
      const { root, onFolder } = this.#options;
      const path = rel === '' ? root.realPath : root.absolute(rel);
      const entries = await this.#list(rel, path);
      await onFolder?.(
        path,
        entries.map((entry) => entry.name),
      );
      for (const entry of entries) {
        const child = rel === '' ? entry.name : `${rel}/${entry.name}`;
        if (this.#slice.isOver) await this.#slice.rest();
        if (this.#entry(child, entry)) pending.push(child);
      }
    }
  }

  #entry(rel: string, entry: Dirent): boolean {
    const { root, kindOf } = this.#options;
    if (!root.mayPublish(rel)) return false;
    if (entry.isDirectory()) return true;
    if (entry.isFile() && kindOf(rel) === undefined) {
      this.found.unserved.push(rel);
      return false;
    }
    if (entry.isFile() || entry.isSymbolicLink()) {
      if (kindOf(rel) !== undefined) this.#file(rel, entry.isSymbolicLink());
      return false;
    }
    if (isSpecial(entry)) return false;
    // Some file systems do not give the type of an entry in a listing.
    const stats = this.#lstat(rel);
    if (stats?.isDirectory()) return true;
    if (stats !== undefined) this.#file(rel, stats.isSymbolicLink());
    return false;
  }

  #file(rel: string, isSymlink: boolean): void {
    const kind = this.#options.kindOf(rel);
    if (kind === undefined) return;
    const stats = this.#stat(rel, () => {
      if (isSymlink && !leadsInside(this.#options.root, rel)) return undefined;
      return statSync(this.#options.root.absolute(rel), { bigint: true, throwIfNoEntry: false });
    });
    if (stats?.isFile()) this.found.files.push({ rel, kind, stamp: stampOf(stats), isSymlink });
    else if (isSymlink) this.found.brokenLinks.push(rel);
  }

  async #list(rel: string, path: string): Promise<Dirent[]> {
    try {
      const entries = await readdir(path, { withFileTypes: true });
      if (!entries.some((entry) => entry.name.includes('\ufffd'))) return entries;
      return await this.#dropUndecodable(rel, path, entries);
    } catch (error) {
      if (!isAbsence(error)) this.#report(rel, error);
      return [];
    }
  }

  /** Removes names that are not UTF-8: they have no address and no JSON form. */
  async #dropUndecodable(rel: string, path: string, entries: Dirent[]): Promise<Dirent[]> {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const valid = new Set<string>();
    for (const name of await readdir(path, { encoding: 'buffer' })) {
      try {
        valid.add(decoder.decode(name));
      } catch {
        const text = 'the file name is not valid UTF-8';
        this.found.problems.push({ rel: joinRel(rel, name.toString()), text });
      }
    }
    return entries.filter((entry) => valid.has(entry.name));
  }

  #isBelowRealFolders(rel: string): boolean {
    for (let end = rel.indexOf('/'); end !== -1; end = rel.indexOf('/', end + 1)) {
      if (this.#lstat(rel.slice(0, end))?.isDirectory() !== true) return false;
    }
    return true;
  }

  /** Does not follow a symlink. */
  #lstat(rel: string): BigIntStats | undefined {
    return this.#stat(rel, () =>
      lstatSync(this.#options.root.absolute(rel), { bigint: true, throwIfNoEntry: false }),
    );
  }

  #stat(rel: string, stat: () => BigIntStats | undefined): BigIntStats | undefined {
    try {
      return stat();
    } catch (error) {
      if (!isAbsence(error)) this.#report(rel, error);
      return undefined;
    }
  }

  #report(rel: string, error: unknown): void {
    if (isOutOfDescriptors(error)) throw outOfDescriptors(error);
    const errno = errnoOf(error);
    const isDenied = errno === 'EACCES' || errno === 'EPERM';
    const text = isDenied
      ? 'permission denied'
      : `the storage does not answer (${errno ?? 'unknown error'})`;
    this.found.problems.push({ rel: rel === '' ? '.' : rel, text, isOutOfSight: true });
  }
}

function joinRel(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function isSpecial(entry: Dirent): boolean {
  return entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice();
}

function leadsInside(root: DocumentRoot, rel: string): boolean {
  const real = root.relOf(realpathSync(root.absolute(rel)));
  return real !== null && root.mayPublish(real);
}
