/**
 * Reading jobs of the query worker: lists of any length and figures over many events.
 *
 * A list is read in pages of ids, because a snapshot kept for a slow client would prevent checkpoints of the
 * write-ahead log.
 */
import type { Database } from 'bun:sqlite';
import { csvCell } from '../../base/text/csv-cell.ts';
import type { EventRow } from '../event.ts';
import { EVENT_SELECT, eventJson } from '../event.ts';
import type { FieldsOrder } from './field-summary.ts';
import { summariseFields } from './field-summary.ts';
import type { HistogramOrder } from './histogram.ts';
import { countOverTime } from './histogram.ts';
import { timeText } from '../event-time.ts';
import type { FilterQuery, MakeEventFilter } from './query-filter.ts';
import { filteredRows, QUERY_PROBLEM_HEADER, QueryProblem, rowByRow } from './query-filter.ts';
import { indexTotals } from './index-totals.ts';
import { EventReader } from '../store/reader.ts';
import type { Selection } from './selection.ts';
import { selectionSql } from './selection.ts';
import type { SqlCondition } from './term.ts';
import { allOf } from './term.ts';

export interface ListOrder {
  readonly stateDir: string;
  readonly selection: Selection;
  readonly isDescending: boolean;
  readonly limit: number | null;
  readonly offset: number;
  /** Exclusive; null: from the start. */
  readonly afterId: number | null;
  /** Inclusive. */
  readonly highestId?: number;
  /** Exclusive. Unlike `afterId` it also limits the count. */
  readonly aboveId?: number | null;
  readonly counts: boolean;
  /** Reads the rows by their ids, whatever index there is: for few of them. */
  readonly isById?: boolean;
  readonly format: 'json' | 'ndjson' | 'csv';
}

/** Headers that carry figures beside the body. */
export const LIST_HEADERS = { total: 'x-total', next: 'x-next' } as const;

const BY_ID = 'events NOT INDEXED';
const PAGE_EVENTS = 500;
/** Per page: several copies of it are in memory at a time. */
const MAX_PAGE_CHARACTERS = 4 * 1024 * 1024;
const PAGE_CHARACTERS = 64 * 1024;
const ENCODER = new TextEncoder();
const CSV_HEAD = 'id,index,sourcetype,source,host,data,created,updated,extracted_fields\r\n';

type Job = (body: unknown) => Response | Promise<Response>;

/** The newest matches between two ids, ascending. */
interface MatchingOrder {
  readonly stateDir: string;
  readonly selection: Selection;
  readonly query: FilterQuery;
  /** Exclusive. */
  readonly aboveId: number;
  /** Inclusive. */
  readonly highestId: number;
  readonly most: number;
  /** `LIST_HEADERS.total` has the count of all matches; else nothing older is looked at once there are more than `most`. */
  readonly counts: boolean;
}

export function eventReadJobs(makeFilter: MakeEventFilter): Record<string, Job> {
  const filterOf = (query: FilterQuery | null) => (query === null ? null : makeFilter(query));
  return {
    'events-list': (body) => listEvents(body as ListOrder),
    'events-matching': (body) => matchingEvents(body as MatchingOrder, makeFilter),
    'events-totals': (body) =>
      withReader((body as { stateDir: string }).stateDir, ({ db }) =>
        Response.json(indexTotals(db)),
      ),
    'events-histogram': (body) => {
      const order = body as HistogramOrder;
      return withReader(order.stateDir, (reader) =>
        Response.json(countOverTime(reader, order, filterOf(order.query))),
      );
    },
    'events-fields': (body) => {
      const order = body as FieldsOrder;
      return withReader(order.stateDir, (reader) =>
        Response.json(summariseFields(reader, order, filterOf(order.query))),
      );
    },
  };
}

function withReader(stateDir: string, work: (reader: EventReader) => Response): Response {
  const reader = new EventReader(stateDir);
  try {
    return reader.snapshot(() => work(reader));
  } catch (error) {
    if (!(error instanceof QueryProblem)) throw error;
    return Response.json(error.body, { headers: { [QUERY_PROBLEM_HEADER]: '1' } });
  } finally {
    reader.close();
  }
}

function matchingEvents(order: MatchingOrder, makeFilter: MakeEventFilter): Response {
  const ids: number[] = [];
  const head = withReader(order.stateDir, (reader) => {
    const filter = rowByRow(makeFilter(order.query));
    const bounds = { sql: 'id > ? AND id <= ?', params: [order.aboveId, order.highestId] };
    const condition = allOf([bounds, selectionSql(reader, order.selection)]);
    let total = 0;
    // Newest first: among a million events the newest few are found at once.
    const reading = { order: 'id DESC', filter, from: BY_ID };
    for (const rows of filteredRows(reader.db, condition, reading)) {
      for (const { id } of rows) if (ids.length < order.most) ids.push(id);
      total += rows.length;
      if (!order.counts && total > order.most) break;
    }
    ids.reverse();
    return new Response(null, { headers: { [LIST_HEADERS.total]: String(total) } });
  });
  if (ids.length === 0) return head;
  const reader = new EventReader(order.stateDir);
  return new Response(streamOf(reader, linesOf(reader.db, ids)), head);
}

/** Skips events deleted since. */
function* linesOf(db: Database, ids: readonly number[]): Generator<string> {
  const one = db.query<EventRow, [number]>(`SELECT ${EVENT_SELECT} FROM events WHERE id = ?`);
  let text = '';
  for (const id of ids) {
    const row = one.get(id);
    if (row !== null) text += `${eventJson(row)}\n`;
    if (text.length < PAGE_CHARACTERS) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

function listEvents(order: ListOrder): Response {
  const reader = new EventReader(order.stateDir);
  try {
    const facts = reader.snapshot(() => firstFacts(reader, order));
    const { total, next } = facts;
    const headers: Record<string, string> = {};
    if (total !== null) headers[LIST_HEADERS.total] = String(total);
    if (next !== null) headers[LIST_HEADERS.next] = String(next);
    return new Response(streamOf(reader, textPages(reader, order, facts)), { headers });
  } catch (error) {
    reader.close();
    throw error;
  }
}

interface Facts {
  /** Highest id of the list. */
  readonly highest: number;
  readonly total: number | null;
  /** Start of the next page and end of this one; null on the last page. */
  readonly next: number | null;
}

function firstFacts(reader: EventReader, order: ListOrder): Facts {
  const { db } = reader;
  const newest =
    db.query<{ id: number | null }, []>('SELECT max(id) AS id FROM events').get()?.id ?? 0;
  const highest = Math.min(newest, order.highestId ?? newest);
  const { sql, params } = conditionOf(reader, order, highest);
  const total = order.counts
    ? db
        .query<{ n: number }, (string | number)[]>(`SELECT count(*) AS n FROM events WHERE ${sql}`)
        .get(...params)!.n
    : null;
  if (order.limit === null) return { highest, total, next: null };
  // By id alone: cheap compared with the rows.
  const page = pageSql(order, 'id', sql);
  const ids = db
    .query<{ id: number }, (string | number)[]>(`${page.sql} LIMIT 2 OFFSET ?`)
    .all(...params, ...page.params, order.offset + order.limit - 1);
  return { highest, total, next: ids.length === 2 ? ids[0]!.id : null };
}

function conditionOf(reader: EventReader, order: ListOrder, highest: number): SqlCondition {
  const bounds = { sql: 'id > ? AND id <= ?', params: [order.aboveId ?? 0, highest] };
  return allOf([bounds, selectionSql(reader, order.selection)]);
}

function pageSql(
  order: ListOrder,
  columns: string,
  condition: string,
): { sql: string; params: number[] } {
  const direction = order.isDescending ? 'DESC' : 'ASC';
  const after = order.afterId === null ? '' : ` AND id ${order.isDescending ? '<' : '>'} ?`;
  return {
    sql: `SELECT ${columns} FROM ${order.isById === true ? BY_ID : 'events'} WHERE (${condition})${after} ORDER BY id ${direction}`,
    params: order.afterId === null ? [] : [order.afterId],
  };
}

function streamOf(reader: EventReader, pages: Iterator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      try {
        const { done, value } = pages.next();
        if (done !== true) return controller.enqueue(ENCODER.encode(value));
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      reader.close();
    },
    cancel: () => reader.close(),
  });
}

function* textPages(reader: EventReader, order: ListOrder, facts: Facts): Generator<string> {
  const { format } = order;
  if (format === 'csv') yield CSV_HEAD;
  if (format === 'json') yield '[';
  let isFirst = true;
  for (const rows of rowPages(reader, order, facts)) {
    if (format === 'json') {
      yield (isFirst ? '' : ',') + rows.map(eventJson).join(',');
    } else if (format === 'ndjson') yield rows.map((row) => `${eventJson(row)}\n`).join('');
    else yield rows.map(csvLine).join('');
    isFirst = false;
  }
  if (format === 'json') yield ']';
}

function* rowPages(
  reader: EventReader,
  order: ListOrder,
  { highest, next }: Facts,
): Generator<EventRow[]> {
  const { isDescending } = order;
  let left = order.limit ?? Number.POSITIVE_INFINITY;
  // Rows that take the place of deleted ones must not be those of the next page.
  const upTo = next === null || isDescending ? highest : next;
  let step = next !== null && isDescending ? { ...order, aboveId: next - 1 } : order;
  for (let isMore = true; isMore && left > 0;) {
    const wanted = Math.min(left, PAGE_EVENTS);
    const { rows, isCut } = reader.snapshot(() => {
      const { sql, params } = conditionOf(reader, step, upTo);
      const page = pageSql(step, EVENT_SELECT, sql);
      const found = reader.db
        .query<EventRow, (string | number)[]>(`${page.sql} LIMIT ? OFFSET ?`)
        .iterate(...params, ...page.params, wanted, step.offset);
      return fullPage(found);
    });
    if (rows.length > 0) yield rows;
    isMore = isCut || rows.length === wanted;
    left -= rows.length;
    step = { ...step, afterId: rows.at(-1)?.id ?? null, offset: 0 };
  }
}

/** Long rows: only the first few. */
function fullPage(found: Iterable<EventRow>): { rows: EventRow[]; isCut: boolean } {
  const rows: EventRow[] = [];
  let characters = 0;
  for (const row of found) {
    rows.push(row);
    characters += row.data.length + row.fields.length;
    if (characters > MAX_PAGE_CHARACTERS) return { rows, isCut: true };
  }
  return { rows, isCut: false };
}

function csvLine(row: EventRow): string {
  const cells = [
    String(row.id),
    row.index,
    row.sourcetype,
    row.source,
    row.host,
    row.data,
    timeText(row.created),
    timeText(row.updated),
    row.fields,
  ];
  return `${cells.map(csvCell).join(',')}\r\n`;
}
