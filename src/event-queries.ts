/**
 * Where the events and the search language meet, which do not know each other: queries that choose among events, and events
 * as a source of queries.
 */
import { extractPairs } from './events/intake/extract/pairs.ts';
import { KeptReader } from './events/store/cached-reader.ts';
import { type MakeEventFilter, QueryProblem } from './events/read/query-filter.ts';
import { createEventFilter } from './language/plan/event-filter.ts';
import { Problem } from './language/syntax/problem.ts';
import type { SearchParts } from './language/sources/open-sources.ts';
import { isObject, valueOfJson, type Value } from './language/expressions/value.ts';

/** Queries that choose among events, for a part that does not know their language. */
export const makeEventFilter: MakeEventFilter = (query) => {
  const told = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw new QueryProblem(error.told(query.text));
    }
  };
  const { extract } = searchParts;
  const filter = told(() => createEventFilter(query.text, { ...query, extract }));
  return (rows) => told(() => filter(rows));
};

const keptReader = new KeptReader();

/** What queries need of the events, which they do not know. */
export const searchParts: SearchParts = {
  openEvents: (directory) => {
    const taken = keptReader.take(directory);
    if (taken === null) return null;
    const { reader } = taken;
    return {
      db: reader.db,
      indexNames: () => reader.indexNames(),
      term: (text, readable) => reader.term(text, 'data', readable),
      close: () => taken.release(),
    };
  },
  extract: (style, text) => {
    if (style === 'kv') return extractPairs(text, 'kv') as Record<string, Value> | null;
    const value = valueOfJson(text);
    return isObject(value) ? value : null;
  },
};
