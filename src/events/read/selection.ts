/** Which events a list, tail or figure covers, as data and as SQL. */
import { QuotedTexts } from '../../base/text/quoted-text.ts';
import type { EventReader } from '../store/reader.ts';
import { firstIdCreatedFrom } from '../store/store.ts';
import type { PartHint } from '../parts/group-rows.ts';
import type { SqlCondition } from './term.ts';
import { allOf, foldedText, isTimeLike } from './term.ts';

/** Exact filters by member. */
export type MemberFilters = Readonly<
  Partial<Record<'index' | 'sourcetype' | 'source' | 'host', string>>
>;

/** All must hold; absent members do not restrict. */
export interface Selection {
  readonly members: MemberFilters;
  /** All times are microseconds. */
  readonly created: number | null;
  readonly updated: number | null;
  /** Inclusive. */
  readonly createdAfter: number | null;
  /** Exclusive. */
  readonly createdBefore: number | null;
  readonly terms: readonly string[];
  /** Indexes that may be read; null: all. */
  readonly readable: readonly string[] | null;
  /** Bounds of `_time`, the upper one exclusive. */
  readonly earliest: number | null;
  readonly latest: number | null;
}

export const ALL_EVENTS: Selection = {
  members: {},
  created: null,
  updated: null,
  createdAfter: null,
  createdBefore: null,
  terms: [],
  readable: null,
  earliest: null,
  latest: null,
};

const COLUMNS = {
  index: '"index"',
  sourcetype: 'sourcetype',
  source: 'source',
  host: 'host',
} as const;

/** A condition on `events`, of the hot tier or of sealed ones; only valid inside a snapshot of the reader. */
export function selectionSql(
  reader: EventReader,
  selection: Selection,
  isSealed = false,
): SqlCondition {
  const conditions: SqlCondition[] = [];
  const add = (sql: string, ...params: (string | number)[]): void => {
    conditions.push({ sql, params });
  };
  for (const [name, value] of Object.entries(selection.members)) {
    add(`${COLUMNS[name as keyof typeof COLUMNS]} = ?`, value);
  }
  if (isSealed) {
    const { created, createdAfter, createdBefore } = selection;
    if (created !== null) add('created = ?', created);
    if (createdAfter !== null) add('created >= ?', createdAfter);
    if (createdBefore !== null) add('created < ?', createdBefore);
  }
  // `created` never decreases with the id, so its bounds become bounds of ids.
  const fromMicros = (micros: number): number => firstIdCreatedFrom(reader.db, micros);
  const { created, updated, createdAfter, createdBefore, earliest, latest, readable } = selection;
  if (!isSealed && created !== null)
    add('id >= ? AND id < ?', fromMicros(created), fromMicros(created + 1));
  if (!isSealed && createdAfter !== null) add('id >= ?', fromMicros(createdAfter));
  if (!isSealed && createdBefore !== null) add('id < ?', fromMicros(createdBefore));
  if (updated !== null) add('updated = ?', updated);
  if (earliest !== null) add('time >= ?', earliest);
  if (latest !== null) add('time < ?', latest);
  if (readable !== null) {
    // As one parameter: there may be more indexes than SQLite allows parameters.
    add('"index" IN (SELECT value FROM json_each(?))', JSON.stringify(readable));
  }
  for (const term of selection.terms) {
    conditions.push(isSealed ? reader.sealedTerm(term, 'any') : reader.term(term, 'any', readable));
  }
  return allOf(conditions);
}

/** What parts of sealed events it concerns. */
export function selectionHint(
  {
    members,
    created,
    updated,
    createdAfter,
    createdBefore,
    readable,
    earliest,
    latest,
    terms,
  }: Selection,
  ids: Pick<PartHint, 'lowestId' | 'highestId'> = { lowestId: null, highestId: null },
): PartHint {
  const { index, ...others } = members;
  const own =
    index === undefined ? readable : (readable ?? [index]).filter((name) => name === index);
  const times: PartHint['times'][number][] = [];
  const within = (column: 'created' | 'updated', from: number | null, to: number | null): void => {
    if (from !== null || to !== null)
      times.push({ column, from: from ?? -Infinity, to: to ?? Infinity });
  };
  within('created', created, created);
  within('created', createdAfter, createdBefore === null ? null : createdBefore - 1);
  within('updated', updated, updated);
  return {
    ...ids,
    indexes: own,
    earliest,
    latest: latest === null ? null : latest - 1,
    // Times, and JSON with its spaces, are not in the filters.
    terms: terms
      .map(foldedText)
      .filter((folded) => !isTimeLike(folded) && !/[:,\s]/.test(folded))
      .map((folded) => ({ folded, inData: false })),
    texts: Object.entries(others).map(([column, value]) => ({
      column: column as 'host',
      test: (text) => text === value,
    })),
    members: [],
    times,
  };
}

/** Whether the hint chooses the sealed events as SQL would. */
export function isHinted({ terms, latest }: Selection): boolean {
  // Before a far time there is no next integer.
  return terms.length === 0 && (latest === null || Number.isSafeInteger(latest));
}

/** Each is a condition on every member, and SQLite limits the depth of expressions. */
export const MAX_TERMS = 200;

/**
 * White space and commas separate, a term in matching quotes is a phrase, quoted parts inside a term keep their
 * spaces and quotes.
 */
export function searchTerms(text: string): string[] {
  const quoted = new QuotedTexts(text);
  const terms: string[] = [];
  for (let from = 0; from < text.length;) {
    if (SEPARATOR.test(text[from]!)) {
      from++;
      continue;
    }
    let to = from;
    let parts = 0;
    let isQuoted = false;
    for (; to < text.length && !SEPARATOR.test(text[to]!); parts++) {
      const end = text[to] === '"' || text[to] === "'" ? quoted.endFrom(to) : -1;
      isQuoted = end >= 0;
      to = isQuoted ? end : to + 1;
    }
    const isPhrase = isQuoted && parts === 1;
    terms.push(
      isPhrase ? text.slice(from + 1, to - 1).replace(/\\(.)/gs, '$1') : text.slice(from, to),
    );
    from = to;
  }
  return [...new Set(terms)].filter((term) => term !== '');
}

const SEPARATOR = /[\s,]/;
