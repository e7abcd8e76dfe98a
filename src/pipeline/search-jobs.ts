/**
 * The jobs of the query worker that run and check queries (EV-93 to EV-102).
 *
 * Each run opens its sources, each inside one snapshot, and closes them with its answer. What is wrong with a query is an
 * answer like any other; only what nobody can help (a table that was replaced meanwhile) is told by a header.
 */
import { Database } from 'bun:sqlite';
import type { Grants } from '../auth/permissions.ts';
import { AppError } from '../base/errors.ts';
import { readMeta } from '../dataset/table-meta.ts';
import { createMeter, type Budget } from './budget.ts';
import type { StageContext } from './command.ts';
import { parseQuery } from './parse.ts';
import { planPrefix } from './plan.ts';
import { Problem } from './problem.ts';
import { createContext, type FoundSavedSearch } from './query-context.ts';
import { type ResultFormat, writeResult } from './result.ts';
import { FIGURES_HEADER, figuresTrailer, printFigures, type RunFigures } from './run-figures.ts';
import { checkQuery, runQuery, type RunWatch, type StageTrace } from './run.ts';
import { auditSource } from './sources/audit.ts';
import { datasetSource, type DatasetOrder } from './sources/dataset.ts';
import { eventSource, type EventStore } from './sources/events.ts';
import type { Source } from './sources/source.ts';
import { validateText } from './validate.ts';
import { Schema } from './schema.ts';
import type { Value } from './value.ts';

/** What one caller may reach. */
export interface SearchScope {
  /** Directory of the event store; null when there is none yet. */
  readonly eventStore: string | null;
  readonly grants: Grants;
  readonly datasets: readonly DatasetOrder[];
  readonly datasetNames: readonly string[];
  /** The state database, for those who may read the audit. */
  readonly auditDatabase: string | null;
  readonly savedSearches: Readonly<Record<string, FoundSavedSearch>>;
}

/** Order for the jobs. */
export interface SearchOrder extends Budget {
  readonly query: string;
  /** Integers past 2^53 as `{int}`. */
  readonly parameters: Readonly<Record<string, Value>>;
  readonly now: string;
  readonly format: ResultFormat;
  readonly limit: number;
  readonly explains: boolean;
  readonly implicitTerms: boolean;
  readonly joinMaxRows: number;
  readonly scope: SearchScope;
}

/** Header of an answer that is no result: `problem` or `stale`. */
export const OUTCOME_HEADER = 'x-search-outcome';

/** What other parts give (see `event-queries.ts`). */
export interface SearchParts {
  /** Opens the event store in a directory, in a snapshot; null when there is none. */
  readonly openEvents: (directory: string) => (EventStore & { close(): void }) | null;
  readonly extract: StageContext['extract'];
}

type Job = (body: unknown, signal: AbortSignal) => Response | Promise<Response>;

/** The jobs by name. */
export function pipelineJobs(parts: SearchParts): Record<string, Job> {
  return {
    pipeline: (body) => runSearch(body as SearchOrder, parts),
    'pipeline-check': (body) => checkSearch(body as SearchOrder, parts),
  };
}

class Stale extends Error {}

function runSearch(order: SearchOrder, parts: SearchParts): Response {
  const startedAt = performance.now();
  const sources = new OpenSources(order.scope, parts);
  let hasStarted = false;
  const told: { figures: RunFigures | null } = { figures: null };
  try {
    const chunks = resultOf(order, parts, sources, startedAt, (figures) => {
      told.figures = figures;
    });
    // Errors of the query itself come before the first byte, so that they are answers.
    const first = chunks.next();
    hasStarted = true;
    if (first.done) throw new AppError('internal', 'An answer without text');
    if (order.format === 'json') {
      let text = first.value;
      for (const chunk of chunks) text += chunk;
      sources.close();
      return new Response(text, { headers: { [FIGURES_HEADER]: printFigures(told.figures!) } });
    }
    return new Response(streamOf(first.value, chunks, sources, () => told.figures));
  } catch (error) {
    sources.close();
    return failure(error, order.query, hasStarted);
  }
}

function failure(error: unknown, query: string, _hasStarted: boolean): Response {
  if (error instanceof Stale) return new Response(null, { headers: { [OUTCOME_HEADER]: 'stale' } });
  if (!(error instanceof Problem)) throw error;
  return Response.json(error.told(query), { headers: { [OUTCOME_HEADER]: 'problem' } });
}

function* resultOf(
  order: SearchOrder,
  parts: SearchParts,
  sources: OpenSources,
  startedAt: number,
  onEnd: (figures: RunFigures) => void,
): Generator<string> {
  const { query: text, implicitTerms } = order;
  let scanned = 0;
  let sqlStages = 0;
  const traces: StageTrace[] = [];
  const watch: RunWatch = {
    meter: createMeter(order, startedAt),
    onRead: (rows) => {
      scanned += rows;
    },
    isOutermost: true,
    ...(order.explains && { traces }),
    plan: (read) => {
      const planned = planPrefix(read, (rows) => {
        scanned += rows;
      });
      if (planned) sqlStages = planned.stages;
      return planned;
    },
  };
  const { context, notices } = createContext({
    ...order,
    source: (name) => sources.open(name),
    datasetNames: order.scope.datasetNames,
    readableIndexes: sources.readableIndexes,
    savedSearch: (name) => order.scope.savedSearches[name] ?? { kind: 'missing' },
    extract: parts.extract,
    watch,
  });
  const query = parseQuery(text, { implicitTerms });
  checkQuery(query, context).useShown();
  const table = runQuery(query, context, watch);
  yield* writeResult(table, order.format, order.limit, {
    elapsedMs: () => performance.now() - startedAt,
    scanned: () => scanned,
    onEnd,
    get notices() {
      return [...query.notices, ...notices];
    },
    plan: order.explains
      ? () => ({ sqlStages, indexUsed: sources.usedIndex, stages: traces })
      : null,
  });
}

function streamOf(
  first: string,
  chunks: Generator<string>,
  sources: OpenSources,
  figures: () => RunFigures | null,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let head: string | null = first;
  const close = (): void => {
    chunks.return(undefined);
    sources.close();
  };
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      try {
        if (head !== null) {
          controller.enqueue(encoder.encode(head));
          head = null;
          return;
        }
        const { done, value } = chunks.next();
        if (!done) return controller.enqueue(encoder.encode(value));
        controller.enqueue(encoder.encode(figuresTrailer(figures()!)));
        controller.close();
      } catch (error) {
        // The head is sent: breaking off is the only way left to say that rows are missing (EV-97).
        controller.error(error instanceof Problem ? new AppError('timed-out', error.text) : error);
      }
      close();
    },
    cancel: close,
  });
}

function checkSearch(order: SearchOrder, parts: SearchParts): Response {
  const sources = new OpenSources(order.scope, parts);
  try {
    return Response.json(
      validateText(order.query, {
        ...order,
        source: (name) => sources.open(name),
        datasetNames: order.scope.datasetNames,
        readableIndexes: sources.readableIndexes,
        savedSearch: (name) => order.scope.savedSearches[name] ?? { kind: 'missing' },
        extract: parts.extract,
      }),
    );
  } catch (error) {
    return failure(error, order.query, false);
  } finally {
    sources.close();
  }
}

/** The sources of one run, opened when they are first named. */
class OpenSources {
  usedIndex = false;
  readonly #scope: SearchScope;
  readonly #parts: SearchParts;
  readonly #closers: (() => void)[] = [];
  #events: Source | null | undefined;

  constructor(scope: SearchScope, parts: SearchParts) {
    this.#scope = scope;
    this.#parts = parts;
  }

  get readableIndexes(): readonly string[] | null {
    return this.#openEvents()?.readableIndexes ?? null;
  }

  open(name: { kind: string; name?: string }): Source | null {
    if (name.kind === 'events') return this.#openEvents();
    if (name.kind === 'audit') return this.#openAudit();
    const order = this.#scope.datasets.find((one) => one.name === name.name);
    return order ? this.#openDataset(order) : null;
  }

  #openEvents(): Source {
    if (this.#events) return this.#events;
    const { eventStore, grants } = this.#scope;
    const store = eventStore === null ? null : this.#parts.openEvents(eventStore);
    if (store === null) {
      this.#events = noEvents;
      return noEvents;
    }
    this.#closers.push(() => store.close());
    this.#events = eventSource(store, grants, () => {
      this.usedIndex = true;
    });
    return this.#events;
  }

  #openAudit(): Source | null {
    const { auditDatabase } = this.#scope;
    return auditDatabase === null ? null : auditSource(this.#openFile(auditDatabase));
  }

  #openDataset(order: DatasetOrder): Source {
    let db: Database;
    try {
      db = this.#openFile(order.path);
    } catch {
      // Replaced by a newer version and deleted: look again.
      throw new Stale();
    }
    if ((readMeta(db, 'state')?.sequence ?? 0) !== order.sequence) throw new Stale();
    return datasetSource(db, order);
  }

  #openFile(path: string): Database {
    const db = new Database(path, { readwrite: true, create: false });
    this.#closers.push(() => {
      if (db.inTransaction) db.run('ROLLBACK');
      db.close();
    });
    db.run('PRAGMA busy_timeout = 5000; PRAGMA query_only = ON; PRAGMA mmap_size = 0;');
    db.run('BEGIN');
    return db;
  }

  close(): void {
    for (const close of this.#closers.splice(0)) close();
  }
}

/** Before the first event there is no store. */
const noEvents: Source = {
  name: 'events',
  schema: new Schema([
    { name: 'id', type: 'int' },
    { name: 'index', type: 'text' },
    { name: 'sourcetype', type: 'text' },
    { name: 'source', type: 'text' },
    { name: 'host', type: 'text' },
    { name: 'data', type: 'text' },
    { name: 'created', type: 'time' },
    { name: 'updated', type: 'time' },
    { name: 'extracted_fields', type: 'json' },
    { name: '_time', type: 'time', isHidden: true },
    { name: 'event_time', type: 'time', isHidden: true },
  ]),
  readableIndexes: null,
  read: () => [],
};
