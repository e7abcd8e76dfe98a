/**
 * The jobs of the query worker: reads that may take long, and indexes. Killed by the parent at their limit, since a
 * running SQLite statement cannot be interrupted from inside (architecture: children).
 */
import { Database } from 'bun:sqlite';
import { streamOfChunks } from '../base/chunk-stream.ts';
import { encoderFor, requireFit } from './encoders.ts';
import type { Format } from './format.ts';
import type { QueryPlan } from './query-plan.ts';
import { type Page, runPage } from './query-run.ts';
import { createIndexSql } from './table-index.ts';
import { readMeta } from './table-meta.ts';

/** Order for the `page` job. */
export interface PageOrder {
  /** Path of the typed copy. */
  readonly path: string;
  readonly plan: QueryPlan;
  readonly format: Format;
  /** Number of matches, when the caller knows it. */
  readonly total?: number;
  /** The version the plan was made for; a copy that has moved on answers nothing but its own sequence. */
  readonly sequence: number;
  /** Only the figures, no rows. */
  readonly isHead: boolean;
}

/** Order for the `index` job. */
export interface IndexOrder {
  readonly path: string;
  readonly names: readonly string[];
}

/** Headers in which the figures of a page travel beside its body. */
export const PAGE_HEADERS = {
  total: 'x-total',
  cursor: 'x-cursor',
  sequence: 'x-sequence',
} as const;

type Job = (body: unknown, signal: AbortSignal) => Response | Promise<Response>;

/** The jobs by name. */
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

/** Rows, count and version come from one snapshot, which ends with the body. */
async function readPage(order: PageOrder): Promise<Response> {
  const { format, plan } = order;
  const encoder = await encoderFor(format);
  const db = new Database(order.path, { readwrite: true, create: false });
  let page: Page | null = null;
  const close = (): void => {
    page?.close();
    page = null;
    if (db.inTransaction) db.run('ROLLBACK');
    db.close();
  };
  try {
    db.run('PRAGMA busy_timeout = 5000; PRAGMA query_only = ON; PRAGMA mmap_size = 0;');
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
    const chunks = encoder(plan.shape, page.rows)[Symbol.iterator]();
    return new Response(streamOfChunks(chunks, close), { headers });
  } catch (error) {
    close();
    throw error;
  }
}
