/** This module does not depend on the language: `event-queries.ts` connects both. */
import { EVENT_NAMES, EVENT_SELECT, type EventRow } from '../event.ts';
import type { MergeOrder } from '../parts/sealed-tier.ts';
import type { EventReader, Wanted } from '../store/reader.ts';

/** Times are microseconds. */
export interface FilterRow extends EventRow {
  readonly event_time: number | null;
}

export interface FilterQuery {
  readonly text: string;
  /** Time of the request, the query's `now`. */
  readonly now: string;
  readonly timezone?: string;
  readonly implicitTerms: boolean;
  readonly timeoutMs: number;
  readonly memoryBytes: number;
}

/** Returns the positions of matching rows, ascending. Throws `QueryProblem`. */
export type EventFilter = (rows: readonly FilterRow[]) => number[];
/** Throws `QueryProblem` for a query that does not select single events. */
export type MakeEventFilter = (query: FilterQuery) => EventFilter;

export class QueryProblem extends Error {
  constructor(readonly body: { readonly code?: unknown }) {
    super('The query cannot be used');
    this.name = 'QueryProblem';
  }
}

/**
 * For live tails: a row on which the query fails is not selected and does not affect others. Throws `QueryProblem`
 * only for a used-up budget.
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

export const QUERY_PROBLEM_HEADER = 'x-query-problem';

const BATCH = 500;
/** Characters of data per batch, so that filtering one takes little time. */
const BATCH_CHARACTERS = 2 ** 20;

export interface FilterLimit {
  /** On `performance.now()`. */
  readonly untilMs: number;
  /** Called with the last row examined when rows remain. */
  readonly onCut: (last: FilterRow & { readonly time: number }) => void;
}

const COLUMNS = `${EVENT_SELECT}, event_time`;
const SEALED = [...EVENT_NAMES, 'event_time', 'time'] as const;

/** Matching rows in batches, with `_time` as `time`; call inside a snapshot. Stops at the limit. */
export function* filteredRows(
  reader: EventReader,
  wanted: Wanted,
  {
    order,
    filter,
    limit,
    from = 'events',
  }: {
    readonly order: MergeOrder;
    readonly filter: EventFilter;
    readonly limit?: FilterLimit;
    /** The table, with the index to use or none. */
    readonly from?: string;
  },
): Generator<(FilterRow & { readonly time: number })[]> {
  let batch: (FilterRow & { readonly time: number })[] = [];
  let characters = 0;
  const rows = reader.rows<FilterRow & { readonly time: number }>(
    `${COLUMNS}, time`,
    order,
    wanted,
    { from, sealed: (group) => group.rowsOf(SEALED) },
  );
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
