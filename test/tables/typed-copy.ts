/**
 * A typed copy in memory, filled the way the loader fills one, and its rows as a caller would see them.
 */
import { emptyCounts } from '../../src/tables/infer/infer.ts';
import { emptyForms } from '../../src/tables/infer/reading.ts';
import { Database } from 'bun:sqlite';
import { storedValue } from '../../src/tables/infer/infer.ts';
import type { PresentedValue } from './filter-match.ts';
import { type ListParameters, parseListParameters } from '../../src/tables/read/list-parameters.ts';
import { planQuery, type QueryPlan } from '../../src/tables/read/query-plan.ts';
import { type Page, runPage } from '../../src/tables/read/query-run.ts';
import type { Blank, QueryTable } from '../../src/tables/read/query-table.ts';
import { createIndexSql } from '../../src/tables/copy/table-index.ts';
import type { Cell, Column, StoredValue } from '../../src/tables/types.ts';
import type { ColumnType } from '../../src/tables/infer/file-type.ts';

/** Query parameters as a client writes them. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** What a test says about a table. */
export interface TableSketch {
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[];
  readonly rows: readonly (readonly Cell[])[];
  /** Row ids in ascending order; default 1…n. */
  readonly ids?: readonly number[];
  readonly blank?: Blank;
  readonly indexes?: readonly string[];
  /** Overrides of the figures that decide about indexes and cost. */
  readonly figures?: Partial<QueryTable>;
}

/** A table that plans can be made for and run on. */
export interface TypedCopy {
  readonly db: Database;
  readonly table: QueryTable;
  readonly ids: readonly number[];
  /** Stored values by row and column. */
  readonly stored: readonly (readonly StoredValue[])[];
  /** Values as JSON shows them, `_row_id` first. */
  readonly presented: readonly (readonly PresentedValue[])[];
}

export function typedCopy(sketch: TableSketch): TypedCopy {
  const { rows, blank = 'empty', indexes = [] } = sketch;
  const columns = sketch.columns.map(({ name, type }, position) => column(name, type, position));
  const ids = sketch.ids ?? rows.map((_, index) => index + 1);
  const stored = rows.map((row) =>
    columns.map((own, index) => storedValue(row[index] ?? null, own, blank)),
  );
  const db = new Database(':memory:');
  const names = columns.map(({ position }) => `c${position}`);
  db.run(`CREATE TABLE rows (${['_row_id INTEGER PRIMARY KEY', ...names].join(', ')})`);
  const insert = db.prepare(
    `INSERT INTO rows VALUES (${['?', ...names.map(() => '?')].join(', ')})`,
  );
  db.transaction(() => stored.forEach((row, index) => insert.run(ids[index]!, ...row)))();
  for (const name of indexes) db.run(createIndexSql(name));
  return {
    db,
    ids,
    stored,
    presented: stored.map((row, index) => [
      ids[index]!,
      ...row.map((value, at) => presented(value, columns[at]!.type, blank)),
    ]),
    table: {
      list: 'things.csv',
      columns,
      rowCount: rows.length,
      lastRowId: ids.at(-1) ?? 0,
      blank,
      indexes: new Set(indexes),
      bytes: rows.length * 64,
      ...sketch.figures,
    },
  };
}

/** The plan of a query as a client writes it, after a journey as JSON. */
export function planFor(copy: TypedCopy, query: Query): QueryPlan {
  const plan = planQuery(copy.table, parametersOf(query));
  return JSON.parse(JSON.stringify(plan)) as QueryPlan;
}

export function parametersOf(query: Query): ListParameters {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parseListParameters(parameters);
}

/** Runs a query and takes all rows. */
export function read(
  copy: TypedCopy,
  query: Query,
): { ids: number[]; total: number; next: string | null; rows: unknown[][] } {
  return taken(runPage(copy.db, planFor(copy, query)));
}

export function taken(page: Page): {
  ids: number[];
  total: number;
  next: string | null;
  rows: unknown[][];
} {
  const rows = [...page.rows].map((row) => [...row]);
  page.close();
  return { ids: rows.map(([id]) => Number(id)), total: page.total, next: page.next, rows };
}

function column(name: string, type: ColumnType, position: number): Column {
  return {
    name,
    type,
    position,
    declared: true,
    extra: false,
    counts: emptyCounts(),
    forms: emptyForms(),
  };
}

function presented(value: StoredValue, type: ColumnType, blank: Blank): PresentedValue {
  if (value === null) return blank === 'empty' ? '' : null;
  return type === 'boolean' && typeof value !== 'string' ? Number(value) === 1 : value;
}
