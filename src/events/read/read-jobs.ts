/**
 * Lists of any length and figures over many events. A list is read in pages of ids, because a snapshot kept for a
 * slow client would prevent checkpoints of the log.
 */
import { AppError } from '../../base/errors.ts';
import { csvCell } from '../../base/text/csv-cell.ts';
import type { EventRow } from '../event.ts';
import { EVENT_NAMES, EVENT_SELECT, eventJson } from '../event.ts';
import type { FieldsOrder } from './field-summary.ts';
import { summariseFields } from './field-summary.ts';
import type { HistogramOrder } from './histogram.ts';
import { countOverTime } from './histogram.ts';
import { timeText } from '../event-time.ts';
import type { FilterQuery, MakeEventFilter } from './query-filter.ts';
import { filteredRows, QUERY_PROBLEM_HEADER, QueryProblem, rowByRow } from './query-filter.ts';
import { indexTotals } from './index-totals.ts';
import { type Cut, EventReader, type Wanted } from '../store/reader.ts';
import { type GroupRows, NO_HINT } from '../parts/group-rows.ts';
import { damageText, problemText } from '../parts/sealed-tier.ts';
import type { MergeOrder } from '../parts/sealed-tier.ts';
import type { Selection } from './selection.ts';
import { isHinted, selectionHint, selectionSql } from './selection.ts';
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
export const LIST_HEADERS = {
  total: 'x-total',
  next: 'x-next',
  /** Events that cannot be read and are missing, as a list of texts in JSON. */
  incomplete: 'x-incomplete',
} as const;

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
    'events-one': (body) => {
      const { stateDir, id } = body as { stateDir: string; id: number };
      return withReader(stateDir, (reader) => {
        const hint = { ...NO_HINT, lowestId: id, highestId: id };
        const where = () => ({ sql: 'id = ?', params: [id] });
        const wanted = { where, hint, isHinted: true };
        const [row = null] = reader.rows<EventRow>(EVENT_SELECT, 'id', wanted, { sealed: eventAt });
        const [problem] = row === null ? reader.sealed.problems : [];
        if (problem === undefined) return Response.json(row && plainRow(row));
        throw new AppError('unavailable', damageText(problem));
      });
    },
    'events-between': (body) => {
      const { stateDir, ...order } = body as {
        stateDir: string;
        after: number;
        upTo: number;
        limit: number;
      };
      return withReader(stateDir, (reader) => {
        const { after, upTo, limit } = order;
        const hint = { ...NO_HINT, lowestId: after + 1, highestId: upTo };
        const where = () => ({ sql: 'id > ? AND id <= ?', params: [after, upTo] });
        const cut = { offset: 0, limit };
        const wanted = { where, hint, isHinted: true };
        const rows = reader.rows<EventRow>(EVENT_SELECT, 'id', wanted, { cut, sealed: eventAt });
        return Response.json(fullPage(rows).rows.map(plainRow));
      });
    },
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

function eventAt(rows: GroupRows): (place: number) => EventRow {
  return rows.rowsOf(EVENT_NAMES);
}

/** Without what ordered it. */
function plainRow(row: EventRow): EventRow {
  const { id, index, sourcetype, source, host, data, created, updated, fields } = row;
  return { id, index, sourcetype, source, host, data, created, updated, fields };
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
    const wanted = wantedOf(reader, order, order.highestId);
    let total = 0;
    // Newest first: among a million events the newest few are found at once.
    const reading = { order: 'id DESC', filter, from: BY_ID } as const;
    for (const rows of filteredRows(reader, wanted, reading)) {
      for (const { id } of rows) if (ids.length < order.most) ids.push(id);
      total += rows.length;
      if (!order.counts && total > order.most) break;
    }
    ids.reverse();
    return new Response(null, { headers: { [LIST_HEADERS.total]: String(total) } });
  });
  if (ids.length === 0) return head;
  const reader = new EventReader(order.stateDir);
  return new Response(streamOf(reader, linesOf(reader, ids)), head);
}

/** Skips events deleted since. */
function* linesOf(reader: EventReader, ids: readonly number[]): Generator<string> {
  let text = '';
  for (let from = 0; from < ids.length; from += PAGE_EVENTS) {
    const some = ids.slice(from, from + PAGE_EVENTS);
    const list = { sql: 'id IN (SELECT value FROM json_each(?))', params: [JSON.stringify(some)] };
    const hint = { ...NO_HINT, lowestId: some[0]!, highestId: some.at(-1)! };
    const rows = reader.snapshot(() => [
      ...reader.rows<EventRow>(EVENT_SELECT, 'id', { where: () => list, hint }),
    ]);
    for (const row of rows) {
      text += `${eventJson(row)}\n`;
      if (text.length < PAGE_CHARACTERS) continue;
      yield text;
      text = '';
    }
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
    if (facts.incomplete.length > 0)
      headers[LIST_HEADERS.incomplete] = JSON.stringify(facts.incomplete);
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
  readonly incomplete: readonly string[];
}

function firstFacts(reader: EventReader, order: ListOrder): Facts {
  const newest = reader.newestId();
  const highest = Math.min(newest, order.highestId ?? newest);
  const wanted = wantedOf(reader, order, highest);
  const { offset, limit } = order;
  // What is missing is told before the first row.
  if (limit === null) reader.sealed.verify(wanted.hint);
  else if (!reader.sealed.isEmpty)
    fullPage(pageOf(reader, order, EVENT_SELECT, wanted, { offset, limit }));
  const total = order.counts ? reader.count(wanted) : null;
  const incomplete = reader.sealed.problems.map(problemText);
  const facts = { highest, total, next: null, incomplete };
  if (limit === null) return facts;
  // By id alone: cheap compared with the rows.
  const end = { offset: offset + limit - 1, limit: 2 };
  const ids = [...pageOf<{ id: number }>(reader, order, 'id', wanted, end)];
  return { ...facts, next: ids.length === 2 ? ids[0]!.id : null };
}

type Bounded = Pick<ListOrder, 'selection' | 'aboveId'>;

function wantedOf(reader: EventReader, { selection, aboveId }: Bounded, highest: number): Wanted {
  const bounds = { sql: 'id > ? AND id <= ?', params: [aboveId ?? 0, highest] };
  return {
    where: (isSealed) => allOf([bounds, selectionSql(reader, selection, isSealed)]),
    hint: selectionHint(selection, { lowestId: (aboveId ?? 0) + 1, highestId: highest }),
    isHinted: isHinted(selection),
  };
}

function pageOf<Row extends object>(
  reader: EventReader,
  { isDescending, afterId, isById }: ListOrder,
  columns: string,
  { where, hint, isHinted }: Wanted,
  cut: Cut,
): Iterable<Row> {
  const after = {
    sql: `id ${isDescending ? '<' : '>'} ?`,
    params: [afterId ?? (isDescending ? Number.MAX_SAFE_INTEGER : 0)],
  };
  const nearest = isDescending
    ? { highestId: Math.min(hint.highestId ?? Infinity, after.params[0]! - 1) }
    : { lowestId: Math.max(hint.lowestId ?? 0, after.params[0]! + 1) };
  const order: MergeOrder = isDescending ? 'id DESC' : 'id';
  const wanted = {
    where: (isSealed: boolean) => allOf([where(isSealed), after]),
    hint: { ...hint, ...nearest },
    isHinted,
  };
  return reader.rows<Row>(columns, order, wanted, {
    from: isById === true ? BY_ID : 'events',
    cut,
    sealed: (rows) => rows.rowsOf(columns === EVENT_SELECT ? EVENT_NAMES : ['id']),
  });
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
      const cut = { offset: step.offset, limit: wanted };
      return fullPage(pageOf(reader, step, EVENT_SELECT, wantedOf(reader, step, upTo), cut));
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
