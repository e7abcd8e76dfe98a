/**
 * Decides where a list is read: cheap plans here, others in a query worker, with the same code and result, so that no
 * request holds the event loop.
 */
import { runForPerson } from '../../base/scheduling/current-person.ts';
import { Lru } from '../../base/lru.ts';
import type { Log } from '../../base/log.ts';
import { isStopping } from '../../processes/child-supply.ts';
import type { MaybePromise } from '../../base/scheduling/maybe-promise.ts';
import type { ChildPool } from '../../processes/child-pool.ts';
import { encoders, type Row } from '../encode/encode.ts';
import { type Format, formatDetails } from './format.ts';
import type { ListParameters } from './list-parameters.ts';
import { PAGE_HEADERS, type IndexOrder, type PageOrder } from './query-jobs.ts';
import { lookupOf, lookupPattern, lookupPlan } from './lookup-plan.ts';
import {
  cursorScope,
  type EqualColumn,
  isCountCheap,
  isIndexingCheap,
  planEqual,
  planQuery,
  type QueryPlan,
} from './query-plan.ts';
import { STRATEGY } from '../limits.ts';
import { copyBytes, countRows, runIds, runPage } from './query-run.ts';
import { type QueryTable, tableColumns } from './query-table.ts';
import { RowJsonCaches } from '../copy/row-json-caches.ts';
import type { RowJson } from '../copy/row-json.ts';
import type { Summary, SummaryAnswer, SummaryOrder, SummaryWish } from './summary-jobs.ts';
import type { Table } from '../copy/table.ts';
import type { PreparedRead, RowsPage } from '../copy/table-cache.ts';

interface TableReaderOptions {
  readonly pool: ChildPool;
  /** A query is stopped after this long. */
  readonly timeoutMs: () => number;
  readonly log: Log;
}

/** The table changed between planning and reading; plan again. */
export class StaleRead extends Error {}

/** An index is made when it would have helped for the second time. */
const USES_BEFORE_INDEX = 2;
/** Making one reads the whole table; a few seconds for millions of rows. */
const INDEX_TIMEOUT_MS = 120_000;
/** Past this, facets and charts of a large table cover only its first part. */
const SUMMARY_BUDGET_MS = 2_500;
/** Answers of more rows get a worker of their own, so that a slow reader blocks nobody. */
const LONG_STREAM_ROWS = 50_000;

/** They keep their pages in memory, because a page by an index reads all over its copy. */
const MAX_HOT_TABLES = 8;
const HOT_KIBIBYTES = 8 * 1024;
/** SQLite's own default. */
const COLD_KIBIBYTES = 2_000;

export class TableReader {
  readonly #options: TableReaderOptions;
  /** At most 64 MiB together. */
  readonly #hot = new Lru<Table, true>(MAX_HOT_TABLES, (table) => table.limitPages(COLD_KIBIBYTES));
  readonly #rows = new RowJsonCaches();

  constructor(options: TableReaderOptions) {
    this.#options = options;
  }

  /** Throws `invalid-query` when the parameters do not fit the table. */
  prepare(table: Table, parameters: ListParameters, format: Format): PreparedRead {
    const text = textOf(parameters, format);
    const known = table.cache.reads.get(text);
    if (known !== undefined) return known;
    const plan = planFor(table, parameters);
    const prepared = { plan, format, representation: Bun.hash(text).toString(36) };
    table.cache.reads.set(text, prepared);
    return prepared;
  }

  /** For the ids of the rows whose columns have one of these values. Not remembered. */
  prepareEqual(table: Table, equal: readonly EqualColumn[], limit: number): PreparedRead {
    const plan = planEqual(queryTable(table), equal, limit);
    return { plan, format: 'json', representation: '' };
  }

  /**
   * Long answers stream with bounded memory; the body must be read or cancelled. Throws `timed-out`, `too-large`
   * (memory), `unavailable` (too many waiting) and StaleRead.
   */
  run(
    table: Table,
    prepared: PreparedRead,
    options: { readonly signal?: AbortSignal; readonly isHead?: boolean },
  ): MaybePromise<RowsPage> {
    const { plan } = prepared;
    this.#noteUse(table, plan.usefulIndexes);
    const known = plan.count === null ? plan.rowCount : knownCount(table, plan);
    const isCheap = plan.isCheap || (plan.isPageCheap && known !== undefined);
    return isCheap && encoders[prepared.format] !== undefined
      ? this.#readHere(table, prepared, known)
      : this.#readElsewhere(table, prepared, known, options);
  }

  /** About 2.5 s at most. Throws as `run`. */
  async summarise(
    table: Table,
    { plan }: PreparedRead,
    wish: SummaryWish,
    signal?: AbortSignal,
  ): Promise<Summary> {
    const { sequence, lastRowId } = table.state;
    const order: SummaryOrder = {
      path: table.path,
      plan,
      sequence,
      lastRowId,
      wish,
      budgetMs: SUMMARY_BUDGET_MS,
    };
    const response = await this.#options.pool.request('summary', order, {
      timeoutMs: this.#options.timeoutMs(),
      ...(signal && { signal }),
    });
    const { summary } = (await response.json()) as SummaryAnswer;
    if (summary === null) throw new StaleRead();
    return summary;
  }

  /** HEAD needs the body too: its length and compression are headers. */
  #readHere(table: Table, prepared: PreparedRead, known: number | undefined): RowsPage {
    const kept = table.cache.pages.get(prepared);
    if (kept !== undefined) return kept;
    this.#warm(table);
    const { plan, format } = prepared;
    const texts = this.#rows.textsFor(table, prepared);
    const read =
      (texts && pageByIds(table, plan, known, texts)) ??
      this.#pageOfRows(table, prepared, known, texts);
    // Few rows are counted by reading them anyway.
    if (plan.maxMatches > STRATEGY.fewRows) table.cache.keepCount(plan, read.total);
    const answer: RowsPage = { ...pageOf(format), ...read, version: table.version() };
    table.cache.keepPage(prepared, answer);
    return answer;
  }

  #pageOfRows(
    table: Table,
    { plan, format }: PreparedRead,
    known: number | undefined,
    texts: RowJson | null,
  ): ReadRows {
    const page = runPage(table.reader, plan, known);
    try {
      const learnt =
        texts !== null && Array.isArray(page.rows)
          ? texts.learn(plan.shape, page.rows as Row[])
          : null;
      if (texts !== null) this.#rows.grown(table);
      return {
        total: page.total,
        nextCursor: page.next,
        body: learnt ?? joined([...encoders[format]!(plan.shape, page.rows)]),
      };
    } finally {
      page.close();
    }
  }

  #warm(table: Table): void {
    if (this.#hot.get(table) !== undefined) return;
    this.#hot.set(table, true);
    table.limitPages(HOT_KIBIBYTES);
  }

  async #readElsewhere(
    table: Table,
    { plan, format }: PreparedRead,
    known: number | undefined,
    { signal, isHead = false }: { readonly signal?: AbortSignal; readonly isHead?: boolean },
  ): Promise<RowsPage> {
    const order: PageOrder = {
      path: table.path,
      plan,
      format,
      ...(known !== undefined && { total: known }),
      sequence: table.state.sequence,
      isHead,
    };
    const version = table.version();
    const rows = plan.limit ?? known ?? plan.rowCount;
    const response = await this.#options.pool.request('page', order, {
      timeoutMs: this.#options.timeoutMs(),
      ...(signal && { signal }),
      dedicated: !isHead && rows > LONG_STREAM_ROWS,
    });
    if (Number(response.headers.get(PAGE_HEADERS.sequence)) !== order.sequence) {
      await response.body?.cancel();
      throw new StaleRead();
    }
    const total = Number(response.headers.get(PAGE_HEADERS.total));
    if (table.state.sequence === order.sequence) table.cache.keepCount(plan, total);
    return {
      ...pageOf(format),
      total,
      nextCursor: response.headers.get(PAGE_HEADERS.cursor),
      version,
      body: isHead ? null : response.body,
    };
  }

  #noteUse(table: Table, names: readonly string[]): void {
    const due = names.filter((name) => {
      const uses = (table.uses.get(name) ?? 0) + 1;
      table.uses.set(name, uses);
      return uses === USES_BEFORE_INDEX;
    });
    if (due.length > 0)
      void runForPerson('indexes of columns', () => this.#makeIndexes(table, due));
  }

  /** For small tables here; else in the background, where an edit may wait for it. */
  async #makeIndexes(table: Table, names: readonly string[]): Promise<void> {
    const order: IndexOrder = { path: table.path, names };
    // First answer the list that asked for them.
    await Bun.sleep(0);
    try {
      await table.exclusive.run(async () => {
        if (table.isClosed) return;
        try {
          if (isIndexingCheap(names.length, table.state.rowCount, copyBytes(table.reader))) {
            table.makeIndexes(names);
            return;
          }
          const response = await this.#options.pool.request('index', order, {
            timeoutMs: INDEX_TIMEOUT_MS,
          });
          await response.body?.cancel();
        } finally {
          // Also after a failure: some may exist, and the copy was written to.
          if (!table.isClosed) table.refreshIndexes();
        }
      });
    } catch (error) {
      if (isStopping(error)) return;
      this.#options.log.warning('an index could not be made', { resource: table.head.rel, error });
    }
  }
}

type ReadRows = Pick<RowsPage, 'total' | 'nextCursor' | 'body'>;

/** From kept rows; null when one is missing. */
function pageByIds(
  { reader }: Table,
  plan: QueryPlan,
  known: number | undefined,
  texts: RowJson,
): ReadRows | null {
  const { total, next, rowIds } = runIds(reader, plan, known);
  const body = texts.list(rowIds);
  return body && { total, nextCursor: next, body };
}

function planFor(table: Table, parameters: ListParameters): QueryPlan {
  const lookup = lookupOf(parameters.filter);
  if (lookup === null) return planQuery(queryTable(table), parameters);
  const { lookups } = table.cache;
  const frame = textOf({ ...parameters, filter: lookup.frame }, 'json');
  const known = lookups.get(frame);
  if (known !== undefined) return lookupPlan(known, lookup.number, parameters.filter);
  const asked = queryTable(table);
  const plan = planQuery(asked, parameters);
  const scope = cursorScope(asked, parameters);
  const pattern = lookupPattern(plan, scope, lookup, tableColumns(table.head.columns));
  if (pattern !== null) lookups.set(frame, pattern);
  return plan;
}

function queryTable({ head, state, indexes }: Table): QueryTable {
  return {
    list: head.sheet === null ? head.rel : `${head.rel}\n${head.sheet}`,
    columns: head.columns,
    rowCount: state.rowCount,
    lastRowId: state.lastRowId,
    blank: head.blank,
    indexes,
    bytes: state.stamp.size,
  };
}

/** Whether `format` or `Accept` chose the format makes no difference. */
function textOf(parameters: ListParameters, format: Format): string {
  const { limit, offset, order, sort, filter, q, columns, cursor } = parameters;
  const chosen = columns.length === 0 ? '' : JSON.stringify(columns);
  const lengths = `${sort.length} ${filter.length} ${q.length} ${cursor?.length ?? -1}`;
  return `${format} ${limit} ${offset} ${order} ${lengths} ${sort}${filter}${q}${cursor ?? ''}${chosen}`;
}

/** Remembered, or derived from a remembered one by a short count. */
function knownCount({ cache, reader }: Table, plan: QueryPlan): number | undefined {
  const known = cache.counts.get(plan.countKey);
  if (known !== undefined || plan.range === null) return known;
  const step = cache.ranges.stepTo(plan.range, plan.rowCount);
  if (step === null || !isCountCheap(step.atMost)) return undefined;
  const between = step.atMost === 0 ? 0 : countRows(reader, step.between);
  const matches = step.known + step.sign * between;
  cache.keepCount(plan, matches);
  return matches;
}

function pageOf(format: Format): Pick<RowsPage, 'format' | 'mediaType'> {
  return { format, mediaType: formatDetails[format].mediaType };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}
