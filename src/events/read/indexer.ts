/**
 * Builds the substring index after events are stored, a step at a time.
 *
 * Writes only its own file, so ingestion never waits for it. An index that does not match its store is deleted and
 * rebuilt; killing the process loses one step.
 */
import { Database } from 'bun:sqlite';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDamage } from '../../base/sqlite-damage.ts';
import { STRATEGY } from '../limits.ts';
import { EVENTS_FILE } from '../store/schema.ts';
import { foldedText } from './term.ts';
import {
  createIndexSchema,
  createPartition,
  INDEX_FILE,
  Grams,
  numberOf,
  partitionOf,
  placeOf,
  readIndexState,
  rowOf,
} from './text-index.ts';
import { WriteAheadLog } from '../store/write-ahead-log.ts';

const MAX_LOG_BYTES = 16 * 1024 * 1024;
const BUSY_TIMEOUT = 'PRAGMA busy_timeout = 5000';

interface IndexedRow {
  readonly id: number;
  readonly index: string;
  readonly text: string;
}

/** Only one process may work on an index. */
export class Indexer {
  readonly #stateDir: string;
  #db: Database | null = null;
  #log: WriteAheadLog | null = null;

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /** Returns true when there may be more. */
  step(): boolean {
    const db = (this.#db ??= this.#open());
    const hasMore = this.#takeIn(db);
    this.#log?.fold();
    return hasMore;
  }

  #takeIn(db: Database): boolean {
    const state = readIndexState(db);
    if (state === null || this.#isWornOut(db, state.changesFrom)) {
      this.#discard();
      return true;
    }
    dropPruned(db, state.partitions);
    // Read before the rows: ids given out by now are committed, so a partition that was passed is complete.
    const lastId = lastGiven(db);
    const from = state.indexedTo;
    const partition = partitionOf(from + 1);
    const partitionEnd =
      (Math.floor((from + 1) / STRATEGY.partitionIds) + 1) * STRATEGY.partitionIds - 1;
    const rows: IndexedRow[] = [];
    let characters = 0;
    const found = db
      .query<IndexedRow, [number, number, number]>(
        `SELECT id, "index", data || char(10) || json(fields) || char(10) || "index" || char(10) || sourcetype || char(10) ||
           source || char(10) || host AS text
         FROM main.events WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`,
      )
      .iterate(from, partitionEnd, STRATEGY.indexStepEvents);
    for (const row of found) {
      rows.push(row);
      characters += row.text.length;
      if (characters > STRATEGY.indexStepCharacters) break;
    }
    const last = rows.at(-1)?.id ?? from;
    const isAll =
      rows.length < STRATEGY.indexStepEvents && characters <= STRATEGY.indexStepCharacters;
    const to = isAll && lastId > partitionEnd ? partitionEnd : last;
    if (to === from) return false;
    db.transaction(() => {
      if (rows.length > 0) {
        createPartition(db, partition);
        const insert = db.query(
          `INSERT INTO ix.${partition} (rowid, text, place) VALUES (?, ?, ?)`,
        );
        const numbers = numbersOf(db, new Set(rows.map(({ index }) => index)));
        // In the order of their rows: a smaller one than the last would be written by itself.
        rows.sort((a, b) => numbers.get(a.index)! - numbers.get(b.index)! || a.id - b.id);
        const grams = new GramTable(db, partition);
        for (const { id, index, text } of rows) {
          const no = numbers.get(index)!;
          const folded = foldedText(text);
          insert.run(rowOf(no, id), folded, placeOf(no));
          grams.of(no).add(folded);
        }
        grams.save();
      }
      db.query('UPDATE ix.progress SET indexed_to = ?').run(to);
      // Deferred: an immediate transaction would lock the store as well.
    }).deferred();
    return true;
  }

  close(): void {
    this.#db?.close();
    this.#db = null;
    this.#log = null;
  }

  #isWornOut(db: Database, changesFrom: number): boolean {
    const { changes } = db
      .query<{ changes: number }, [number]>(
        'SELECT coalesce(max(seq), 0) - ? AS changes FROM main.changed_events',
      )
      .get(changesFrom)!;
    if (changes <= STRATEGY.indexChanges) return false;
    const { events } = db
      .query<{ events: number }, []>('SELECT sum(events) AS events FROM main.indexes')
      .get()!;
    return changes > events / 10;
  }

  #open(): Database {
    const path = join(this.#stateDir, INDEX_FILE);
    try {
      this.#prepare(path);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#discard();
      this.#prepare(path);
    }
    const db = new Database(join(this.#stateDir, EVENTS_FILE), { readwrite: true });
    db.run(BUSY_TIMEOUT);
    db.run('ATTACH ? AS ix', [path]);
    // Losing the newest steps in a power failure only repeats them; the boundary is in the same file.
    db.run('PRAGMA ix.synchronous = NORMAL');
    // Truncates the log, which merging lists makes large, whenever SQLite restarts it.
    db.run(`PRAGMA ix.journal_size_limit = ${MAX_LOG_BYTES}`);
    this.#log = new WriteAheadLog(db, 'ix', path, MAX_LOG_BYTES);
    return db;
  }

  /** Creates the index when missing, left incomplete by a killed process, or of another form. */
  #prepare(path: string): void {
    using index = new Database(path, { readwrite: true, create: true });
    index.run(BUSY_TIMEOUT);
    index.run('PRAGMA journal_mode = WAL');
    if (index.query("SELECT 1 FROM sqlite_schema WHERE name = 'progress'").get() !== null) return;
    if (index.query('SELECT 1 FROM sqlite_schema').get() !== null) {
      this.#discard();
      return this.#prepare(path);
    }
    using store = new Database(join(this.#stateDir, EVENTS_FILE), { readonly: true });
    store.run(BUSY_TIMEOUT);
    const { identity, seq } = store
      .query<{ identity: string; seq: number }, []>(
        `SELECT store AS identity, (SELECT coalesce(max(seq), 0) FROM changed_events) AS seq FROM identity`,
      )
      .get()!;
    createIndexSchema(index, identity, seq);
  }

  #discard(): void {
    this.close();
    for (const suffix of ['', '-wal', '-shm']) {
      rmSync(join(this.#stateDir, INDEX_FILE + suffix), { force: true });
    }
  }
}

function lastGiven(db: Database): number {
  const { value } = db
    .query<{ value: number }, []>("SELECT value FROM main.counters WHERE name = 'next_id'")
    .get()!;
  return value - 1;
}

/** Numbers of event indexes in the substring index, given on first use. */
function numbersOf(db: Database, names: ReadonlySet<string>): Map<string, number> {
  const add = db.query('INSERT OR IGNORE INTO ix.names (name) VALUES (?)');
  const get = db.query<{ no: number }, [string]>('SELECT no FROM ix.names WHERE name = ?');
  return new Map(
    [...names].map((name) => {
      add.run(name);
      return [name, get.get(name)!.no];
    }),
  );
}

class GramTable {
  readonly #db: Database;
  readonly #partition: string;
  readonly #byIndex = new Map<number, Grams>();

  constructor(db: Database, partition: string) {
    this.#db = db;
    this.#partition = partition;
  }

  of(no: number): Grams {
    let grams = this.#byIndex.get(no);
    if (grams === undefined) {
      const stored = this.#db
        .query<{ bits: Uint8Array }, [string, number]>(
          'SELECT bits FROM ix.grams WHERE partition = ? AND no = ?',
        )
        .get(this.#partition, no);
      grams = new Grams(stored?.bits);
      this.#byIndex.set(no, grams);
    }
    return grams;
  }

  save(): void {
    const put = this.#db.query('REPLACE INTO ix.grams VALUES (?, ?, ?)');
    for (const [no, { bits, hasChanged }] of this.#byIndex) {
      if (hasChanged) put.run(this.#partition, no, bits);
    }
  }
}

/** Drops partitions whose events are all deleted. */
function dropPruned(db: Database, partitions: readonly string[]): void {
  const { first } = db
    .query<{ first: number | null }, []>('SELECT min(id) AS first FROM main.events')
    .get()!;
  for (const name of partitions) {
    const number = numberOf(name);
    if ((number + 1) * STRATEGY.partitionIds > (first ?? lastGiven(db) + 1)) continue;
    db.run(`DROP TABLE ix.${name}`);
    db.run('DELETE FROM ix.grams WHERE partition = ?', [name]);
  }
}

const WORK_MS = 300;

type Job = (body: unknown) => Promise<Response>;

/** A few steps per call, so that the worker can be stopped between them. */
export function eventIndexJobs(): Record<string, Job> {
  let indexer: Indexer | null = null;
  return {
    step: async (body) => {
      indexer ??= new Indexer((body as { stateDir: string }).stateDir);
      const startedAt = performance.now();
      let hasMore = true;
      try {
        while (hasMore && performance.now() - startedAt < WORK_MS) hasMore = indexer.step();
      } catch (error) {
        indexer.close();
        indexer = null;
        throw error;
      }
      return Response.json({ hasMore });
    },
  };
}
