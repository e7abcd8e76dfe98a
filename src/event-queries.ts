/**
 * Where the events and the search language meet, which do not know each other: queries that choose among events, and events
 * as a source of queries.
 */
import { extractPairs } from './events/intake/extract/pairs.ts';
import { KeptReader } from './events/store/cached-reader.ts';
import type { EventReader } from './events/store/reader.ts';
import type { Selection } from './columns/column.ts';
import type { GroupRows } from './events/parts/group-rows.ts';
import { type Keyed, ORDER_KEYS, problemText } from './events/parts/sealed-tier.ts';
import { foldedText } from './events/read/term.ts';
import { type MakeEventFilter, QueryProblem } from './events/read/query-filter.ts';
import { createEventFilter } from './language/plan/event-filter.ts';
import { Problem } from './language/syntax/problem.ts';
import type {
  EventStore,
  SealedBatch,
  SealedEvents,
  SealedRows,
} from './language/sources/events.ts';
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

export function eventStore(reader: EventReader): EventStore {
  return {
    db: reader.db,
    indexNames: () => reader.indexNames(),
    term: (text, readable) => reader.term(text, 'data', readable),
    sealed: sealedEvents(reader),
  };
}

const ORDERS = {
  forward: 'id',
  backward: 'id DESC',
  newest: 'time DESC, id DESC',
} as const;

function sealedEvents({ sealed }: EventReader): SealedEvents {
  return {
    get isEmpty() {
      return sealed.isEmpty;
    },
    problems: () => sealed.problems.map(problemText),
    plainFields: () => sealed.plainMembers,
    rows: ({ terms: asked, fieldTexts, ...wanted }) => {
      const terms = [
        ...asked.map((text) => ({ folded: foldedText(text), inData: true })),
        ...fieldTexts.map((folded) => ({ folded, inData: false })),
      ];
      const hint = { ...wanted, terms, times: [] };
      if (sealed.partsFor(hint).length === 0) return null;
      return {
        batches: (take) => sealed.groups(hint, (rows, selection) => take(batchOf(rows, selection))),
        keys: (order) => ORDER_KEYS[ORDERS[order]],
        merged: <Row extends object>(
          order: keyof typeof ORDERS,
          own: Iterable<Row>,
          take: Parameters<SealedRows['merged']>[2],
        ) =>
          sealed.mergedGroups(
            ORDERS[order],
            hint,
            own as Iterable<Row & Keyed>,
            (rows, selection) =>
              take(batchOf(rows, selection)) as {
                selection: Selection;
                rowAt: (place: number) => Row;
              },
          ),
      };
    },
  };
}

function batchOf(rows: GroupRows, selection: Selection): SealedBatch {
  return {
    rows: rows.rows,
    selection,
    columnOf: (name) => rows.batchColumn(name),
    memberOf: (name, hasNumbers) => rows.batchMember(name, hasNumbers),
    cellsOf: (name) => rows.column(name),
    memberCellsOf: (name) => rows.member(name),
  };
}

/** What queries need of the events, which they do not know. */
export const searchParts: SearchParts = {
  openEvents: (directory) => {
    const taken = keptReader.take(directory);
    if (taken === null) return null;
    return { ...eventStore(taken.reader), close: () => taken.release() };
  },
  extract: (style, text) => {
    if (style === 'kv') return extractPairs(text, 'kv') as Record<string, Value> | null;
    const value = valueOfJson(text);
    return isObject(value) ? value : null;
  },
};
