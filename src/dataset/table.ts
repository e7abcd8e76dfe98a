/**
 * One open typed copy: its columns, its version, single-row reads and the commit of an edit.
 *
 * Reads here are index-served and take microseconds; everything that may scan goes through `query-plan.ts`. The
 * copy has one writer, guarded by `exclusive`, because SQLite would otherwise wait for a lock on the event loop.
 */
import { Database } from 'bun:sqlite';
import { sha256Hex } from '../base/ids.ts';
import { Lru } from '../base/lru.ts';
import { Mutex } from '../base/semaphore.ts';
import { type StoredValue, typeOfCounts } from './infer.ts';
import {
  readMeta,
  readSegments,
  type StoredSegment,
  type TableHead,
  type TableJournal,
  type TableState,
  writeMeta,
  writeSegments,
} from './table-meta.ts';
import type { FileStamp } from '../base/file-stamp.ts';
import type { Column } from './types.ts';

/** Matching-row counts kept per version, so that paging does not count again. */
const CACHED_COUNTS = 256;
/** Rows written before the event loop gets a turn; about 5 ms of work. */
const ROWS_PER_TURN = 2_000;

/** What an edit changes in the copy. Values are stored values by column position. */
export interface TableCommit {
  readonly state: TableState;
  readonly segments: readonly StoredSegment[];
  readonly updates: ReadonlyMap<number, ReadonlyMap<number, StoredValue>>;
  readonly deletes: Iterable<number>;
  readonly creates: ReadonlyMap<number, ReadonlyMap<number, StoredValue>>;
}

export class Table {
  readonly head: TableHead;
  /** Columns as presented, in file order. */
  readonly columns: readonly Column[];
  /** Columns a caller may write: with a companion schema, those in both (DS-71). */
  readonly writableColumns: readonly Column[];
  /** Hold while writing to the copy. */
  readonly exclusive = new Mutex();
  readonly counts = new Lru<string, number>(CACHED_COUNTS);
  /** How often each column was filtered or sorted on; decides on an index. */
  readonly uses = new Map<string, number>();
  /** Names of the indexes the copy has. */
  indexes: ReadonlySet<string> = new Set();
  /**
   * Why the copy must be built again before the next read: an edit changed the inferred `types` (rows keep their
   * ids, and the rebuilt copy has the version `version(1)`), or the file's `content` is not the copy's. Null: it is
   * good.
   */
  outdated: 'types' | 'content' | null;

  #state: TableState;
  #segments: StoredSegment[] | null = null;
  #writer: Database | null = null;
  #isClosed = false;
  readonly #reader: Database;

  private constructor(
    readonly path: string,
    reader: Database,
    head: TableHead,
    state: TableState,
  ) {
    this.#reader = reader;
    this.head = head;
    this.#state = state;
    this.columns = head.columns;
    this.writableColumns =
      head.companionSchema === null
        ? head.columns
        : head.columns.filter((column) => column.declared);
    // Also when the process ended before the types could follow an edit.
    this.outdated = hasTypesOf(head.columns, state.counts) ? null : 'types';
    this.refreshIndexes();
  }

  /** Opens a copy; null when the file is no copy of the present format. */
  static open(path: string, format: number): Table | null {
    let reader: Database | null = null;
    try {
      // Not readonly: a read-only connection cannot create the shared memory file of a WAL database.
      reader = new Database(path, { readwrite: true, create: false });
      reader.run('PRAGMA busy_timeout = 2000; PRAGMA query_only = ON; PRAGMA mmap_size = 0;');
      const head = readMeta(reader, 'table');
      const state = readMeta(reader, 'state');
      if (head && state && head.format === format) return new Table(path, reader, head, state);
    } catch {
      // A torn or foreign file is treated like a missing copy: it is derived data and is built again.
    }
    reader?.close();
    return null;
  }

  get state(): TableState {
    return this.#state;
  }

  /** For plans that are cheap enough to run in this process. */
  get reader(): Database {
    return this.#reader;
  }

  /** The `<v>` of DS-46 after `changes` more changes; tells nothing about the file. */
  version(changes = 0): string {
    return versionTag(this.head.generation, this.#state.sequence + changes);
  }

  /** Stored values of a row by index of `head.columns`, or null. */
  row(rowId: number): StoredValue[] | null {
    const columns = this.head.columns.map((column) => `c${column.position}`).join(', ');
    const rows = this.#reader
      .query(`SELECT ${columns || 'NULL'} FROM rows WHERE _row_id = ?`)
      .values(rowId);
    return (rows[0] as StoredValue[] | undefined) ?? null;
  }

  /** 0-based position of an existing row in the file. Reads at most one segment's ids. */
  positionOf(rowId: number): number {
    const { rowCount, lastRowId } = this.#state;
    if (rowCount === lastRowId) return rowId - 1;
    const segments = this.segments;
    let before = 0;
    let start = 0;
    for (let index = 0; index < segments.length; index++) {
      const next = segments[index + 1];
      start = index;
      if (!next || next.firstRowId > rowId) break;
      before += segments[index]!.rows;
    }
    const row = this.#reader
      .query('SELECT count(*) FROM rows WHERE _row_id >= ? AND _row_id < ?')
      .values(segments[start]?.firstRowId ?? 0, rowId)[0] as [number];
    return before + row[0];
  }

  get segments(): readonly StoredSegment[] {
    this.#segments ??= readSegments(this.#reader);
    return this.#segments;
  }

  /** Remembers, before the file is replaced, which rows the new file will hold (DS-48). */
  journal(entry: TableJournal): void {
    writeMeta(this.#writable(), 'journal', entry);
  }

  /** The journal left by an edit that did not reach its commit, or null. */
  unfinished(): TableJournal | null {
    return readMeta(this.#reader, 'journal');
  }

  /**
   * Takes another stamp for the same content, or a content hash for the same stamp. The caller holds `exclusive`.
   */
  restamp(stamp: FileStamp, takenAt: number, hash: string | null): void {
    const state = { ...this.#state, stamp, stampTakenAt: takenAt, hash };
    writeMeta(this.#writable(), 'state', state);
    this.#state = state;
  }

  /**
   * Applies an edit that is already on disk in the file. One transaction; readers see all of it or nothing. Long
   * edits give the event loop turns. The caller holds `exclusive`.
   */
  async commit(change: TableCommit): Promise<void> {
    const db = this.#writable();
    try {
      db.run('BEGIN IMMEDIATE');
      await this.#writeRows(db, change);
      writeSegments(db, this.segments, change.segments);
      writeMeta(db, 'state', change.state);
      writeMeta(db, 'journal', null);
      db.run('COMMIT');
    } catch (error) {
      // The file is ahead of the copy; the journal has the ids for the rebuild.
      this.outdated = 'content';
      if (db.inTransaction) db.run('ROLLBACK');
      throw error;
    }
    this.#state = change.state;
    this.#segments = [...change.segments];
    this.counts.clear();
    if (!hasTypesOf(this.columns, change.state.counts)) this.outdated = 'types';
  }

  async #writeRows(db: Database, change: TableCommit): Promise<void> {
    for (const [rowId, values] of change.updates) {
      const names = [...values.keys()].map((position) => `c${position} = ?`);
      db.query(`UPDATE rows SET ${names.join(', ')} WHERE _row_id = ?`).run(
        ...values.values(),
        rowId,
      );
    }
    const remove = db.query('DELETE FROM rows WHERE _row_id = ?');
    for (const rowId of change.deletes) remove.run(rowId);
    const positions = this.head.columns.map((column) => column.position);
    const insert = db.query(
      `INSERT INTO rows (${['_row_id', ...positions.map((p) => `c${p}`)].join(', ')}) ` +
        `VALUES (${['?', ...positions.map(() => '?')].join(', ')})`,
    );
    let written = 0;
    for (const [rowId, values] of change.creates) {
      insert.run(rowId, ...positions.map((position) => values.get(position) ?? null));
      if (++written % ROWS_PER_TURN === 0) await Bun.sleep(0);
    }
  }

  /** Reads the list of indexes again, after a worker made one. */
  refreshIndexes(): void {
    const names = this.#reader
      .query("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
      .values() as [string][];
    this.indexes = new Set(names.map(([name]) => name));
  }

  /** A newer copy took this one's place; nothing can be read or written through it any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reader.close();
    this.#writer?.close();
    this.#writer = null;
  }

  #writable(): Database {
    if (!this.#writer) {
      this.#writer = new Database(this.path, { readwrite: true, create: false });
      // NORMAL: a power loss may lose the last edits of the copy, never its consistency; the stamp tells.
      this.#writer.run('PRAGMA busy_timeout = 2000; PRAGMA synchronous = NORMAL;');
    }
    return this.#writer;
  }
}

/** Whether reading the file from the start would give the same columns with the same types (DS-59 reads every row). */
function hasTypesOf(columns: readonly Column[], counts: TableState['counts']): boolean {
  return columns.every(({ declared, file, extra, type }, index) => {
    const now = counts[index]!;
    if (extra && now.integer + now.number + now.boolean + now.string === 0) return false;
    return declared || file !== undefined || typeOfCounts(now) === type;
  });
}

/** The version tag of a generation and sequence (DS-46, strong). */
export function versionTag(generation: string, sequence: number): string {
  return sha256Hex(`${generation}:${sequence}`).slice(0, 16);
}
