/**
 * Runs a plan on a connection to the typed copy it was made for.
 *
 * Everything a page needs (count, cursor, rows) comes from one read transaction, so from one version of the table
 * (DS-39). A page of ordinary size is read before the call returns and leaves the connection free; anything larger is
 * read while its rows are taken, and until then the connection serves nothing else.
 */
import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite';
import type { Scan } from './scan.ts';
import { encodeCursor } from './cursor.ts';
import type { Row } from './encode.ts';
import { registerFunctions } from './functions.ts';
import { MAX_ROWS_BY_ID } from './query-cost.ts';
import type { QueryPlan } from './query-plan.ts';
import { boundValue, type PlanValue, type SqlPart } from './sql-part.ts';

/** A page is held in memory up to this many cells and characters together; about 10 MB. */
const MAX_HELD = 4_000_000;
/** Answers of so few rows are read in one statement, which is a snapshot of its own and counts them too. */
export const MAX_FEW = 64;
/** A page of a copy that is no larger than this can be held whatever its rows hold. */
const MAX_SMALL_COPY_BYTES = 64 << 20;
/** Skipped rows past which only ids are skipped, not whole rows. */
const LONG_SKIP = 1_000;
/** A look-up by row id in a large table, counted in rows read one after another. */
const LOOKUP_ROWS = 8;

const ROW_ID = 'rows._row_id';

/** The rows of a request. */
export interface Page {
  /** Matching rows, whatever the page (DS-40). */
  readonly total: number;
  /** Cursor of the next page; null on the last one and without a limit (DS-41). */
  readonly next: string | null;
  /** `_row_id` and the columns of the plan's shape; to be taken once. */
  readonly rows: Iterable<Row>;
  /** Ends the reading when rows are not taken to their end. Safe to call at any time, more than once. */
  close(): void;
}

/** The number of matching rows, whatever the page (DS-40). */
export function runCount(db: Database, plan: QueryPlan): number {
  if (!plan.count) return plan.rowCount;
  if (plan.usesFunctions) registerFunctions(db);
  return countRows(db, plan.count);
}

/** The number of rows that meet a condition without functions of ours. */
export function countRows(db: Database, { sql, params }: SqlPart): number {
  const [row] = prepared(db, `SELECT count(*) FROM rows WHERE ${sql}`).values(...bound(params));
  return Number(row?.[0] ?? 0);
}

/**
 * The page of a plan. `total` is its count, when the caller knows it for this very version. Inside a transaction of
 * the caller none is begun. A failure while rows are taken is thrown there.
 */
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

/** The rows of a request by their ids alone. */
export interface IdPage extends Pick<Page, 'total' | 'next'> {
  readonly rowIds: readonly number[];
}

/** Whether finding the ids of a page costs little beside reading its rows: nothing else has to be looked at. */
export function areIdsCheap({ walk, limit, offset, usesFunctions }: QueryPlan): boolean {
  const isShort = limit !== null && limit <= MAX_ROWS_BY_ID && offset <= LONG_SKIP;
  return isShort && walk?.isExact === true && !usesFunctions;
}

/** As `runPage` without the rows, for plans of which `areIdsCheap` is true. */
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

/** All matching rows, of which the filter lets through a few at most. */
function isFew({ count, limit, offset, maxMatches, isContinued }: QueryPlan): boolean {
  return count !== null && limit === null && offset === 0 && maxMatches <= MAX_FEW && !isContinued;
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
    const rows = this.#values(MAX_FEW);
    return { total: rows.length, next: null, rows, close: () => {} };
  }

  part(end: () => void): Part {
    const { limit, offset, isContinued } = this.#plan;
    if (limit === null) return this.#whole(end);
    if (limit <= MAX_ROWS_BY_ID && offset > LONG_SKIP && !isContinued) {
      return this.#partById(limit, end);
    }
    // One row more than the page has tells whether there is a next one.
    const isSmall = this.#isSmall(limit);
    const rows = this.#rows(isSmall ? 0 : limit + 1);
    const first = isSmall ? { rows: this.#values(limit + 1), isAll: true } : hold(rows);
    if (!first.isAll) return streamed(first.rows, limit, rows, this.#cursorFromIds(limit), end);
    const isLast = first.rows.length <= limit;
    if (!isLast) first.rows.length = limit;
    return held(first.rows, isLast ? null : this.#cursorAfter(Number(first.rows.at(-1)![0])), end);
  }

  idPage(): Omit<IdPage, 'total'> {
    const { offset } = this.#plan;
    const limit = this.#plan.limit!;
    const rowIds: number[] = [];
    for (const scan of this.#scans()) {
      rowIds.push(...this.#ids(scan, scan.order, limit + 1 - rowIds.length, offset));
      if (rowIds.length > limit) break;
    }
    const isLast = rowIds.length <= limit;
    if (!isLast) rowIds.length = limit;
    return { rowIds, next: isLast ? null : this.#cursorAfter(rowIds.at(-1)!) };
  }

  #whole(end: () => void): Part {
    const rows = this.#rows(null, end);
    const close = () => {
      rows.return(undefined);
      end();
    };
    return { next: null, rows, close };
  }

  /** Skips ids only, from the nearer end, and looks the page's rows up. */
  #partById(limit: number, end: () => void): Part {
    const { offset } = this.#plan;
    const count = Math.min(limit, this.#total - offset);
    if (count <= 0) return held([], null, end);
    const fromEnd = this.#total - offset - count;
    const scan = this.#scans()[0]!;
    const ids =
      fromEnd < offset
        ? this.#ids(scan, scan.reversed, count, fromEnd).reverse()
        : this.#ids(scan, scan.order, count, offset);
    const next = fromEnd > 0 && ids.length > 0 ? this.#cursorAfter(ids.at(-1)!) : null;
    const rows = this.#rowsById(ids);
    const first = hold(rows);
    return first.isAll ? held(first.rows, next, end) : streamed(first.rows, limit, rows, next, end);
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

  /** Whether rows of usual size are a page that need not be taken row by row, and the largest can be held. */
  #isSmall(limit: number): boolean {
    const bytes = copyBytes(this.#db);
    const usual = (limit * bytes) / Math.max(1, this.#plan.rowCount);
    return limit <= MAX_ROWS_BY_ID && usual <= MAX_HELD && bytes <= MAX_SMALL_COPY_BYTES;
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
    const rows = prepared(this.#db, scanSql(ROW_ID, scan, order)).values(
      ...bound(scan.where.params),
      limit,
      offset,
    );
    return rows.map(([id]) => Number(id));
  }

  *#rowsById(ids: readonly number[]): Generator<Row> {
    const { select, hasWideIntegers } = this.#plan;
    const sql = `SELECT ${select} FROM rows WHERE rows._row_id = ?`;
    const statement = prepared(this.#db, sql, hasWideIntegers);
    for (const id of ids) yield statement.values(id)[0] as Row[number][];
  }

  /** The way to read: what can be told from the number of matches. */
  #scans(): readonly Scan[] {
    const { walk, gather, limit, offset, rowCount } = this.#plan;
    if (!gather || !walk) return walk?.scans ?? [gather!.scan];
    const total = Math.max(1, this.#total);
    const wanted = Math.min(total, limit === null ? total : offset + limit + 1);
    const walked = (wanted / total) * rowCount * (walk.isByIndex ? LOOKUP_ROWS : 1);
    const gathered = gather.isIndexed ? Math.min(rowCount, total * LOOKUP_ROWS) : rowCount;
    return walked <= gathered + total ? walk.scans : [gather.scan];
  }

  #cursorAfter(rowId: number): string {
    const { keys, digest } = this.#plan;
    if (keys === '') return encodeCursor(digest, { keys: [], rowId });
    const sql = `SELECT ${keys} FROM rows WHERE rows._row_id = ?`;
    const [row = []] = prepared(this.#db, sql, true).values(rowId);
    return encodeCursor(digest, { keys: (row as Row).map(keyOf), rowId });
  }

  /** For a page too large to hold: reads its ids alone, to find its last row before its first one is sent. */
  #cursorFromIds(limit: number): string | null {
    let rest = limit + 1;
    let last = 0;
    for (const scan of this.#scans()) {
      const params = [...bound(scan.where.params), rest, this.#plan.offset];
      const statement = prepared(this.#db, scanSql(`${ROW_ID} AS id`, scan, scan.order));
      for (const row of statement.iterate(...params)) {
        rest--;
        if (rest === 0) return this.#cursorAfter(last);
        last = (row as { id: number }).id;
      }
    }
    return null;
  }
}

/** The plus signs keep SQLite from planning anew whenever a limit differs, which takes longer than most pages. */
function scanSql(select: string, { where }: Scan, order: string): string {
  return `SELECT ${select} FROM rows WHERE ${where.sql} ORDER BY ${order} LIMIT +? OFFSET +?`;
}

/** Takes rows until there are no more or memory says stop. */
function hold(rows: Generator<Row>): { rows: Row[]; isAll: boolean } {
  const held: Row[] = [];
  let size = 0;
  for (let step = rows.next(); !step.done; step = rows.next()) {
    held.push(step.value);
    size += sizeOf(step.value);
    if (size > MAX_HELD) return { rows: held, isAll: false };
  }
  return { rows: held, isAll: true };
}

function held(rows: readonly Row[], next: string | null, end: () => void): Part {
  end();
  return { next, rows, close: () => {} };
}

/** The first rows, then the others, up to the limit. */
function streamed(
  first: readonly Row[],
  limit: number,
  rest: Generator<Row>,
  next: string | null,
  end: () => void,
): Part {
  const close = () => {
    rest.return(undefined);
    end();
  };
  function* rows(): Generator<Row> {
    try {
      let left = limit;
      for (const row of first) if (left-- > 0) yield row;
      while (left-- > 0) {
        const step = rest.next();
        if (step.done) return;
        yield step.value;
      }
    } finally {
      close();
    }
  }
  return { next, rows: rows(), close };
}

/** Begins a read transaction unless the caller has one; returns how to end it, which may be called again. */
function beginRead(db: Database): () => void {
  if (db.inTransaction) return () => {};
  // Through `query`, which remembers the statement: `run` would prepare it anew.
  db.query('BEGIN').run();
  let isOpen = true;
  return () => {
    if (isOpen) db.query('COMMIT').run();
    isOpen = false;
  };
}

const knownBytes = new WeakMap<Database, number>();

/** Bytes of the typed copy when they were first asked for, about. */
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
