/**
 * Runs a plan on a connection to its typed copy.
 *
 * Count, cursor and rows come from one read transaction. A page of ordinary size is read before the call returns; a
 * larger one while its rows are taken, and until then the connection serves nothing else.
 */
import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite';
import type { Scan } from './scan.ts';
import { encodeCursor } from './cursor-token.ts';
import type { Row } from '../encode/encode.ts';
import { registerFunctions } from './connection.ts';
import { STRATEGY } from '../limits.ts';
import type { QueryPlan } from './query-plan.ts';
import { boundValue, type PlanValue, type SqlPart } from './sql-part.ts';

const ROW_ID = 'rows._row_id';

export interface Page {
  /** Whatever the page. */
  readonly total: number;
  /** Null on the last page and without a limit. */
  readonly next: string | null;
  /** `_row_id` and the columns of the shape; can be iterated once. */
  readonly rows: Iterable<Row>;
  /** Stops the reading early. May be called at any time, more than once. */
  close(): void;
}

/** Whatever the page. */
export function runCount(db: Database, plan: QueryPlan): number {
  if (!plan.count) return plan.rowCount;
  if (plan.usesFunctions) registerFunctions(db);
  return countRows(db, plan.count);
}

/** For conditions without `svc_` functions. */
export function countRows(db: Database, { sql, params }: SqlPart): number {
  const [row] = prepared(db, `SELECT count(*) FROM rows WHERE ${sql}`).values(...bound(params));
  return Number(row?.[0] ?? 0);
}

/** `total`: the count, if known for this version. Uses the caller's transaction if there is one. */
export function runPage(db: Database, plan: QueryPlan, total?: number): Page {
  if (plan.usesFunctions) registerFunctions(db);
  if (isFew(plan)) return new PageReader(db, plan, plan.maxMatches).few();
  const end = beginRead(db);
  try {
    const matches = total ?? runCount(db, plan);
    return { total: matches, ...new PageReader(db, plan, matches).part(end) };
  } catch (error) {
    end();
    throw error;
  }
}

interface IdPage extends Pick<Page, 'total' | 'next'> {
  readonly rowIds: readonly number[];
}

/** Finding the ids costs little beside reading the rows: nothing else has to be looked at. */
export function areIdsCheap({ walk, limit, offset, usesFunctions }: QueryPlan): boolean {
  const isShort = limit !== null && limit <= STRATEGY.rowsById && offset <= STRATEGY.longSkip;
  return isShort && walk?.isExact === true && !usesFunctions;
}

/** Only for plans where `areIdsCheap` is true. */
export function runIds(db: Database, plan: QueryPlan, total?: number): IdPage {
  const end = beginRead(db);
  try {
    const matches = total ?? runCount(db, plan);
    return { total: matches, ...new PageReader(db, plan, matches).idPage() };
  } finally {
    end();
  }
}

type Part = Omit<Page, 'total'>;

/** All matching rows, when the filter lets through a few at most. */
function isFew({ count, limit, offset, maxMatches, isContinued }: QueryPlan): boolean {
  return (
    count !== null &&
    limit === null &&
    offset === 0 &&
    maxMatches <= STRATEGY.fewRows &&
    !isContinued
  );
}

class PageReader {
  readonly #db: Database;
  readonly #plan: QueryPlan;
  readonly #total: number;

  constructor(db: Database, plan: QueryPlan, total: number) {
    this.#db = db;
    this.#plan = plan;
    this.#total = total;
  }

  few(): Page {
    const rows = this.#values(STRATEGY.fewRows);
    return { total: rows.length, next: null, rows, close: () => {} };
  }

  part(end: () => void): Part {
    const { limit, offset } = this.#plan;
    if (limit === null) return streamed(null, this.#rows(null, end), end);
    if (limit <= STRATEGY.rowsById && offset <= STRATEGY.longSkip) {
      // One more than the page tells whether there is a next one.
      const rows = this.#isSmall(limit) ? this.#values(limit + 1) : hold(this.#rows(limit + 1));
      if (rows !== null) {
        const isLast = rows.length <= limit;
        if (!isLast) rows.length = limit;
        const next = isLast ? null : this.#cursorAfter(Number(rows.at(-1)![0]));
        end();
        return { next, rows, close: () => {} };
      }
    }
    const { rowIds, next } = this.idPage();
    return streamed(next, this.#rowsById(rowIds, end), end);
  }

  /** Only for plans with a limit. */
  idPage(): Omit<IdPage, 'total'> {
    const { offset, isContinued } = this.#plan;
    const limit = this.#plan.limit!;
    if (offset > STRATEGY.longSkip && !isContinued) return this.#deepIds(limit);
    let rowIds: number[] = [];
    for (const scan of this.#scans()) {
      rowIds = rowIds.concat(this.#ids(scan, scan.order, limit + 1 - rowIds.length, offset));
      if (rowIds.length > limit) break;
    }
    const isLast = rowIds.length <= limit;
    if (!isLast) rowIds.length = limit;
    return { rowIds, next: isLast ? null : this.#cursorAfter(rowIds.at(-1)!) };
  }

  /** Skips from the nearer end. */
  #deepIds(limit: number): Omit<IdPage, 'total'> {
    const { offset } = this.#plan;
    const count = Math.max(0, Math.min(limit, this.#total - offset));
    const fromEnd = this.#total - offset - count;
    const scan = this.#scans()[0]!;
    const rowIds =
      fromEnd < offset
        ? this.#ids(scan, scan.reversed, count, Math.max(0, fromEnd)).reverse()
        : this.#ids(scan, scan.order, count, offset);
    const isLast = fromEnd <= 0 || rowIds.length === 0;
    return { rowIds, next: isLast ? null : this.#cursorAfter(rowIds.at(-1)!) };
  }

  *#rows(limit: number | null, end: () => void = () => {}): Generator<Row> {
    const { select, offset, hasWideIntegers } = this.#plan;
    let rest = limit ?? Infinity;
    try {
      for (const scan of this.#scans()) {
        const statement = prepared(this.#db, scanSql(select, scan, scan.order), hasWideIntegers);
        const size = limit === null ? -1 : rest;
        for (const row of statement.iterate(...bound(scan.where.params), size, offset)) {
          rest--;
          yield Object.values(row as Record<string, Row[number]>);
        }
        if (rest <= 0) return;
      }
    } finally {
      end();
    }
  }

  /** The page can be held in memory: of usual rows, or of the largest. */
  #isSmall(limit: number): boolean {
    const bytes = copyBytes(this.#db);
    const usual = (limit * bytes) / Math.max(1, this.#plan.rowCount);
    return usual <= STRATEGY.heldSize && bytes <= STRATEGY.smallCopyBytes;
  }

  /** Takes less than two thirds of the time of `#rows`. */
  #values(limit: number): Row[] {
    const { select, offset, hasWideIntegers } = this.#plan;
    const rows: Row[] = [];
    for (const scan of this.#scans()) {
      const statement = prepared(this.#db, scanSql(select, scan, scan.order), hasWideIntegers);
      const params = bound(scan.where.params);
      rows.push(...(statement.values(...params, limit - rows.length, offset) as Row[]));
      if (rows.length >= limit) break;
    }
    return rows;
  }

  #ids(scan: Scan, order: string, limit: number, offset: number): number[] {
    const statement = prepared(this.#db, scanSql(`${ROW_ID} AS id`, scan, order));
    const params = [...bound(scan.where.params), limit, offset];
    if (limit <= STRATEGY.rowsById + 1)
      return statement.values(...params).map(([id]) => Number(id));
    // A list for each of millions of ids would take ten times their memory.
    const ids: number[] = [];
    for (const row of statement.iterate(...params)) ids.push((row as { id: number }).id);
    return ids;
  }

  *#rowsById(ids: readonly number[], end: () => void): Generator<Row> {
    const { select, hasWideIntegers } = this.#plan;
    const sql = `SELECT ${select} FROM rows WHERE rows._row_id = ?`;
    const statement = prepared(this.#db, sql, hasWideIntegers);
    try {
      for (const id of ids) yield statement.values(id)[0] as Row[number][];
    } finally {
      end();
    }
  }

  #scans(): readonly Scan[] {
    const { walk, gather, limit, offset, rowCount } = this.#plan;
    if (!gather || !walk) return walk?.scans ?? [gather!.scan];
    const total = Math.max(1, this.#total);
    const wanted = Math.min(total, limit === null ? total : offset + limit + 1);
    const walked = (wanted / total) * rowCount * (walk.isByIndex ? STRATEGY.lookupRows : 1);
    const gathered = gather.isIndexed ? Math.min(rowCount, total * STRATEGY.lookupRows) : rowCount;
    return walked <= gathered + total ? walk.scans : [gather.scan];
  }

  #cursorAfter(rowId: number): string {
    const { keys, digest } = this.#plan;
    if (keys === '') return encodeCursor(digest, { keys: [], rowId });
    const sql = `SELECT ${keys} FROM rows WHERE rows._row_id = ?`;
    const [row = []] = prepared(this.#db, sql, true).values(rowId);
    return encodeCursor(digest, { keys: (row as Row).map(keyOf), rowId });
  }
}

/** The plus signs keep SQLite from planning anew for each limit, which takes longer than most pages. */
function scanSql(select: string, { where }: Scan, order: string): string {
  return `SELECT ${select} FROM rows WHERE ${where.sql} ORDER BY ${order} LIMIT +? OFFSET +?`;
}

/** All the rows, unless they take too much memory. */
function hold(rows: Iterable<Row>): Row[] | null {
  const held: Row[] = [];
  let size = 0;
  for (const row of rows) {
    held.push(row);
    size += sizeOf(row);
    if (size > STRATEGY.heldSize) return null;
  }
  return held;
}

function streamed(next: string | null, rows: Generator<Row>, end: () => void): Part {
  const close = () => {
    rows.return(undefined);
    // A generator that was never asked runs nothing.
    end();
  };
  return { next, rows, close };
}

/** Begins a read transaction unless the caller has one; the returned end may be called again. */
function beginRead(db: Database): () => void {
  if (db.inTransaction) return () => {};
  // `query` remembers the statement; `run` would prepare it anew.
  db.query('BEGIN').run();
  let isOpen = true;
  return () => {
    if (isOpen) db.query('COMMIT').run();
    isOpen = false;
  };
}

const knownBytes = new WeakMap<Database, number>();

/** Approximate: the size when first asked for. */
export function copyBytes(db: Database): number {
  let bytes = knownBytes.get(db);
  if (bytes === undefined) {
    const sql = 'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size';
    bytes = Number(db.query(sql).values()[0]?.[0] ?? Number.POSITIVE_INFINITY);
    knownBytes.set(db, bytes);
  }
  return bytes;
}

/** Bun keeps the first twenty statements of a connection; others cost 8 µs more and are collected with it. */
function prepared(
  db: Database,
  sql: string,
  safeIntegers = false,
): Statement<unknown, SQLQueryBindings[]> {
  return db.query<unknown, SQLQueryBindings[]>(sql).safeIntegers(safeIntegers);
}

function bound(params: readonly PlanValue[]): SQLQueryBindings[] {
  return params.map(boundValue);
}

function keyOf(value: Row[number]): PlanValue {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : { int: String(value) };
}

function sizeOf(row: Row): number {
  let size = row.length;
  for (const value of row) if (typeof value === 'string') size += value.length;
  return size;
}
