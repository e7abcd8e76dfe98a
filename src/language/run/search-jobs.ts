/**
 * Each run opens its sources, each inside one snapshot, and closes them with its answer. A wrong query is an answer
 * like any other; a header reports what the caller cannot mend (a table replaced meanwhile).
 */
import { streamOfChunks } from '../../base/work/chunk-stream.ts';
import { AppError } from '../../base/errors.ts';
import type { Format } from '../../tables/read/format.ts';
import type { Query } from '../syntax/ast.ts';
import { type Budget, createMeter, isOutgrown, memoryProblem } from './budget.ts';
import type { StageContext } from '../command.ts';
import { requireLookedUp, UnknownYet, wantedNames } from './looked-up.ts';
import { OpenSources, type SearchScope, Stale } from '../sources/open-sources.ts';
import { parseQuery } from '../syntax/parse.ts';
import { planPrefix } from '../plan/plan.ts';
import { Problem } from '../syntax/problem.ts';
import { createContext } from '../plan/query-context.ts';
import { type ResultFigures, type TextFormat, writeResult } from './result.ts';
import { isTyped, makeResultFile, type TypedFormat } from './result-file.ts';
import { FIGURES_HEADER, figuresTrailer, printFigures, type RunFigures } from './run-figures.ts';
import { checkQuery, runQuery, type RunWatch, type StageTrace, type Table } from './run.ts';
import type { EventStore } from '../sources/events.ts';
import { validateText } from '../syntax/validate.ts';
import type { Value } from '../expressions/value.ts';

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
}

/**
 * Header of an answer that is no result: `problem`; `stale`, a dataset has changed since lookup; `names`, the body
 * lists datasets and saved searches to look up first (`Names`).
 */
export const OUTCOME_HEADER = 'x-search-outcome';
export const WHOLE_HEADER = 'x-search-whole';
const WHOLE_BYTES = 1024 * 1024;

/** Given by `event-queries.ts`. */
export interface SearchParts {
  /** Begins a snapshot; null when there is no store. `close` ends it. */
  readonly openEvents: (directory: string) => (EventStore & { close(): void }) | null;
  readonly extract: StageContext['extract'];
}

type Job = (body: unknown, signal: AbortSignal) => Response | Promise<Response>;

export function pipelineJobs(parts: SearchParts): Record<string, Job> {
  return {
    pipeline: (body) => runSearch(body as SearchOrder, parts),
    'pipeline-check': (body) => checkSearch(body as SearchOrder, parts),
  };
}

async function runSearch(order: SearchOrder, parts: SearchParts): Promise<Response> {
  const startedAt = performance.now();
  const sources = new OpenSources(order.scope, parts);
  try {
    const query = parseQuery(order.query, { implicitTerms: order.implicitTerms });
    const meter = createMeter(order, startedAt);
    const run = { parts, sources, meter, startedAt };
    return isTyped(order.format)
      ? await fileAnswer(query, order, order.format, run)
      : textAnswer(query, order, order.format, run);
  } catch (error) {
    sources.close();
    if (!isOutgrown(error)) return failure(error, order);
    // Memory of the answer's text is reported at the last stage.
    const query = parseQuery(order.query, { implicitTerms: order.implicitTerms });
    return failure(inLastStage(memoryProblem(order.memoryBytes), query), order);
  }
}

function textAnswer(query: Query, order: SearchOrder, format: TextFormat, run: RunParts): Response {
  const told: { figures: RunFigures | null } = { figures: null };
  const { table, figures } = startQuery(query, order, run, (ended) => {
    told.figures = ended;
  });
  const chunks = writeResult(table, format, order.limit, figures);
  if (format === 'json') {
    const body = collected(chunks, query, run.meter);
    run.sources.close();
    return wholeAnswer(body, told.figures!);
  }
  // Errors of the query come before the first byte, so that they are answers.
  const first = chunks.next();
  if (first.done) throw new AppError('internal', 'An answer without text');
  return new Response(streamOf(first.value, chunks, run.sources, () => told.figures));
}

/** The query is run to its end first; no source is open while the file is written and read. */
async function fileAnswer(
  query: Query,
  order: SearchOrder,
  format: TypedFormat,
  run: RunParts,
): Promise<Response> {
  const { table, figures } = startQuery(query, order, run, () => {});
  const { limit, scratch } = order;
  const file = await makeResultFile(table, format, limit, scratch).catch((error) => {
    throw inLastStage(error, query);
  });
  run.sources.close();
  const ended = {
    rows: file.rows,
    scanned: figures.scanned(),
    ms: Math.round(figures.elapsedMs()),
    isCut: file.isCut,
  };
  const headers = { [FIGURES_HEADER]: printFigures(ended) };
  return new Response(streamOfChunks(file.chunks, file.close), { headers });
}

function inLastStage(error: unknown, { stages }: Query): unknown {
  const last = stages.at(-1);
  return last && error instanceof Problem
    ? error.in(stages.length, last.command, last.word)
    : error;
}

function failure(error: unknown, order: SearchOrder): Response {
  if (error instanceof Stale) return new Response(null, { headers: { [OUTCOME_HEADER]: 'stale' } });
  if (error instanceof UnknownYet) return wanted(error, order);
  if (!(error instanceof Problem)) throw error;
  return Response.json(error.told(order.query), { headers: { [OUTCOME_HEADER]: 'problem' } });
}

function wanted(unknown: UnknownYet, order: SearchOrder): Response {
  try {
    return Response.json(wantedNames(unknown, order), { headers: { [OUTCOME_HEADER]: 'names' } });
  } catch (error) {
    return failure(error, order);
  }
}

function collected(
  chunks: Iterable<string>,
  query: Query,
  meter: ReturnType<typeof createMeter>,
): Uint8Array[] {
  const encoder = new TextEncoder();
  const pieces: Uint8Array[] = [];
  for (const chunk of chunks) {
    const piece = encoder.encode(chunk);
    pieces.push(piece);
    try {
      meter.hold(piece.byteLength);
    } catch (error) {
      throw inLastStage(error, query);
    }
  }
  return pieces;
}

/** A long answer is read at its reader's pace, with no source open meanwhile. */
function wholeAnswer(pieces: Uint8Array[], figures: RunFigures): Response {
  const headers = { [FIGURES_HEADER]: printFigures(figures) };
  const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (bytes <= WHOLE_BYTES) {
    const body = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    return new Response(body, { headers: { ...headers, [WHOLE_HEADER]: '1' } });
  }
  let at = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[at]!;
        // Frees what was sent.
        pieces[at++] = NOTHING;
        controller.enqueue(piece);
        if (at === pieces.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers });
}

const NOTHING = new Uint8Array(0);

interface RunParts {
  readonly parts: SearchParts;
  readonly sources: OpenSources;
  readonly meter: ReturnType<typeof createMeter>;
  readonly startedAt: number;
}

function startQuery(
  query: Query,
  order: SearchOrder,
  { parts, sources, meter, startedAt }: RunParts,
  onEnd: (figures: RunFigures) => void,
): { readonly table: Table; readonly figures: ResultFigures } {
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
  checkQuery(query, context).useShown();
  const figures: ResultFigures = {
    elapsedMs: () => performance.now() - startedAt,
    scanned: () => scanned,
    onEnd,
    get notices() {
      return [...query.notices, ...notices];
    },
    plan: order.explains
      ? () => ({ sqlStages, indexUsed: sources.usedIndex, stages: traces })
      : null,
  };
  return { table: runQuery(query, context, watch), figures };
}

function environmentOf(order: SearchOrder, sources: OpenSources, { extract }: SearchParts) {
  const { datasetNames, savedSearches } = order.scope;
  return {
    ...order,
    source: (name: Parameters<OpenSources['open']>[0]) => sources.open(name),
    datasetNames,
    readableIndexes: () => sources.readableIndexes,
    savedSearch: (name: string) => requireLookedUp(savedSearches, 'savedSearches', name),
    extract,
  };
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
        // The head is sent: breaking off is the only way left to say that rows are missing.
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
    return Response.json(validateText(order.query, environmentOf(order, sources, parts)));
  } catch (error) {
    return failure(error, order);
  } finally {
    sources.close();
  }
}
