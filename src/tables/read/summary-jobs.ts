/**
 * Facets and charts of a view, time-boxed: a large table gives an answer about its first part, which says so. Without a
 * filter, columns beside the copy are read instead of rows.
 */
import type { Database } from 'bun:sqlite';
import { ChartCollector, type ChartOrder, type ChartSeries } from './chart-series.ts';
import { ColumnFactsCollector, type ColumnFacts, type FactValue } from './column-facts.ts';
import type { Row, RowShape } from '../encode/encode.ts';
import { isoDates } from '../encode/native-value.ts';
import { DamagedColumn } from '../../columns/column-file.ts';
import { entryAt } from '../../columns/column.ts';
import { type ColumnBatch, TableColumns } from '../copy/table-columns.ts';
import { STRATEGY } from '../limits.ts';
import { wideNumber } from '../infer/file-type.ts';
import { openReader, registerFunctions } from './connection.ts';
import type { QueryPlan } from './query-plan.ts';
import { boundValue } from './sql-part.ts';
import { readMeta } from '../copy/table-meta.ts';
import { wideText } from '../values/wide-number.ts';

export type SummaryWish = { readonly kind: 'facts' } | ({ readonly kind: 'chart' } & ChartOrder);

export interface SummaryOrder {
  readonly path: string;
  readonly plan: QueryPlan;
  /** As in `PageOrder`. */
  readonly sequence: number;
  /** Highest row id there is. */
  readonly lastRowId: number;
  readonly wish: SummaryWish;
  /** No rows are read after so many ms. */
  readonly budgetMs: number;
}

export type Summary = (ColumnFacts | ChartSeries) & {
  /** The time was up before all rows were seen. */
  readonly isPartial: boolean;
};

/** `summary` is null when the copy has moved on. */
export interface SummaryAnswer {
  readonly summary: Summary | null;
}

/** Row ids between two checks of the clock; some ms without a filter. */
const IDS_PER_RUN = 10_000;

export function summaryJobs(): Record<string, (body: unknown) => Response> {
  return { summary: (body) => Response.json(summarise(body as SummaryOrder)) };
}

function summarise(order: SummaryOrder): SummaryAnswer {
  const db = openReader(order.path);
  try {
    db.run('BEGIN');
    if ((readMeta(db, 'state')?.sequence ?? 0) !== order.sequence) return { summary: null };
    const summary = summaryOf(db, order);
    db.run('ROLLBACK');
    return { summary };
  } finally {
    db.close();
  }
}

function summaryOf(db: Database, order: SummaryOrder): Summary {
  const end = performance.now() + order.budgetMs;
  try {
    const batches = columnsOf(db, order);
    if (batches !== null)
      return summaryFrom(order, (isCounted, take) => eachCell(batches, isCounted, end, take));
  } catch (error) {
    if (!(error instanceof DamagedColumn)) throw error;
  }
  return summaryFrom(order, (_isCounted, take) => eachRow(db, order, end, take));
}

/** `take` is given a row, or one for several equal ones, and says whether it wants more. */
type Take = (row: Row, times: number) => boolean;

/** `read` is false when the time was up, or `take` had enough, before the last row. */
function summaryFrom(
  { wish, plan }: SummaryOrder,
  read: (isCounted: boolean, take: Take) => boolean,
): Summary {
  const [x, y] = readersOf(plan.shape);
  const isoOf = isoDates(plan.shape.columns[0] ?? {});
  if (wish.kind === 'facts') {
    const facts = new ColumnFactsCollector(isoOf);
    const isPartial = !read(true, (row, times) => {
      facts.add(x!(row), times);
      return true;
    });
    return { ...facts.facts(), isPartial };
  }
  const chart = new ChartCollector(wish, isoOf);
  const isPartial = !read(false, (row) => {
    // A list names a column once, so the second axis may show the first one's values.
    chart.add(x!(row), (y ?? x)!(row));
    return !chart.isFull;
  });
  return { ...chart.series(), isPartial };
}

/** All rows, if they are all wanted; of a very large table only columns that a search has made. */
function columnsOf(
  db: Database,
  { path, plan, lastRowId }: SummaryOrder,
): Iterable<ColumnBatch> | null {
  if (plan.count !== null) return null;
  const names = plan.shape.columns.map((_, index) =>
    new RegExp(`rows\\.(c\\d+) AS v${index}\\b`).exec(plan.select),
  );
  if (names.includes(null)) return null;
  return (
    TableColumns.of(db, path)?.read(
      names.map((found) => found![1]!),
      () => {},
      lastRowId <= STRATEGY.columnsForSummaryRows,
    ) ?? null
  );
}

/** Equal cells of a dictionary come as one when `isCounted`, in the order of their first rows. */
function eachCell(
  batches: Iterable<ColumnBatch>,
  isCounted: boolean,
  end: number,
  take: Take,
): boolean {
  const row: (Row[number] | null)[] = [];
  for (const { rows, columns } of batches) {
    if (performance.now() > end) return false;
    const [first] = columns;
    if (isCounted && first?.kind === 'dictionary') {
      const counts = new Uint32Array(first.entries.length);
      for (const code of first.codes) counts[code]!++;
      for (let code = 0; code < counts.length; code++) {
        if (counts[code] === 0) continue;
        row[1] = first.entries[code] as Row[number];
        if (!take(row as Row, counts[code]!)) return false;
      }
      continue;
    }
    for (let at = 0; at < rows; at++) {
      columns.forEach((column, index) => (row[index + 1] = entryAt(column, at) as Row[number]));
      if (!take(row as Row, 1)) return false;
    }
  }
  return true;
}

function eachRow(
  db: Database,
  { plan, lastRowId }: SummaryOrder,
  end: number,
  take: Take,
): boolean {
  registerFunctions(db);
  const where = plan.count === null ? '' : `AND (${plan.count.sql})`;
  const params = plan.count === null ? [] : plan.count.params.map(boundValue);
  const statement = db
    .prepare(
      `SELECT ${plan.select} FROM rows WHERE rows._row_id > ? AND rows._row_id <= ? ${where}`,
    )
    .safeIntegers(plan.hasWideIntegers);
  for (let from = 0; from < lastRowId; from += IDS_PER_RUN) {
    if (from > 0 && performance.now() > end) return false;
    for (const row of statement.values(from, from + IDS_PER_RUN, ...params)) {
      if (!take(row as Row[number][], 1)) return false;
    }
  }
  return true;
}

function readersOf({ columns }: RowShape): ((row: Row) => FactValue)[] {
  return columns.map(({ type, file }, index) => {
    const wide = wideNumber(file?.type);
    return (row) => {
      const value = row[index + 1] ?? null;
      if (value === null || value === '') return null;
      if (wide !== null && typeof value === 'string') return Number(wideText(value, wide));
      if (type === 'boolean' && typeof value !== 'string') return Number(value) === 1;
      return typeof value === 'bigint' ? Number(value) : value;
    };
  });
}
