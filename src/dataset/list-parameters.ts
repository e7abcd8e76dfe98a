/**
 * The query parameters of a list (DS-36, DS-37), for datasets and admin lists (DS-133).
 *
 * Only shapes are checked here; `filter`, `sort`, `columns` and `cursor` are texts until they meet their columns. Of a
 * repeated parameter the last one counts (DS-3), except `columns`.
 */
import { invalidRequest, type ValidationIssue } from '../base/errors.ts';
import { lastValues } from '../base/query-text.ts';
import { FORMATS, type Format } from './format.ts';

/** What a list was asked for, shapes checked and defaults filled in. */
export interface ListParameters {
  /** Null: all rows. */
  readonly limit: number | null;
  readonly offset: number;
  readonly order: 'asc' | 'desc';
  /** Null when the parameter is absent and `Accept` decides. */
  readonly format: Format | null;
  /** The empty text when absent, like the next three. */
  readonly sort: string;
  readonly filter: string;
  readonly q: string;
  readonly columns: readonly string[];
  readonly cursor: string | null;
}

/** What differs between lists. */
export interface ListLimits {
  /** Absent: no maximum. */
  readonly maxLimit?: number;
  /** Null: all rows. */
  readonly defaultLimit: number | null;
  readonly defaultOrder: 'asc' | 'desc';
}

const DATASET_LIMITS: ListLimits = { defaultLimit: null, defaultOrder: 'asc' };
const ORDERS = ['asc', 'desc'] as const;

/**
 * The parameters of a request. Throws `invalid-request` with one issue for each of `limit`, `offset`, `order` and
 * `format` that is wrong, whether or not it would have had an effect. Whole numbers of any size are accepted; those
 * past 2^53 mean 2^53−1.
 */
export function parseListParameters(
  query: URLSearchParams,
  limits: ListLimits = DATASET_LIMITS,
): ListParameters {
  // The last one of a name is what a map keeps.
  return parametersOf(new Map(query), () => query.getAll('columns'), limits);
}

/** The parameters of a list of rows from the query of its address, its `?` included. Throws as `parseListParameters`. */
export function parseListQuery(search: string): ListParameters {
  const columns = (): string[] => new URLSearchParams(search).getAll('columns');
  return parametersOf(lastValues(search), columns, DATASET_LIMITS);
}

function parametersOf(
  values: ReadonlyMap<string, string>,
  columns: () => string[],
  limits: ListLimits,
): ListParameters {
  const issues: ValidationIssue[] = [];
  const range = limits.maxLimit === undefined ? { min: 1 } : { min: 1, max: limits.maxLimit };
  const parameters = {
    limit: integerParameter(values, 'limit', range, issues) ?? limits.defaultLimit,
    offset: integerParameter(values, 'offset', { min: 0 }, issues) ?? 0,
    order: wordParameter(values, 'order', ORDERS, issues) ?? limits.defaultOrder,
    format: wordParameter(values, 'format', FORMATS, issues),
    sort: values.get('sort') ?? '',
    filter: values.get('filter') ?? '',
    q: values.get('q') ?? '',
    columns: values.has('columns') ? columns() : [],
    cursor: values.get('cursor') ?? null,
  };
  if (issues.length > 0) throw invalidRequest(...issues);
  return parameters;
}

/** The parameters of a query, or the last one of each name. */
type QueryValues = URLSearchParams | ReadonlyMap<string, string>;

/** A whole number parameter, or null when it is absent; a wrong one is added to `issues`. */
export function integerParameter(
  query: QueryValues,
  name: string,
  range: { readonly min: number; readonly max?: number },
  issues: ValidationIssue[],
): number | null {
  const input = lastValue(query, name);
  if (input === null) return null;
  const loc = ['query', name];
  if (!/^\s*[+-]?\d+\s*$/.test(input)) {
    const msg = 'Input should be a valid integer, unable to parse string as an integer';
    issues.push({ type: 'int_parsing', loc, msg, input });
    return null;
  }
  // Beyond every row count there is nothing to tell apart.
  const value = Math.min(Number(input), Number.MAX_SAFE_INTEGER);
  const { min, max = Number.MAX_SAFE_INTEGER } = range;
  if (value < min) {
    const msg = `Input should be greater than or equal to ${min}`;
    issues.push({ type: 'greater_than_equal', loc, msg, input, ctx: { ge: min } });
  } else if (value > max) {
    const msg = `Input should be less than or equal to ${max}`;
    issues.push({ type: 'less_than_equal', loc, msg, input, ctx: { le: max } });
  }
  return value;
}

/** One of the given words, or null when it is absent; anything else is added to `issues`. */
export function wordParameter<Word extends string>(
  query: QueryValues,
  name: string,
  words: readonly Word[],
  issues: ValidationIssue[],
): Word | null {
  const input = lastValue(query, name);
  if (input === null) return null;
  const word = words.find((candidate) => candidate === input);
  if (word !== undefined) return word;
  const pattern = `^(${words.join('|')})$`;
  const msg = `String should match pattern '${pattern}'`;
  const loc = ['query', name];
  issues.push({ type: 'string_pattern_mismatch', loc, msg, input, ctx: { pattern } });
  return null;
}

function lastValue(query: QueryValues, name: string): string | null {
  if (query instanceof Map) return query.get(name) ?? null;
  return (query as URLSearchParams).getAll(name).at(-1) ?? null;
}
