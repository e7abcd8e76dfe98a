/** Facets and charts of a view, time-boxed: a large table gives an answer about its first part, which says so. */
import type { Database } from 'bun:sqlite';
import { ChartCollector, type ChartOrder, type ChartSeries } from './chart-series.ts';
import { ColumnFactsCollector, type ColumnFacts, type FactValue } from './column-facts.ts';
import type { Row, RowShape } from '../encode/encode.ts';
import { isoDates } from '../encode/native-value.ts';
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
  const { wish, plan } = order;
  const [x, y] = readersOf(plan.shape);
  const isoOf = isoDates(plan.shape.columns[0] ?? {});
  if (wish.kind === 'facts') {
    const facts = new ColumnFactsCollector(isoOf);
    const isPartial = !eachRow(db, order, (row) => {
      facts.add(x!(row));
      return true;
    });
    return { ...facts.facts(), isPartial };
  }
  const chart = new ChartCollector(wish, isoOf);
  const isPartial = !eachRow(db, order, (row) => {
    // A list names a column once, so the second axis may show the first one's values.
    chart.add(x!(row), (y ?? x)!(row));
    return !chart.isFull;
  });
  return { ...chart.series(), isPartial };
}

/** False when the time was up, or `take` had enough, before the last row. */
function eachRow(
  db: Database,
  { plan, lastRowId, budgetMs }: SummaryOrder,
  take: (row: Row) => boolean,
): boolean {
  registerFunctions(db);
  const where = plan.count === null ? '' : `AND (${plan.count.sql})`;
  const params = plan.count === null ? [] : plan.count.params.map(boundValue);
  const statement = db
    .prepare(
      `SELECT ${plan.select} FROM rows WHERE rows._row_id > ? AND rows._row_id <= ? ${where}`,
    )
    .safeIntegers(plan.hasWideIntegers);
  const end = performance.now() + budgetMs;
  for (let from = 0; from < lastRowId; from += IDS_PER_RUN) {
    if (from > 0 && performance.now() > end) return false;
    for (const row of statement.values(from, from + IDS_PER_RUN, ...params)) {
      if (!take(row as Row[number][])) return false;
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
