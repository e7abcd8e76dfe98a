/**
 * Runs the plan of an admin list.
 *
 * An audit may hold millions of entries, so a server runs all but cheap plans in a query worker, which can be killed.
 * A command serves nobody else.
 */
import type { Database } from 'bun:sqlite';
import type { ListPage } from '../../store/list-source.ts';
import { type CursorKey, encodeCursor } from './cursor-token.ts';
import { openReader, registerFunctions } from './connection.ts';
import type { ListPlan } from './list-plan.ts';
import { boundValue, type SqlPart } from './sql-part.ts';

interface ListOrder {
  readonly path: string;
  readonly plan: ListPlan;
}

/** Throws `timed-out` and `unavailable`. */
export interface Lists {
  read(plan: ListPlan): Promise<ListPage>;
}

/** Sees every change acknowledged before. */
export function runList({ path, plan }: ListOrder): ListPage {
  const db = openReader(path);
  try {
    registerFunctions(db);
    db.run('BEGIN');
    const total = Number(valuesOf(db, plan.count)[0]?.[0] ?? 0);
    const rows = valuesOf(db, plan.page);
    db.run('ROLLBACK');
    const isLast = rows.length <= plan.limit;
    if (!isLast) rows.length = plan.limit;
    return {
      items: rows.map((row) => itemOf(row, plan)),
      total,
      nextCursor: isLast ? null : cursorAfter(rows.at(-1)!, plan),
    };
  } finally {
    db.close();
  }
}

export function listJobs(): Record<string, (body: unknown) => Response> {
  return { list: (body) => Response.json(runList(body as ListOrder)) };
}

function valuesOf(db: Database, { sql, params }: SqlPart): unknown[][] {
  return db.prepare(sql).values(...params.map(boundValue)) as unknown[][];
}

function itemOf(row: readonly unknown[], { columns }: ListPlan): Record<string, unknown> {
  const item: Record<string, unknown> = {};
  for (const [position, { name, type, isOptional }] of columns.entries()) {
    const value = row[position + 1] ?? null;
    if (value === null && isOptional === true) continue;
    if (value === null) item[name] = null;
    else if (type === 'boolean') item[name] = value === 1;
    else item[name] = type === 'nested' ? JSON.parse(String(value)) : value;
  }
  return item;
}

function cursorAfter(row: readonly unknown[], { keys, digest }: ListPlan): string {
  const values = keys.map((position) => (row[position] ?? null) as CursorKey);
  return encodeCursor(digest, { keys: values, rowId: Number(row[0]) });
}
