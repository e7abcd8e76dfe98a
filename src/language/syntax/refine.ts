/** Queries changed as a reader of results does; the rest of the text stays as typed. */
import type { Stage } from './ast.ts';
import { parseQuery } from './parse.ts';
import { quoted } from './terse-reader.ts';

interface QueryStart {
  /** `''` for a blank query or one that cannot be read. */
  readonly first: string;
  readonly isSearch: boolean;
  /** A search, and nothing after it. */
  readonly isOnlySearch: boolean;
}

export function startOf(query: string): QueryStart {
  const { stage, rest } = firstStage(query);
  if (stage === undefined) {
    const isSearch = query.trim() === '';
    return { first: '', isSearch, isOnlySearch: isSearch };
  }
  const first = query.slice(stage.place.at, stage.place.at + stage.place.length).trim();
  const isSearch = stage.command === 'search' && stage.arguments.form === 'terse';
  return { first, isSearch, isOnlySearch: isSearch && /^[\s|]*$/.test(rest) };
}

interface FirstStage {
  readonly query: string;
  readonly stage: Stage | undefined;
  /** What is written behind it. */
  readonly rest: string;
}

let last: FirstStage = { query: '', stage: undefined, rest: '' };

/** A page asks several times, and a query of 64 KB takes 30 ms to be parsed. */
function firstStage(query: string): FirstStage {
  if (query === last.query) return last;
  const [stage] = parseQuery(query, { implicitTerms: true, isFirstOnly: true }).stages;
  const rest = stage === undefined ? '' : query.slice(stage.place.at + stage.place.length);
  last = { query, stage, rest };
  return last;
}

/** Returns the query unchanged when it does not begin with a search by terms. */
export function termsAdder(query: string): (terms: string) => string {
  if (query.trim() === '') return (terms) => terms || query;
  const { stage, rest } = firstStage(query);
  const isSearch = stage?.command === 'search' && stage.arguments.form === 'terse';
  if (stage === undefined || !isSearch) return () => query;
  const head = query.slice(0, query.length - rest.length).trimEnd();
  const after = rest.trimStart();
  const tail = after === '' ? '' : ` ${after}`;
  // A space binds weakest: the existing terms stay together.
  return (terms) => (terms === '' ? query : `${head} ${terms}${tail}`);
}

/** Empty texts do not restrict. */
export function withinTimes(query: string, earliest: string, latest: string): string {
  const terms = [
    earliest === '' ? '' : `earliest=${bareOrQuoted(earliest)}`,
    latest === '' ? '' : `latest=${bareOrQuoted(latest)}`,
  ];
  const added = terms.filter((term) => term !== '').join(' ');
  return query.trim() === '' ? `* ${added}`.trim() : termsAdder(query)(added);
}

/** The inverse of `withinTimes`: what is asked, and its bounds where they end the first stage. */
export function timesOf(query: string): {
  readonly query: string;
  readonly earliest: string;
  readonly latest: string;
} {
  const none = { query, earliest: '', latest: '' };
  if (!startOf(query).isSearch) return none;
  const { rest } = firstStage(query);
  const head = query.slice(0, query.length - rest.length).trimEnd();
  const [found, earliest = '', latest = '', only = ''] = BOUNDS.exec(head) ?? [];
  if (found === undefined) return none;
  const terms = head.slice(0, -found.length).trimEnd();
  const after = rest.trim();
  return {
    query: after === '' ? (terms === '*' ? '' : terms) : `${terms || '*'} ${after}`,
    earliest: unquoted(earliest),
    latest: unquoted(latest || only),
  };
}

const BOUND = String.raw`("(?:[^"\\]|\\.)*"|[^\s"]+)`;
const BOUNDS = new RegExp(
  `(?:^|\\s+)(?:earliest=${BOUND}(?:\\s+latest=${BOUND})?|latest=${BOUND})$`,
);

function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : text;
}

/** `host="web 1"`, or with `NOT` in front. */
export function fieldTerm(name: string, value: unknown, isExcluded = false): string {
  const field = /^[A-Za-z_@][\w@.:/$-]*$/.test(name) ? name : bareOrQuoted(name);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `${isExcluded ? 'NOT ' : ''}${field}=${bareOrQuoted(text)}`;
}

function bareOrQuoted(text: string): string {
  return /^[\w@.:+-]+$/.test(text) && !/^(?:AND|OR|NOT|IN)$/.test(text) ? text : quoted(text);
}
