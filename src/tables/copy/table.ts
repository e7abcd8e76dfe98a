/**
 * One open typed copy.
 *
 * Reads here use an index and take microseconds; whatever may scan goes through `query-plan.ts`. One writer, guarded
 * by `exclusive`: SQLite would wait for a lock on the event loop.
 */
import { constants, Database } from 'bun:sqlite';
import { pathToFileURL } from 'node:url';
import { sha256Hex } from '../../base/ids.ts';
import { Mutex } from '../../base/scheduling/semaphore.ts';
import { traceOf } from './copy-seal.ts';
import { asNoSpace } from '../../base/errors.ts';
import { requireRoom } from '../../base/files/disk-room.ts';
import { areReadSo, presentReadings } from '../infer/reading.ts';
import {
  readFormer,
  readMeta,
  readSegments,
  type StoredSegment,
  type TableHead,
  type TableJournal,
  type TableState,
  writeMeta,
  writeSegments,
} from './table-meta.ts';
import { type FileStamp, sameContent } from '../../base/files/file-stamp.ts';
import { openReader } from '../read/connection.ts';
import { createIndexSql } from './table-index.ts';
import { dateSortKey } from '../values/column-dates.ts';
import { TableCache } from './table-cache.ts';
import type { Column, StoredValue } from '../types.ts';

/** Rows written per turn of the event loop; about 5 ms. */
const ROWS_PER_TURN = 2_000;

/** Stored values by column position. */
export interface TableCommit {
  readonly state: TableState;
  readonly segments: readonly StoredSegment[];
  readonly updates: ReadonlyMap<number, ReadonlyMap<number, StoredValue>>;
  readonly deletes: Iterable<number>;
  readonly creates: ReadonlyMap<number, ReadonlyMap<number, StoredValue>>;
}

export class Table {
  readonly head: TableHead;
  readonly columns: readonly Column[];
  /** With a companion schema, only columns in both. */
  readonly writableColumns: readonly Column[];
  /** Hold while writing to the copy. */
  readonly exclusive = new Mutex();
  readonly cache = new TableCache();
  /** Filters and sorts per column; decides on an index. */
  readonly uses = new Map<string, number>();
  indexes: ReadonlySet<string> = new Set();
  /**
   * Why the copy must be rebuilt before the next read: an edit changed the inferred `types` (the rebuilt copy has
   * `version(1)`), the file has other `content`, or others may have changed the copy (`suspect`). Rows keep their ids
   * except with other content.
   */
  outdated: 'types' | 'content' | 'suspect' | null;

  #state: TableState;
  /** The version changes only with the state. */
  #present: { readonly state: TableState; readonly version: string } | null = null;
  #segments: StoredSegment[] | null = null;
  #spelled: { readonly state: TableState; readonly columns: readonly Column[] } | null = null;
  #writer: Database | null = null;
  #isClosed = false;
  #isWritten = false;
  /** `traceOf` after the last write of this process. */
  #trace: string;
  #isTraced = false;
  readonly #reader: Database;

  private constructor(
    readonly path: string,
    reader: Database,
    head: TableHead,
    state: TableState,
    isFormer = false,
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
    this.outdated = isFormer ? 'suspect' : hasTypesOf(head, state) ? null : 'types';
    this.indexes = readIndexes(reader);
    this.#trace = traceOf(path);
  }

  /** One of an earlier format is `suspect`. Null when the file is no copy, or of a later one. */
  static open(path: string, format: number): Table | null {
    let reader: Database | null = null;
    try {
      reader = openReader(path, 2_000);
      const head = readMeta(reader, 'table');
      const state = readMeta(reader, 'state');
      if (head && state && head.format === format) return new Table(path, reader, head, state);
      const former = readFormer(reader);
      if (former !== null && former.head.format < format)
        return new Table(path, reader, former.head, former.state, true);
    } catch {
      // A torn or foreign file counts as a missing copy, which is rebuilt.
    }
    reader?.close();
    return null;
  }

  /** Null when it is no copy. Nobody may have it open; not a byte changes. */
  static relOf(path: string): string | null {
    let reader: Database | null = null;
    try {
      // Else its log would be folded into it, and it would no longer match its seal.
      const address = `${pathToFileURL(path).href}?immutable=1`;
      const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants;
      reader = new Database(address, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
      return readMeta(reader, 'table')?.rel ?? null;
    } catch {
      // As in `open`.
      return null;
    } finally {
      reader?.close();
    }
  }

  /** Nobody may have it open. A stamp of other content is not taken. */
  static rewrite(
    path: string,
    change: { readonly head: TableHead } | { readonly stamp: FileStamp; readonly takenAt: number },
  ): void {
    const writer = new Database(path, { readwrite: true });
    try {
      if ('head' in change) writeMeta(writer, 'table', change.head);
      else {
        const { stamp, takenAt: stampTakenAt } = change;
        const state = readMeta(writer, 'state');
        if (state !== null && sameContent(state.stamp, stamp)) {
          writeMeta(writer, 'state', { ...state, stamp, stampTakenAt });
        }
      }
      writer.run('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      writer.close();
    }
  }

  /** As cells are spelled now. */
  get spelledColumns(): readonly Column[] {
    if (this.#spelled?.state !== this.#state) {
      const { columns, context } = this.head;
      const { counts, forms } = this.#state;
      const readings = presentReadings(columns, counts, forms, context);
      const writable = new Set(this.writableColumns);
      const spelled = columns.map((column, index) => ({ ...column, ...readings[index] }));
      this.#spelled = {
        state: this.#state,
        columns: spelled.filter((_, index) => writable.has(columns[index]!)),
      };
    }
    return this.#spelled.columns;
  }

  get state(): TableState {
    return this.#state;
  }

  /** For plans cheap enough to run in this process. */
  get reader(): Database {
    return this.#reader;
  }

  /** For reads in this process; a lower limit frees memory at once. */
  limitPages(kibibytes: number): void {
    if (this.#isClosed) return;
    this.#reader.run(`PRAGMA cache_size = -${kibibytes}; PRAGMA shrink_memory;`);
  }

  /** The same while rows keep their ids, also in later copies. */
  get numbering(): string {
    return this.head.numbering ?? this.head.generation;
  }

  /** Of a sheet, with the file's content. */
  versionWith(hash: string): string {
    return versionTag(hash + this.head.companion, 0);
  }

  /** Version tag after `changes` more changes, whatever the file is now. */
  version(changes = 0): string {
    if (changes === 0 && this.#present?.state === this.#state) return this.#present.version;
    const { hash, sequence } = this.#state;
    const { generation, sheet, companion } = this.head;
    // All sheets of a workbook share the version of their file.
    const version =
      sheet === null || hash === null
        ? versionTag(generation, sequence + changes)
        : versionTag(hash + companion, changes);
    if (changes === 0) this.#present = { state: this.#state, version };
    return version;
  }

  /** By index of `head.columns`; null for a missing row. */
  row(rowId: number): StoredValue[] | null {
    const columns = this.head.columns.map((column) => `c${column.position}`).join(', ');
    const rows = this.#reader
      .query(`SELECT ${columns || 'NULL'} FROM rows WHERE _row_id = ?`)
      .safeIntegers(true)
      .values(rowId);
    return (rows[0] as StoredValue[] | undefined)?.map(plainInteger) ?? null;
  }

  /** 0-based, for an existing row. Reads at most one segment's ids. */
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

  /** By 0-based position; the inverse of `positionOf`, for many rows. */
  rowIdsAt(positions: readonly number[]): Map<number, number> {
    const { rowCount, lastRowId } = this.#state;
    const ascending = [...new Set(positions)].sort((a, b) => a - b);
    if (rowCount === lastRowId)
      return new Map(ascending.map((position) => [position, position + 1]));
    const found = new Map<number, number>();
    let next = 0;
    let before = 0;
    for (const { firstRowId, rows } of this.segments) {
      const from = next;
      while (next < ascending.length && ascending[next]! < before + rows) next++;
      if (next > from) {
        const ids = this.#reader
          .query('SELECT _row_id FROM rows WHERE _row_id >= ? ORDER BY _row_id LIMIT ?')
          .values(firstRowId, rows) as [number][];
        for (const position of ascending.slice(from, next)) {
          const id = ids[position - before];
          if (id !== undefined) found.set(position, id[0]);
        }
      }
      before += rows;
    }
    return found;
  }

  get segments(): readonly StoredSegment[] {
    this.#segments ??= readSegments(this.#reader);
    return this.#segments;
  }

  /**
   * Records the rows of the new file before it is replaced. Throws `no-space` with less than `roomToFollow` bytes
   * free.
   */
  journal(entry: TableJournal, roomToFollow: number): void {
    requireRoom(this.path, roomToFollow);
    try {
      writeMeta(this.#writable(), 'journal', entry);
    } catch (error) {
      throw asNoSpace(error);
    } finally {
      this.#noteWrite();
    }
  }

  /** Left by an edit that did not reach its commit; null also for a damaged copy. */
  unfinished(): TableJournal | null {
    try {
      return readMeta(this.#reader, 'journal');
    } catch {
      // Only its replacement needs the journal; without one, rows are numbered anew.
      return null;
    }
  }

  /**
   * For the same content under another stamp, or a hash for the same stamp; `changes` counts edits of the file that
   * left this table alone. Hold `exclusive`.
   */
  restamp(stamp: FileStamp, takenAt: number, hash: string | null, changes = 0): void {
    const sequence = this.#state.sequence + changes;
    const state = { ...this.#state, stamp, stampTakenAt: takenAt, hash, sequence };
    const db = this.#writable();
    try {
      db.transaction(() => {
        writeMeta(db, 'state', state);
        if (changes > 0) writeMeta(db, 'journal', null);
      })();
    } finally {
      // Also after a part of a write, on a full disk: it must not look like somebody else's.
      this.#noteWrite();
    }
    this.#state = state;
    if (changes > 0) this.cache.forget();
  }

  /** One transaction; yields to the event loop. Hold `exclusive`. */
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
    } finally {
      this.#noteWrite();
    }
    this.#state = change.state;
    this.#segments = [...change.segments];
    this.cache.forget();
    if (!hasTypesOf(this.head, change.state)) this.outdated = 'types';
  }

  async #writeRows(db: Database, change: TableCommit): Promise<void> {
    const keyedDates = new Map(
      this.columns.flatMap(({ position, dates }) =>
        dates?.isKeyed ? [[position, dates] as const] : [],
      ),
    );
    for (const [rowId, values] of change.updates) {
      const names = [...values.keys()].map((position) => `c${position} = ?`);
      const keys = [...values].filter(([position]) => keyedDates.has(position));
      names.push(...keys.map(([position]) => `k${position} = ?`));
      db.query(`UPDATE rows SET ${names.join(', ')} WHERE _row_id = ?`).run(
        ...values.values(),
        ...keys.map(([position, value]) => dateSortKey(value, keyedDates.get(position)!)),
        rowId,
      );
    }
    const remove = db.query('DELETE FROM rows WHERE _row_id = ?');
    for (const rowId of change.deletes) remove.run(rowId);
    const positions = this.head.columns.map((column) => column.position);
    const keyed = [...keyedDates];
    const names = [...positions.map((p) => `c${p}`), ...keyed.map(([p]) => `k${p}`)];
    const insert = db.query(
      `INSERT INTO rows (${['_row_id', ...names].join(', ')}) ` +
        `VALUES (${['?', ...names.map(() => '?')].join(', ')})`,
    );
    let written = 0;
    for (const [rowId, values] of change.creates) {
      insert.run(
        rowId,
        ...positions.map((position) => values.get(position) ?? null),
        ...keyed.map(([position, dates]) => dateSortKey(values.get(position) ?? null, dates)),
      );
      if (++written % ROWS_PER_TURN === 0) await Bun.sleep(0);
    }
  }

  /** Hold `exclusive`, and call `refreshIndexes` even after a failure. */
  makeIndexes(names: readonly string[]): void {
    const db = this.#writable();
    for (const name of names) db.run(createIndexSql(name));
  }

  /** Hold `exclusive`. */
  refreshIndexes(): void {
    this.indexes = readIndexes(this.#reader);
    // Plans made without the new indexes would not use them.
    this.cache.forget();
    this.#noteWrite();
  }

  /** By others, since this process wrote. Do not ask while `exclusive` is held. */
  get isUntouched(): boolean {
    // Once per turn of the event loop, because two stats are expensive.
    if (this.#isTraced) return true;
    this.#isTraced = traceOf(this.path) === this.#trace;
    if (this.#isTraced) {
      setImmediate(() => {
        this.#isTraced = false;
      });
    }
    return this.#isTraced;
  }

  /** May have changed since it was opened. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  /** Must not be used any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.cache.forget();
    this.#reader.close();
    this.#writer?.close();
    this.#writer = null;
  }

  #noteWrite(): void {
    this.#isWritten = true;
    this.#trace = traceOf(this.path);
  }

  #writable(): Database {
    if (this.#isClosed) throw new Error('the typed copy is closed');
    if (!this.#writer) {
      this.#writer = new Database(this.path, { readwrite: true, create: false });
      // NORMAL: a power loss may lose the copy's last edits, never its consistency; the stamp shows it.
      this.#writer.run('PRAGMA busy_timeout = 2000; PRAGMA synchronous = NORMAL;');
    }
    return this.#writer;
  }
}

/** Numbers as far as those are exact, as everywhere outside SQLite. */
function plainInteger(value: StoredValue): StoredValue {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function hasTypesOf({ columns, context }: TableHead, { counts, forms }: TableState): boolean {
  const hasExtras = columns.every(({ extra }, index) => {
    const now = counts[index]!;
    return !extra || now.integer + now.number + now.boolean + now.string > 0;
  });
  return hasExtras && areReadSo(columns, counts, forms, context);
}

function readIndexes(db: Database): ReadonlySet<string> {
  const names = db
    .query("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    .values() as [string][];
  return new Set(names.map(([name]) => name));
}

/** A strong ETag is made of it. */
function versionTag(generation: string, sequence: number): string {
  return sha256Hex(`${generation}:${sequence}`).slice(0, 16);
}
