/**
 * Changes to datasets: validated edits of one file are gathered, written as one atomic replacement, and answered
 * only when their bytes are durable (DS-80 to DS-84).
 *
 * Edits that arrive while a replacement is being written or followed wait and share the next one. Within a group they
 * take effect one after the other, each with its own version, so `If-Match` behaves as if every edit had been alone.
 * The file is replaced first and the typed copy follows; a journal in the copy carries the row ids over a crash in
 * between.
 */
import {
  ChangedDuringWrite,
  type ReplaceOptions,
  type ReplaceResult,
} from '../base/atomic-file.ts';
import { AppError } from '../base/errors.ts';
import { type FileStamp, sameStamp, statFile } from '../base/file-stamp.ts';
import type { Log } from '../base/log.ts';
import type { Mutation } from './mutation.ts';
import { Draft } from './draft.ts';
import type { Table } from './table.ts';
import type { TableTarget } from './table-target.ts';
import type { Tables } from './tables.ts';
import type { FileSource } from '../base/file-source.ts';
import type { EditPlan, TableChanges, TableLayout } from './types.ts';

/** A lock on a file, as far as an edit has to know it. */
export interface HeldFileLock {
  /** Throws `conflict` when the lock was released or taken over meanwhile (DS-91). */
  check(): Promise<void>;
  release(): Promise<void>;
}

/** What editing needs from parts above it. */
export interface EditsOptions {
  readonly tables: Tables;
  /** `waitedMs`: of the time that an edit may wait for its lock, how much is over (DS-90). */
  readonly lock: (
    resource: string,
    owner: string,
    reason: string,
    waitedMs: number,
  ) => Promise<HeldFileLock>;
  readonly open: (target: TableTarget) => Promise<FileSource & { close(): Promise<void> }>;
  /** The kind's edit; the target is known to be writable. */
  readonly plan: (
    target: TableTarget,
    source: FileSource,
    layout: TableLayout,
    changes: TableChanges,
  ) => Promise<EditPlan>;
  /** The other tables of the same file (worksheets), whose copies only get the new stamp. */
  readonly siblings: (target: TableTarget) => readonly TableTarget[];
  /** Puts the new version in place of the present one; the path and its safety are the caller's. */
  readonly replace: (
    target: TableTarget,
    order: Pick<ReplaceOptions, 'base' | 'baseHash' | 'pieces' | 'onPrepared' | 'beforeCommit'>,
  ) => Promise<Pick<ReplaceResult, 'stamp' | 'hash'>>;
  /**
   * Told when the typed copy has the change, of one change of a file after the other; `EditResult.followed` resolves with
   * this.
   */
  readonly onFollowed?: (target: TableTarget, table: Table, rows: ChangedRows) => Promise<void>;
  /** How long an edit may be kept off by other writers, in ms (`locks.timeout_seconds`). */
  readonly timeoutMs: () => number;
  readonly now: () => number;
  readonly log: Log;
}

/** One caller's change. */
export interface Edit {
  readonly target: TableTarget;
  readonly owner: string;
  /** Checks the request against the columns of the version it will be applied to. */
  readonly validate: (table: Table) => Promise<Mutation>;
  /** Version tags of `If-Match`, null when absent; `*` matches any. */
  readonly ifMatch: readonly string[] | null;
  /** Name for the text of a 412 (DS-82). */
  readonly name: string;
}

/** What became of one edit. */
export interface EditResult {
  readonly action: Mutation['action'];
  readonly rowIds: readonly number[];
  /** Version after this edit. */
  readonly version: string;
  /** False when the file already held these values: nothing was written (DS-80). */
  readonly isChanged: boolean;
  /** Resolves when everybody who follows changes has followed: an answer must wait for it (DS-83). */
  readonly followed: Promise<void>;
}

/** Ids of the rows an edit wrote and took away. */
interface ChangedRows {
  readonly put: readonly number[];
  readonly remove: readonly number[];
}

/** An edit as it was applied to a draft. */
export type AppliedEdit = Omit<EditResult, 'followed'>;

interface Waiting {
  readonly edit: Edit;
  /** On the clock of `performance.now()`. */
  readonly since: number;
  /** Of the time that it may wait for its lock, what is over already. */
  waitedMs: number;
  readonly resolve: (result: EditResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Edits written in one replacement; more would let the first wait too long for its answer. */
const MAX_GROUP = 256;
/** Of the time the last replacement took: how long edits that wait are kept for those who were just answered. */
const GATHER_SHARE = 1 / 2;
/** A client that is still there sends its next edit within a few milliseconds. */
const MAX_GATHER_MS = 25;
const RETRY_DELAYS_MS = [10, 20, 50, 100, 200];

/** The edits of all files, one queue for each. */
export class Edits {
  readonly #options: EditsOptions;
  readonly #queues = new Map<string, Waiting[]>();
  /** Files whose last change others still follow. */
  readonly #followed = new Map<string, Promise<void>>();

  constructor(options: EditsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the change is on disk and in the typed copy. Throws what `validate` throws, `locked` (DS-90), `precondition-failed`
   * (DS-82), `not-found` for a missing row (DS-79), `conflict` when other programs keep writing (DS-84),
   * `not-writable` and `no-space` (DS-85); after any of these the file is as it was.
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
      // One change after the other reaches those who follow, who may be slow: nothing may be held meanwhile that keeps
      // readers or other writers off.
      await this.#followed.get(rel);
      if (answered > 1) await gather(queue, answered, performance.now() - startedAt);
      if (queue.length === 0) break;
      startedAt = performance.now();
      const group = takeGroup(queue);
      answered = group.length;
      try {
        await this.#run(group);
      } catch (error) {
        // All of them waited for the same lock (DS-90).
        if (isLocked(error)) {
          const now = performance.now();
          for (const one of queue) one.waitedMs += now - Math.max(one.since, startedAt);
        }
        // What one edit cannot do must not fail the others: one by one they tell who it was.
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
      const deadline = performance.now() + this.#options.timeoutMs();
      for (let attempt = 0; ; attempt++) {
        try {
          return await this.#attempt(target, group, lock);
        } catch (error) {
          if (!(error instanceof ChangedDuringWrite)) throw error;
          if (performance.now() > deadline) {
            throw new AppError('conflict', `Resource '${target.rel}' changed during the write`);
          }
        }
        await Bun.sleep(RETRY_DELAYS_MS[Math.min(attempt, RETRY_DELAYS_MS.length - 1)]!);
      }
    } finally {
      await lock.release();
    }
  }

  /** The first edit's action, for the lock's reason; null when it fails validation before any lock (DS-75). */
  async #actionOf(waiting: Waiting): Promise<Mutation['action'] | null> {
    try {
      const table = await this.#options.tables.current(waiting.edit.target);
      return (await waiting.edit.validate(table)).action;
    } catch (error) {
      waiting.reject(error);
      return null;
    }
  }

  async #attempt(target: TableTarget, group: Waiting[], lock: HeldFileLock): Promise<void> {
    const table = await this.#options.tables.current(target);
    try {
      await table.exclusive.run(() => this.#make(target, table, group, lock));
    } catch (error) {
      if (error instanceof AppError || !table.isClosed) throw error;
      // The copy went with its file, or made room: what is there by now decides.
      throw new ChangedDuringWrite(target.rel);
    }
    if (table.outdated) return;
    this.#options.tables.edited(target);
  }

  /** The edits of a group in the version of this table, which nobody else writes. */
  async #make(
    target: TableTarget,
    table: Table,
    group: Waiting[],
    lock: HeldFileLock,
  ): Promise<void> {
    if (table.isClosed) throw new ChangedDuringWrite(target.rel);
    const draft = new Draft(table);
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
        const result = await draft.apply(mutation);
        outcomes.push((renamed, followed) =>
          resolve({
            ...result,
            version: renamed.get(result.version) ?? result.version,
            followed,
          }),
        );
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        outcomes.push(() => reject(error));
      }
    }
    const { version } = draft;
    if (draft.isChanged) await this.#write(target, table, draft, lock);
    const followed = this.#followed.get(target.rel) ?? Promise.resolve();
    const renamed = new Map<string, string>();
    // The version of a sheet is known only with the new file; that of changed types is one more.
    if (draft.isChanged && target.sheet !== null) renamed.set(version, table.version());
    else if (table.outdated === 'types') renamed.set(version, table.version(1));
    for (const settle of outcomes) settle(renamed, followed);
  }

  async #write(target: TableTarget, table: Table, draft: Draft, lock: HeldFileLock): Promise<void> {
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
        },
        beforeCommit: () => lock.check(),
      });
      const rows = await this.#follow(table, draft, plan, written);
      await this.#followSiblings(siblings, state.stamp, written);
      if (rows !== null) this.#tell(target, table, rows);
    } finally {
      await source.close();
    }
  }

  /** Others work on the change while its audit entry is written. */
  #tell(target: TableTarget, table: Table, rows: ChangedRows): void {
    const { onFollowed, log } = this.#options;
    if (onFollowed === undefined) return;
    const told = onFollowed(target, table, rows)
      .catch((error: unknown) => log.warning('a change was not followed', { error }))
      .finally(() => {
        if (this.#followed.get(target.rel) === told) this.#followed.delete(target.rel);
      });
    this.#followed.set(target.rel, told);
  }

  /** A file that is not the one of the layout counts as changed, like one that changes later. */
  async #plan(
    target: TableTarget,
    source: FileSource,
    base: FileStamp,
    layout: TableLayout,
    draft: Draft,
  ): Promise<EditPlan> {
    try {
      return await this.#options.plan(target, source, layout, draft.changes());
    } catch (error) {
      const code = error instanceof AppError ? error.code : null;
      // Written under the reader's hands it may look like anything: only a file at rest is at fault (DS-84).
      const isOther = code === 'conflict' || !sameStamp(statFile(target.path, target.rel), base);
      if (isOther) throw new ChangedDuringWrite(target.rel);
      if (code !== 'unreadable-file') throw error;
      // Not the file is at fault here: it holds what the kind cannot write (DS-87, DS-88).
      const { message } = error as AppError;
      throw new AppError('unreadable-file', `Cannot write '${target.rel}': ${message}`);
    }
  }

  /** As `#follow`, in the copies of the file's other tables: what one of them does not take stands in its journal. */
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

  /**
   * Brings the typed copy to the file and answers which rows changed; null when it fell behind. The file is safe already,
   * so a failure here only costs a rebuild.
   */
  async #follow(
    table: Table,
    draft: Draft,
    plan: EditPlan,
    written: Pick<ReplaceResult, 'stamp' | 'hash'>,
  ): Promise<ChangedRows | null> {
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

/** Whether a change that the kind of file refuses made the whole group fail. */
function isFaultOfOne(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  return error.code === 'schema-mismatch' || error.code === 'unreadable-file';
}

/**
 * Resolves when as many as were just answered have come back beside those who wait, or soon. Otherwise clients who edit
 * one row after the other split into parties that take turns, and each replacement serves one of them.
 */
async function gather(queue: readonly Waiting[], answered: number, lastMs: number): Promise<void> {
  const wanted = Math.min(queue.length + answered, MAX_GROUP);
  const until = performance.now() + Math.min(lastMs * GATHER_SHARE, MAX_GATHER_MS);
  while (queue.length < wanted && performance.now() < until) await Bun.sleep(1);
}

/** Edits of one table from the head of the queue; those of another sheet wait for the next replacement. */
function takeGroup(queue: Waiting[]): Waiting[] {
  const { sheet } = queue[0]!.edit.target;
  const end = queue.findIndex(
    ({ edit }, index) => edit.target.sheet !== sheet || index === MAX_GROUP,
  );
  return queue.splice(0, end === -1 ? queue.length : end);
}

function isExpected(version: string, { ifMatch }: Edit): boolean {
  return ifMatch === null || ifMatch.includes('*') || ifMatch.includes(version);
}

function hasChanged({ name }: Edit, version: string): AppError {
  return new AppError('precondition-failed', `Precondition failed: '${name}' has changed`, {
    headers: { etag: `"${version}"` },
  });
}
