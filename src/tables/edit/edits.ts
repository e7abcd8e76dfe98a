/**
 * Edits of one file are gathered, written as one atomic replacement, and answered only when durable.
 *
 * Edits that arrive during a replacement share the next one. Each has its own version, so `If-Match` behaves as if
 * each had been alone. The file is replaced first; a journal in the typed copy keeps the row ids over a crash in
 * between.
 */
import {
  ChangedDuringWrite,
  type ReplaceOptions,
  type ReplaceResult,
} from '../../base/files/atomic-file.ts';
import { AppError } from '../../base/errors.ts';
import { type FileStamp, sameStamp, statFile } from '../../base/files/file-stamp.ts';
import type { Log } from '../../base/log.ts';
import type { Mutation } from './change-request.ts';
import { Draft, type EditResult } from './draft.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import type { ChangeLog, NewEntry } from '../history/change-log.ts';
import type { RowChange } from '../history/row-change.ts';
import type { Table } from '../copy/table.ts';
import type { TableTarget } from '../copy/table-target.ts';
import type { Tables } from '../copy/tables.ts';
import type { FileSource } from '../../base/files/file-source.ts';
import type { EditPlan, TableChanges, TableLayout } from '../types.ts';

interface HeldFileLock {
  /** Throws `conflict` when the lock was released or taken over. */
  check(): Promise<void>;
  release(): Promise<void>;
}

interface EditsOptions {
  readonly tables: Tables;
  /** `waitedMs`: how much of the edit's waiting time is used up. */
  readonly lock: (
    resource: string,
    owner: string,
    reason: `write:${Mutation['action']}`,
    waitedMs: number,
  ) => Promise<HeldFileLock>;
  readonly open: (target: TableTarget) => Promise<FileSource & { close(): Promise<void> }>;
  /** The kind's edit; the target is writable. */
  readonly plan: (
    target: TableTarget,
    source: FileSource,
    layout: TableLayout,
    changes: TableChanges,
  ) => Promise<EditPlan>;
  /** The other tables (worksheets) of the file, whose copies only get the new stamp. */
  readonly siblings: (target: TableTarget) => readonly TableTarget[];
  /** Replaces the file; the caller checks the path. */
  readonly replace: (
    target: TableTarget,
    order: Pick<ReplaceOptions, 'base' | 'baseHash' | 'pieces' | 'onPrepared' | 'beforeCommit'>,
  ) => Promise<Pick<ReplaceResult, 'stamp' | 'hash'>>;
  /** When the typed copy has the change, one change of a file after the other. */
  readonly onFollowed?: (target: TableTarget, table: Table, rows: ChangedRows) => Promise<void>;
  readonly changeLog: ChangeLog;
  readonly feed: () => EditFeed | null;
  /** How long other writers may delay an edit (`locks.timeout_seconds`). */
  readonly timeoutMs: () => number;
  readonly now: () => number;
  readonly log: Log;
}

export interface MadeChange {
  readonly entry: NewEntry;
  /** In the change log; null when it keeps none. */
  readonly id: number | null;
}

/** Is told of each replacement, before it shows as one that another program may have made. */
export interface EditFeed {
  /** Returns the function that ends it. */
  writing(rel: string): () => void;
  /** Never rejects. `also`: tables of the same file whose formulas followed. */
  made(
    target: TableTarget,
    changes: readonly MadeChange[],
    stamp: FileStamp,
    also: readonly TableTarget[],
  ): Promise<void>;
}

export interface Edit {
  readonly target: TableTarget;
  readonly owner: string;
  readonly userId: number;
  /** What of the history it takes back, once validated. */
  readonly undoes?: () => NewEntry['undoes'];
  /** Checks the request against the columns of the version it will be applied to. */
  readonly validate: (table: Table) => Promise<Mutation>;
  /** Version tags of `If-Match`; null when absent; `*` matches any. */
  readonly ifMatch: readonly string[] | null;
  /** For the text of a 412. */
  readonly name: string;
  /** `validate` looks at rows, so no edit before it may share its replacement. */
  readonly isAlone: boolean;
}

interface ChangedRows {
  readonly put: readonly number[];
  readonly remove: readonly number[];
}

interface Written {
  /** Of the new file. */
  readonly hash: string;
  readonly isUnrecorded: boolean;
}

interface Waiting {
  readonly edit: Edit;
  /** On the clock of `performance.now()`. */
  readonly since: number;
  /** How much of its time for the lock is used up. */
  waitedMs: number;
  readonly resolve: (result: EditResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Per replacement; more would delay the first answer too long. */
const MAX_GROUP = 256;
/** Share of the last replacement's time to wait for clients who were just answered. */
const GATHER_SHARE = 1 / 2;
/** An active client sends its next edit within a few milliseconds. */
const MAX_GATHER_MS = 25;
/**
 * Pauses beside a program that keeps writing are random up to this, because equal ones could always meet its writes.
 */
const MAX_PAUSE_MS = 20;

export class Edits {
  readonly #options: EditsOptions;
  readonly #queues = new Map<string, Waiting[]>();
  /** Files whose last change is still being followed. */
  readonly #followed = new Map<string, Promise<void>>();

  constructor(options: EditsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the change is on disk and in the typed copy. Throws what `validate` throws, `locked`,
   * `precondition-failed`, `not-found` for a missing row, `conflict` when other programs keep writing, `not-writable`
   * and `no-space`; then the file is unchanged.
   */
  submit(edit: Edit): Promise<EditResult> {
    return new Promise((resolve, reject) => {
      const waiting = { edit, since: performance.now(), waitedMs: 0, resolve, reject };
      const queue = this.#queues.get(edit.target.rel);
      if (queue) queue.push(waiting);
      else {
        this.#queues.set(edit.target.rel, [waiting]);
        void this.#drain(edit.target.rel);
      }
    });
  }

  async #drain(rel: string): Promise<void> {
    const queue = this.#queues.get(rel)!;
    let answered = 0;
    let startedAt = performance.now();
    for (;;) {
      // Followers get one change after the other and may be slow, so no lock may be held here.
      await this.#followed.get(rel);
      if (answered > 1) await gather(queue, answered, performance.now() - startedAt);
      if (queue.length === 0) break;
      startedAt = performance.now();
      const group = takeGroup(queue);
      answered = group.length;
      try {
        await this.#run(group);
      } catch (error) {
        // All of them waited for the same lock.
        if (isLocked(error)) {
          const now = performance.now();
          for (const one of queue) one.waitedMs += now - Math.max(one.since, startedAt);
        }
        // One edit's failure must not fail the others: try them one by one.
        if (group.length > 1 && isFaultOfOne(error)) {
          for (const waiting of group) {
            await this.#followed.get(rel);
            await this.#run([waiting]).catch(waiting.reject);
          }
        } else {
          for (const waiting of group) waiting.reject(error);
        }
      }
    }
    this.#queues.delete(rel);
  }

  async #run(group: Waiting[]): Promise<void> {
    const { target } = group[0]!.edit;
    let action = await this.#actionOf(group[0]!);
    while (action === null) {
      group.shift();
      if (group.length === 0) return;
      action = await this.#actionOf(group[0]!);
    }
    const { edit, waitedMs } = group[0]!;
    const lock = await this.#options.lock(target.rel, edit.owner, `write:${action}`, waitedMs);
    try {
      await this.#patiently(() => this.#attempt(target, group, lock));
    } finally {
      await lock.release();
    }
  }

  /** Retries until the time is up when the file changes during the work. */
  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.#options.timeoutMs();
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof ChangedDuringWrite) || performance.now() > deadline) throw error;
      }
      await Bun.sleep(Math.random() * MAX_PAUSE_MS);
    }
  }

  async #current(target: TableTarget): Promise<Table> {
    try {
      return await this.#options.tables.current(target);
    } catch (error) {
      const isChanging = error instanceof AppError && error.code === 'conflict';
      throw isChanging ? new ChangedDuringWrite(target.rel) : error;
    }
  }

  /** The first edit's action, for the lock's reason; null when validation fails before any lock. */
  async #actionOf(waiting: Waiting): Promise<Mutation['action'] | null> {
    try {
      const { target, validate } = waiting.edit;
      const mutation = await this.#patiently(async () => validate(await this.#current(target)));
      return mutation.action;
    } catch (error) {
      waiting.reject(error);
      return null;
    }
  }

  async #attempt(target: TableTarget, group: Waiting[], lock: HeldFileLock): Promise<void> {
    const table = await this.#current(target);
    try {
      await table.exclusive.run(() => this.#make(target, table, group, lock));
    } catch (error) {
      if (error instanceof AppError || !table.isClosed) throw error;
      // The copy was dropped with its file or for room: look again.
      throw new ChangedDuringWrite(target.rel);
    }
    if (table.outdated) return;
    this.#options.tables.edited(target, table);
  }

  async #make(
    target: TableTarget,
    table: Table,
    group: Waiting[],
    lock: HeldFileLock,
  ): Promise<void> {
    if (table.isClosed) throw new ChangedDuringWrite(target.rel);
    const draft = new Draft(table);
    const entries: NewEntry[] = [];
    let written = null as Written | null;
    const outcomes: ((versions: ReadonlyMap<string, string>, followed: Promise<void>) => void)[] =
      [];
    for (const { edit, resolve, reject } of group) {
      try {
        const mutation = await edit.validate(table);
        const { version: present } = draft;
        if (!isExpected(present, edit)) {
          outcomes.push((renamed) => reject(hasChanged(edit, renamed.get(present) ?? present)));
          continue;
        }
        const isTried = mutation.isDryRun;
        const { changes, ...applied } = await (isTried ? new Draft(table) : draft).apply(mutation);
        const result = isTried ? { ...applied, version: present, isChanged: false } : applied;
        if (result.isChanged) entries.push(entryOf(edit, applied.action, changes));
        outcomes.push((renamed, followed) =>
          resolve({
            ...result,
            version: renamed.get(result.version) ?? result.version,
            ...(result.isChanged && written?.isUnrecorded === true && { isUnrecorded: true }),
            followed,
          }),
        );
      } catch (error) {
        if (!(error instanceof AppError) || error instanceof ChangedDuringWrite) throw error;
        outcomes.push(() => reject(error));
      }
    }
    const { version } = draft;
    if (draft.isChanged) written = await this.#write(target, table, draft, lock, entries);
    const hash = written?.hash ?? null;
    const followed = this.#followed.get(target.rel) ?? Promise.resolve();
    const renamed = new Map<string, string>();
    // A sheet's version is known only with the new file; changed types add one more.
    if (hash !== null && target.sheet !== null) renamed.set(version, table.versionWith(hash));
    else if (table.outdated === 'types') renamed.set(version, table.version(1));
    for (const settle of outcomes) settle(renamed, followed);
  }

  async #write(
    target: TableTarget,
    table: Table,
    draft: Draft,
    lock: HeldFileLock,
    entries: readonly NewEntry[],
  ): Promise<Written> {
    const { changeLog } = this.#options;
    const feed = this.#options.feed();
    const endWriting = feed?.writing(target.rel);
    let noted: readonly number[] = [];
    let isMade = false;
    const source = await this.#options.open(target);
    const siblings = this.#options.siblings(target);
    try {
      const { head, state, segments } = table;
      const layout = { dialect: state.dialect, bodyOffset: head.bodyOffset, segments };
      const plan = await this.#plan(target, source, state.stamp, layout, draft);
      const written = await this.#options.replace(target, {
        base: state.stamp,
        ...(state.hash !== null && { baseHash: state.hash }),
        pieces: plan.pieces,
        onPrepared: async (prepared) => {
          table.journal(draft.journal(prepared), draft.roomToFollow);
          await this.#options.tables.journalSiblings(siblings, state.stamp, prepared);
          const spelled = await withSpellings(entries, table, plan);
          noted = await changeLog.begin(table, target, spelled);
        },
        beforeCommit: () => lock.check(),
      });
      isMade = true;
      const rows = await this.#follow(table, draft, plan, written);
      const changed = plan.changedSheets ?? [];
      const unchanged = siblings.filter(
        ({ sheet }) => !changed.some((one) => sheet === one || sheet?.startsWith(`${one}/`)),
      );
      await this.#followSiblings(unchanged, state.stamp, written);
      if (rows !== null) this.#notify(target, table, rows);
      const made = entries.map((entry, at) => ({ entry, id: noted[at] ?? null }));
      const followed = siblings.filter((one) => !unchanged.includes(one));
      void feed?.made(target, made, written.stamp, followed);
      return { hash: written.hash, isUnrecorded: changeLog.isOn && noted.length === 0 };
    } finally {
      await changeLog.close(noted, isMade);
      endWriting?.();
      await source.close();
    }
  }

  /** Others may work on the change while its audit entry is written. */
  #notify(target: TableTarget, table: Table, rows: ChangedRows): void {
    const { onFollowed, log } = this.#options;
    if (onFollowed === undefined) return;
    const notified = onFollowed(target, table, rows)
      .catch((error: unknown) => log.warning('a change was not followed', { error }))
      .finally(() => {
        if (this.#followed.get(target.rel) === notified) this.#followed.delete(target.rel);
      });
    this.#followed.set(target.rel, notified);
  }

  async #plan(
    target: TableTarget,
    source: FileSource,
    base: FileStamp,
    layout: TableLayout,
    draft: Draft,
  ): Promise<EditPlan> {
    try {
      return await this.#options.plan(target, source, layout, await draft.changes());
    } catch (error) {
      const code = error instanceof AppError ? error.code : null;
      // A file that is being written may look like anything; only a file at rest is at fault.
      const isOther = code === 'conflict' || !sameStamp(statFile(target.path, target.rel), base);
      if (isOther) throw new ChangedDuringWrite(target.rel);
      if (code !== 'unreadable-file') throw error;
      // The file is not at fault: the edit holds something the kind cannot write.
      const { message } = error as AppError;
      throw new AppError('unreadable-file', `Cannot write '${target.rel}': ${message}`);
    }
  }

  /** What a copy does not take stays in its journal. */
  async #followSiblings(
    siblings: readonly TableTarget[],
    before: FileStamp,
    written: Pick<ReplaceResult, 'stamp' | 'hash'>,
  ): Promise<void> {
    try {
      await this.#options.tables.restampSiblings(siblings, before, written);
    } catch (error) {
      this.#options.log.warning('the typed copy of another table fell behind its file', { error });
    }
  }

  /** Null when the copy fell behind. The file is safe, so a failure only costs a rebuild. */
  async #follow(
    table: Table,
    draft: Draft,
    plan: EditPlan,
    written: Pick<ReplaceResult, 'stamp' | 'hash'>,
  ): Promise<ChangedRows | null> {
    if (plan.isReread === true) {
      // The journal has the row ids.
      table.outdated = 'content';
      return null;
    }
    try {
      const commit = await draft.commit(plan, written, this.#options.now());
      await table.commit(commit);
      const put = [...commit.updates.keys(), ...commit.creates.keys()];
      return { put, remove: [...commit.deletes] };
    } catch (error) {
      this.#options.log.warning('a typed copy fell behind its file', { error });
      return null;
    }
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof AppError && error.code === 'locked';
}

function isFaultOfOne(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  return error.code === 'schema-mismatch' || error.code === 'unreadable-file';
}

/**
 * Until as many edits as were just answered are waiting again, or a short while. Else clients who edit row after row
 * split into parties, and each replacement serves only one.
 */
async function gather(queue: readonly Waiting[], answered: number, lastMs: number): Promise<void> {
  const wanted = Math.min(queue.length + answered, MAX_GROUP);
  const until = performance.now() + Math.min(lastMs * GATHER_SHARE, MAX_GATHER_MS);
  while (queue.length < wanted && performance.now() < until) await Bun.sleep(1);
}

/** Edits of another sheet, and those that look at rows, wait for the next replacement. */
function takeGroup(queue: Waiting[]): Waiting[] {
  const { sheet } = queue[0]!.edit.target;
  const end = queue.findIndex(
    ({ edit }, index) =>
      edit.target.sheet !== sheet || (index > 0 && edit.isAlone) || index === MAX_GROUP,
  );
  return queue.splice(0, end === -1 ? queue.length : end);
}

/** With the texts of the file for what is given another value, or is gone. Yields to the event loop. */
async function withSpellings(
  entries: readonly NewEntry[],
  table: Table,
  plan: EditPlan,
): Promise<NewEntry[]> {
  const slice = new TimeSlice();
  const columns = new Map(table.columns.map((column) => [column.position, column]));
  const found: { readonly row: number; readonly name: string; readonly text: string }[] = [];
  for (const { row, position, before } of plan.cells) {
    if (slice.isOver) await slice.rest();
    const column = columns.get(position);
    const isSpelled =
      column !== undefined && column.type !== 'string' && typeof before === 'string';
    if (row != null && isSpelled) found.push({ row, name: column.name, text: before });
  }
  const rowIds = table.rowIdsAt(found.map(({ row }) => row));
  const spelled = new Map<number, Map<string, string>>();
  for (const { row, name, text } of found) {
    if (slice.isOver) await slice.rest();
    const rowId = rowIds.get(row)!;
    const own = spelled.get(rowId) ?? new Map<string, string>();
    spelled.set(rowId, own.set(name, text));
  }
  const told: NewEntry[] = [];
  for (const entry of entries) {
    const changes: RowChange[] = [];
    for (const change of entry.changes) {
      if (slice.isOver) await slice.rest();
      const own = spelled.get(change.rowId);
      const texts = [...(own ?? [])].filter(([name, text]) => {
        const value = change.before?.get(name);
        // Of several changes of a cell only the first one found this text.
        return value !== undefined && own!.delete(name) && String(value) !== text;
      });
      changes.push(texts.length === 0 ? change : { ...change, spelled: new Map(texts) });
    }
    told.push({ ...entry, changes });
  }
  return told;
}

function entryOf(
  { owner: username, userId, undoes }: Edit,
  action: string,
  changes: NewEntry['changes'],
): NewEntry {
  const entry = { userId, username, changes };
  return undoes === undefined
    ? { ...entry, action }
    : { ...entry, action: 'undo', undoes: undoes() };
}

function isExpected(version: string, { ifMatch }: Edit): boolean {
  return ifMatch === null || ifMatch.includes('*') || ifMatch.includes(version);
}

function hasChanged({ name }: Edit, version: string): AppError {
  return new AppError('precondition-failed', `Precondition failed: '${name}' has changed`, {
    headers: { etag: `"${version}"` },
  });
}
