/**
 * Reading the event store: a connection that cannot write, with the functions and the substring index queries use.
 *
 * For worker processes: statements run synchronously, and those shaped by a user may run long. A reader sees what was
 * committed before its snapshot began, and every event that was acknowledged is.
 */
import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS_FILE } from './schema.ts';
import type { SqlCondition } from './term.ts';
import { allOf, anyMemberHas, dataHas, registerTermFunctions } from './term.ts';
import type { IndexState } from './text-index.ts';
import { candidates, INDEX_FILE, readIndexState } from './text-index.ts';
import { holdOff } from './write-ahead-log.ts';

/** Where a term is looked for: `data` (SL-63), or any member (EV-34). */
type TermScope = 'data' | 'any';

/** A term as SQL. `usesIndex` tells whether the substring index narrows it. */
interface TermCondition extends SqlCondition {
  readonly usesIndex: boolean;
}

const BUSY_WAIT_MS = 5_000;

/** One reading connection. */
export class EventReader {
  /** Bun's connection: table `events` of `schema.ts`. */
  readonly db: Database;
  readonly #paths: readonly string[];
  #hasIndex: boolean;
  #index: IndexState | null = null;

  /** Opens the store of a state directory, which must exist. Throws SQLite's own error when it cannot be read. */
  constructor(stateDir: string) {
    const [store, index] = [EVENTS_FILE, INDEX_FILE].map((name) => join(stateDir, name));
    this.#paths = [store!, index!];
    this.db = new Database(store!, { readonly: true });
    this.db.run(`PRAGMA busy_timeout = ${BUSY_WAIT_MS}`);
    this.db.run('PRAGMA trusted_schema = OFF');
    registerTermFunctions(this.db);
    this.#hasIndex = attachIndex(this.db, index!);
  }

  /** Runs `work` on one snapshot of store and index; term conditions hold only inside of it. */
  snapshot<Result>(work: () => Result): Result {
    this.begin();
    try {
      return work();
    } finally {
      this.end();
    }
  }

  /** As `snapshot`, for work that streams: ends with `end`. May wait as `holdOff` does. */
  begin(): void {
    for (const path of this.#paths) holdOff(path);
    this.db.run('BEGIN');
    this.#index = this.#readIndex();
  }

  end(): void {
    this.#index = null;
    if (this.db.inTransaction) this.db.run('ROLLBACK');
  }

  /** The highest id of the index within the snapshot; 0 without a usable index. */
  get indexedTo(): number {
    return this.#index?.indexedTo ?? 0;
  }

  /** Events that hold the term, by folding (SL-30). Gives the same rows with and without the index. */
  term(text: string, scope: TermScope): TermCondition {
    const exact = scope === 'data' ? dataHas(text) : anyMemberHas(text);
    const narrowed = this.#index === null ? null : candidates(this.db, this.#index, text, scope);
    if (narrowed === null) return { ...exact, usesIndex: false };
    return { ...allOf([narrowed, exact]), usesIndex: true };
  }

  /** The names of all indexes that hold an event; the caller keeps those that may be read (EV-23, EV-99). */
  indexNames(): string[] {
    return this.db
      .query<{ name: string }, []>('SELECT name FROM indexes ORDER BY name')
      .all()
      .map(({ name }) => name);
  }

  close(): void {
    this.db.close();
  }

  #readIndex(): IndexState | null {
    if (!this.#hasIndex) return null;
    try {
      return readIndexState(this.db);
    } catch {
      // Damaged or half made: the index is derived, so the answer is the same without it.
      this.#hasIndex = false;
      return null;
    }
  }
}

function attachIndex(db: Database, path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    db.run('ATTACH ? AS ix', [path]);
    return true;
  } catch {
    // As in #readIndex.
    return false;
  }
}
