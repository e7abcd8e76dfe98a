/**
 * The typed copies of all datasets: which file version each holds, and building the next one.
 *
 * Invariant: `current` never returns a copy of another file version than the one on disk at some moment after the
 * call began (DS-33, DS-143). A new version is built beside the old one and swapped in; workers that still read the
 * old one finish on it. Copies are derived data: any of them may be deleted and is built again, and one that others
 * changed is not believed (`copy-seal.ts`).
 */
import { AppError } from '../base/errors.ts';
import type { FileSource } from '../base/file-source.ts';
import {
  type FileStamp,
  hashFile,
  isRacy,
  sameContent,
  sameStamp,
  statFile,
} from '../base/file-stamp.ts';
import type { Log } from '../base/log.ts';
import type { Soon } from '../base/soon.ts';
import { presentTurn } from '../base/turn.ts';
import { type BuildOrder, CopyBuilds } from './copy-builds.ts';
import { CopyFolder, tableId } from './copy-folder.ts';
import { isJournalled, lineageOf } from './copy-lineage.ts';
import { failureOf, isFailureOf, type ReadingFailure, type SeenFile } from './reading-failure.ts';
import type { ReadingProgress } from './reading-progress.ts';
import type { TableState } from './table-meta.ts';
import { companionFingerprint, type TableTarget } from './table-target.ts';
import type { Table } from './table.ts';

/** What the copies need from parts above them. */
export interface TablesOptions {
  /** Directory of the copies. */
  readonly dir: string;
  /**
   * Resolves when the copy is complete. Throws, with the bare reason, `unreadable-file`, `too-large` or `timed-out`
   * when the file is at fault: it is then not read again until it changes.
   */
  readonly build: (order: BuildOrder) => Promise<void>;
  /** Opens the file through the one opener. */
  readonly open: (target: TableTarget) => Promise<FileSource & { close(): Promise<void> }>;
  /**
   * Told at every call of `current`, because others forget problems when the file changes: null when the table can be
   * read and its companions as well.
   */
  readonly onProblem: (target: TableTarget, problem: string | null) => void;
  readonly now: () => number;
  readonly log: Log;
}

/** Pages that a new stamp changes in a copy, and some more. */
const ROOM_TO_RESTAMP = 64 * 1024;
/** Copies kept open when nobody uses them; each costs three file descriptors. */
const MAX_OPEN_TABLES = 64;
/** A file that changes again and again while it is read is given up after so many tries. */
const MAX_REFRESHES = 5;
/** Two writes within one tick of the kernel's file clock (up to 10 ms) leave the same stamp: content read before its end proves nothing. */
const CLOCK_TICK_MS = 12;
/** After this long without a change, even coarse file systems show a later write in the stamp. */
const SETTLE_MS = 2_100;

interface Entry {
  table: Table | null;
  /** What was known of it when it was closed to make room. */
  closed: Pick<TableState, 'stamp' | 'rowCount'> | null;
  /** Confirmed by content after its stamp could no longer hide a later write. */
  isConfirmed: boolean;
  /** The turn of the event loop in which the copy was last found to be that of its file, and its state then. */
  found: { readonly turn: number; readonly state: TableState } | null;
  failure: ReadingFailure | null;
  refreshing: Promise<void> | null;
  /** A copy that was set aside is on its way back, for everybody who wants it. */
  reopening: Promise<Table | null> | null;
  settle: ReturnType<typeof setTimeout> | null;
  /** Forgotten, because its file is away, while the copy may be on its way back. */
  isSetAside: boolean;
}

/** The copies of one document root. */
export class Tables {
  readonly #options: TablesOptions;
  readonly #entries = new Map<string, Entry>();
  /** How many calls of `current` are on their way, by table id: what they answer is not closed before it can be used. */
  readonly #asked = new Map<string, number>();
  readonly #folder: CopyFolder;
  readonly #builds: CopyBuilds;
  #isClosed = false;

  constructor(options: TablesOptions) {
    this.#options = options;
    this.#folder = new CopyFolder(options.dir, options.log);
    this.#builds = new CopyBuilds(this.#folder, options.build);
  }

  /**
   * The table as the file is now. The first call for a file version builds it, which takes seconds for a million
   * rows. Throws `not-found` when the file is gone and `unreadable-file` with the reason when it cannot be read.
   */
  async current(target: TableTarget): Promise<Table> {
    const id = tableId(target);
    this.#asked.set(id, (this.#asked.get(id) ?? 0) + 1);
    try {
      return await this.#upToDate(target);
    } finally {
      // Whoever asked begins to use it first.
      setImmediate(() => this.#answered(id));
    }
  }

  #answered(id: string): void {
    const left = this.#asked.get(id)! - 1;
    if (left > 0) this.#asked.set(id, left);
    else this.#asked.delete(id);
  }

  async #upToDate(target: TableTarget): Promise<Table> {
    for (let attempt = 0; attempt < MAX_REFRESHES; attempt++) {
      // Looked up each time: it is dropped when the file goes away, also while it is refreshed.
      const entry = this.#entry(target);
      const { stamp, companion, isHeld, isCertain } = this.#look(target, entry);
      if (isCertain) return this.#touch(target, entry);
      if (isHeld) {
        if (await this.#confirm(target, entry)) return this.#touch(target, entry);
        continue;
      }
      const { failure, refreshing } = entry;
      if (failure && isFailureOf(failure, { stamp, companion })) {
        this.#options.onProblem(target, failure.reason);
        throw failure.error;
      }
      entry.refreshing ??= this.#refresh(target, entry).finally(() => {
        entry.refreshing = null;
      });
      try {
        await entry.refreshing;
      } catch (error) {
        // One that began before this call may have failed with a version that is no longer there.
        if (attempt > 0 || refreshing === null) throw error;
      }
    }
    throw new AppError('conflict', `Resource '${target.rel}' keeps changing while it is read`, {
      headers: { 'retry-after': '1' },
    });
  }

  /**
   * As `current`, for a request, and at once when nothing has to be read: what another one found out in this turn of the
   * event loop counts for it too, because both had arrived when that began.
   */
  currentThisTurn(target: TableTarget): Soon<Table> {
    const entry = this.#entry(target);
    const { found, table } = entry;
    const isFound =
      found !== null &&
      found.turn === presentTurn() &&
      found.state === table?.state &&
      table.outdated === null;
    return isFound || this.#look(target, entry).isCertain
      ? this.#touch(target, entry)
      : this.current(target);
  }

  /** The file as it is now, and whether the open copy is of that version: as far as stamps tell, and for certain. */
  #look(
    target: TableTarget,
    entry: Entry,
  ): { stamp: FileStamp; companion: string; isHeld: boolean; isCertain: boolean } {
    const stamp = statFile(target.path, target.rel);
    if (!stamp) throw new AppError('not-found', 'Not Found');
    const companion = companionFingerprint(target);
    const isHeld = this.#holds(entry, stamp, companion);
    const isCertain =
      isHeld && (entry.isConfirmed || !isRacy(stamp, entry.table!.state.stampTakenAt));
    if (isCertain) entry.found = foundNow(entry.table!.state);
    return { stamp, companion, isHeld, isCertain };
  }

  /** The open table without any check, for figures and for tests of freshness. */
  peek(target: TableTarget): Table | null {
    return this.#entries.get(tableId(target))?.table ?? null;
  }

  /** How far the reading of the file is; null when it is not being read, or has told nothing yet. */
  progress(target: TableTarget): ReadingProgress | null {
    return this.#builds.progress(target);
  }

  /** Rows of the file version with this stamp, for listings: nothing is looked at; null when it was not read yet. */
  rowCount(target: TableTarget, stamp: FileStamp): number | null {
    const entry = this.#entries.get(tableId(target));
    const known = entry?.table?.state ?? entry?.closed ?? null;
    return known !== null && sameContent(known.stamp, stamp) ? known.rowCount : null;
  }

  /**
   * Forgets what is remembered of the tables of a file, or with null of all; the next read looks at the content of the file
   * again. The copies stay, with the ids of their rows.
   */
  forget(rel: string | null): void {
    for (const entry of this.#entries.values()) {
      if (!entry.table || (rel !== null && entry.table.head.rel !== rel)) continue;
      entry.table.memory.forget();
      entry.isConfirmed = false;
      entry.found = null;
    }
  }

  /** Copies held open. */
  get size(): number {
    let open = 0;
    for (const { table } of this.#entries.values()) if (table) open++;
    return open;
  }

  /** Told after an edit: the stamp is the service's own, so no other write can hide behind it yet. */
  edited(target: TableTarget): void {
    const entry = this.#entry(target);
    entry.isConfirmed = true;
    this.#settleLater(target, entry);
  }

  /**
   * Remembers, before a file is replaced, that its other tables keep their rows and so their ids, also when the server is
   * killed before `restampSiblings` (DS-48). Builds those anew first that an edit was cut off from itself.
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

  /**
   * Gives the copies of other tables in an edited file the file's new stamp: their rows, and so their ids, are as
   * before (DS-48). All of them share the version of the file (DS-82), so theirs changes too.
   */
  async restampSiblings(
    targets: readonly TableTarget[],
    before: FileStamp,
    written: { readonly stamp: FileStamp; readonly hash: string },
  ): Promise<void> {
    await this.#eachStanding(targets, before, (table) => {
      table.restamp(written.stamp, this.#options.now(), written.hash, 1);
    });
  }

  /**
   * Brings the copy to the file version with this stamp when its journal alone knows the ids of that: after the next version
   * it would know none.
   */
  async #catchUp(target: TableTarget, stamp: FileStamp): Promise<void> {
    const table = await this.#opened(target, this.#entry(target));
    if (table === null || sameStamp(table.state.stamp, stamp)) return;
    const journal = table.unfinished();
    if (journal === null || !isJournalled(journal, stamp)) return;
    try {
      await this.current(target);
    } catch (error) {
      // It has no rows that could keep their ids, and must not keep others from being edited.
      if (!(error instanceof AppError) || error.code !== 'unreadable-file') throw error;
    }
  }

  /** Calls back, with nobody else writing, for every copy there is of the file version with this stamp. */
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
          // While this waited a newer copy took its place, or it was closed to make room.
          if (table.isClosed) return false;
          if (sameStamp(table.state.stamp, stamp)) run(table);
          return true;
        });
      }
    }
  }

  /** Forgets a table whose file is gone, and deletes its copy. */
  drop(target: Pick<TableTarget, 'rel' | 'sheet'>): void {
    const id = tableId(target);
    const entry = this.#entries.get(id);
    if (entry?.settle) clearTimeout(entry.settle);
    entry?.table?.close();
    this.#entries.delete(id);
    if (entry?.table) this.#folder.remove(entry.table.path);
    this.#folder.drop(id);
  }

  /** Forgets a table whose file is away for now; the copy waits for it, with the ids of its rows. */
  setAside(target: Pick<TableTarget, 'rel' | 'sheet'>): void {
    const id = tableId(target);
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    if (entry.settle) clearTimeout(entry.settle);
    entry.isSetAside = true;
    if (entry.table) this.#folder.setAside(id, entry.table);
    this.#entries.delete(id);
  }

  /** Deletes copies found at start whose file is no longer published, but for those of files that are away. */
  async prune(
    targets: Iterable<Pick<TableTarget, 'rel' | 'sheet'>>,
    isAway: (rel: string) => boolean,
  ): Promise<void> {
    await this.#folder.prune(new Set([...targets].map(tableId)), isAway);
  }

  /** Closes every copy and seals those that changed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const tables: Table[] = [];
    for (const { settle, table } of this.#entries.values()) {
      if (settle) clearTimeout(settle);
      table?.close();
      if (table) tables.push(table);
    }
    this.#entries.clear();
    for (const table of tables) await this.#folder.seal(table);
  }

  #entry(target: TableTarget): Entry {
    const id = tableId(target);
    let entry = this.#entries.get(id);
    if (!entry) {
      entry = {
        table: null,
        closed: null,
        isConfirmed: false,
        found: null,
        failure: null,
        refreshing: null,
        reopening: null,
        settle: null,
        isSetAside: false,
      };
      this.#entries.set(id, entry);
    }
    return entry;
  }

  /** The file went away since the entry was looked up, and everything of the entry with it. */
  #isDropped(target: TableTarget, entry: Entry): boolean {
    return this.#entries.get(tableId(target)) !== entry;
  }

  #holds(entry: Entry, stamp: FileStamp, companion: string): boolean {
    const { table } = entry;
    if (table === null || table.outdated !== null) return false;
    if (!sameStamp(table.state.stamp, stamp) || table.head.companion !== companion) return false;
    // Whoever holds it is writing himself.
    if (table.exclusive.running > 0 || table.isUntouched) return true;
    this.#folder.suspect(table);
    return false;
  }

  /** Most recently used last; closes the least recently used beyond the limit, as far as nobody uses them. */
  #touch(target: TableTarget, entry: Entry): Table {
    const id = tableId(target);
    if (this.#entries.size > MAX_OPEN_TABLES) {
      this.#entries.delete(id);
      this.#entries.set(id, entry);
      this.#closeOldest(entry);
    }
    const table = entry.table!;
    this.#options.onProblem(target, table.head.companionProblem);
    return table;
  }

  #closeOldest(asked: Entry): void {
    let open = this.size;
    for (const [id, entry] of this.#entries) {
      if (open <= MAX_OPEN_TABLES) return;
      if (!entry.table || entry === asked || this.#isInUse(id, entry)) continue;
      if (entry.settle) clearTimeout(entry.settle);
      const { table } = entry;
      this.#folder.setAside(id, table);
      entry.closed = table.state;
      entry.table = null;
      open--;
    }
  }

  #isInUse(id: string, { table, refreshing }: Entry): boolean {
    return refreshing !== null || this.#asked.has(id) || (table?.exclusive.running ?? 0) > 0;
  }

  /**
   * Compares the content with the copy's hash; true when the copy is good. False: it is outdated, or an edit came in
   * between and everything has to be looked at again.
   */
  async #confirm(target: TableTarget, entry: Entry): Promise<boolean> {
    const table = entry.table!;
    const { stamp, stampTakenAt, hash: known } = table.state;
    const isTickOver = this.#options.now() - stampTakenAt >= CLOCK_TICK_MS;
    const hash = await this.#hash(target);
    const isStill =
      sameStamp(statFile(target.path, target.rel), stamp) && table.state.stamp === stamp;
    if (!isStill || entry.table !== table) return false;
    if (known !== null && hash !== known) {
      table.outdated = 'content';
      return false;
    }
    if (isTickOver) entry.isConfirmed = true;
    return true;
  }

  /**
   * Brings the copy to the file. Waits for an edit that is under way: between replacing the file and following with
   * the copy, the copy only looks outdated.
   */
  async #refresh(target: TableTarget, entry: Entry): Promise<void> {
    const old = await this.#opened(target, entry);
    const run = async (): Promise<void> => {
      if (this.#isDropped(target, entry)) return;
      const takenAt = this.#options.now();
      const stamp = statFile(target.path, target.rel);
      if (!stamp) throw new AppError('not-found', 'Not Found');
      const companion = companionFingerprint(target);
      if (this.#holds(entry, stamp, companion)) {
        // A copy that just came back is not the one to close for others.
        this.#touch(target, entry);
        this.#settleLater(target, entry);
        return;
      }
      await this.#renew(target, entry, old, { stamp, takenAt, companion });
    };
    await (old ? old.exclusive.run(run) : run());
  }

  /** The copy there is, good or not, taken back when it was set aside; null: none, or its file went away. */
  async #opened(target: TableTarget, entry: Entry): Promise<Table | null> {
    if (entry.table) return entry.table;
    entry.reopening ??= this.#reopen(target, entry).finally(() => {
      entry.reopening = null;
    });
    return entry.reopening;
  }

  async #reopen(target: TableTarget, entry: Entry): Promise<Table | null> {
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
    entry: Entry,
    old: Table | null,
    seen: SeenFile,
  ): Promise<void> {
    const { stamp, companion } = seen;
    try {
      const kept = old && !old.outdated ? await this.#reuse(target, old, stamp, companion) : false;
      if (this.#isDropped(target, entry)) return;
      const table = kept ? old! : await this.#builds.make(target, lineageOf(old, seen));
      this.#install(target, entry, table, old);
    } catch (error) {
      // What the copy is built from went with it; the caller looks again.
      if (this.#isDropped(target, entry)) return;
      const failure = failureOf(target.rel, error, seen);
      if (failure === null) throw error;
      this.#options.onProblem(target, failure.reason);
      entry.failure = failure;
      throw failure.error;
    }
  }

  /** True when an existing copy already holds this content (same stamp, or same bytes under a new stamp). */
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
    if ((await this.#hash(target)) !== old.state.hash) return false;
    const after = statFile(target.path, target.rel);
    if (old.isClosed || !after || !sameStamp(after, stamp)) return false;
    old.restamp(stamp, takenAt, old.state.hash);
    return true;
  }

  #install(target: TableTarget, entry: Entry, table: Table, old: Table | null): void {
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
      this.#folder.remove(old.path);
    }
    this.#touch(target, entry);
    this.#settleLater(target, entry);
  }

  /** Once the file has been quiet: confirm the content, or learn its hash after edits of our own. */
  #settleLater(target: TableTarget, entry: Entry): void {
    if (entry.settle) clearTimeout(entry.settle);
    entry.settle = setTimeout(() => {
      entry.settle = null;
      this.#settle(target, entry).catch((error: unknown) => {
        // Nothing can be told of any file of that disk: the next read looks again.
        if (error instanceof AppError && error.code === 'unavailable') return;
        this.#options.log.warning('could not confirm a table', { resource: target.rel, error });
      });
    }, SETTLE_MS);
    entry.settle.unref();
  }

  async #settle(target: TableTarget, entry: Entry): Promise<void> {
    const { table } = entry;
    if (!table) return;
    const stamp = statFile(target.path, target.rel);
    if (!stamp || !sameStamp(stamp, table.state.stamp)) return;
    const { hash: known } = table.state;
    const takenAt = this.#options.now();
    const hash = await this.#hash(target);
    const after = statFile(target.path, target.rel);
    const isStill = after !== null && sameStamp(after, stamp) && entry.table === table;
    if (hash === null || !isStill || !sameStamp(table.state.stamp, stamp)) return;
    if (known !== null && known !== hash) table.outdated = 'content';
    else await table.exclusive.run(() => this.#learnHash(table, stamp, takenAt, hash));
  }

  #learnHash(table: Table, stamp: FileStamp, takenAt: number, hash: string): void {
    // An edit may have come while this waited for its turn.
    if (!table.isClosed && sameStamp(table.state.stamp, stamp)) {
      table.restamp(stamp, takenAt, hash);
    }
  }

  async #hash(target: TableTarget): Promise<string | null> {
    const source = await this.#options.open(target);
    try {
      return await hashFile(source);
    } finally {
      await source.close();
    }
  }
}

function foundNow(state: TableState): Entry['found'] {
  const turn = presentTurn();
  return turn === null ? null : { turn, state };
}
