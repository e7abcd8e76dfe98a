/**
 * The write-ahead log of a database that is written while searches read it.
 *
 * SQLite begins a log anew only in a moment in which nobody reads it (sqlite.org/wal.html, "checkpoint starvation"). Where
 * searches follow upon each other there is none, and the log grows as long as they do: after a minute of three clients
 * and 10,000 events a second it was three times as large as the store, and every page was looked for in it first.
 */
import type { Database } from 'bun:sqlite';
import { rmSync, statSync, writeFileSync } from 'node:fs';

/** How long readers are waited for at most. */
const WAIT_MS = 4_000;
/** A request to hold off that is older was left by a process that was killed. */
const MAX_HOLD_OFF_MS = WAIT_MS + 1_000;
const LOOK_MS = 5;

/** The log of the one connection that writes the database. */
export class WriteAheadLog {
  readonly #db: Database;
  readonly #schema: string;
  readonly #file: string;
  readonly #maxBytes: number;
  /** Smaller logs are left alone. */
  #foldFrom: number;

  /** `schema`: the name of the database in the connection; `path`: of its file. */
  constructor(db: Database, schema: string, path: string, maxBytes: number) {
    this.#db = db;
    this.#schema = schema;
    this.#file = path;
    this.#maxBytes = maxBytes;
    this.#foldFrom = maxBytes;
    // Of a process that was killed.
    this.#withdraw();
  }

  /**
   * Puts a log larger than it may be into the database and empties it; for the moment after a commit. Waits up to four
   * seconds for those who read by now, while others hold off (`holdOff`): one who begins meanwhile would have to be
   * waited for as well. With readers who take longer, as a backup does, the log stays and is tried again when it is
   * twice as large: writers wait a few times in all, not again and again. Never throws.
   */
  fold(): void {
    const size = this.#size();
    if (size <= this.#maxBytes) this.#foldFrom = this.#maxBytes;
    if (size <= this.#foldFrom) return;
    this.#askToHoldOff();
    const isEmpty = this.#truncate();
    this.#withdraw();
    this.#foldFrom = isEmpty ? this.#maxBytes : size * 2;
  }

  #size(): number {
    try {
      return statSync(`${this.#file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    } catch {
      // The commit before was taken; the next one says what is wrong with the disk.
      return 0;
    }
  }

  #askToHoldOff(): void {
    try {
      writeFileSync(holdOffPath(this.#file), '', { mode: 0o600 });
    } catch {
      // On a full disk it goes without; it may take longer then.
    }
  }

  #withdraw(): void {
    try {
      rmSync(holdOffPath(this.#file), { force: true });
    } catch {
      // It is forgotten by its age.
    }
  }

  #truncate(): boolean {
    const { timeout } = this.#db.query<{ timeout: number }, []>('PRAGMA busy_timeout').get()!;
    this.#db.run(`PRAGMA busy_timeout = ${WAIT_MS}`);
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

/**
 * Waits, before a reader begins, while the log of the database at `path` is being folded: for the longest of the readers by
 * now, five seconds at most. Blocks the process; two microseconds when there is nothing to wait for.
 */
export function holdOff(path: string): void {
  const startedAt = performance.now();
  while (isAskedFor(path) && performance.now() - startedAt < MAX_HOLD_OFF_MS) {
    Bun.sleepSync(LOOK_MS);
  }
}

function isAskedFor(path: string): boolean {
  try {
    const asked = statSync(holdOffPath(path), { throwIfNoEntry: false });
    return asked !== undefined && Math.abs(Date.now() - asked.mtimeMs) < MAX_HOLD_OFF_MS;
  } catch {
    // A disk that does not answer says so to the reader itself.
    return false;
  }
}

function holdOffPath(path: string): string {
  return `${path}-folding`;
}
