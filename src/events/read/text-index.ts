/**
 * The substring index of events: FTS5 trigrams in `<state>/events-index.sqlite`.
 *
 * A separate database, because building it must never hold the write lock of ingestion; it may be deleted at any
 * time. One FTS table per STRATEGY.partitionIds ids, so that pruned events are removed by dropping a table.
 *
 * Rows of one event index lie together and share a token, so that a search skips what its caller may not read, and
 * none is begun for trigrams that no readable index has: its time does not tell how often a text occurs in the
 * others.
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
      'CREATE TABLE progress (store TEXT NOT NULL, indexed_to INTEGER NOT NULL, changes_from INTEGER NOT NULL) STRICT',
    );
    db.run('INSERT INTO progress VALUES (?, 0, ?)', [store, changesFrom]);
    db.run('CREATE TABLE names (no INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT');
    db.run(
      'CREATE TABLE grams (partition TEXT NOT NULL, no INTEGER NOT NULL, bits BLOB NOT NULL, PRIMARY KEY (partition, no)) STRICT',
    );
  }).immediate();
}

export function partitionOf(id: number): string {
  return `texts_${Math.floor(id / STRATEGY.partitionIds)}`;
}

/** Its ids begin at so many times STRATEGY.partitionIds. */
export function numberOf(partition: string): number {
  return Number(partition.slice('texts_'.length));
}

/** In the database attached as `ix`. */
export function createPartition(db: Database, name: string): void {
  // Texts arrive folded; positions are not stored, which makes the index a third as large.
  db.run(
    `CREATE VIRTUAL TABLE IF NOT EXISTS ix.${name} USING fts5(text, place, content='', detail=none, columnsize=0,
     tokenize='trigram case_sensitive 1')`,
  );
}

/** Of an event in its partition: ascending by index, then by id. */
export function rowOf(no: number, id: number): number {
  return no * STRATEGY.partitionIds + (id % STRATEGY.partitionIds);
}

/** One trigram, of characters for private use. */
export function placeOf(no: number): string {
  return String.fromCharCode(0xe000 + (no >> 11), 0xe800 + (no & 2047), 0xf000);
}

/** The trigrams of an event index in one partition, as bits of their hashes: some are there that no event has. */
export class Grams {
  readonly bits: Uint8Array;
  hasChanged = false;

  constructor(bits: Uint8Array | undefined) {
    this.bits = bits ?? new Uint8Array(2 ** 13);
  }

  add(folded: string): void {
    for (let at = 2; at < folded.length; at++) {
      const hash = hashAt(folded, at);
      const bit = 1 << (hash & 7);
      if ((this.bits[hash >> 3]! & bit) !== 0) continue;
      this.bits[hash >> 3]! |= bit;
      this.hasChanged = true;
    }
  }

  hasAllOf(folded: string): boolean {
    for (let at = 2; at < folded.length; at++) {
      const hash = hashAt(folded, at);
      if ((this.bits[hash >> 3]! & (1 << (hash & 7))) === 0) return false;
    }
    return true;
  }
}

/** 16 bits of the three characters up to there. */
function hashAt(text: string, at: number): number {
  const mixed =
    Math.imul(text.charCodeAt(at - 2), 0x9e3779b1) ^
    Math.imul(text.charCodeAt(at - 1), 0x85ebca6b) ^
    Math.imul(text.charCodeAt(at), 0xc2b2ae35);
  return mixed >>> 16;
}

/** The index attached as `ix`, in the current snapshot; null when it belongs to another store. */
export function readIndexState(db: Database): IndexState | null {
  const state = db
    .query<{ store: string; indexed_to: number; changes_from: number }, []>(
      'SELECT * FROM ix.progress',
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
      "SELECT name FROM ix.sqlite_schema WHERE type = 'table' AND name GLOB 'texts_[0-9]*' AND sql LIKE 'CREATE VIRTUAL%'",
    )
    .all()
    .map(({ name }) => name);
  return { indexedTo: state.indexed_to, changesFrom: state.changes_from, partitions };
}

/**
 * A superset of the events with the term in the `readable` indexes; null: in any. Null when scanning is better: the
 * term is too short, too frequent, or may occur in a time.
 */
export function candidates(
  db: Database,
  state: IndexState,
  term: string,
  scope: 'data' | 'any',
  readable: readonly string[] | null,
): SqlCondition | null {
  const folded = foldedText(term);
  if (scope === 'any' && (isTimeLike(folded) || /[:,\s]/.test(folded))) return null;
  const trigrams = trigramQuery(folded);
  if (trigrams === null || state.partitions.length === 0) return null;
  const own = readable === null ? null : ownNumbers(db, readable);
  const found = state.partitions.flatMap((name) => {
    const places = own === null ? '' : placesQuery(db, name, own, folded);
    if (places === null) return [];
    const first = numberOf(name) * STRATEGY.partitionIds;
    return {
      sql: `SELECT rowid % ${STRATEGY.partitionIds} + ${first} AS id FROM ix.${name} WHERE ${name} MATCH ?`,
      match: places + trigrams,
    };
  });
  const ids =
    found.length === 0
      ? []
      : db
          .query<{ id: number }, string[]>(
            `SELECT id FROM (${found.map(({ sql }) => sql).join(' UNION ALL ')}) LIMIT ${STRATEGY.termCandidates + 1}`,
          )
          .all(...found.map(({ match }) => match))
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

/** Null for all. */
function ownNumbers(db: Database, readable: readonly string[]): readonly number[] | null {
  const known = db
    .query<{ no: number; isReadable: number }, [string]>(
      'SELECT no, name IN (SELECT value FROM json_each(?)) AS isReadable FROM ix.names',
    )
    .all(JSON.stringify(readable));
  const own = known.filter(({ isReadable }) => isReadable === 1).map(({ no }) => no);
  return own.length === known.length ? null : own;
}

/** The start of a query, to whose rows the rest of it skips. Null when none of these indexes has all trigrams. */
function placesQuery(
  db: Database,
  partition: string,
  own: readonly number[],
  folded: string,
): string | null {
  const places = db
    .query<{ no: number; bits: Uint8Array }, [string, string]>(
      'SELECT no, bits FROM ix.grams WHERE partition = ? AND no IN (SELECT value FROM json_each(?))',
    )
    .all(partition, JSON.stringify(own))
    .filter(({ bits }) => new Grams(bits).hasAllOf(folded))
    .map(({ no }) => `"${placeOf(no)}"`);
  return places.length === 0 ? null : `(${places.join(' OR ')}) AND `;
}

/** Null when the term is shorter than one, or contains NUL, which ends a query. */
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
