/**
 * SQLite works synchronously, so statements must be short: nothing here may run SQL shaped by a user. Errors are
 * thrown as SQLite raised them; `translate` gives them a code.
 */
import { Database as Sqlite, SQLiteError } from 'bun:sqlite';
import type { Statement } from 'bun:sqlite';
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../base/errors.ts';
import { Lru } from '../base/lru.ts';
import type { SqlValue } from './database.ts';

/** The code base has about a hundred statements; past this the least recently used one is prepared anew. */
const MAX_STATEMENTS = 256;
/** Nothing else runs in this process while opening, so SQLite itself may wait for other processes. */
const OPEN_WAIT_MS = 5000;
/** Later a wait inside SQLite blocks the event loop; callers wait longer asynchronously. */
const STATEMENT_WAIT_MS = 20;
/** The write-ahead log is truncated to this after a checkpoint; only one large transaction makes it longer. */
const MAX_IDLE_WAL_BYTES = 16 * 1024 * 1024;

interface ConnectionOptions {
  /** The file must exist and be in WAL mode. */
  readonly readonly?: boolean;
  /** FULL: a commit is on the disk when it returns. NORMAL: it survives a killed process only. */
  readonly synchronous: 'FULL' | 'NORMAL';
}

export class SqliteConnection {
  readonly #path: string;
  readonly #sqlite: Sqlite;
  readonly #statements = new Lru<string, Statement>(MAX_STATEMENTS, (_sql, statement) =>
    statement.finalize(),
  );

  constructor(path: string, options: ConnectionOptions) {
    this.#path = path;
    this.#sqlite = new Sqlite(
      path,
      options.readonly ? { readonly: true } : { readwrite: true, create: true },
    );
    try {
      this.#configure(options);
    } catch (error) {
      this.#sqlite.close();
      throw error;
    }
  }

  #configure(options: ConnectionOptions): void {
    this.#sqlite.run(`PRAGMA busy_timeout = ${OPEN_WAIT_MS}`);
    this.#sqlite.run('PRAGMA trusted_schema = OFF');
    this.#sqlite.run('PRAGMA cell_size_check = ON');
    this.#sqlite.run('PRAGMA mmap_size = 0');
    this.#sqlite.run('PRAGMA foreign_keys = ON');
    if (!options.readonly) {
      this.#sqlite.run('PRAGMA journal_mode = WAL');
      this.#sqlite.run(`PRAGMA synchronous = ${options.synchronous}`);
      this.#sqlite.run(`PRAGMA journal_size_limit = ${MAX_IDLE_WAL_BYTES}`);
    }
    this.#sqlite.run(`PRAGMA busy_timeout = ${STATEMENT_WAIT_MS}`);
  }

  get inTransaction(): boolean {
    return this.#sqlite.inTransaction;
  }

  all<Row>(sql: string, params: readonly SqlValue[] = []): Row[] {
    return this.#prepare(sql, params).all(...params) as Row[];
  }

  get<Row>(sql: string, params: readonly SqlValue[] = []): Row | null {
    return this.#prepare(sql, params).get(...params) as Row | null;
  }

  run(sql: string, params: readonly SqlValue[] = []): { changes: number; lastId: number } {
    const { changes, lastInsertRowid } = this.#prepare(sql, params).run(...params);
    return { changes, lastId: Number(lastInsertRowid) };
  }

  translate(error: unknown): unknown {
    return translateSqliteError(error, this.#path);
  }

  /** The last connection to a file folds the write-ahead log into it. */
  close(): void {
    for (const [, statement] of this.#statements.entries()) statement.finalize();
    this.#statements.clear();
    this.#sqlite.close();
  }

  #prepare(sql: string, params: readonly SqlValue[]): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#sqlite.prepare(sql);
      this.#statements.set(sql, statement);
    }
    // Called without values, Bun would use those of the last time.
    if (statement.paramsCount !== params.length) {
      throw new RangeError(`${params.length} values for ${statement.paramsCount} placeholders`);
    }
    return statement;
  }
}

/** The statement had no effect and may be repeated. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? '');
}

/** `unavailable` when locked, `no-space` when the disk is full; anything else is returned unchanged, for the log. */
function translateSqliteError(error: unknown, path: string): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const code = error.code ?? '';
  if (isBusy(error)) {
    return new AppError('unavailable', 'The state database is busy', {
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  // Where SQLite cannot report ENOSPC (shared memory, journal headers) it reports a bare I/O error.
  if (code === 'SQLITE_FULL' || (code.startsWith('SQLITE_IOERR') && isDiskFull(path))) {
    return new AppError('no-space', 'Insufficient storage', { cause: error });
  }
  return error;
}

function isDiskFull(path: string): boolean {
  try {
    return statfsSync(dirname(path)).bavail === 0;
  } catch {
    // Free space is unknown: keep the I/O error.
    return false;
  }
}
