/**
 * The state database on SQLite: one writer at a time, concurrent readers.
 *
 * Writers share one mutex, so a lone statement never joins a transaction that is waiting in the middle. Reads outside
 * transactions use their own connection and see the last commit. Between processes SQLite's own lock decides; waiting
 * for it happens in slices, because SQLite waits by blocking the thread.
 */
import { presentArrival } from '../base/scheduling/arrival.ts';
import { Mutex } from '../base/scheduling/semaphore.ts';
import type { Database, SqlRow, SqlValue } from './database.ts';
import { SqliteConnection, isBusy } from './sqlite-connection.ts';

const BUSY_WAIT_MS = 5000;
const BUSY_PAUSE_MS = 20;

/** `relaxed` shares the order of writers but not the fsync. */
export interface SqliteDatabase extends Database {
  /** Waits for the running writer and folds the write-ahead log into the file. */
  close(): Promise<void>;
}

interface SqliteDatabaseOptions {
  /**
   * Wait for another process that is writing, including the wait for own writers, before `unavailable`. Default 5 s.
   */
  readonly busyWaitMs?: number;
}

interface Shared {
  readonly reader: SqliteConnection;
  readonly mutex: Mutex;
  readonly busyWaitMs: number;
  /** `changeCount` at the last arrival; null after a write of this process. */
  seen: { readonly arrival: number; readonly changeCount: number } | null;
}

/**
 * The mode of a new file is by the umask (for 0600 create it first). Blocks for up to 5 s when another process is
 * just opening it.
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
    const arrival = presentArrival();
    if (arrival !== null && shared.seen?.arrival === arrival) return shared.seen.changeCount;
    try {
      // The reader never writes, so every commit counts as another connection's.
      const row = shared.reader.get<{ data_version: number }>('PRAGMA data_version');
      const changeCount = row!.data_version;
      shared.seen = arrival === null ? null : { arrival, changeCount };
      return changeCount;
    } catch (error) {
      if (isBusy(error)) return null;
      throw shared.reader.translate(error);
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
