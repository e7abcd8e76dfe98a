/**
 * The typed copies of all datasets.
 *
 * Invariant: `current` returns only a copy of a file version that was on disk at some moment after the call began. A
 * new copy is built beside the old one and swapped in; workers reading the old one finish on it. Any copy may be
 * deleted and is rebuilt; one that others changed is not trusted (`copy-seal.ts`).
 */
import { basename, join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { FileSource } from '../../base/files/file-source.ts';
import {
  CLOCK_TICK_MS,
  type FileStamp,
  hashFile,
  isRacy,
  sameContent,
  sameStamp,
  StampedPath,
  statFile,
} from '../../base/files/file-stamp.ts';
import type { Log } from '../../base/log.ts';
import type { MaybePromise } from '../../base/scheduling/maybe-promise.ts';
import { Turn } from '../../processes/turn.ts';
import { CopyFolder, tableId } from './copy-folder.ts';
import { type BuildOrder, type Lineage, lineageOf } from './copy-lineage.ts';
import { failureOf, isFailureOf, type ReadFailure, type SeenFile } from './read-failure.ts';
import { type ReadProgress, readProgress } from './read-progress.ts';
import { TABLE_FORMAT, type TableState } from './table-meta.ts';
import { companionFingerprint, type TableTarget } from './table-target.ts';
import { Table } from './table.ts';

interface TablesOptions {
  readonly dir: string;
  /**
   * Throws, with the bare reason, `unreadable-file`, `too-large` or `timed-out` when the file is at fault: it is then
   * not read again until it changes.
   */
  readonly build: (order: BuildOrder, turn: Turn) => Promise<void>;
  /** Opens files safely; the only way to open them here. */
  readonly open: (target: TableTarget) => Promise<FileSource & { close(): Promise<void> }>;
  /**
   * On every `current`, because others forget problems when the file changes; null when table and companions are
   * readable.
   */
  readonly onProblem: (target: TableTarget, problem: string | null) => void;
  /** A copy that another one replaced stays until `release`. */
  readonly isRead: (copy: string) => boolean;
  /** Another program, or an upload, made other rows of it; both copies are open. */
  readonly onSuperseded: (target: TableTarget, old: Table, made: Table) => Promise<void>;
  readonly now: () => number;
  readonly log: Log;
}

/** Pages that a new stamp changes in a copy, with a margin. */
const ROOM_TO_RESTAMP = 64 * 1024;
/** Unused copies kept open; each costs three file descriptors. */
const MAX_OPEN_TABLES = 64;
/** A file that keeps changing is given up after so many tries. */
const MAX_REFRESHES = 5;
/** After so long even coarse file systems show a later write in the stamp. */
const SETTLE_MS = 2_100;

class CopyEntry {
  readonly file: StampedPath;
  table: Table | null = null;
  /** What was known when it was closed for room. */
  closed: Pick<TableState, 'stamp' | 'rowCount'> | null = null;
  /** Confirmed by content after its stamp could no longer hide a later write. */
  isConfirmed = false;
  failure: ReadFailure | null = null;
  /** Resolves with a copy of the present file; null when there was one already. */
  refreshing: Promise<Table | null> | null = null;
  /** The turn of `refreshing`. */
  turn = new Turn();
  /** Path of the copy that is being built. */
  building: string | null = null;
  /** A copy set aside is being reopened for all who want it. */
  reopening: Promise<Table | null> | null = null;
  settle: Timer | undefined;
  /** Forgotten because its file is away, while the copy may be reopening. */
  isSetAside = false;

  constructor({ path, rel }: TableTarget) {
    this.file = new StampedPath(path, rel);
  }
}

export class Tables {
  /** Where the copies are. */
  readonly dir: string;
  readonly #options: TablesOptions;
  readonly #entries = new Map<string, CopyEntry>();
  /** Calls of `current` in progress, by table id: their copies are not closed before use. */
  readonly #asked = new Map<string, number>();
  readonly #folder: CopyFolder;
  #isClosed = false;

  constructor(options: TablesOptions) {
    this.dir = options.dir;
    this.#options = options;
    this.#folder = new CopyFolder(options.dir, options.log);
  }

  /**
   * The first call for a file version builds it: seconds for a million rows. Throws `not-found` and `unreadable-file`
   * with the reason.
   */
  async current(target: TableTarget, turn?: Turn): Promise<Table> {
    const id = tableId(target);
    this.#asked.set(id, (this.#asked.get(id) ?? 0) + 1);
    try {
      return await this.#upToDate(target, turn);
    } finally {
      // Lets the caller begin to use it first.
      setImmediate(() => {
        const left = this.#asked.get(id)! - 1;
        if (left > 0) this.#asked.set(id, left);
        else this.#asked.delete(id);
      });
    }
  }

  async #upToDate(target: TableTarget, turn?: Turn): Promise<Table> {
    for (let attempt = 0; attempt < MAX_REFRESHES; attempt++) {
      // Looked up each time: it is dropped when the file goes away, also during a refresh.
      const entry = this.#entry(target);
      const { stamp, companion, isSame, isCertain } = this.#compare(target, entry);
      if (isCertain) return this.#markUsed(target, entry);
      if (isSame) {
        if (await this.#confirm(target, entry)) return this.#markUsed(target, entry);
        continue;
      }
      const { failure, refreshing } = entry;
      if (failure && isFailureOf(failure, { stamp, companion })) {
        this.#options.onProblem(target, failure.reason);
        throw failure.error;
      }
      if (entry.refreshing === null) {
        entry.turn = turn ?? new Turn();
        entry.refreshing = this.#refresh(target, entry).finally(() => {
          entry.refreshing = null;
        });
      } else entry.turn.join(turn ?? new Turn());
      try {
        const made = await entry.refreshing;
        // A refresh begun after this call found a version that existed meanwhile, whatever is there now.
        const isOfCall = attempt > 0 || refreshing === null;
        if (isOfCall && made !== null && made === entry.table && made.outdated === null) {
          return this.#markUsed(target, entry);
        }
      } catch (error) {
        // A refresh begun before this call may have failed with a version that is gone.
        if (attempt > 0 || refreshing === null) throw error;
      }
    }
    throw new AppError('conflict', `Resource '${target.rel}' keeps changing while it is read`, {
      headers: { 'retry-after': '1' },
    });
  }

  /** As `current`, synchronous when nothing has to be read. */
  currentIfKnown(target: TableTarget): MaybePromise<Table> {
    const entry = this.#entry(target);
    return this.#compare(target, entry).isCertain
      ? this.#markUsed(target, entry)
      : this.current(target);
  }

  /** The present file, and whether the open copy is of that version: by stamps, and for certain. */
  #compare(
    target: TableTarget,
    entry: CopyEntry,
  ): { stamp: FileStamp; companion: string; isSame: boolean; isCertain: boolean } {
    const stamp = entry.file.stamp();
    if (!stamp) throw new AppError('not-found', 'Not Found');
    const companion = companionFingerprint(target);
    const isSame = this.#isCopyOf(entry, stamp, companion);
    const isCertain =
      isSame && (entry.isConfirmed || !isRacy(stamp, entry.table!.state.stampTakenAt));
    return { stamp, companion, isSame, isCertain };
  }

  /** Without any check, for figures and tests of freshness. */
  peek(target: TableTarget): Table | null {
    return this.#entries.get(tableId(target))?.table ?? null;
  }

  progress(target: TableTarget): ReadProgress | null {
    const path = this.#entries.get(tableId(target))?.building ?? null;
    return path === null ? null : readProgress(path);
  }

  /** Looks at nothing; null when that version was not read yet. */
  rowCount(target: TableTarget, stamp: FileStamp): number | null {
    const entry = this.#entries.get(tableId(target));
    const known = entry?.table?.state ?? entry?.closed ?? null;
    return known !== null && sameContent(known.stamp, stamp) ? known.rowCount : null;
  }

  /** Of a file (null: of all): the next read checks the content. Copies and row ids stay. */
  forget(rel: string | null): void {
    for (const entry of this.#entries.values()) {
      if (!entry.table || (rel !== null && entry.table.head.rel !== rel)) continue;
      entry.table.cache.forget();
      entry.isConfirmed = false;
    }
  }

  get size(): number {
    let open = 0;
    for (const { table } of this.#entries.values()) if (table) open++;
    return open;
  }

  /** Call after an edit: the stamp is the service's own, which no other write repeats (`dateApart`). */
  edited(target: TableTarget, table: Table): void {
    const entry = this.#entry(target);
    if (entry.table === table) entry.isConfirmed = true;
    this.#settleLater(target, entry);
  }

  /**
   * Before a file is replaced: its other tables keep rows and ids, even if the server is killed before
   * `restampSiblings`. First rebuilds those that an interrupted edit left.
   */
  async journalSiblings(
    targets: readonly TableTarget[],
    before: FileStamp,
    prepared: FileStamp,
  ): Promise<void> {
    for (const target of targets) await this.#catchUp(target, before);
    await this.#eachStanding(targets, before, (table) => {
      const { lastRowId } = table.state;
      table.journal({ stamp: prepared, deleted: [], created: [], lastRowId }, ROOM_TO_RESTAMP);
    });
  }

  /** Rows and ids stay; the version, which all tables of a file share, changes. */
  async restampSiblings(
    targets: readonly TableTarget[],
    before: FileStamp,
    written: { readonly stamp: FileStamp; readonly hash: string },
  ): Promise<void> {
    await this.#eachStanding(targets, before, (table) => {
      table.restamp(written.stamp, this.#options.now(), written.hash, 1);
    });
  }

  /** Updates the copy when only its journal knows this version's ids: after the next version it would know none. */
  async #catchUp(target: TableTarget, stamp: FileStamp): Promise<void> {
    const table = await this.#opened(target, this.#entry(target));
    if (table === null || sameStamp(table.state.stamp, stamp)) return;
    const journal = table.unfinished();
    if (journal === null || !sameContent(journal.stamp, stamp)) return;
    try {
      await this.current(target);
    } catch (error) {
      // It has no rows whose ids matter, and must not keep others from being edited.
      if (!(error instanceof AppError) || error.code !== 'unreadable-file') throw error;
    }
  }

  /** Nobody else writes meanwhile. */
  async #eachStanding(
    targets: readonly TableTarget[],
    stamp: FileStamp,
    run: (table: Table) => void,
  ): Promise<void> {
    for (const target of targets) {
      let isDone = false;
      while (!isDone) {
        const table = await this.#opened(target, this.#entry(target));
        if (table === null) break;
        isDone = await table.exclusive.run(() => {
          // Meanwhile it was replaced by a newer copy or closed for room.
          if (table.isClosed) return false;
          if (sameStamp(table.state.stamp, stamp)) run(table);
          return true;
        });
      }
    }
  }

  /** Nobody reads a copy of that name any more: deletes it if another one has replaced it. */
  release(copy: string): void {
    if (this.#isClosed) return;
    const id = copy.slice(0, copy.indexOf('.'));
    const { table = null, reopening = null } = this.#entries.get(id) ?? {};
    const isPresent = table ? basename(table.path) === copy : this.#folder.has(copy);
    if (!isPresent && reopening === null) this.#folder.remove(join(this.dir, copy));
  }

  /** For a file that is gone: deletes the copy too. */
  drop(target: Pick<TableTarget, 'rel' | 'sheet'>): void {
    const id = tableId(target);
    const entry = this.#entries.get(id);
    clearTimeout(entry?.settle);
    entry?.table?.close();
    this.#entries.delete(id);
    if (entry?.table) this.#folder.remove(entry.table.path);
    this.#folder.drop(id);
  }

  /** For a file that is away for now: the copy stays, with its row ids. */
  setAside(target: Pick<TableTarget, 'rel' | 'sheet'>): void {
    const id = tableId(target);
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    clearTimeout(entry.settle);
    entry.isSetAside = true;
    if (entry.table) this.#folder.setAside(id, entry.table);
    this.#entries.delete(id);
  }

  /**
   * Before a file gets another name, while nobody edits it: a copy under that name keeps the row ids. Call `carried` in
   * the moment it has the name, or `drop`. False: there is no copy.
   */
  async carry(
    from: Pick<TableTarget, 'rel' | 'sheet'>,
    to: Pick<TableTarget, 'rel' | 'sheet'>,
  ): Promise<boolean> {
    const { refreshing = null, reopening = null } = this.#entries.get(tableId(from)) ?? {};
    await Promise.allSettled([refreshing, reopening]);
    this.setAside(from);
    return this.#folder.carry(from, to);
  }

  carried(to: Pick<TableTarget, 'rel' | 'sheet' | 'path'>): void {
    const takenAt = this.#options.now();
    const stamp = statFile(to.path, to.rel);
    if (stamp !== null) this.#folder.restamp(to, stamp, takenAt);
  }

  /** Except copies of files that are away. */
  async prune(
    targets: Iterable<Pick<TableTarget, 'rel' | 'sheet'>>,
    isAway: (rel: string) => boolean,
  ): Promise<void> {
    await this.#folder.prune(new Set([...targets].map(tableId)), isAway);
  }

  /** Seals the copies that changed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const tables: Table[] = [];
    for (const { settle, table } of this.#entries.values()) {
      clearTimeout(settle);
      table?.close();
      if (table) tables.push(table);
    }
    this.#entries.clear();
    for (const table of tables) await this.#folder.seal(table);
  }

  #entry(target: TableTarget): CopyEntry {
    const id = tableId(target);
    let entry = this.#entries.get(id);
    if (!entry) this.#entries.set(id, (entry = new CopyEntry(target)));
    return entry;
  }

  /** The file and its entry went away since the look-up. */
  #isDropped(target: TableTarget, entry: CopyEntry): boolean {
    return this.#entries.get(tableId(target)) !== entry;
  }

  #isCopyOf(entry: CopyEntry, stamp: FileStamp, companion: string): boolean {
    const { table } = entry;
    if (table === null || table.outdated !== null) return false;
    if (!sameStamp(table.state.stamp, stamp) || table.head.companion !== companion) return false;
    // The holder is writing itself.
    if (table.exclusive.running > 0 || table.isUntouched) return true;
    this.#folder.suspect(table);
    return false;
  }

  /** Closes the least recently used ones beyond the limit that nobody uses. */
  #markUsed(target: TableTarget, entry: CopyEntry): Table {
    if (this.#entries.size > MAX_OPEN_TABLES) {
      const id = tableId(target);
      this.#entries.delete(id);
      this.#entries.set(id, entry);
      this.#closeOldest(entry);
    }
    const table = entry.table!;
    this.#options.onProblem(target, table.head.companionProblem);
    return table;
  }

  #closeOldest(asked: CopyEntry): void {
    let open = this.size;
    for (const [id, entry] of this.#entries) {
      if (open <= MAX_OPEN_TABLES) return;
      if (!entry.table || entry === asked || this.#isInUse(id, entry)) continue;
      clearTimeout(entry.settle);
      const { table } = entry;
      this.#folder.setAside(id, table);
      entry.closed = table.state;
      entry.table = null;
      open--;
    }
  }

  #isInUse(id: string, { table, refreshing }: CopyEntry): boolean {
    return refreshing !== null || this.#asked.has(id) || (table?.exclusive.running ?? 0) > 0;
  }

  /** False: the content differs, or an edit came in between and everything must be checked again. */
  async #confirm(target: TableTarget, entry: CopyEntry): Promise<boolean> {
    const table = entry.table!;
    const { stamp, stampTakenAt, hash: known } = table.state;
    const isTickOver = this.#options.now() - stampTakenAt >= CLOCK_TICK_MS;
    const hash = await this.#hashOf(target, stamp);
    if (hash === null || table.state.stamp !== stamp || entry.table !== table) return false;
    if (known !== null && hash !== known) {
      table.outdated = 'content';
      return false;
    }
    if (isTickOver) entry.isConfirmed = true;
    return true;
  }

  /** Waits for an edit in progress, during which the copy only looks outdated. */
  async #refresh(target: TableTarget, entry: CopyEntry): Promise<Table | null> {
    const old = await this.#opened(target, entry);
    const run = async (): Promise<Table | null> => {
      if (this.#isDropped(target, entry)) return null;
      const takenAt = this.#options.now();
      const stamp = statFile(target.path, target.rel);
      if (!stamp) throw new AppError('not-found', 'Not Found');
      const companion = companionFingerprint(target);
      if (this.#isCopyOf(entry, stamp, companion)) {
        // So that it is not the first to be closed for room.
        this.#markUsed(target, entry);
        this.#settleLater(target, entry);
        return null;
      }
      return this.#renew(target, entry, old, { stamp, takenAt, companion });
    };
    return old ? old.exclusive.run(run) : run();
  }

  /** Reopened if set aside; null: none, or its file went away. */
  async #opened(target: TableTarget, entry: CopyEntry): Promise<Table | null> {
    if (entry.table) return entry.table;
    entry.reopening ??= this.#reopen(target, entry).finally(() => {
      entry.reopening = null;
    });
    return entry.reopening;
  }

  async #reopen(target: TableTarget, entry: CopyEntry): Promise<Table | null> {
    const table = await this.#folder.reopen(target);
    if (!table) return null;
    if (this.#isClosed || this.#isDropped(target, entry)) {
      if (entry.isSetAside) this.#folder.setAside(tableId(target), table);
      else table.close();
      if (!this.#isClosed && !entry.isSetAside) this.#folder.remove(table.path);
      return null;
    }
    entry.table = table;
    entry.isConfirmed = false;
    return table;
  }

  async #renew(
    target: TableTarget,
    entry: CopyEntry,
    old: Table | null,
    seen: SeenFile,
  ): Promise<Table | null> {
    const { stamp, companion } = seen;
    try {
      const kept = old && !old.outdated ? await this.#reuse(target, old, stamp, companion) : false;
      if (this.#isDropped(target, entry)) return null;
      const table = kept ? old! : await this.#build(target, entry, lineageOf(old, seen));
      if (old !== null && old !== table && !old.isClosed && old.numbering !== table.numbering) {
        await this.#options.onSuperseded(target, old, table);
      }
      this.#install(target, entry, table, old);
      return kept ? null : table;
    } catch (error) {
      // The basis of the rebuild went with it; the caller looks again.
      if (this.#isDropped(target, entry)) return null;
      const failure = failureOf(target.rel, error, seen);
      if (failure === null) throw error;
      this.#options.onProblem(target, failure.reason);
      entry.failure = failure;
      throw failure.error;
    }
  }

  /** Throws what `build` throws, and `unavailable`; then nothing is left of it. */
  async #build(target: TableTarget, entry: CopyEntry, lineage: Lineage): Promise<Table> {
    const out = this.#folder.newPath(target);
    entry.building = out;
    try {
      await this.#options.build({ target, out, ...lineage }, entry.turn);
      const table = Table.open(out, TABLE_FORMAT);
      if (table) return table;
      throw new AppError('unavailable', `The copy of '${target.rel}' could not be opened`);
    } catch (error) {
      this.#folder.remove(out);
      throw error;
    } finally {
      if (entry.building === out) entry.building = null;
    }
  }

  /** The same stamp, or the same bytes under a new stamp. */
  async #reuse(
    target: TableTarget,
    old: Table,
    stamp: FileStamp,
    companion: string,
  ): Promise<boolean> {
    if (old.head.companion !== companion) return false;
    if (sameStamp(old.state.stamp, stamp)) return true;
    if (old.state.hash === null || old.state.stamp.size !== stamp.size) return false;
    const takenAt = this.#options.now();
    if ((await this.#hashOf(target, stamp)) !== old.state.hash || old.isClosed) return false;
    old.restamp(stamp, takenAt, old.state.hash);
    return true;
  }

  #install(target: TableTarget, entry: CopyEntry, table: Table, old: Table | null): void {
    if (this.#isClosed) return;
    if (this.#isDropped(target, entry)) {
      table.close();
      this.#folder.remove(table.path);
      return;
    }
    entry.failure = null;
    entry.table = table;
    entry.isConfirmed = false;
    if (old && old !== table) {
      old.close();
      if (!this.#options.isRead(basename(old.path))) this.#folder.remove(old.path);
    }
    this.#markUsed(target, entry);
    this.#settleLater(target, entry);
  }

  /** Once the file has been quiet, confirms the content, or learns its hash after our own edits. */
  #settleLater(target: TableTarget, entry: CopyEntry): void {
    clearTimeout(entry.settle);
    entry.settle = setTimeout(() => {
      entry.settle = undefined;
      this.#settle(target, entry).catch((error: unknown) => {
        // The disk is unavailable, so nothing is known: the next read looks again.
        if (error instanceof AppError && error.code === 'unavailable') return;
        this.#options.log.warning('could not confirm a table', { resource: target.rel, error });
      });
    }, SETTLE_MS);
    entry.settle.unref();
  }

  async #settle(target: TableTarget, entry: CopyEntry): Promise<void> {
    const { table } = entry;
    if (!table) return;
    const stamp = statFile(target.path, target.rel);
    if (!stamp || !sameStamp(stamp, table.state.stamp)) return;
    const { hash: known } = table.state;
    const takenAt = this.#options.now();
    const hash = await this.#hashOf(target, stamp);
    if (hash === null || entry.table !== table || !sameStamp(table.state.stamp, stamp)) return;
    if (known !== null && known !== hash) table.outdated = 'content';
    else {
      await table.exclusive.run(() => {
        // An edit may have come meanwhile.
        if (!table.isClosed && sameStamp(table.state.stamp, stamp)) {
          table.restamp(stamp, takenAt, hash);
        }
      });
    }
  }

  /** Of the content of this version; null when the file has changed. */
  async #hashOf(target: TableTarget, stamp: FileStamp): Promise<string | null> {
    const source = await this.#options.open(target);
    try {
      const hash = await hashFile(source);
      return sameStamp(statFile(target.path, target.rel), stamp) ? hash : null;
    } finally {
      await source.close();
    }
  }
}
