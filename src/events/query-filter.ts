/**
 * Choosing among events by a query of the search language, which this part does not know: `event-queries.ts` joins both (EV-77).
 */
import type { Database } from 'bun:sqlite';
import { EVENT_SELECT, type EventRow } from './event.ts';
import type { SqlCondition } from './term.ts';

/** A row as a filter needs it; times are microseconds. */
export interface FilterRow extends EventRow {
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
  constructor(readonly body: { readonly code?: unknown }) {
    super('The query cannot be used');
    this.name = 'QueryProblem';
  }
}

/**
 * The same choice for those who follow events as they come: a row the query fails on, such as one with a pattern in it that
 * is none, is not chosen, and says nothing about the others. Throws `QueryProblem` for a budget that is used up only.
 */
export function rowByRow(filter: EventFilter): EventFilter {
  const filtered = (rows: readonly FilterRow[]): number[] | null => {
    try {
      return filter(rows);
    } catch (error) {
      const isOfRows = error instanceof QueryProblem && !/_budget$/.test(String(error.body.code));
      if (!isOfRows) throw error;
      return null;
    }
  };
  return (rows) =>
    filtered(rows) ?? rows.flatMap((row, at) => (filtered([row])?.length === 1 ? [at] : []));
}

/** Header of an answer that is such a body. */
export const QUERY_PROBLEM_HEADER = 'x-query-problem';

const BATCH = 500;
/** Characters of data after which a batch is full, so that filtering one takes no long time. */
const BATCH_CHARACTERS = 2 ** 20;

/** When filtering has to end. */
export interface FilterLimit {
  /** Of `performance.now()`. */
  readonly untilMs: number;
  /** Told the last row that was looked at, when others would have come. */
  readonly onCut: (last: FilterRow & { readonly time: number }) => void;
}

const COLUMNS = `${EVENT_SELECT}, event_time`;

/** The rows of a selection that remain, in batches, with `time` (of `_time`) beside; inside of a snapshot. Ends at the limit. */
export function* filteredRows(
  db: Database,
  { sql, params }: SqlCondition,
  {
    order,
    filter,
    limit,
  }: { readonly order: string; readonly filter: EventFilter; readonly limit?: FilterLimit },
): Generator<(FilterRow & { readonly time: number })[]> {
  let batch: (FilterRow & { readonly time: number })[] = [];
  let characters = 0;
  const rows = db
    .query<FilterRow & { readonly time: number }, (string | number)[]>(
      `SELECT ${COLUMNS}, time FROM events WHERE ${sql} ORDER BY ${order}`,
    )
    .iterate(...params);
  for (const row of rows) {
    if (batch.length >= BATCH || characters >= BATCH_CHARACTERS) {
      yield filter(batch).map((at) => batch[at]!);
      if (limit !== undefined && performance.now() > limit.untilMs)
        return limit.onCut(batch.at(-1)!);
      batch = [];
      characters = 0;
    }
    batch.push(row);
    characters += row.data.length + row.fields.length;
  }
  if (batch.length > 0) yield filter(batch).map((at) => batch[at]!);
}
