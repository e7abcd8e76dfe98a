import { JsonNumber } from '../../base/json/json.ts';
import { TimeZone } from '../../base/time-zone.ts';
import type { Config } from '../../config/settings.ts';
import { type Format, FORMATS } from '../../tables/read/format.ts';
import type { Value } from '../../language/expressions/value.ts';

export interface SearchRequest {
  readonly query: string;
  readonly parameters: Readonly<Record<string, Value>>;
  readonly limit: number;
  readonly timeoutMs: number;
  readonly format: Format;
  readonly explains: boolean;
  readonly timezone: string;
}

/** Answered as `error` and `code`. */
export class BadSearchRequest extends Error {
  readonly code = 'bad_request';
}

const MIN_TIMEOUT_MS = 100;
const MAX_PARAMETERS = 100;

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
    timezone: timezoneOf(members['timezone'] ?? 'UTC'),
  };
}

/** Throws BadSearchRequest. */
export function readCheckRequest(body: unknown, config: Config): SearchRequest {
  const { query, params, timezone } = requireObject(body);
  return readSearchRequest({ query, params, timezone }, 'json', config);
}

function timezoneOf(value: unknown): string {
  if (typeof value === 'string' && TimeZone.named(value) !== null) return value;
  throw new BadSearchRequest(
    'timezone must be UTC, an offset such as +02:00, or a name such as Europe/Vienna',
  );
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
