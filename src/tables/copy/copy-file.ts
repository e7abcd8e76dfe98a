/**
 * The SQLite file of a typed copy under construction: tables `rows` and `segments`.
 *
 * Without journal or syncs, because an unfinished copy is thrown away. `rows` has a column `c<position>` per table
 * column, and for some a `k<position>` to sort by, without declared types, so that values keep the storage class they
 * are bound with. Rows are written as pages (row-pages.ts).
 */
import { Database } from 'bun:sqlite';
import { closeSync, fdatasync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { RowPages } from './row-pages.ts';
import type { Segment, StoredValue } from '../types.ts';

/** Larger pages speed up scans, smaller ones single-row edits; measured from 4 to 64 KiB. */
export const PAGE_BYTES = 16_384;

/** Of small files, up to so many bytes: a table of one row takes a page. */
const SMALL_PAGES = [
  { fileBytes: 64 * 1024, pageBytes: 1_024 },
  { fileBytes: 1024 * 1024, pageBytes: 4_096 },
] as const;

export class CopyFile {
  readonly #path: string;
  readonly #pages: RowPages;
  /** Null once closed. */
  #output: CopyOutput | null;

  /** Replaces any file at `path`. `fileBytes`: size of the file it is a copy of. */
  constructor(path: string, columns: readonly string[], fileBytes = Infinity) {
    this.#path = path;
    this.#remove();
    const small = SMALL_PAGES.find((pages) => fileBytes <= pages.fileBytes);
    const pageBytes = small?.pageBytes ?? PAGE_BYTES;
    const rootPage = makeTables(path, columns, pageBytes);
    const output = new CopyOutput(path);
    this.#output = output;
    this.#pages = new RowPages({
      write: (bytes, position) => output.write(bytes, position),
      pageBytes,
      rootPage,
      firstPage: statSync(path).size / pageBytes + 1,
      values: columns.length,
    });
  }

  /** Values come in column order. */
  add(value: StoredValue): void {
    this.#pages.add(value);
  }

  /** Ids must grow. Throws file system errors. */
  endRow(id: number): void {
    this.#pages.endRow(id);
  }

  async finish(segments: readonly (Segment & { firstRowId: number })[]): Promise<void> {
    this.#pages.finish();
    const output = this.#output;
    this.#output = null;
    await output?.end();
    writeSegments(this.#path, segments);
    const file = await open(this.#path, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async discard(): Promise<void> {
    const output = this.#output;
    this.#output = null;
    await output?.close();
    this.#remove();
  }

  #remove(): void {
    for (const suffix of ['', '-wal', '-shm']) rmSync(this.#path + suffix, { force: true });
  }
}

function makeTables(path: string, columns: readonly string[], pageBytes: number): number {
  return withDatabase(path, (db) => {
    db.run(`PRAGMA page_size = ${pageBytes}`);
    const cells = columns.map((column) => `, ${column}`).join('');
    db.run(`CREATE TABLE rows (_row_id INTEGER PRIMARY KEY${cells})`);
    db.run(
      'CREATE TABLE segments (seq INTEGER PRIMARY KEY, first_row_id INTEGER, rows INTEGER, bytes INTEGER)',
    );
    using root = db.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'rows'`);
    return (root.values()[0] as [number])[0];
  });
}

function writeSegments(
  path: string,
  segments: readonly (Segment & { firstRowId: number })[],
): void {
  withDatabase(path, (db) => {
    db.run('BEGIN');
    using insert = db.prepare('INSERT INTO segments VALUES (?, ?, ?, ?)');
    segments.forEach(({ firstRowId, rows, bytes }, seq) => {
      insert.run(seq, firstRowId, rows, bytes);
    });
    db.run('COMMIT');
    db.run('PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL');
  });
}

/**
 * A statement left open would keep the connection until the next garbage collection, which would then delete the
 * journal of whatever file is at the path.
 */
function withDatabase<Result>(path: string, work: (db: Database) => Result): Result {
  const db = new Database(path, { create: true, readwrite: true });
  try {
    db.run('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE');
    return work(db);
  } finally {
    db.close(true);
  }
}

/** Bytes between background syncs. */
const SYNC_EVERY_BYTES = 8 * 1024 * 1024;

class CopyOutput {
  readonly #fd: number;
  #unsynced = 0;
  #syncing: Promise<void> | null = null;
  #failure: Error | null = null;

  constructor(path: string) {
    this.#fd = openSync(path, 'r+');
  }

  write(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length;) {
      // Some file systems write less than they are given without an error.
      const written = writeSync(this.#fd, bytes, done, bytes.length - done, position + done);
      if (written === 0) {
        throw Object.assign(new Error('ENOSPC: write took no bytes'), { code: 'ENOSPC' });
      }
      done += written;
    }
    this.#unsynced += bytes.length;
    if (this.#unsynced >= SYNC_EVERY_BYTES && this.#syncing === null) this.#startSync();
  }

  /** Waits for the background sync. */
  async close(): Promise<void> {
    await this.#syncing;
    closeSync(this.#fd);
  }

  /** Closes the file; throws a background sync's error, which the system reports only once. */
  async end(): Promise<void> {
    await this.close();
    if (this.#failure !== null) throw this.#failure;
  }

  #startSync(): void {
    this.#unsynced = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#syncing = promise;
    fdatasync(this.#fd, (error) => {
      this.#failure ??= error;
      this.#syncing = null;
      resolve();
    });
  }
}
