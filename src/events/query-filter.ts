/**
 * Choosing among events by a query of the search language, which this part does not know: `event-queries.ts` joins both (EV-77).
 */
import type { Database } from 'bun:sqlite';
import type { SqlCondition } from './term.ts';

/** A row as a filter needs it; times are microseconds. */
export interface FilterRow {
  readonly id: number;
  readonly index: string;
  readonly sourcetype: string;
  readonly source: string;
  readonly host: string;
  readonly data: string;
  readonly created: number;
  readonly updated: number;
  readonly fields: string;
  readonly event_time: number | null;
}

/** The query of an order, as it crosses to a worker. */
export interface FilterQuery {
  readonly text: string;
  /** The moment of the request, SL-13. */
  readonly now: string;
  readonly implicitTerms: boolean;
  readonly timeoutMs: number;
  readonly memoryBytes: number;
}

/** Positions of the rows that remain, in order. Throws `QueryProblem`. */
export type EventFilter = (rows: readonly FilterRow[]) => number[];
/** Throws `QueryProblem` for a query that is no choice among single events. */
export type MakeEventFilter = (query: FilterQuery) => EventFilter;

/** What is wrong with a query: the body of the answer (EV-100). */
export class QueryProblem extends Error {
  constructor(readonly body: object) {
    super('The query cannot be used');
    this.name = 'QueryProblem';
  }
}

/** Header of an answer that is such a body. */
export const QUERY_PROBLEM_HEADER = 'x-query-problem';

const BATCH = 500;
const COLUMNS =
  'id, "index", sourcetype, source, host, data, created, updated, json(fields) AS fields, event_time';

/** The rows of a selection that remain, in batches, with `time` (of `_time`) beside; inside of a snapshot. */
export function* filteredRows(
  db: Database,
  { sql, params }: SqlCondition,
  { order, filter }: { readonly order: string; readonly filter: EventFilter },
): Generator<(FilterRow & { readonly time: number })[]> {
  let batch: (FilterRow & { readonly time: number })[] = [];
  const rows = db
    .query<FilterRow & { readonly time: number }, (string | number)[]>(
      `SELECT ${COLUMNS}, time FROM events WHERE ${sql} ORDER BY ${order}`,
    )
    .iterate(...params);
  for (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH) continue;
    yield filter(batch).map((at) => batch[at]!);
    batch = [];
  }
  if (batch.length > 0) yield filter(batch).map((at) => batch[at]!);
}
