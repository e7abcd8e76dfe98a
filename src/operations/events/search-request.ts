import { JsonNumber } from '../../base/json/json.ts';
import { TimeZone } from '../../base/time-zone.ts';
import type { Config } from '../../config/settings.ts';
import { type Format, FORMATS } from '../../tables/read/format.ts';
import type { SqlOrder } from '../../language/sql/run-sql.ts';
import type { SearchWindow } from '../../language/run/search-jobs.ts';
import type { Value } from '../../language/expressions/value.ts';

export interface SearchRequest {
  readonly query: string;
  readonly sql?: SqlOrder;
  readonly parameters: Readonly<Record<string, Value>>;
  readonly limit: number;
  readonly timeoutMs: number;
  readonly format: Format;
  readonly explains: boolean;
  /** An answer so old is good enough; 0: only a new one. */
  readonly maxAgeMs: number;
  readonly timezone: string;
  /** Of the language; the present one unless given. */
  readonly now?: string;
  /** Only events of that time, RFC 3339, `latest` exclusive. */
  readonly within?: SearchWindow;
}

/** Answered as `error` and `code`. */
export class BadSearchRequest extends Error {
  readonly code = 'bad_request';
}

const MIN_TIMEOUT_MS = 100;
const MAX_PARAMETERS = 100;
const MAX_AGE_SECONDS = 300;

/** `accepted` is the format of the `Accept` header. Throws BadSearchRequest. */
export function readSearchRequest(body: unknown, accepted: Format, config: Config): SearchRequest {
  const members = requireObject(body);
  const { search } = config.events;
  const query = members['query'] ?? '';
  if (typeof query !== 'string') throw new BadSearchRequest('query must be a string');
  const format = oneOf(members, 'format', FORMATS) ?? accepted;
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
    maxAgeMs: (integer(members, 'max_age', 0, MAX_AGE_SECONDS) ?? 0) * 1000,
    timezone: timezoneOf(members['timezone'] ?? 'UTC'),
  };
}

/** Throws BadSearchRequest. */
export function readCheckRequest(body: unknown, config: Config): SearchRequest {
  const { query, params, timezone } = requireObject(body);
  return readSearchRequest({ query, params, timezone }, 'json', config);
}

const MAX_QUERIES = 10;

/** Of a statement in SQL: `sql` in place of `query`, `params` also as a list, and `with` and `offset`. Throws BadSearchRequest. */
export function readSqlRequest(body: unknown, accepted: Format, config: Config): SearchRequest {
  const {
    sql: query,
    with: queries,
    params,
    offset: _offset,
    explain: _explain,
    ...rest
  } = requireObject(body, 'sql');
  if (typeof query !== 'string') throw new BadSearchRequest('sql must be a string');
  const isList = Array.isArray(params);
  if (isList && params.length > MAX_PARAMETERS)
    throw new BadSearchRequest(`params may have ${MAX_PARAMETERS} values`);
  const request = readSearchRequest(
    { ...rest, query, ...(!isList && { params }) },
    accepted,
    config,
  );
  const offset = integer(requireObject(body), 'offset', 0, Number.MAX_SAFE_INTEGER) ?? 0;
  const values = isList
    ? params.map((one, at) => exact(one) ?? parameterValue(String(at), one))
    : [];
  const exactly = isList ? {} : exactValues(params);
  return { ...request, sql: { queries: queriesOf(queries ?? {}), values, exactly, offset } };
}

/** Integers past 2^53, which the language has as doubles. */
function exactValues(params: unknown): Record<string, Value> {
  const wide = Object.entries((params ?? {}) as Record<string, unknown>).map(
    ([name, value]) => [name, exact(value)] as const,
  );
  return Object.fromEntries(wide.filter((one): one is [string, Value] => one[1] !== null));
}

function exact(value: unknown): Value {
  const text =
    value instanceof JsonNumber ? value.source : typeof value === 'bigint' ? String(value) : '';
  return /^-?\d{16,19}$/.test(text) ? { int: text } : null;
}

function queriesOf(named: unknown): Record<string, string> {
  if (typeof named !== 'object' || named === null || Array.isArray(named))
    throw new BadSearchRequest('with must be an object of queries by the tables they are');
  const entries = Object.entries(named as Record<string, unknown>);
  if (entries.length > MAX_QUERIES)
    throw new BadSearchRequest(`with may have ${MAX_QUERIES} queries`);
  for (const [name, query] of entries) {
    if (typeof query !== 'string')
      throw new BadSearchRequest(
        `with.${name} must be a query of the search language, as a string`,
      );
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

function timezoneOf(value: unknown): string {
  if (typeof value === 'string' && TimeZone.named(value) !== null) return value;
  throw new BadSearchRequest(
    'timezone must be UTC, an offset such as +02:00, or a name such as Europe/Vienna',
  );
}

function requireObject(body: unknown, member = 'query'): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw new BadSearchRequest(`Expected a JSON object with a ${member}`);
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
