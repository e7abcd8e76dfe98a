/**
 * The write-ahead log of a database that is written while searches read it.
 *
 * SQLite begins a log anew only in a moment in which nobody reads it (sqlite.org/wal.html, "checkpoint starvation"). Where
 * searches follow upon each other there is none, and the log grows as long as they do: after a minute of three clients
 * and 10,000 events a second it was three times as large as the store, and every page was looked for in it first.
 */
import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';

/** How long readers are waited for, for each time the log is as large as it may be; and at most. */
const WAIT_MS = 2_000;
const MAX_WAIT_MS = 4_000;

/** The log of the one connection that writes the database. */
export class WriteAheadLog {
  readonly #db: Database;
  readonly #schema: string;
  readonly #path: string;
  readonly #maxBytes: number;
  /** Smaller logs are left alone. */
  #foldFrom: number;

  /** `schema`: the name of the database in the connection; `path`: of its file. */
  constructor(db: Database, schema: string, path: string, maxBytes: number) {
    this.#db = db;
    this.#schema = schema;
    this.#path = `${path}-wal`;
    this.#maxBytes = maxBytes;
    this.#foldFrom = maxBytes;
  }

  /**
   * Puts a log larger than it may be into the database and empties it; for the moment after a commit. Waits up to four
   * seconds for those who read by now: who comes after them finds everything in the file and is not waited for. With
   * readers who take longer, as a backup does, the log stays and is tried again when it is twice as large: writers wait
   * a few times in all, not again and again. Never throws.
   */
  fold(): void {
    const size = this.#size();
    if (size <= this.#maxBytes) this.#foldFrom = this.#maxBytes;
    if (size <= this.#foldFrom) return;
    const waitMs = Math.min((size / this.#maxBytes) * WAIT_MS, MAX_WAIT_MS);
    const isEmpty = this.#truncate(Math.floor(waitMs));
    this.#foldFrom = isEmpty ? this.#maxBytes : size * 2;
  }

  #size(): number {
    try {
      return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    } catch {
      // The commit before was taken; the next one says what is wrong with the disk.
      return 0;
    }
  }

  #truncate(waitMs: number): boolean {
    const { timeout } = this.#db.query<{ timeout: number }, []>('PRAGMA busy_timeout').get()!;
    this.#db.run(`PRAGMA busy_timeout = ${waitMs}`);
    try {
      const checkpoint = `PRAGMA ${this.#schema}.wal_checkpoint(TRUNCATE)`;
      return this.#db.query<{ busy: number }, []>(checkpoint).get()?.busy === 0;
    } catch {
      // What was committed is safe in the log; a disk that takes nothing says so with the next write.
      return false;
    } finally {
      this.#db.run(`PRAGMA busy_timeout = ${timeout}`);
    }
  }
}
