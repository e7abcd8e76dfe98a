/**
 * The substring index of events: FTS5 trigrams in `<state>/events-index.sqlite`.
 *
 * A separate database, because building it must never hold the write lock of ingestion; it is derived data and may be
 * deleted at any time. It names a superset of the matches: readers check each candidate. One FTS table per
 * STRATEGY.partitionIds ids, so that pruned events are removed by dropping a table.
 */
import type { Database } from 'bun:sqlite';
import { STRATEGY } from '../limits.ts';
import type { SqlCondition } from './term.ts';
import { foldedText, isTimeLike } from './term.ts';

export const INDEX_FILE = 'events-index.sqlite';

/** Of an index that matches its store. */
export interface IndexState {
  /** All events up to this id are indexed. */
  readonly indexedTo: number;
  /** Later changes, by `seq` of `changed_events`, are not indexed. */
  readonly changesFrom: number;
  readonly partitions: readonly string[];
}

/** `store`: its identity. */
export function createIndexSchema(db: Database, store: string, changesFrom: number): void {
  db.transaction(() => {
    db.run(
      'CREATE TABLE state (store TEXT NOT NULL, indexed_to INTEGER NOT NULL, changes_from INTEGER NOT NULL) STRICT',
    );
    db.run('INSERT INTO state VALUES (?, 0, ?)', [store, changesFrom]);
  }).immediate();
}

export function partitionOf(id: number): string {
  return `terms_${Math.floor(id / STRATEGY.partitionIds)}`;
}

/** In the database attached as `ix`. */
export function createPartition(db: Database, name: string): void {
  // Texts arrive folded; positions are not stored, which makes the index a third as large.
  db.run(
    `CREATE VIRTUAL TABLE IF NOT EXISTS ix.${name} USING fts5(text, content='', detail=none, columnsize=0,
     tokenize='trigram case_sensitive 1')`,
  );
}

/** The index attached as `ix`, in the current snapshot; null when it belongs to another store. */
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
  // A store restored from a backup assigns ids again that the index has with other texts.
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
 * A condition on `id` that every event with the term fulfils. Null when scanning is better: the term is too short,
 * too frequent, or may occur in a time.
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
      `SELECT rowid AS id FROM (${union}) LIMIT ${STRATEGY.termCandidates + 1}`,
    )
    .all(...matches)
    .map(({ id }) => id);
  if (ids.length > STRATEGY.termCandidates) return null;
  const last = db
    .query<{ id: number | null }, []>('SELECT max(id) AS id FROM main.events')
    .get()?.id;
  if ((last ?? 0) - state.indexedTo > STRATEGY.termCandidates) return null;
  // One list of ids: with several alternatives SQLite would scan a whole index of times.
  return {
    sql: `id IN (SELECT value FROM json_each(?) UNION ALL SELECT id FROM changed_events WHERE seq > ?
      UNION ALL SELECT id FROM main.events WHERE id > ?)`,
    params: [JSON.stringify(ids), state.changesFrom, state.indexedTo],
  };
}

/** All trigrams of the folded term. Null when it is shorter than one, or contains NUL, which ends a query. */
function trigramQuery(folded: string): string | null {
  if (folded.includes('\0')) return null;
  const characters = [...folded];
  if (characters.length < 3) return null;
  const trigrams = new Set<string>();
  // Spread over the term: its end is often rarer than its start.
  const last = characters.length - 3;
  const step = Math.max(1, last / (STRATEGY.termTrigrams - 1));
  for (let at = 0; at <= last; at += step) {
    trigrams.add(characters.slice(Math.floor(at), Math.floor(at) + 3).join(''));
  }
  trigrams.add(characters.slice(last).join(''));
  return [...trigrams].map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(' AND ');
}
