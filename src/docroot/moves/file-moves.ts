/**
 * New folders, and files and folders that are renamed, moved, deleted into the trash and restored from it.
 *
 * Under the locks of the names concerned, never over something that is there, and in step with everything that goes by
 * a file's path: its companions, typed copies with their row ids, history and cache. Rights are the caller's to check.
 */
import { type Dirent, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { opendir, readdir } from 'node:fs/promises';
import { posix } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { isAbsence } from '../../base/files/file-stamp.ts';
import { writeFailure } from '../../base/files/atomic-file.ts';
import type { Log } from '../../base/log.ts';
import { COMPANION_SUFFIX } from '../../base/paths.ts';
import type { Tables } from '../../tables/copy/tables.ts';
import { COMPANION_FOLDER, isAtOrBelow, isPlainRel, type DocumentRoot } from '../document-root.ts';
import type { FileVersions } from '../file-versions.ts';
import type { FileLocks, HeldLock, LockReason } from '../locks.ts';
import type { Registry } from '../registry/registry.ts';
import {
  checkUploadName,
  isCodeName,
  requireAllowedExtension,
  requireOpenName,
  type UploadNameRules,
} from '../uploads/upload-name.ts';
import {
  type Followed,
  HeldFolder,
  namesIn,
  recoverRelocations,
  relocate,
  taken,
} from './relocation.ts';
import { renamedCompanion, Trash, type TrashEntry } from './trash.ts';

/** A folder with more entries is not moved or deleted at once. */
const MAX_ENTRIES = 100_000;

interface FileMovesOptions {
  readonly registry: Registry;
  readonly locks: FileLocks;
  readonly tables: Tables;
  readonly versions: FileVersions;
  readonly log: Log;
  readonly now: () => number;
  readonly followed: Followed;
  readonly limits: () => { readonly trash_days: number; readonly trash_max_bytes: number };
}

export interface MoveOrder {
  readonly owner: string;
  readonly userId: number;
  readonly rules: UploadNameRules;
  /** Right before the file moves, under the locks; throw to leave it where it is. */
  readonly beforeMove: () => Promise<void>;
  /** Takes a lock that the caller does not hold already. */
  readonly acquire?: (rel: string, reason: LockReason) => Promise<HeldLock>;
  /** Locks below a folder that the caller holds. */
  readonly holds?: (rel: string) => boolean;
}

export class FileMoves {
  readonly #options: FileMovesOptions;
  readonly trash: Trash;

  constructor(options: FileMovesOptions) {
    this.#options = options;
    const { registry, now, log, followed, limits } = options;
    this.trash = new Trash({ root: registry.root, now, log, followed, limits });
  }

  get #root(): DocumentRoot {
    return this.#options.registry.root;
  }

  /** Before the first scan of the process that serves. */
  async recover(): Promise<void> {
    await recoverRelocations(this.#root, this.#options.followed, this.#options.log);
    this.trash.removeEmpty();
    await this.trash.purge();
  }

  /** A folder on disk, not reached through a link; `''` is the root. */
  isFolder(rel: string): boolean {
    if (rel === '') return true;
    const root = this.#root;
    if (!isPlainRel(rel) || !root.mayPublish(rel)) return false;
    const path = root.absolute(rel);
    try {
      return lstatSync(path).isDirectory() && realpathSync(path) === path;
    } catch (error) {
      if (isAbsence(error)) return false;
      throw writeFailure(error, rel);
    }
  }

  /** A file on disk that is no program code, whatever its kind. */
  isPlainFile(rel: string): boolean {
    const root = this.#root;
    if (!isPlainRel(rel) || !root.mayPublish(rel) || isCodeName(posix.basename(rel))) return false;
    const folder = posix.dirname(rel);
    if (!this.isFolder(folder === '.' ? '' : folder)) return false;
    return lstatSync(root.absolute(rel), { throwIfNoEntry: false })?.isFile() === true;
  }

  /** Names of the folders in a folder, without links. */
  async foldersIn(rel: string): Promise<string[]> {
    const entries = await this.#entriesOf(rel);
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  /** Those of `isPlainFile`. */
  async filesIn(rel: string): Promise<string[]> {
    const entries = await this.#entriesOf(rel);
    return entries
      .filter((entry) => entry.isFile() && !isCodeName(entry.name))
      .map(({ name }) => name);
  }

  async #entriesOf(rel: string): Promise<Dirent[]> {
    const root = this.#root;
    if (!this.isFolder(rel)) return [];
    const entries = await readdir(root.absolute(rel), { withFileTypes: true });
    return entries.filter(({ name }) => root.mayPublish(rel === '' ? name : `${rel}/${name}`));
  }

  /** Names on disk that differ in Unicode normalisation only are one name. */
  async spelled(rel: string): Promise<string> {
    if (!/[^\x20-\x7e]/.test(rel)) return rel;
    let found = '';
    for (const name of rel.split('/')) {
      const folder = this.#root.absolute(found);
      const next = found === '' ? name : `${found}/${name}`;
      const isThere = lstatSync(this.#root.absolute(next), { throwIfNoEntry: false }) !== undefined;
      const own = isThere
        ? name
        : (namesIn(folder).find((one) => one.normalize('NFC') === name.normalize('NFC')) ?? name);
      found = found === '' ? own : `${found}/${own}`;
    }
    return found;
  }

  /** Throws `bad-request` for a name nobody may give, `conflict` for one that is taken, `not-found` without its folder. */
  async createFolder(rel: string): Promise<void> {
    this.#requireName(rel);
    using parent = HeldFolder.open(this.#root, posix.dirname(rel));
    try {
      mkdirSync(parent.at(rel));
    } catch (error) {
      if ((error as { code?: unknown }).code === 'EEXIST') throw taken(rel);
      throw writeFailure(error, rel);
    }
    parent.sync();
  }

  /** Throws as `relocate`, `locked`, and `bad-request` for names that may not be given and files that are code. */
  async move(from: string, to: string, order: MoveOrder): Promise<void> {
    const isFolder = await this.#requireMovable(from, order);
    this.#requireName(to);
    if (!isFolder) requireAllowedExtension(posix.basename(to), order.rules);
    if (isAtOrBelow(to, from)) {
      throw from === to
        ? taken(to)
        : new AppError('bad-request', 'A folder cannot move into itself');
    }
    const companions = this.#companionsOf(from, isFolder).map(
      (one) => [one, renamedCompanion(one, from, to)] as const,
    );
    await this.#locked([from, to], 'move', isFolder, order, async () => {
      const { tables, followed } = this.#options;
      const carried = await this.#carryCopies(from, to);
      const relocation = { from, to, was: from, companions: firstOf(companions) };
      let isPlaced = false;
      try {
        await relocate(this.#root, relocation, followed, () => {
          isPlaced = true;
          for (const target of carried) this.#noteCarried(target);
        });
      } finally {
        if (!isPlaced) for (const target of carried) tables.drop(target);
      }
    });
  }

  /** Throws as `move`. */
  async remove(rel: string, order: MoveOrder): Promise<TrashEntry> {
    const isFolder = await this.#requireMovable(rel, order, true);
    const companions = this.#companionsOf(rel, isFolder);
    const { owner, userId } = order;
    return this.#locked([rel], 'trash', isFolder, order, async () => {
      if (isFolder) return this.trash.take(rel, owner, companions);
      const author = { userId, username: owner, action: 'delete' };
      const kept = await this.#options.versions.keep(rel, author);
      let isMade = false;
      try {
        const entry = await this.trash.take(rel, owner, companions);
        isMade = true;
        return entry;
      } finally {
        await kept.close(isMade);
      }
    });
  }

  /** Throws as `move`. */
  async restore(entry: TrashEntry, to: string, order: MoveOrder): Promise<void> {
    this.#requireName(to);
    if (!entry.isFolder) requireAllowedExtension(posix.basename(to), order.rules);
    await this.#locked([to], 'move', false, order, () => this.trash.putBack(entry, to));
  }

  async #locked<T>(
    rels: readonly string[],
    reason: LockReason,
    isFolder: boolean,
    { owner, acquire, holds, beforeMove }: MoveOrder,
    work: () => Promise<T>,
  ): Promise<T> {
    const { locks, registry } = this.#options;
    const take = acquire ?? ((resource) => locks.acquire({ resource, owner, reason }));
    const held: HeldLock[] = [];
    try {
      // In one order for all, so that two moves never wait for each other.
      for (const rel of [...rels].sort()) held.push(await take(rel, reason));
      const below = isFolder ? await locks.heldBelow(rels[0]!) : null;
      if (below !== null && holds?.(below.resource) !== true) {
        const text = `'${below.resource}' is being changed; try again in a moment`;
        throw new AppError('locked', text, { headers: { 'Retry-After': '1' } });
      }
      await beforeMove();
      for (const lock of held) await lock.check();
      return await work();
    } finally {
      for (const lock of held) await lock.release();
      await registry.refresh(rels);
      for (const rel of rels) await registry.listed(rel);
    }
  }

  /** Whether it is a folder. */
  async #requireMovable(rel: string, { rules }: MoveOrder, isLinkFine = false): Promise<boolean> {
    const root = this.#root;
    if (rel === '' || !isPlainRel(rel) || !root.mayPublish(rel)) throw notFound();
    if (root.holdsState(rel)) {
      throw new AppError('bad-request', `The state of this service lies in '${rel}'`);
    }
    using parent = HeldFolder.open(root, posix.dirname(rel));
    const found = lstatSync(parent.at(rel), { throwIfNoEntry: false });
    if (found === undefined) throw notFound();
    if (!found.isFile() && !found.isDirectory() && !(isLinkFine && found.isSymbolicLink())) {
      throw new AppError('bad-request', `'${rel}' is a link or a special file and stays`);
    }
    if (!rules.allowsHandlers && isCodeName(posix.basename(rel))) throw isCode(rel);
    if (found.isDirectory()) await requirePlainFolder(root.absolute(rel), rel, rules);
    return found.isDirectory();
  }

  #requireName(rel: string): void {
    if (!isPlainRel(rel) || !this.#root.mayPublish(rel)) {
      throw new AppError('bad-request', `'${rel}' is not a name for a file or folder here`);
    }
    for (const name of rel.split('/')) {
      if (checkUploadName(name) !== name.normalize('NFC')) {
        throw new AppError('bad-request', 'A name has no spaces at its ends');
      }
      requireOpenName(name);
    }
  }

  /** Rels of the companions that are there. */
  #companionsOf(rel: string, isFolder: boolean): string[] {
    const { registry } = this.#options;
    const root = this.#root;
    if (isFolder) return companionsBelow(root, `${COMPANION_FOLDER}/${rel}`);
    return registry
      .list()
      .filter((resource) => resource.rel === rel)
      .flatMap((resource) => {
        const { schema, options } = registry.companionsOf(resource);
        return [...schema, ...options];
      })
      .filter((one) => lstatSync(root.absolute(one), { throwIfNoEntry: false })?.isFile());
  }

  #noteCarried(target: {
    readonly rel: string;
    readonly sheet: string | null;
    readonly path: string;
  }): void {
    try {
      this.#options.tables.carried(target);
    } catch (error) {
      this.#options.log.warning('a moved file is read anew', { resource: target.rel, error });
    }
  }

  /** So that rows keep their ids. A copy that is lost is built anew. */
  async #carryCopies(
    from: string,
    to: string,
  ): Promise<{ rel: string; sheet: string | null; path: string }[]> {
    const { registry, tables, log } = this.#options;
    const carried: { rel: string; sheet: string | null; path: string }[] = [];
    for (const { rel, sheet, kind } of registry.list()) {
      if (!isAtOrBelow(rel, from) || kind.dataset === undefined) continue;
      const name = to + rel.slice(from.length);
      const target = { rel: name, sheet, path: this.#root.absolute(name) };
      try {
        if (await tables.carry({ rel, sheet }, target)) carried.push(target);
      } catch (error) {
        log.warning('the typed copy of a moved file is built anew', { resource: rel, error });
      }
    }
    return carried;
  }
}

/** Of several companions for one new name the first counts, as it did before. */
function firstOf(
  companions: readonly (readonly [string, string])[],
): readonly (readonly [string, string])[] {
  const seen = new Set<string>();
  return companions.filter(([, to]) => !seen.has(to) && seen.add(to));
}

function companionsBelow(root: DocumentRoot, rel: string): string[] {
  return namesIn(root.absolute(rel)).flatMap((name) => {
    const path = `${rel}/${name}`;
    const found = lstatSync(root.absolute(path), { throwIfNoEntry: false });
    if (found?.isDirectory() === true) return companionsBelow(root, path);
    return found?.isFile() === true && COMPANION_SUFFIX.test(name) ? [path] : [];
  });
}

/** Throws `bad-request` for code in it, `too-large` for more than MAX_ENTRIES. */
async function requirePlainFolder(
  path: string,
  rel: string,
  { allowsHandlers }: UploadNameRules,
): Promise<void> {
  let count = 0;
  for await (const { name, parentPath } of await opendir(path, { recursive: true })) {
    if (++count > MAX_ENTRIES) {
      throw new AppError('too-large', `'${rel}' holds more than ${MAX_ENTRIES} files and folders`);
    }
    if (!allowsHandlers && isCodeName(name)) {
      throw isCode(`${rel}${parentPath.slice(path.length)}/${name}`);
    }
  }
}

function isCode(rel: string): AppError {
  const text = `'${rel}' is program code, which is not moved or deleted here`;
  return new AppError('bad-request', text, {
    hint: 'Set upload.allow_handlers to allow it, or do it where the folder lies.',
  });
}

function notFound(): AppError {
  return new AppError('not-found', 'Not Found');
}
