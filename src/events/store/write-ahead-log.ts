/**
 * Keeps the write-ahead log small while searches read the database.
 *
 * SQLite restarts the log only at a moment without readers (sqlite.org/wal.html, "checkpoint starvation"). With
 * constant searches there is none: after a minute of three clients and 10,000 events a second the log was three times
 * as large as the store, and every page was looked up in it first.
 */
import type { Database } from 'bun:sqlite';
import { rmSync, statSync, writeFileSync } from 'node:fs';

const WAIT_MS = 4_000;
/** An older hold-off request was left by a killed process. */
const MAX_HOLD_OFF_MS = WAIT_MS + 1_000;
const LOOK_MS = 5;

export class WriteAheadLog {
  readonly #db: Database;
  readonly #schema: string;
  readonly #file: string;
  readonly #maxBytes: number;
  /** Bytes; smaller logs are left alone. */
  #foldFrom: number;

  /** `schema`: name of the database in the connection; `path`: of its file. */
  constructor(db: Database, schema: string, path: string, maxBytes: number) {
    this.#db = db;
    this.#schema = schema;
    this.#file = path;
    this.#maxBytes = maxBytes;
    this.#foldFrom = maxBytes;
    // Left by a killed process.
    this.#withdraw();
  }

  /**
   * Checkpoints and truncates a log that is too large; call after a commit. Waits up to four seconds for current
   * readers while new ones wait in `holdOff`. When readers take longer, as a backup does, it tries again at twice the
   * size, so writers wait a few times in all. Never throws.
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
      // The commit succeeded; the next one reports a disk fault.
      return 0;
    }
  }

  #askToHoldOff(): void {
    try {
      writeFileSync(holdOffPath(this.#file), '', { mode: 0o600 });
    } catch {
      // On a full disk it continues without, and may take longer.
    }
  }

  #withdraw(): void {
    try {
      rmSync(holdOffPath(this.#file), { force: true });
    } catch {
      // It expires by age.
    }
  }

  #truncate(): boolean {
    const { timeout } = this.#db.query<{ timeout: number }, []>('PRAGMA busy_timeout').get()!;
    this.#db.run(`PRAGMA busy_timeout = ${WAIT_MS}`);
    try {
      const checkpoint = `PRAGMA ${this.#schema}.wal_checkpoint(TRUNCATE)`;
      return this.#db.query<{ busy: number }, []>(checkpoint).get()?.busy === 0;
    } catch {
      // Commits are safe in the log; the next write reports a full disk.
      return false;
    } finally {
      this.#db.run(`PRAGMA busy_timeout = ${timeout}`);
    }
  }
}

/**
 * Blocks a new reader while the log of the database at `path` is being truncated: as long as the slowest current
 * reader, at most five seconds. Takes two microseconds when there is nothing to wait for.
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
    // The reader itself will report a failing disk.
    return false;
  }
}

function holdOffPath(path: string): string {
  return `${path}-folding`;
}
