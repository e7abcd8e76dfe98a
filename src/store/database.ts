/**
 * The handle to shared state.
 *
 * Users, sessions, keys, permissions, locks and audit use it with SQL in the common dialect, so another engine can
 * stand behind them later. Placeholders are `?`, booleans are 0 and 1, times are RFC 3339 text in UTC with
 * milliseconds, which sorts as text.
 */

export type SqlValue = string | number | bigint | null | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

/** Every call sees all writes acknowledged before it started. */
export interface Database {
  all<Row = SqlRow>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>;
  get<Row = SqlRow>(sql: string, params?: readonly SqlValue[]): Promise<Row | null>;
  /** Durable when it resolves. `lastId` is meaningful after an INSERT only. */
  run(sql: string, params?: readonly SqlValue[]): Promise<{ changes: number; lastId: number }>;
  /**
   * Committed when `work` resolves, rolled back when it throws. Writers wait in order; `work` must use the handle it
   * gets and must not start another transaction.
   */
  transaction<T>(work: (tx: Database) => Promise<T>): Promise<T>;
  /**
   * Differs after any process wrote to the database. Null where that is unknown, as inside a transaction: then
   * nothing may be cached. Costs some µs, once a request (`arrival.ts`).
   */
  changeCount(): number | null;
  /**
   * Writes that survive a killed process but not a power loss, saving one fsync each: for state whose loss costs
   * nothing (lock rows, last-used times).
   */
  readonly relaxed: Database;
}
