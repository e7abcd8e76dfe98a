/**
 * The state database on SQLite: one writer at a time, readers beside it.
 *
 * Writers share one mutex, so a lone statement never joins the transaction of somebody who is waiting in the middle of
 * it. Reads outside transactions use their own connection and see the last commit. Between processes SQLite's own lock
 * decides; waiting for it happens in slices, because SQLite waits by holding the thread.
 */
import { Mutex } from '../base/semaphore.ts';
import { presentTurn } from '../base/turn.ts';
import type { Database, SqlRow, SqlValue } from './database.ts';
import { SqliteConnection, isBusy } from './sqlite-connection.ts';

const BUSY_WAIT_MS = 5000;
const BUSY_PAUSE_MS = 20;

/** A Database on a SQLite file; `relaxed` shares the writers' order but not the fsync. */
export interface SqliteDatabase extends Database {
  /** Waits for the running writer, folds the write-ahead log into the file and closes. Calls after it fail. */
  close(): Promise<void>;
}

interface SqliteDatabaseOptions {
  /**
   * How long a call waits for another process that is writing before it throws `unavailable`; counted from when it was
   * made, time behind own writers included. 5 s unless given.
   */
  readonly busyWaitMs?: number;
}

/** What the durable and the relaxed handle have in common. */
interface Shared {
  readonly reader: SqliteConnection;
  readonly mutex: Mutex;
  readonly busyWaitMs: number;
  /** What `changeCount` found in a turn of the event loop; null after a write of this process. */
  seen: { readonly turn: number; readonly changeCount: number } | null;
}

/**
 * Opens the SQLite file at `path` in WAL mode, creating it when absent (mode as the umask says: who needs 0600 creates
 * it first). Blocks for up to 5 s when another process is just opening it. Throws SQLite's own error.
 */
export function openSqliteDatabase(
  path: string,
  options: SqliteDatabaseOptions = {},
): SqliteDatabase {
  const opened: SqliteConnection[] = [];
  const closeAll = () => {
    // The reader first: a read-only connection that closes last leaves the write-ahead log behind.
    for (const connection of opened.toReversed()) connection.close();
  };
  try {
    const durable = new SqliteConnection(path, { synchronous: 'FULL' });
    opened.push(durable);
    const fast = new SqliteConnection(path, { synchronous: 'NORMAL' });
    opened.push(fast);
    const reader = new SqliteConnection(path, { synchronous: 'NORMAL', readonly: true });
    opened.push(reader);
    const mutex = new Mutex();
    const shared: Shared = {
      reader,
      mutex,
      busyWaitMs: options.busyWaitMs ?? BUSY_WAIT_MS,
      seen: null,
    };
    const relaxed = new Handle(fast, shared, null);
    return Object.assign(new Handle(durable, shared, relaxed), {
      close: () => mutex.run(closeAll),
    });
  } catch (error) {
    closeAll();
    throw error;
  }
}

class Handle implements Database {
  readonly relaxed: Database;
  readonly #writer: SqliteConnection;
  readonly #shared: Shared;

  constructor(writer: SqliteConnection, shared: Shared, relaxed: Database | null) {
    this.#writer = writer;
    this.#shared = shared;
    this.relaxed = relaxed ?? this;
  }

  async all<Row = SqlRow>(sql: string, params?: readonly SqlValue[]): Promise<Row[]> {
    const { reader } = this.#shared;
    return this.#patiently(reader, performance.now(), () => reader.all<Row>(sql, params));
  }

  async get<Row = SqlRow>(sql: string, params?: readonly SqlValue[]): Promise<Row | null> {
    const { reader } = this.#shared;
    return this.#patiently(reader, performance.now(), () => reader.get<Row>(sql, params));
  }

  changeCount(): number | null {
    const shared = this.#shared;
    const turn = presentTurn();
    if (turn !== null && shared.seen?.turn === turn) return shared.seen.changeCount;
    try {
      // The reader writes nothing itself, so every commit is somebody else's to it.
      const row = shared.reader.get<{ data_version: number }>('PRAGMA data_version');
      const changeCount = row!.data_version;
      shared.seen = turn === null ? null : { turn, changeCount };
      return changeCount;
    } catch (error) {
      if (isBusy(error)) return null;
      throw this.#shared.reader.translate(error);
    }
  }

  async run(
    sql: string,
    params?: readonly SqlValue[],
  ): Promise<{ changes: number; lastId: number }> {
    const since = performance.now();
    const writer = this.#writer;
    return this.#shared.mutex.run(() =>
      this.#patiently(writer, since, () => {
        this.#shared.seen = null;
        return writer.run(sql, params);
      }),
    );
  }

  async transaction<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    const since = performance.now();
    const writer = this.#writer;
    return this.#shared.mutex.run(async () => {
      // IMMEDIATE: a transaction that reads first and writes later could otherwise fail at its first write.
      await this.#patiently(writer, since, () => writer.run('BEGIN IMMEDIATE'));
      const tx = new Transaction(writer);
      try {
        const result = await work(tx);
        tx.end();
        this.#shared.seen = null;
        writer.run('COMMIT');
        return result;
      } catch (error) {
        tx.end();
        // A full disk makes SQLite roll back by itself.
        if (writer.inTransaction) writer.run('ROLLBACK');
        throw writer.translate(error);
      }
    });
  }

  /** Repeats a statement that found the file locked by another process, for as long as the options say. */
  async #patiently<T>(connection: SqliteConnection, since: number, statement: () => T): Promise<T> {
    for (;;) {
      try {
        return statement();
      } catch (error) {
        const mayWait = isBusy(error) && performance.now() - since < this.#shared.busyWaitMs;
        if (!mayWait) throw connection.translate(error);
      }
      await Bun.sleep(BUSY_PAUSE_MS);
    }
  }
}

/** The handle a transaction's work uses: straight to the writer, whose mutex is held meanwhile. */
class Transaction implements Database {
  readonly #writer: SqliteConnection;
  #isOpen = true;

  constructor(writer: SqliteConnection) {
    this.#writer = writer;
  }

  get relaxed(): Database {
    return this;
  }

  changeCount(): null {
    return null;
  }

  end(): void {
    this.#isOpen = false;
  }

  async all<Row = SqlRow>(sql: string, params?: readonly SqlValue[]): Promise<Row[]> {
    return this.#use(() => this.#writer.all<Row>(sql, params));
  }

  async get<Row = SqlRow>(sql: string, params?: readonly SqlValue[]): Promise<Row | null> {
    return this.#use(() => this.#writer.get<Row>(sql, params));
  }

  async run(
    sql: string,
    params?: readonly SqlValue[],
  ): Promise<{ changes: number; lastId: number }> {
    return this.#use(() => this.#writer.run(sql, params));
  }

  async transaction<T>(): Promise<T> {
    throw new Error('A transaction cannot be started inside another one');
  }

  #use<T>(statement: () => T): T {
    if (!this.#isOpen) throw new Error('This transaction has ended');
    try {
      return statement();
    } catch (error) {
      throw this.#writer.translate(error);
    }
  }
}
