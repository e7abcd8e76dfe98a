/**
 * One SQLite connection with the pragmas we always want, and its prepared statements.
 *
 * SQLite works synchronously, so a statement must be short: nothing here may run SQL shaped by a user. Errors come out
 * as SQLite raised them; `translateSqliteError` is the one place that gives them a code.
 */
import { Database as Sqlite, SQLiteError } from 'bun:sqlite';
import type { Statement } from 'bun:sqlite';
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../base/errors.ts';
import { Lru } from '../base/lru.ts';
import type { SqlValue } from './database.ts';

/** The code base holds about a hundred different statements; past this the one unused for longest is prepared anew. */
const MAX_STATEMENTS = 256;
/** While opening, nothing else runs in this process yet, so SQLite may do the waiting for another process itself. */
const OPEN_WAIT_MS = 5000;
/** Later a wait inside SQLite holds the event loop; longer waits are for the caller, asynchronously. */
const STATEMENT_WAIT_MS = 20;
/** The write-ahead log is cut back to this after a checkpoint; it grows past it only during one large transaction. */
const MAX_IDLE_WAL_BYTES = 16 * 1024 * 1024;

interface ConnectionOptions {
  /** Opens without the right to write; the file must exist and be in WAL mode. */
  readonly readonly?: boolean;
  /** FULL: a commit is on the disk when it returns. NORMAL: it survives a killed process only. */
  readonly synchronous: 'FULL' | 'NORMAL';
}

/** A connection to one SQLite file; not safe to share between concurrent transactions. */
export class SqliteConnection {
  readonly #path: string;
  readonly #sqlite: Sqlite;
  readonly #statements = new Lru<string, Statement>(MAX_STATEMENTS, (_sql, statement) =>
    statement.finalize(),
  );

  /** Opens the file, creating it unless `readonly`. Throws SQLite's own error when it cannot. */
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

  /** The code for an error one of the calls above threw. */
  translate(error: unknown): unknown {
    return translateSqliteError(error, this.#path);
  }

  /** Closes; the last connection to a file folds the write-ahead log into it. Safe to call twice. */
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

/** True when another connection holds a lock this one needs; the statement had no effect and may be tried again. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? '');
}

/**
 * The AppError for a SQLite error of the file at `path`: `unavailable` when it is locked by another process, `no-space`
 * when the disk is full. Anything else comes back unchanged: it is a bug or a broken disk, and belongs in the log.
 */
function translateSqliteError(error: unknown, path: string): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const code = error.code ?? '';
  if (isBusy(error)) {
    return new AppError('unavailable', 'The state database is busy', {
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  // Where it cannot say ENOSPC (shared memory, journal headers) SQLite reports a bare I/O error.
  if (code === 'SQLITE_FULL' || (code.startsWith('SQLITE_IOERR') && isDiskFull(path))) {
    return new AppError('no-space', 'Insufficient storage', { cause: error });
  }
  return error;
}

function isDiskFull(path: string): boolean {
  try {
    return statfsSync(dirname(path)).bavail === 0;
  } catch {
    // The folder cannot be asked: then the I/O error stands as it is.
    return false;
  }
}
