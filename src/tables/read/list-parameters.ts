/**
 * Query parameters of lists. Only shapes are checked. The last of a repeated parameter counts, except for `columns`.
 */
import { invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import { FORMATS, type Format } from './format.ts';

/** Checked, with defaults. */
export interface ListParameters {
  /** Null: all rows. */
  readonly limit: number | null;
  readonly offset: number;
  readonly order: 'asc' | 'desc';
  /** Null when absent: `Accept` decides. */
  readonly format: Format | null;
  /** Empty when absent, like the next three. */
  readonly sort: string;
  readonly filter: string;
  readonly q: string;
  readonly columns: readonly string[];
  readonly cursor: string | null;
}

interface ListLimits {
  /** Absent: no maximum. */
  readonly maxLimit?: number;
  /** Null: all rows. */
  readonly defaultLimit: number | null;
  readonly defaultOrder: 'asc' | 'desc';
}

const DATASET_LIMITS: ListLimits = { defaultLimit: null, defaultOrder: 'asc' };
const ORDERS = ['asc', 'desc'] as const;

/**
 * Throws `invalid-request` with one issue each for a wrong `limit`, `offset`, `order` or `format`, even where it
 * would have no effect. Whole numbers past 2^53 count as 2^53−1.
 */
export function parseListParameters(
  query: URLSearchParams | string,
  limits: ListLimits = DATASET_LIMITS,
): ListParameters {
  // A map keeps the last one of a name.
  const values = typeof query === 'string' ? lastValues(query) : new Map(query);
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
    columns: values.has('columns') ? new URLSearchParams(query).getAll('columns') : [],
    cursor: values.get('cursor') ?? null,
  };
  if (issues.length > 0) throw invalidRequest(...issues);
  return parameters;
}

type QueryValues = URLSearchParams | ReadonlyMap<string, string>;

/** Null when absent; a wrong one is added to `issues`. */
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
  // Beyond every row count.
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

/** Null when absent; anything else is added to `issues`. */
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

/**
 * The last value of each name. `search` may begin with `?`. `URLSearchParams` takes ten times as long for the few values
 * of most queries.
 *
 * Decodes as the URL standard says for forms: `+` is a space; malformed percent sequences and UTF-8 are repaired.
 */
export function lastValues(search: string): Map<string, string> {
  const values = new Map<string, string>();
  let from = search.startsWith('?') ? 1 : 0;
  let equals = 0;
  while (from < search.length) {
    const ampersand = search.indexOf('&', from);
    const to = ampersand < 0 ? search.length : ampersand;
    // Not looked for again before it is passed: a query may hold 200,000 names and no value.
    if (equals >= 0 && equals < from) equals = search.indexOf('=', from);
    const nameEnd = equals < 0 || equals > to ? to : equals;
    if (to > from) {
      values.set(decoded(search.slice(from, nameEnd)), decoded(search.slice(nameEnd + 1, to)));
    }
    from = to + 1;
  }
  return values;
}

function decoded(text: string): string {
  const hasPlus = text.includes('+');
  if (!hasPlus && !text.includes('%')) return text;
  try {
    return decodeURIComponent(hasPlus ? text.replaceAll('+', ' ') : text);
  } catch {
    // Malformed: repaired by the one that knows how.
    return new URLSearchParams(`x=${text}`).get('x') ?? '';
  }
}
