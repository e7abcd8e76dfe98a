/**
 * Queries changed as a reader of results does it: another span of time, one more condition. The text around the change stays
 * as it was typed.
 */
import { parseQuery } from './parse.ts';

/** How a query begins, as far as readers of results need to know. */
interface QueryStart {
  /** The first stage as written; `''` for a blank query or one that cannot be read. */
  readonly first: string;
  /** It searches events by terms, so terms can be added to it. */
  readonly isSearch: boolean;
}

/** How a query begins. */
export function startOf(query: string): QueryStart {
  const stage = parseQuery(query, { implicitTerms: true }).stages[0];
  if (stage === undefined) return { first: '', isSearch: query.trim() === '' };
  const first = query.slice(stage.place.at, stage.place.at + stage.place.length).trim();
  return { first, isSearch: stage.command === 'search' && stage.arguments.form === 'terse' };
}

/** Whether the rows are just the events that terms find: nothing follows the first stage. */
export function isOnlySearch(query: string): boolean {
  return startOf(query).isSearch && parseQuery(query, { implicitTerms: true }).stages.length < 2;
}

/**
 * Adds search terms to the first stage of the query; leaves it unchanged when that is no search by terms. The query is
 * parsed once, however many terms are tried on it.
 */
export function termsAdder(query: string): (terms: string) => string {
  if (query.trim() === '') return (terms) => terms || query;
  const stage = parseQuery(query, { implicitTerms: true }).stages[0];
  const isSearch = stage?.command === 'search' && stage.arguments.form === 'terse';
  if (stage === undefined || !isSearch) return () => query;
  const end = stage.place.at + stage.place.length;
  const head = query.slice(0, end).trimEnd();
  const rest = query.slice(end).trimStart();
  const tail = rest === '' ? '' : ` ${rest}`;
  // A space binds weakest (SL-61): what was there stays together.
  return (terms) => (terms === '' ? query : `${head} ${terms}${tail}`);
}

/** The query over `earliest` to `latest` (SL-62); empty texts do not restrict. */
export function withinTimes(query: string, earliest: string, latest: string): string {
  const terms = [
    earliest === '' ? '' : `earliest=${quoted(earliest)}`,
    latest === '' ? '' : `latest=${quoted(latest)}`,
  ];
  const added = terms.filter((term) => term !== '').join(' ');
  return query.trim() === '' ? `* ${added}`.trim() : termsAdder(query)(added);
}

/** A condition on a field as search terms: `host="web 1"`, or with `NOT` in front. */
export function fieldTerm(name: string, value: unknown, isExcluded = false): string {
  const field = /^[A-Za-z_@][\w@.:/$-]*$/.test(name) ? name : quoted(name);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `${isExcluded ? 'NOT ' : ''}${field}=${quoted(text)}`;
}

function quoted(text: string): string {
  if (/^[\w@.:+-]+$/.test(text) && !/^(?:AND|OR|NOT|IN)$/.test(text)) return text;
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t');
  return `"${escaped}"`;
}
