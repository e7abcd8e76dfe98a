/**
 * Running and checking queries of the search language (EV-93 to EV-102), for every door.
 *
 * What a query names is looked up here with the caller's rights; the worker gets what the caller may read and nothing else.
 */
import { join } from 'node:path';
import { type Grants, loadGrants } from '../auth/permissions.ts';
import type { Principal } from '../auth/principal.ts';
import type { Audit } from '../auth/audit.ts';
import { AppError } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import { JsonNumber } from '../base/json.ts';
import type { Config } from '../config/schema.ts';
import type { Tables, TableTarget } from '../dataset/tables.ts';
import type { Registry, Resource } from '../docroot/registry.ts';
import type { RateLimiter } from '../events/rate.ts';
import { findSavedSearch, type NamedSavedSearch } from '../events/saved-search-lookup.ts';
import { mentionsOf } from '../pipeline/mentions.ts';
import { parseQuery } from '../pipeline/parse.ts';
import { builtInParameters } from '../pipeline/placeholder.ts';
import type { ToldProblem } from '../pipeline/problem.ts';
import { reference } from '../pipeline/reference.ts';
import type { ResultFormat } from '../pipeline/result.ts';
import type { RunFigures } from '../pipeline/run-figures.ts';
import type { SearchOrder, SearchScope } from '../pipeline/search-jobs.ts';
import type { SearchAnswer, Searches } from '../pipeline/searches.ts';
import type { DatasetOrder } from '../pipeline/sources/dataset.ts';
import { timeFromMs } from '../pipeline/time.ts';
import type { Validation } from '../pipeline/validate.ts';
import type { Value } from '../pipeline/value.ts';
import type { Database } from '../store/database.ts';
import { DATABASE_FILE } from '../store/state-files.ts';
import { mayAccess, type Origin } from './access.ts';
import { eventGrants } from './event-access.ts';

/** What running queries needs. */
export interface SearchLanguageServices {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly registry: Registry;
  readonly datasets: { targetOf(resource: Resource): TableTarget };
  readonly tables: Tables;
  readonly searches: Searches;
  readonly rates: { readonly search: RateLimiter };
}

/** A query with what it is to be run with; every member is checked. */
export interface SearchRequest {
  readonly query: string;
  readonly parameters: Readonly<Record<string, Value>>;
  readonly limit: number;
  readonly timeoutMs: number;
  readonly format: ResultFormat;
  readonly explains: boolean;
}

/** The rows of a query on their way, or what is wrong with it. `leave` must be called when the body is done with, or broken off. */
export type SearchResult =
  | {
      readonly kind: 'rows';
      readonly format: ResultFormat;
      readonly body: ReadableStream<Uint8Array> | null;
      readonly leave: () => Promise<void>;
    }
  | { readonly kind: 'problem'; readonly problem: ToldProblem };

/** A body that asks for the wrong thing: `error` and `code` of EV-100. */
export class BadSearchRequest extends Error {
  readonly code = 'bad_request';
}

const MIN_TIMEOUT_MS = 100;
const MAX_PARAMETERS = 100;
/** Versions tried when a file changes faster than it is read. */
const MAX_VERSIONS = 8;

/** The request a body means (EV-93, EV-95); `accepted` is the format of the `Accept` header. Throws BadSearchRequest. */
export function readSearchRequest(
  body: unknown,
  accepted: ResultFormat,
  config: Config,
): SearchRequest {
  const members = requireObject(body);
  const { search } = config.events;
  const query = members['query'] ?? '';
  if (typeof query !== 'string') throw new BadSearchRequest('query must be a string');
  const format = oneOf(members, 'format', ['json', 'ndjson', 'csv']) ?? accepted;
  const most = format === 'json' ? search.max_rows : search.export_max_rows;
  const explain = members['explain'] ?? false;
  if (typeof explain !== 'boolean') throw new BadSearchRequest('explain must be true or false');
  return {
    query,
    parameters: parametersOf(members['params']),
    limit: integer(members, 'limit', 1, most) ?? most,
    timeoutMs:
      integer(members, 'timeout_ms', MIN_TIMEOUT_MS, search.timeout_seconds * 1000) ??
      search.timeout_seconds * 1000,
    format,
    explains: explain,
  };
}

function requireObject(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw new BadSearchRequest('Expected a JSON object with a query');
}

function integer(
  members: Readonly<Record<string, unknown>>,
  name: string,
  least: number,
  most: number,
): number | null {
  const value = members[name] ?? null;
  if (value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most)
    return value;
  throw new BadSearchRequest(`${name} must be a whole number from ${least} to ${most}`);
}

function oneOf<T extends string>(
  members: Readonly<Record<string, unknown>>,
  name: string,
  choices: readonly T[],
): T | null {
  const value = members[name] ?? null;
  if (value === null) return null;
  const choice = choices.find((one) => one === value);
  if (choice !== undefined) return choice;
  throw new BadSearchRequest(`${name} must be one of ${choices.join(', ')}`);
}

function parametersOf(given: unknown): Record<string, Value> {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object' || Array.isArray(given))
    throw new BadSearchRequest('params must be an object');
  const entries = Object.entries(given as Record<string, unknown>);
  if (entries.length > MAX_PARAMETERS)
    throw new BadSearchRequest(`params may have ${MAX_PARAMETERS} names`);
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (!/^[A-Za-z_]\w*$/.test(name))
        throw new BadSearchRequest(`'${name}' is not a name for params`);
      return [name, parameterValue(name, value)];
    }),
  );
}

function parameterValue(name: string, value: unknown): Value {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  const number =
    value instanceof JsonNumber ? value.value : typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw new BadSearchRequest(`params.${name} must be a string, a number, true, false or null`);
}

/** Runs a query for a caller. Throws `throttled` when too many of the caller's run, `unavailable`. */
export async function runSearch(
  services: SearchLanguageServices,
  caller: Principal,
  origin: Origin,
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<SearchResult> {
  const wait = services.rates.search.take(caller.userId, services.config.events.throttle.search);
  if (wait > 0) throw throttled(wait);
  const startedAt = performance.now();
  const note = async (figures: RunFigures | null): Promise<void> => {
    if (!services.config.events.search.audit) return;
    const ms = Math.round(performance.now() - startedAt);
    await auditRun(services, caller, origin, figures ?? { rows: 0, scanned: 0, ms });
  };
  if (/^[\s|]*$/.test(request.query) && request.format === 'json') {
    await note(null);
    return emptyResult();
  }
  const leave = await services.searches.enter(caller.userId, signal);
  try {
    const answer = await answerOf(services, caller, request, (order) =>
      services.searches.run(order, signal),
    );
    if (answer.kind === 'rows') {
      const { body, figures } = answer;
      let isOpen = true;
      const end = async (): Promise<void> => {
        leave();
        if (isOpen) {
          isOpen = false;
          await note(figures());
        }
      };
      return { kind: 'rows', format: request.format, body, leave: end };
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

function throttled(seconds: number): AppError {
  const wait = seconds === 1 ? '1 second' : `${seconds} seconds`;
  return new AppError('throttled', `Request was throttled. Expected available in ${wait}.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

function emptyResult(): SearchResult {
  const meta = { count: 0, truncated: false, elapsed_ms: 0, scanned: 0, notices: [], columns: [] };
  return {
    kind: 'rows',
    format: 'json',
    body: new Response(JSON.stringify({ rows: [], meta })).body,
    leave: () => Promise.resolve(),
  };
}

/** One row for each run that got its turn; what was stopped or wrong has no rows. */
async function auditRun(
  { audit }: SearchLanguageServices,
  caller: Principal,
  origin: Origin,
  { rows, scanned, ms }: RunFigures,
): Promise<void> {
  await audit.record({
    userId: caller.userId,
    action: 'run_search',
    resource: 'search',
    details: `${rows} rows, ${scanned} scanned, ${ms} ms`,
    ipAddress: origin.clientAddress,
  });
}

async function answerOf(
  services: SearchLanguageServices,
  caller: Principal,
  request: SearchRequest,
  run: (order: SearchOrder) => Promise<SearchAnswer>,
): Promise<Exclude<SearchAnswer, { kind: 'stale' }>> {
  for (let attempt = 1; attempt <= MAX_VERSIONS; attempt++) {
    const answer = await run(await orderOf(services, caller, request));
    if (answer.kind !== 'stale') return answer;
  }
  throw new AppError('unavailable', 'A dataset changes faster than it can be read', {
    headers: { 'Retry-After': '1' },
  });
}

async function orderOf(
  services: SearchLanguageServices,
  caller: Principal,
  request: SearchRequest,
): Promise<SearchOrder> {
  const { search } = services.config.events;
  const now = timeFromMs(services.clock.now())!;
  return {
    ...request,
    now,
    memoryBytes: search.memory_bytes,
    implicitTerms: search.implicit_terms,
    joinMaxRows: search.join_max_rows,
    scope: await scopeOf(services, caller, request, now),
  };
}

async function scopeOf(
  services: SearchLanguageServices,
  caller: Principal,
  request: SearchRequest,
  now: string,
): Promise<SearchScope> {
  const { config, db } = services;
  const grants = await loadGrants(db, caller);
  const names = await namesIn(services, caller, request, now);
  const readable = services.registry
    .list()
    .filter((resource) => resource.kind.dataset && mayAccess(grants, resource, 'read'));
  const mayAudit = caller.isSuperuser && caller.scopes === null;
  return {
    eventStore: config.state_dir,
    grants: await eventGrants(services, caller),
    datasets: await datasetOrders(services, grants, names.datasets),
    datasetNames: readable.map(({ canonical }) => canonical),
    auditDatabase: mayAudit ? join(config.state_dir, DATABASE_FILE) : null,
    savedSearches: Object.fromEntries(names.savedSearches),
  };
}

/** Datasets and saved searches a query names, also inside the saved searches. */
async function namesIn(
  services: SearchLanguageServices,
  caller: Principal,
  { query, parameters }: Pick<SearchRequest, 'query' | 'parameters'>,
  now: string,
): Promise<{ datasets: Set<string>; savedSearches: Map<string, NamedSavedSearch> }> {
  const known = new Map([...builtInParameters(now), ...Object.entries(parameters)]);
  const datasets = new Set<string>();
  const savedSearches = new Map<string, NamedSavedSearch>();
  const texts = [query];
  for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
    const mentions = mentionsOf(parseQuery(text, { implicitTerms: true }), known);
    for (const name of mentions.datasets) datasets.add(name);
    for (const name of mentions.savedSearches) {
      if (savedSearches.has(name)) continue;
      const found = await findSavedSearch(services.db, caller.userId, name);
      savedSearches.set(name, found);
      if (found.kind === 'found') texts.push(found.query);
    }
  }
  return { datasets, savedSearches };
}

/** Those of the datasets that exist, can be read, and may be read. */
async function datasetOrders(
  { registry, datasets, tables }: SearchLanguageServices,
  grants: Grants,
  names: ReadonlySet<string>,
): Promise<DatasetOrder[]> {
  const orders: DatasetOrder[] = [];
  for (const name of names) {
    const resource = registry.lookup('dataset', name);
    if (!resource || !mayAccess(grants, resource, 'read')) continue;
    const table = await tables.current(datasets.targetOf(resource));
    orders.push({
      name,
      path: table.path,
      columns: table.columns,
      blank: table.head.blank,
      sequence: table.state.sequence,
    });
  }
  return orders;
}

/** What a query looks like without running it (EV-102). */
export async function validateSearch(
  services: SearchLanguageServices,
  caller: Principal,
  body: unknown,
  signal?: AbortSignal,
): Promise<Validation> {
  const members = requireObject(body);
  const { query, params } = members;
  const request = readSearchRequest({ query, params }, 'json', services.config);
  for (let attempt = 1; attempt <= MAX_VERSIONS; attempt++) {
    const validation = await services.searches.check(
      await orderOf(services, caller, request),
      signal,
    );
    if (validation) return validation;
  }
  throw new AppError('unavailable', 'A dataset changes faster than it can be read', {
    headers: { 'Retry-After': '1' },
  });
}

/** The language as the caller may use it (EV-101). */
export async function describeLanguage(
  { registry, db }: SearchLanguageServices,
  caller: Principal,
): Promise<ReturnType<typeof reference>> {
  const grants = await loadGrants(db, caller);
  const datasets = registry
    .list()
    .filter((resource) => resource.kind.dataset && mayAccess(grants, resource, 'read'))
    .map(({ canonical }) => canonical);
  return reference([
    'events',
    ...datasets,
    ...(caller.isSuperuser && caller.scopes === null ? ['audit'] : []),
  ]);
}

/**
 * What is wrong with a query that is to be stored under a name: the text of SL's error, or that it would run itself, also
 * through others (EV-91); null for nothing.
 */
export async function checkSavedQuery(
  services: SearchLanguageServices,
  caller: Principal,
  { query, name }: { readonly query: string; readonly name: string },
): Promise<string | null> {
  const now = timeFromMs(services.clock.now())!;
  const { savedSearches } = await namesIn(services, caller, { query, parameters: {} }, now);
  if (savedSearches.has(name)) return `Saved search '${name}' would run itself`;
  const { errors } = await validateSearch(services, caller, { query });
  return errors[0]?.error ?? null;
}
