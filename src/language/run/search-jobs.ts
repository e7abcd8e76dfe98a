/**
 * Each run opens its sources, each inside one snapshot, and closes them with its answer. A wrong query is an answer
 * like any other; a header reports what the caller cannot mend (a table replaced meanwhile).
 */
import { DamagedColumn } from '../../columns/column-file.ts';
import { streamOfChunks } from '../../base/scheduling/chunk-stream.ts';
import { AppError } from '../../base/errors.ts';
import type { Format } from '../../tables/read/format.ts';
import type { StageContext } from '../command.ts';
import { type Budget, createMeter, isOutgrown, memoryProblem } from './budget.ts';
import {
  requireLookedUp,
  type SearchScope,
  UnknownYet,
  wantedNames,
} from '../sources/looked-up.ts';
import { OpenSources, type SearchParts, Stale } from '../sources/open-sources.ts';
import { namedIndexes } from '../sources/named-indexes.ts';
import { parseQuery } from '../syntax/parse.ts';
import { withinTimes } from '../syntax/refine.ts';
import { planPrefix } from '../plan/plan.ts';
import { Problem, SQL } from '../syntax/problem.ts';
import { openStatement, type SqlOrder } from '../sql/run-sql.ts';
import { createContext } from '../plan/query-context.ts';
import { type ResultFigures, type TextFormat, writeResult } from './result.ts';
import { isTyped, makeResultFile, type TypedFormat } from './result-file.ts';
import { FIGURES_HEADER, figuresTrailer, printFigures, type RunFigures } from './run-figures.ts';
import type { Meter } from './operator.ts';
import { checkQuery, runQuery, type RunWatch, type StageTrace, type Table } from './run.ts';
import { validateText, type Validation } from '../syntax/validate.ts';
import type { Value } from '../expressions/value.ts';

/** A query with it must begin with a search for events, whose time it restricts. */
export interface SearchWindow {
  readonly earliest: string;
  readonly latest: string;
}

export interface SearchOrder extends Budget {
  readonly query: string;
  /** Integers past 2^53 as `{int}`. */
  readonly parameters: Readonly<Record<string, Value>>;
  readonly now: string;
  readonly timezone: string;
  readonly format: Format;
  readonly limit: number;
  readonly explains: boolean;
  readonly implicitTerms: boolean;
  readonly joinMaxRows: number;
  readonly scope: SearchScope;
  readonly scratch: string;
  readonly within?: SearchWindow;
  /** The query is a statement in SQL. */
  readonly sql?: SqlOrder;
}

/**
 * Header of an answer that is no result: `problem`; `stale`, a dataset has changed since lookup; `names`, the body
 * lists datasets and saved searches to look up first (`Names`).
 */
export const OUTCOME_HEADER = 'x-search-outcome';
export const WHOLE_HEADER = 'x-search-whole';
const WHOLE_BYTES = 1024 * 1024;

type Job = (body: unknown, signal: AbortSignal) => Response | Promise<Response>;

export function pipelineJobs(parts: SearchParts): Record<string, Job> {
  return {
    pipeline: (body) => runSearch(body as SearchOrder, parts),
    'pipeline-check': (body) => checkSearch(body as SearchOrder, parts),
    'pipeline-indexes': (body) => Response.json(indexesOf(body as SearchOrder)),
  };
}

async function runSearch(given: SearchOrder, parts: SearchParts): Promise<Response> {
  const order = { ...given, query: windowed(given) };
  if (given.within !== undefined && order.query === given.query)
    return failure(new Problem('bad_value', NO_WINDOW).in(1, SQL, NOWHERE), order);
  const startedAt = performance.now();
  const sources = new OpenSources(order.scope, parts);
  try {
    const meter = createMeter(order, startedAt);
    const run = { parts, sources, meter, startedAt };
    return isTyped(order.format)
      ? await fileAnswer(order, order.format, run)
      : textAnswer(order, order.format, run);
  } catch (error) {
    sources.close();
    if (!isOutgrown(error)) return failure(error, order);
    // Memory of the answer's text is reported at the last stage.
    return failure(placing(order)(memoryProblem(order.memoryBytes)), order);
  }
}

/** The query itself where it cannot be restricted. */
function windowed({ query, within, sql }: SearchOrder): string {
  return within === undefined || sql ? query : withinTimes(query, within.earliest, within.latest);
}

const NO_WINDOW =
  'A time window needs a query that begins with a search for events, such as index=web error; leave it out for others';

/** Those that the query names in each of its searches for events; null: any. */
function indexesOf({ query, sql, implicitTerms, scope }: SearchOrder): readonly string[] | null {
  if (sql) return null;
  const inside = Object.values(scope.savedSearches).flatMap((one) =>
    one.kind === 'found' ? [one.query] : [],
  );
  return namedIndexes([query, ...inside], implicitTerms);
}

function textAnswer(order: SearchOrder, format: TextFormat, run: RunParts): Response {
  const { table, figures } = startQuery(order, run);
  const chunks = encoded(writeResult(table, format, order.limit, figures));
  if (format === 'json') {
    const answer = wholeAnswer(chunks, order, run.meter);
    run.sources.close();
    return answer;
  }
  // Errors of the query come before the first byte, so that they are answers.
  const first = chunks.next();
  const close = (): void => {
    chunks.return(undefined as never);
    run.sources.close();
  };
  return new Response(streamOfChunks(withTrailer(first, chunks), close));
}

function* encoded(chunks: Generator<string, RunFigures>): Generator<Uint8Array, RunFigures> {
  const encoder = new TextEncoder();
  try {
    for (;;) {
      const { done, value } = chunks.next();
      if (done) return value;
      yield encoder.encode(value);
    }
  } finally {
    chunks.return(undefined as never);
  }
}

function* withTrailer(
  first: IteratorResult<Uint8Array, RunFigures>,
  chunks: Generator<Uint8Array, RunFigures>,
): Generator<Uint8Array> {
  try {
    if (!first.done) yield first.value;
    const figures = first.done ? first.value : yield* chunks;
    yield new TextEncoder().encode(figuresTrailer(figures));
  } catch (error) {
    // The head is sent: breaking off is the only way left to say that rows are missing.
    throw error instanceof Problem ? new AppError('timed-out', error.text) : error;
  }
}

/** The query is run to its end first; no source is open while the file is written and read. */
async function fileAnswer(
  order: SearchOrder,
  format: TypedFormat,
  run: RunParts,
): Promise<Response> {
  const { table, figures } = startQuery(order, run);
  const { limit, scratch } = order;
  const file = await makeResultFile(table, format, limit, scratch).catch((error) => {
    throw placing(order)(error);
  });
  run.sources.close();
  const { rows, isCut, chunks, close } = file;
  const ended = { rows, scanned: figures.scanned(), ms: Math.round(figures.elapsedMs()), isCut };
  const headers = { [FIGURES_HEADER]: printFigures(ended) };
  return new Response(streamOfChunks(chunks, close), { headers });
}

/** Problems without a place are of the last stage, or of the statement. */
function placing({ sql, query, implicitTerms }: SearchOrder): (error: unknown) => unknown {
  if (sql) return (error) => (error instanceof Problem ? error.in(1, SQL, NOWHERE) : error);
  return (error) => {
    const { stages } = parseQuery(query, { implicitTerms });
    const last = stages.at(-1);
    return last && error instanceof Problem
      ? error.in(stages.length, last.command, last.word)
      : error;
  };
}

const NOWHERE = { at: 0, length: 1 };

function failure(thrown: unknown, order: SearchOrder): Response {
  const error = order.sql ? placing(order)(thrown) : thrown;
  // A damaged column was deleted, so that the next try makes it anew.
  if (error instanceof Stale || error instanceof DamagedColumn)
    return new Response(null, { headers: { [OUTCOME_HEADER]: 'stale' } });
  if (error instanceof UnknownYet) return wanted(error, order);
  if (!(error instanceof Problem)) throw error;
  return Response.json(error.told(order.query), { headers: { [OUTCOME_HEADER]: 'problem' } });
}

function wanted(unknown: UnknownYet, order: SearchOrder): Response {
  try {
    const queries = order.sql ? [] : [order.query];
    const names = wantedNames(unknown, { ...order, queries });
    return Response.json(names, { headers: { [OUTCOME_HEADER]: 'names' } });
  } catch (error) {
    return failure(error, order);
  }
}

/** A long answer is read at its reader's pace, with no source open meanwhile. */
function wholeAnswer(
  chunks: Generator<Uint8Array, RunFigures>,
  order: SearchOrder,
  meter: RunParts['meter'],
): Response {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let next = chunks.next();
  for (; !next.done; next = chunks.next()) {
    const piece = next.value;
    pieces.push(piece);
    bytes += piece.byteLength;
    try {
      meter.hold(piece.byteLength);
    } catch (error) {
      throw placing(order)(error);
    }
  }
  const headers = { [FIGURES_HEADER]: printFigures(next.value) };
  if (bytes <= WHOLE_BYTES) {
    const body = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    return new Response(body, { headers: { ...headers, [WHOLE_HEADER]: '1' } });
  }
  return new Response(
    streamOfChunks(drained(pieces), () => {}),
    { headers },
  );
}

/** Frees what was sent. */
function* drained(pieces: Uint8Array[]): Generator<Uint8Array> {
  for (let piece = pieces.shift(); piece; piece = pieces.shift()) yield piece;
}

interface RunParts {
  readonly parts: SearchParts;
  readonly sources: OpenSources;
  readonly meter: Meter;
  readonly startedAt: number;
}

function startQuery(
  order: SearchOrder,
  { parts, sources, meter, startedAt }: RunParts,
): { readonly table: Table; readonly figures: ResultFigures } {
  const query = order.sql ? null : parseQuery(order.query, { implicitTerms: order.implicitTerms });
  let scanned = 0;
  let sqlStages = 0;
  const traces: StageTrace[] = [];
  const watch: RunWatch = {
    meter,
    onRead: (rows) => {
      scanned += rows;
    },
    isOutermost: true,
    ...(order.explains && { traces }),
    plan: (read) => {
      const planned = planPrefix(read);
      if (planned) sqlStages = planned.stages;
      return planned;
    },
  };
  const { context, notices } = createContext({
    ...environmentOf(order, sources, parts),
    watch,
  });
  query && checkQuery(query, context).useShown();
  const figures: ResultFigures = {
    elapsedMs: () => performance.now() - startedAt,
    scanned: () => scanned,
    get notices() {
      return [...(query?.notices ?? []), ...notices, ...sources.problems];
    },
    plan: order.explains
      ? () => ({
          sqlStages,
          indexUsed: sources.usedIndex,
          columnsUsed: sources.usedColumns,
          plainFields: sources.plainFields,
          stages: traces,
        })
      : null,
  };
  const table = query
    ? runQuery(query, context, watch)
    : runStatement(order, sources, context, watch);
  return { table, figures };
}

function runStatement(
  order: SearchOrder,
  sources: OpenSources,
  context: StageContext,
  watch: RunWatch,
): Table {
  return openStatement({
    ...order,
    text: order.query,
    sql: order.sql!,
    meter: watch.meter,
    query: (text) => {
      const query = parseQuery(text, { implicitTerms: order.implicitTerms });
      checkQuery(query, context).useShown();
      return runQuery(query, context, watch);
    },
    onClose: (close) => sources.onClose(close),
  });
}

function environmentOf(order: SearchOrder, sources: OpenSources, { extract }: SearchParts) {
  return {
    ...order,
    source: (name: Parameters<OpenSources['open']>[0]) => sources.open(name),
    datasetNames: order.scope.datasetNames,
    readableIndexes: () => sources.readableIndexes,
    savedSearch: (name: string) =>
      requireLookedUp(order.scope.savedSearches, 'savedSearches', name),
    extract,
  };
}

function checkSearch(order: SearchOrder, parts: SearchParts): Response {
  const sources = new OpenSources(order.scope, parts);
  try {
    return Response.json(
      order.sql
        ? checkStatement(order, sources, parts)
        : validateText(order.query, environmentOf(order, sources, parts)),
    );
  } catch (error) {
    return failure(error, order);
  } finally {
    sources.close();
  }
}

/** Queries that are tables are not run, so columns that depend on their rows are not known. */
function checkStatement(order: SearchOrder, sources: OpenSources, parts: SearchParts): Validation {
  const meter = { tick: () => {}, hold: () => {} };
  const watch: RunWatch = { meter, onRead: () => {} };
  const { context } = createContext({ ...environmentOf(order, sources, parts), watch });
  const answer = { notices: [], stages: [], parameters: [], canonical: null };
  let isOpen = false;
  try {
    const { schema } = openStatement({
      ...order,
      text: order.query,
      sql: order.sql!,
      meter,
      query: (text) => {
        const query = parseQuery(text, { implicitTerms: order.implicitTerms });
        const schema = checkQuery(query, context);
        isOpen ||= schema.isOpen;
        return { schema, batches: [] };
      },
      onClose: (close) => sources.onClose(close),
    });
    return { ...answer, valid: true, errors: [], columns: schema.names };
  } catch (error) {
    const problem = placing(order)(error);
    if (!(problem instanceof Problem)) throw error;
    if (isOpen && problem.code === 'unknown_column')
      return { ...answer, valid: true, errors: [], columns: null };
    return { ...answer, valid: false, errors: [problem.told(order.query)], columns: null };
  }
}
