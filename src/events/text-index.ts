/**
 * The substring index of events (architecture 4.6): FTS5 trigrams in a database of its own, `<state>/events-index.sqlite`.
 *
 * In a file of its own, because building it must never hold the write lock that ingestion needs; it is derived data
 * and may be deleted at any time. It names candidates, at least all true ones: readers check each candidate. One FTS
 * table for every PARTITION_IDS ids, so that the index of pruned events goes by dropping a table.
 */
import type { Database } from 'bun:sqlite';
import type { SqlCondition } from './term.ts';
import { foldedText, isTimeLike } from './term.ts';

/** File name in the state directory. */
export const INDEX_FILE = 'events-index.sqlite';
/** Event ids one FTS table covers. */
export const PARTITION_IDS = 2 ** 20;
/** Trigrams of a long term that are looked up; more would rarely exclude anything. */
const MAX_TRIGRAMS = 24;
/** With more candidates than this, scanning in the order of the answer is quicker. */
const MAX_CANDIDATES = 20_000;

/** What a reader needs to know of an index that fits its store. */
export interface IndexState {
  /** All events with ids up to this one are in the index. */
  readonly indexedTo: number;
  /** Changes of events after this `seq` of `changed_events` are not in the index. */
  readonly changesFrom: number;
  /** The FTS tables. */
  readonly partitions: readonly string[];
}

/** The tables of an empty index for the store of that identity. */
export function createIndexSchema(db: Database, store: string, changesFrom: number): void {
  db.transaction(() => {
    db.run(
      'CREATE TABLE state (store TEXT NOT NULL, indexed_to INTEGER NOT NULL, changes_from INTEGER NOT NULL) STRICT',
    );
    db.run('INSERT INTO state VALUES (?, 0, ?)', [store, changesFrom]);
  }).immediate();
}

/** The FTS table of an event id. */
export function partitionOf(id: number): string {
  return `terms_${Math.floor(id / PARTITION_IDS)}`;
}

/** Makes the FTS table of a partition in the database attached as `ix`, unless it is there. */
export function createPartition(db: Database, name: string): void {
  // Texts are folded before they come; positions are not kept, which makes the index a third as large.
  db.run(
    `CREATE VIRTUAL TABLE IF NOT EXISTS ix.${name} USING fts5(text, content='', detail=none, columnsize=0,
     tokenize='trigram case_sensitive 1')`,
  );
}

/** The index attached as `ix`, as of the present snapshot; null when it belongs to another store. */
export function readIndexState(db: Database): IndexState | null {
  const state = db
    .query<{ store: string; indexed_to: number; changes_from: number }, []>(
      'SELECT * FROM ix.state',
    )
    .get();
  const identity = db
    .query<{ store: string; next_id: number }, []>(
      "SELECT store, (SELECT value FROM counters WHERE name = 'next_id') AS next_id FROM main.identity",
    )
    .get();
  if (state === null || identity === null || state.store !== identity.store) return null;
  // A store put back from a copy gives ids again that the index knows with another text.
  if (state.indexed_to >= identity.next_id) return null;
  const partitions = db
    .query<{ name: string }, []>(
      "SELECT name FROM ix.sqlite_schema WHERE type = 'table' AND name GLOB 'terms_[0-9]*' AND sql LIKE 'CREATE VIRTUAL%'",
    )
    .all()
    .map(({ name }) => name);
  return { indexedTo: state.indexed_to, changesFrom: state.changes_from, partitions };
}

/**
 * A condition on `id` that every event holding the term fulfils, or null when looking at all events is better: the term
 * is too short, too common, or may stand in a time. `scope` 'data' is the search language, 'any' EV-34.
 */
export function candidates(
  db: Database,
  state: IndexState,
  term: string,
  scope: 'data' | 'any',
): SqlCondition | null {
  const folded = foldedText(term);
  if (scope === 'any' && (isTimeLike(folded) || /[:,\s]/.test(folded))) return null;
  const match = trigramQuery(folded);
  if (match === null) return null;
  const found = state.partitions.map(
    (name) => `SELECT rowid FROM ix.${name} WHERE ${name} MATCH ?`,
  );
  if (found.length === 0) return null;
  const union = found.join(' UNION ALL ');
  const matches = found.map(() => match);
  const ids = db
    .query<{ id: number }, string[]>(
      `SELECT rowid AS id FROM (${union}) LIMIT ${MAX_CANDIDATES + 1}`,
    )
    .all(...matches)
    .map(({ id }) => id);
  if (ids.length > MAX_CANDIDATES) return null;
  const last = db
    .query<{ id: number | null }, []>('SELECT max(id) AS id FROM main.events')
    .get()?.id;
  if ((last ?? 0) - state.indexedTo > MAX_CANDIDATES) return null;
  // One list of ids: SQLite takes alternatives of lists for a reason to walk an index of times from end to end.
  return {
    sql: `id IN (SELECT value FROM json_each(?) UNION ALL SELECT id FROM changed_events WHERE seq > ?
      UNION ALL SELECT id FROM main.events WHERE id > ?)`,
    params: [JSON.stringify(ids), state.changesFrom, state.indexedTo],
  };
}

/** All trigrams of the folded term must occur; null when it is shorter than one, or holds NUL, where a query ends. */
function trigramQuery(folded: string): string | null {
  if (folded.includes('\0')) return null;
  const characters = [...folded];
  if (characters.length < 3) return null;
  const trigrams = new Set<string>();
  // Spread over the term: its end is often rarer than its start.
  const last = characters.length - 3;
  const step = Math.max(1, last / (MAX_TRIGRAMS - 1));
  for (let at = 0; at <= last; at += step) {
    trigrams.add(characters.slice(Math.floor(at), Math.floor(at) + 3).join(''));
  }
  trigrams.add(characters.slice(last).join(''));
  return [...trigrams].map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(' AND ');
}
