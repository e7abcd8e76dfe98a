/**
 * The SQLite file of a typed copy while it is being built: tables `rows` and `segments`.
 *
 * Built without journal or syncs, because an unfinished copy is thrown away; `finish` makes it durable and switches it
 * to WAL. `rows` has one column `c<position>` per table column without a declared type, so every value keeps the
 * storage class it is bound with.
 */
import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite';
import { rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { StoredValue } from './infer.ts';
import type { Segment } from './types.ts';

/** Values bound by one INSERT: enough to make the call cheap, small enough for one statement to be prepared fast. */
const BATCH_VALUES = 1_800;
/** Larger pages make scans faster, smaller ones single-row edits; measured between 4 and 64 KiB. */
export const PAGE_BYTES = 16_384;
/** Written pages leave the cache for the operating system's beyond this. */
const CACHE_KIB = 8_192;

/** A typed copy that takes rows in order, then is finished or discarded. */
export class CopyFile {
  readonly #path: string;
  readonly #db: Database;
  readonly #rowWidth: number;
  readonly #columns: string;
  readonly #insertBatch: Statement;
  readonly #batch: StoredValue[];
  #filled = 0;
  #isClosed = false;

  /**
   * Makes the file at `path`, replacing any other, for rows with cells at `positions`. With `isNumbered`, rows are
   * added with their ids; else there must be cells, and SQLite numbers the rows 1…n, which is a quarter faster.
   */
  constructor(path: string, positions: readonly number[], isNumbered: boolean) {
    this.#path = path;
    this.#remove();
    this.#db = new Database(path, { create: true, readwrite: true });
    this.#db.run(
      `PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;` +
        `PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -${CACHE_KIB}`,
    );
    const names = positions.map((position) => `c${position}`);
    const bound = isNumbered ? ['_row_id', ...names] : names;
    this.#columns = bound.join(', ');
    this.#rowWidth = bound.length;
    this.#db.run('BEGIN');
    this.#db.run(
      `CREATE TABLE rows (_row_id INTEGER PRIMARY KEY${names.map((name) => `, ${name}`).join('')})`,
    );
    this.#db.run(
      'CREATE TABLE segments (seq INTEGER PRIMARY KEY, first_row_id INTEGER, rows INTEGER, bytes INTEGER)',
    );
    const batchRows = Math.max(1, Math.floor(BATCH_VALUES / this.#rowWidth));
    this.#batch = new Array<StoredValue>(batchRows * this.#rowWidth).fill(null);
    this.#insertBatch = this.#insert(batchRows);
  }

  /** Adds the next value of the row in progress: its id, if rows are numbered, then its cells in column order. */
  add(value: StoredValue): void {
    this.#batch[this.#filled++] = value;
    if (this.#filled < this.#batch.length) return;
    this.#insertBatch.run(...([this.#batch] as unknown as SQLQueryBindings[]));
    this.#filled = 0;
  }

  /** Writes what is left, the segments with their first row ids, and makes the file durable and WAL. */
  async finish(segments: readonly (Segment & { firstRowId: number })[]): Promise<void> {
    const rest = this.#batch.slice(0, this.#filled);
    const rows = rest.length / this.#rowWidth;
    if (rows > 0) {
      using insertRest = this.#insert(rows);
      insertRest.run(...([rest] as unknown as SQLQueryBindings[]));
    }
    this.#writeSegments(segments);
    this.#db.run('COMMIT');
    this.#db.run('PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL');
    this.#close();
    const file = await open(this.#path, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Deletes the unfinished file. */
  discard(): void {
    this.#close();
    this.#remove();
  }

  #writeSegments(segments: readonly (Segment & { firstRowId: number })[]): void {
    using insert = this.#db.prepare('INSERT INTO segments VALUES (?, ?, ?, ?)');
    segments.forEach(({ firstRowId, rows, bytes }, seq) => {
      insert.run(seq, firstRowId, rows, bytes);
    });
  }

  /**
   * Closes for certain: with a statement left, the connection would live on until the next garbage collection and then
   * delete the journal of whatever stands at the path by that time.
   */
  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#insertBatch.finalize();
    this.#db.close(true);
  }

  #remove(): void {
    for (const suffix of ['', '-wal', '-shm']) rmSync(this.#path + suffix, { force: true });
  }

  #insert(rows: number): Statement {
    const row = `(${Array<string>(this.#rowWidth).fill('?').join(',')})`;
    const values = Array<string>(rows).fill(row).join(',');
    return this.#db.prepare(`INSERT INTO rows (${this.#columns}) VALUES ${values}`);
  }
}
