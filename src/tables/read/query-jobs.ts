/**
 * The query worker's long reads and indexing. The parent kills the worker at its limit, because a running SQLite
 * statement cannot be interrupted from inside.
 */
import { Database } from 'bun:sqlite';
import { streamOfChunks } from '../../base/scheduling/chunk-stream.ts';
import type { RowShape } from '../encode/encode.ts';
import { openReader } from './connection.ts';
import { encoderFor, requireFit } from '../encode/encoders.ts';
import type { Format } from './format.ts';
import type { QueryPlan } from './query-plan.ts';
import { type Page, runPage } from './query-run.ts';
import { createIndexSql } from '../copy/table-index.ts';
import { readMeta } from '../copy/table-meta.ts';

export interface PageOrder {
  readonly path: string;
  readonly plan: QueryPlan;
  readonly format: Format;
  /** When the caller knows it. */
  readonly total?: number;
  /** The version of the plan; a copy that has moved on returns only its own sequence. */
  readonly sequence: number;
  /** Only the figures, no rows. */
  readonly isHead: boolean;
}

export interface IndexOrder {
  readonly path: string;
  readonly names: readonly string[];
}

/** Carry the figures of a page beside its body. */
export const PAGE_HEADERS = {
  total: 'x-total',
  cursor: 'x-cursor',
  sequence: 'x-sequence',
} as const;

type Job = (body: unknown, signal: AbortSignal) => Response | Promise<Response>;

export function queryJobs(): Record<string, Job> {
  return {
    page: (body) => readPage(body as PageOrder),
    index: (body) => {
      const { path, names } = body as IndexOrder;
      const db = new Database(path, { readwrite: true, create: false });
      try {
        db.run('PRAGMA busy_timeout = 5000; PRAGMA synchronous = NORMAL;');
        for (const name of names) db.run(createIndexSql(name));
      } finally {
        db.close();
      }
      return new Response(null, { status: 204 });
    },
  };
}

/** What does not fit in 64 bits, which only moments of 96 bits can be. */
const FAR_MOMENT = `NOT BETWEEN '1677-09-21T00:12:43.145224192' AND '2262-04-11T23:47:16.854775807Z'`;

/** Of keys (`dateKey`): of a date, and of a moment with microseconds. */
const KEY_LENGTHS = { date: 10, 'date-time': 26 } as const;

function misfitSql({ file, dates, format }: RowShape['columns'][number], at: number): string {
  if (file) return `c${at} ${FAR_MOMENT}`;
  if (!dates) return `typeof(c${at}) = 'text'`;
  // Texts that are no dates and years past 9999 have keys that sort last.
  return dates.isKeyed
    ? `length(k${at}) > ${KEY_LENGTHS[format ?? 'date-time']} OR k${at} >= ':'`
    : '1';
}

/** Columns with cells that do not fit their declared type become string columns. */
function withoutMisfits(db: Database, shape: RowShape): RowShape {
  const columns = shape.columns.map((column) => {
    if (column.misfitAt === undefined) return column;
    const sql = `SELECT 1 FROM rows WHERE ${misfitSql(column, column.misfitAt)} LIMIT 1`;
    return db.query(sql).get() === null ? column : { ...column, isText: true };
  });
  return { ...shape, columns };
}

/** Rows, count and version come from one snapshot, which ends with the body. */
async function readPage(order: PageOrder): Promise<Response> {
  const { format, plan } = order;
  const encoder = await encoderFor(format);
  const db = openReader(order.path);
  let page: Page | null = null;
  const close = (): void => {
    page?.close();
    page = null;
    if (db.inTransaction) db.run('ROLLBACK');
    db.close();
  };
  try {
    db.run('BEGIN');
    const sequence = readMeta(db, 'state')?.sequence ?? 0;
    if (sequence !== order.sequence) {
      close();
      return new Response(null, { headers: { [PAGE_HEADERS.sequence]: String(sequence) } });
    }
    page = runPage(db, plan, order.total);
    await requireFit(format, Math.min(plan.limit ?? page.total, page.total - plan.offset));
    const headers: Record<string, string> = {
      [PAGE_HEADERS.sequence]: String(sequence),
      [PAGE_HEADERS.total]: String(page.total),
      ...(page.next !== null && { [PAGE_HEADERS.cursor]: page.next }),
    };
    if (order.isHead) {
      close();
      return new Response(null, { headers });
    }
    const shape = format === 'parquet' ? withoutMisfits(db, plan.shape) : plan.shape;
    const chunks = encoder(shape, page.rows)[Symbol.iterator]();
    return new Response(streamOfChunks(chunks, close), { headers });
  } catch (error) {
    close();
    throw error;
  }
}
