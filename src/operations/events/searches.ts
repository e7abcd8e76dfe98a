/**
 * Runs and checks queries of the search language.
 *
 * What a query names is looked up here with the caller's rights, so the worker gets only what the caller may read.
 * Only workers parse queries: a hostile one would block the event loop.
 */
import type { App } from '../../app.ts';
import { join } from 'node:path';
import { type Grants, keepsReading, loadGrants } from '../../accounts/rights/permissions.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { sha256Hex } from '../../base/ids.ts';
import type { Format } from '../../tables/read/format.ts';
import type { Registry } from '../../docroot/registry/registry.ts';
import { findSavedSearch, type NamedSavedSearch } from '../../events/saved-searches.ts';
import type { ToldProblem } from '../../language/syntax/problem.ts';
import { reference } from '../../language/reference.ts';
import type { RunFigures } from '../../language/run/run-figures.ts';
import type { SearchOrder } from '../../language/run/search-jobs.ts';
import type { LookAgain, SearchAnswer } from '../../language/run/searches.ts';
import type { DatasetOrder } from '../../language/sources/dataset.ts';
import { timeFromMs } from '../../language/expressions/time.ts';
import type { Validation } from '../../language/syntax/validate.ts';
import { DATABASE_FILE } from '../../store/state-files.ts';
import { mayAccess, type Origin, record } from '../access.ts';
import { withDefaultAccess } from './event-access.ts';
import { isSql } from '../../language/syntax/sql-statement.ts';
import { readCheckRequest, readSqlRequest, type SearchRequest } from './search-request.ts';

/** The rows as a stream, or what is wrong with the query. Call `leave` when the body is finished or aborted. */
export type SearchResult =
  | {
      readonly kind: 'rows';
      readonly format: Format;
      readonly limit: number;
      /** Null until a stream has ended. */
      readonly isCut: boolean | null;
      /** A short answer is complete and costs nothing more. */
      readonly body: Uint8Array | ReadableStream<Uint8Array>;
      readonly leave: () => Promise<void>;
      /** False once the caller has lost a right it had at the beginning; asked during long bodies. */
      readonly mayStillRead: () => Promise<boolean>;
      /** Seconds since it was made; absent: it is new. */
      readonly age?: number;
    }
  | { readonly kind: 'problem'; readonly problem: ToldProblem };

/** Rounds of look-ups for one query: files change meanwhile, and saved searches name others. */
const MAX_LOOKS = 24;

/** Throws `throttled` when too many of the caller's searches run, `unavailable`. */
export async function runSearch(
  services: App,
  caller: Principal,
  origin: Origin,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<SearchResult> {
  const isAudited = services.config.events.search.audit;
  const key = request.maxAgeMs > 0 && !isAudited ? await keyOf(services, caller, request) : null;
  const recent = key === null ? null : services.searches.recent.get(key, request.maxAgeMs);
  if (recent !== null) {
    const { body, isCut, at } = recent;
    const { format, limit } = request;
    const age = Math.round((performance.now() - at) / 1000);
    return { kind: 'rows', format, limit, isCut, body, age, ...FINISHED };
  }
  const wait = services.rates.search.take(caller.userId, services.config.events.throttle.search);
  if (wait > 0) throw throttled(wait);
  const startedAt = performance.now();
  const note = async (figures: RunFigures | null): Promise<void> => {
    if (!services.config.events.search.audit) return;
    const ms = Math.round(performance.now() - startedAt);
    await auditRun(services, caller, origin, figures ?? { rows: 0, scanned: 0, ms, isCut: false });
  };
  if (/^[\s|]*$/.test(request.query) && request.format === 'json') {
    await note(null);
    return emptyResult(request);
  }
  const leave = await services.searches.enter(caller.userId, signal);
  try {
    const { answer, grants, found } = await answerOf(services, caller, request, signal);
    if (answer.kind === 'rows') {
      const { body, figures } = answer;
      // Who shares a saved search may take it back at any time.
      const isKept = body instanceof Uint8Array && found.savedSearches.size === 0;
      if (key !== null && isKept) {
        const at = performance.now();
        services.searches.recent.set(key, { body, isCut: figures()?.isCut ?? null, at });
      }
      let isOpen = true;
      const end = async (): Promise<void> => {
        leave();
        if (isOpen) {
          isOpen = false;
          await note(figures());
        }
      };
      const { format, limit } = request;
      const isCut = figures()?.isCut ?? null;
      const mayStillRead = async (): Promise<boolean> =>
        keepsReading(grants, await loadGrants(services.db, caller));
      return { kind: 'rows', format, limit, isCut, body, leave: end, mayStillRead };
    }
    leave();
    await note(null);
    return answer;
  } catch (error) {
    leave();
    await note(null);
    throw error;
  }
}

const FINISHED = {
  leave: () => Promise.resolve(),
  mayStillRead: () => Promise.resolve(true),
} as const;

/** Null: always asked anew. Rights are a part of it: one that was lost is lost at once. */
async function keyOf(
  services: App,
  caller: Principal,
  { query, sql, parameters, limit, timezone, format, explains }: SearchRequest,
): Promise<string | null> {
  if (format !== 'json' || explains) return null;
  const { patterns } = withDefaultAccess(services, await loadGrants(services.db, caller));
  const { userId, isSuperuser, scopes } = caller;
  const who = [userId, isSuperuser, scopes, patterns];
  return sha256Hex(JSON.stringify([who, query, sql, parameters, limit, timezone]));
}

function throttled(seconds: number): AppError {
  const wait = seconds === 1 ? '1 second' : `${seconds} seconds`;
  return new AppError('throttled', `Request was throttled. Expected available in ${wait}.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

function emptyResult({ query, limit, sql }: SearchRequest): SearchResult {
  const [what, member] = sql ? ['statement', 'sql'] : ['query', 'query'];
  const blank = `There is no ${what}, so there are no rows: send it as the member "${member}" of the body`;
  const notices = query.trim() === '' ? [blank] : [];
  const meta = { count: 0, truncated: false, elapsed_ms: 0, scanned: 0, notices, columns: [] };
  return {
    kind: 'rows',
    format: 'json',
    limit,
    isCut: false,
    body: new TextEncoder().encode(JSON.stringify({ rows: [], meta })),
    ...FINISHED,
  };
}

/** A run that was stopped or wrong has no rows. */
function auditRun(
  services: App,
  user: Principal,
  origin: Origin,
  { rows, scanned, ms }: RunFigures,
): Promise<void> {
  const details = `${rows} rows, ${scanned} scanned, ${ms} ms`;
  return record(services, { user, origin }, 'run_search', 'search', details);
}

/** Without the limits of requests. Throws `unavailable`. */
export async function answerOf(
  services: App,
  caller: Principal,
  request: SearchRequest,
  signal: AbortSignal | undefined,
): Promise<{
  readonly answer: Exclude<SearchAnswer, LookAgain>;
  readonly grants: Grants;
  readonly found: Found;
}> {
  return lookedUp(services, caller, request, async (order) => {
    const answer = await services.searches.run(order, signal);
    return answer.kind === 'stale' || answer.kind === 'names' ? answer : { answer };
  });
}

/** What a request that was answered read: indexes of events, null: any, and datasets. */
export async function sourcesOf(
  services: App,
  caller: Principal,
  request: SearchRequest,
  { found, grants }: { readonly found: Found; readonly grants: Grants },
): Promise<{ readonly indexes: readonly string[] | null; readonly datasets: readonly string[] }> {
  const indexes = await services.searches.indexes(
    orderOf(services, caller, request, grants, found),
  );
  return { indexes, datasets: [...found.datasets.keys()] };
}

/** What a query would read of what the caller may read; null when it cannot be read itself. */
export async function sourcesOfQuery(
  services: App,
  caller: Principal,
  query: string,
): Promise<Awaited<ReturnType<typeof sourcesOf>> | null> {
  const request = isSql(query)
    ? readSqlRequest({ sql: query }, 'json', services.config)
    : readCheckRequest({ query }, services.config);
  const looked = await checked(services, caller, request);
  if (looked.validation.errors.length > 0) return null;
  const { indexes, datasets } = await sourcesOf(services, caller, request, looked);
  return { indexes, datasets: datasets.filter((name) => looked.found.datasets.get(name) !== null) };
}

export interface Found {
  readonly datasets: Map<string, DatasetOrder | null>;
  readonly savedSearches: Map<string, NamedSavedSearch>;
}

/**
 * Runs `work` again until everything the query names is looked up: the worker parses the query and says what it
 * lacks. Returns also what was found, and the grants used. Throws `unavailable` when a dataset changes faster than it
 * can be read.
 */
async function lookedUp<Result extends object>(
  services: App,
  caller: Principal,
  request: SearchRequest,
  work: (order: SearchOrder) => Promise<Result | LookAgain>,
): Promise<Result & { readonly found: Found; readonly grants: Grants }> {
  const grants = await loadGrants(services.db, caller);
  const found: Found = { datasets: new Map(), savedSearches: new Map() };
  for (let look = 1; look <= MAX_LOOKS; look++) {
    const answer = await work(orderOf(services, caller, request, grants, found));
    if (!('kind' in answer)) return { ...answer, found, grants };
    const { kind } = answer as LookAgain;
    const names = kind === 'names' ? (answer as LookAgain & { kind: 'names' }).names : null;
    const datasets = names?.datasets ?? [...found.datasets.keys()];
    for (const name of datasets)
      found.datasets.set(name, await datasetOrder(services, grants, name));
    for (const name of names?.savedSearches ?? [])
      found.savedSearches.set(name, await findSavedSearch(services.db, caller.userId, name));
  }
  throw new AppError('unavailable', 'A dataset changes faster than it can be read', {
    headers: { 'Retry-After': '1' },
  });
}

function orderOf(
  services: App,
  caller: Principal,
  request: SearchRequest,
  grants: Grants,
  { datasets, savedSearches }: Found,
): SearchOrder {
  const { config, registry, clock } = services;
  const { search } = config.events;
  const mayAudit = caller.isSuperuser;
  const isNamed = datasets.size > 0 || request.sql !== undefined;
  const readable = isNamed ? readableDatasets(registry, grants) : [];
  return {
    ...request,
    now: request.now ?? timeFromMs(clock.now())!,
    memoryBytes: search.memory_bytes,
    implicitTerms: search.implicit_terms,
    joinMaxRows: search.join_max_rows,
    scratch: join(config.state_dir, 'tmp'),
    scope: {
      eventStore: config.state_dir,
      grants: withDefaultAccess(services, grants),
      datasets: Object.fromEntries(datasets),
      datasetNames: readable,
      auditDatabase: mayAudit ? join(config.state_dir, DATABASE_FILE) : null,
      savedSearches: Object.fromEntries(savedSearches),
    },
  };
}

function readableDatasets(registry: Registry, grants: Grants): string[] {
  return registry
    .list()
    .filter((resource) => resource.kind.dataset && mayAccess(grants, resource, 'read'))
    .map(({ canonical }) => canonical);
}

/** Null for a dataset that does not exist or may not be read. */
async function datasetOrder(
  { registry, datasets, tables }: App,
  grants: Grants,
  name: string,
): Promise<DatasetOrder | null> {
  const resource = registry.lookup('dataset', name);
  if (!resource || !mayAccess(grants, resource, 'read')) return null;
  const table = await tables.current(datasets.targetOf(resource));
  return {
    name,
    path: table.path,
    columns: table.columns,
    blank: table.head.blank,
    sequence: table.state.sequence,
  };
}

export async function validateSearch(
  services: App,
  caller: Principal,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<Validation> {
  return (await checked(services, caller, request, signal)).validation;
}

function checked(
  services: App,
  caller: Principal,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<{ readonly validation: Validation; readonly found: Found; readonly grants: Grants }> {
  return lookedUp(services, caller, request, async (order) => {
    const answer = await services.searches.check(order, signal);
    return answer.kind === 'checked' ? { validation: answer.validation } : answer;
  });
}

export async function describeLanguage(
  { registry, db }: App,
  caller: Principal,
): Promise<ReturnType<typeof reference>> {
  const datasets = readableDatasets(registry, await loadGrants(db, caller));
  return reference(['events', ...datasets, ...(caller.isSuperuser ? ['audit'] : [])]);
}

/** Null for a valid query; an error of the language, or that the query would run itself, perhaps through others. */
export async function checkSavedQuery(
  services: App,
  caller: Principal,
  { query, name }: { readonly query: string; readonly name: string },
): Promise<string | null> {
  const request = isSql(query)
    ? readSqlRequest({ sql: query }, 'json', services.config)
    : readCheckRequest({ query }, services.config);
  const { validation, found } = await checked(services, caller, request);
  if (found.savedSearches.has(name)) return `Saved search '${name}' would run itself`;
  return validation.errors[0]?.error ?? null;
}
