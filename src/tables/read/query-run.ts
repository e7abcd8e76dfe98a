/**
 * Runs a plan on a connection to its typed copy.
 *
 * Count, cursor and rows come from one read transaction, so from one version. A page of ordinary size is read before
 * the call returns; a larger one is read while its rows are taken, and until then the connection serves nothing else.
 */
import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite';
import type { Scan } from './scan.ts';
import { encodeCursor } from './cursor.ts';
import type { Row } from '../encode/encode.ts';
import { registerFunctions } from './functions.ts';
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

/**
 * `total` is the count, if known for this very version. Uses the caller's transaction if there is one. The rows may
 * throw while they are taken.
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

/** A page with row ids only. */
export interface IdPage extends Pick<Page, 'total' | 'next'> {
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
    const { limit, offset, isContinued } = this.#plan;
    if (limit === null) return this.#whole(end);
    if (limit <= STRATEGY.rowsById && offset > STRATEGY.longSkip && !isContinued) {
      return this.#partById(limit, end);
    }
    // One more than the page tells whether there is a next one.
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

  /** Skips ids only, from the nearer end, and looks up the page's rows. */
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

  /** The page can be held in memory: of usual rows, or of the largest. */
  #isSmall(limit: number): boolean {
    const bytes = copyBytes(this.#db);
    const usual = (limit * bytes) / Math.max(1, this.#plan.rowCount);
    return (
      limit <= STRATEGY.rowsById && usual <= STRATEGY.heldSize && bytes <= STRATEGY.smallCopyBytes
    );
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

  /** Chooses the way to read by the number of matches. */
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

  /** For a page too large to hold: reads only ids, to find the last row before the first one is sent. */
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

/** The plus signs keep SQLite from planning anew for each limit, which takes longer than most pages. */
function scanSql(select: string, { where }: Scan, order: string): string {
  return `SELECT ${select} FROM rows WHERE ${where.sql} ORDER BY ${order} LIMIT +? OFFSET +?`;
}

/** Takes rows until the end or the memory limit. */
function hold(rows: Generator<Row>): { rows: Row[]; isAll: boolean } {
  const held: Row[] = [];
  let size = 0;
  for (let step = rows.next(); !step.done; step = rows.next()) {
    held.push(step.value);
    size += sizeOf(step.value);
    if (size > STRATEGY.heldSize) return { rows: held, isAll: false };
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
