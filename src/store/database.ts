/**
 * The narrow handle through which shared state is asked (architecture: shared state is asked asynchronously).
 *
 * Users, sessions, keys, permissions, locks and audit take a `Database` as argument and keep their SQL in the common
 * dialect, so another engine can stand behind the same functions later. Placeholders are `?`, booleans are 0 and 1,
 * times are RFC 3339 text in UTC with milliseconds (DS-16), which sorts as text.
 */

/** A value of a column or a parameter. */
export type SqlValue = string | number | bigint | null | Uint8Array;
/** A row by column name. */
export type SqlRow = Record<string, SqlValue>;

/** Statements against the state database. Every call sees all writes that were acknowledged before it started. */
export interface Database {
  /** All rows of a SELECT. */
  all<Row = SqlRow>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>;
  /** The first row of a SELECT, or null. */
  get<Row = SqlRow>(sql: string, params?: readonly SqlValue[]): Promise<Row | null>;
  /** One writing statement; durable when it resolves. `lastId` is meaningful after an INSERT only. */
  run(sql: string, params?: readonly SqlValue[]): Promise<{ changes: number; lastId: number }>;
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. Writers wait for each
   * other in order; `work` must use the handle it is given and must not start another transaction.
   */
  transaction<T>(work: (tx: Database) => Promise<T>): Promise<T>;
  /**
   * Differs after anybody, this process or another, wrote to the database; equal answers mean that nothing changed in
   * between. What other processes wrote counts from the next turn of the event loop on (`turn.ts`). Null where it cannot be
   * told, as inside a transaction: then nothing may be remembered. Costs 2 µs, once a turn.
   */
  changeCount(): number | null;
  /**
   * The same database with writes that survive a killed process but not a power loss: for state whose loss costs
   * nothing (lock rows, last-used times). Skips one fsync a write.
   */
  readonly relaxed: Database;
}
