/**
 * The writing side of the event store: one synchronous connection for the one writing process.
 *
 * `synchronous = FULL` in WAL mode: SQLite syncs the write-ahead log before COMMIT returns, so commits survive a
 * power loss; NORMAL would lose the last ones. Every change of an event updates the totals of its index in the same
 * transaction.
 */
import { Database } from 'bun:sqlite';
import type { Statement } from 'bun:sqlite';
import { chmodSync, closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { placeNew } from '../../base/files/file-swap.ts';
import { dropPart, type Part } from '../parts/manifest.ts';
import { type SealedEvent, SealedStore } from '../parts/sealed-store.ts';
import type { EventDraft, EventRow } from '../event.ts';
import { EVENT_SELECT } from '../event.ts';
import type { Layout } from '../intake/extract/column-lines.ts';
import type { LayoutChange } from '../intake/extract/layouts.ts';
import { createEventSchema } from './schema.ts';
import { EMPTY, headerProblem, storeProblem } from './store-problem.ts';
import type { ProgressOrder } from './writer-orders.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

/** Pages of log before a checkpoint, 16 MiB: every checkpoint syncs the file once more. */
const CHECKPOINT_PAGES = 4_000;
const MAX_LOG_BYTES = 48 * 1024 * 1024;

/**
 * Times out of order change pages of the two time indexes here and there: with SQLite's 2 MiB they are read again and
 * again, which takes half as long again.
 */
const CACHE_KIB = 16 * 1024;

const MAX_CHANNELS = 1_000;
/** No user has this id; what is stored under it is never forgotten. */
const NOBODY = 0;
const IMPORT_ROUTE = 'svc events import';
const BATCH_ROUTE = 'batch';
const LAYOUT_ROUTE = 'columns';
const NO_HASH = new Uint8Array();

/** Rows per INSERT: a third less work than one by one. */
const INSERT_ROWS = 50;

/** The `auto_vacuum` that frees pages when asked to. */
const INCREMENTAL = 2;
/** Moved in one transaction: 2 MiB, some ten milliseconds. */
const RECLAIMED_PAGES = 500;
/** Pages and share of the file that stay free. */
const LEAST_SPARE_PAGES = 256;
const SPARE_SHARE = 0.05;

const MAX_CHECKED_BYTES = 256 * 1024 * 1024;

export interface Inserted {
  readonly firstId: number;
  /** Microseconds; the same for all events of a call. */
  readonly created: number;
}

interface KeptReply {
  readonly bodyHash: Uint8Array;
  readonly answer: string;
}

interface Totals {
  events: number;
  bytes: number;
  firstId: number;
}

/** Transactions are explicit: `begin`, changes, `commit` or `rollback`. */
export class EventStore {
  readonly db: Database;
  readonly sealed: SealedStore;
  readonly #log: WriteAheadLog;
  readonly #insert: Statement;
  readonly #insertMany: Statement;
  readonly #nextIdOf: Statement;
  #nextId = 1;
  #lastCreated = 0;
  #hasReclaimed = false;
  #totals = new Map<string, Totals>();

  /** Creates a missing file. Throws `state-unusable`, naming file and remedy, when it is not an event store. */
  constructor(path: string) {
    if (!existsSync(path)) makeStore(path);
    chmodSync(path, 0o600);
    if (statSync(path).size === 0) throw unusable(EMPTY);
    this.db = new Database(path, { readwrite: true });
    try {
      this.#configure();
      createEventSchema(this.db);
      this.#check();
      this.#allowReclaim();
    } catch (error) {
      this.db.close();
      throw unusable(error);
    }
    this.sealed = new SealedStore(this.db, dirname(path));
    this.#log = new WriteAheadLog(this.db, 'main', path, MAX_LOG_BYTES);
    this.#insert = this.db.prepare(insertSql(1));
    this.#insertMany = this.db.prepare(insertSql(INSERT_ROWS));
    this.#nextIdOf = this.db.prepare('SELECT name, value FROM counters');
  }

  #configure(): void {
    this.db.run('PRAGMA busy_timeout = 5000');
    this.db.run('PRAGMA trusted_schema = OFF');
    this.db.run('PRAGMA cell_size_check = ON');
    this.db.run('PRAGMA journal_mode = WAL');
    this.db.run('PRAGMA synchronous = FULL');
    this.db.run(`PRAGMA journal_size_limit = ${MAX_LOG_BYTES}`);
    this.db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
    this.db.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    this.db.run('PRAGMA busy_timeout = 5000');
  }

  #check(): void {
    const problem = headerProblem(this.db);
    if (problem !== null) throw new Error(problem);
    const bytes = this.#pragma('page_count') * this.#pragma('page_size');
    // A full check reads everything, about a second per gigabyte; of a large store only what every write uses is
    // checked.
    const scope = bytes <= MAX_CHECKED_BYTES ? '1' : "'indexes'";
    const found = this.db.query(`PRAGMA quick_check(${scope})`).values()[0]?.[0];
    if (found !== undefined && found !== 'ok') throw new Error(String(found));
    this.db.query('SELECT * FROM counters').all();
    this.db.query('SELECT * FROM events ORDER BY id DESC LIMIT 100').all();
    this.db.query('SELECT time FROM events ORDER BY time DESC LIMIT 100').all();
  }

  /**
   * Stores of earlier versions kept the pages of deleted events. What is in use is copied, which for a large one takes
   * longer than intake may stand still: `compact` is for those.
   */
  #allowReclaim(): void {
    if (this.#pragma('auto_vacuum') !== 0) return;
    const used = this.#pragma('page_count') - this.#pragma('freelist_count');
    if (used * this.#pragma('page_size') > MAX_CHECKED_BYTES) return;
    try {
      this.#vacuum();
    } catch {
      // Another process writes, or the disk is full: the next opening tries again.
    }
  }

  /** One transaction: a copy of all that is in use goes through the log, so both need room. */
  #vacuum(): void {
    this.db.run(`PRAGMA auto_vacuum = ${INCREMENTAL}`);
    this.db.run('VACUUM');
    this.db.query('PRAGMA wal_checkpoint(TRUNCATE)').all();
  }

  /**
   * Gives back all space of deleted events, also where `reclaim` cannot; 5 to 20 s per GB, in which nobody else writes.
   * `folder`: for the copy, on the disk of the store.
   */
  compact(folder: string): void {
    try {
      this.db.run('PRAGMA busy_timeout = 60000');
      // Else it is made in /tmp, which is often small.
      this.db.run(`PRAGMA temp_store_directory = '${folder.replaceAll("'", "''")}'`);
      this.#vacuum();
    } catch (error) {
      throw new AppError('unavailable', 'The event store was left as it is', { cause: error });
    }
  }

  #pragma(name: string): number {
    return Object.values(this.db.query(`PRAGMA ${name}`).get() as Record<string, number>)[0]!;
  }

  /**
   * Gives pages of deleted events back to the disk, a few at a time; false when no more of them are free than new events
   * will soon need.
   */
  reclaim(): boolean {
    if (this.#pragma('auto_vacuum') !== INCREMENTAL) return false;
    const spare = (): number =>
      this.#pragma('freelist_count') -
      Math.max(LEAST_SPARE_PAGES, this.#pragma('page_count') * SPARE_SHARE);
    if (spare() <= 0) return false;
    this.db.query(`PRAGMA incremental_vacuum(${RECLAIMED_PAGES})`).all();
    this.#hasReclaimed = spare() <= 0;
    return !this.#hasReclaimed;
  }

  begin(): void {
    this.db.run('BEGIN IMMEDIATE');
    for (const { name, value } of this.#nextIdOf.all() as { name: string; value: number }[]) {
      if (name === 'next_id') this.#nextId = value;
      if (name === 'last_created') this.#lastCreated = value;
    }
    this.#totals = new Map();
  }

  /** Durable when it returns. Waits up to some seconds when searches have made the log large. */
  commit(): void {
    const counter = this.db.query('UPDATE counters SET value = ? WHERE name = ?');
    counter.run(this.#nextId, 'next_id');
    counter.run(this.#lastCreated, 'last_created');
    for (const [name, { events, bytes, firstId }] of this.#totals)
      this.#addTotals(name, events, bytes, firstId);
    this.db.run('COMMIT');
    this.#log.fold();
    if (!this.#hasReclaimed) return;
    // The file itself gets shorter when the log is written back; readers are not waited for.
    this.#hasReclaimed = false;
    this.db.query('PRAGMA wal_checkpoint(PASSIVE)').all();
  }

  rollback(): void {
    // On a full disk SQLite rolls back by itself.
    if (this.db.inTransaction) this.db.run('ROLLBACK');
  }

  /** Ids are consecutive. `now`: microseconds. */
  insert(drafts: readonly EventDraft[], now: number): Inserted {
    const firstId = this.#nextId;
    const created = Math.max(now, this.#lastCreated);
    for (let from = 0; from < drafts.length;) {
      const isFull = drafts.length - from >= INSERT_ROWS;
      const to = isFull ? from + INSERT_ROWS : from + 1;
      const values: (string | number | null)[] = [created];
      for (; from < to; from += 1) this.#addValues(values, drafts[from]!);
      (isFull ? this.#insertMany : this.#insert).run(...values);
    }
    if (drafts.length > 0) this.#lastCreated = created;
    return { firstId, created };
  }

  #addValues(values: (string | number | null)[], draft: EventDraft): void {
    const { index, sourcetype, source, host, data, fields, eventTime } = draft;
    const { bytes, ascii } = sizeOf(draft);
    const id = this.#nextId;
    values.push(id, eventTime, index, sourcetype, source, host, data, fields, ascii, bytes);
    this.#nextId = id + 1;
    this.#count(index, 1, bytes, id);
  }

  get(id: number): EventRow | null {
    return this.db
      .query<EventRow, [number]>(`SELECT ${EVENT_SELECT} FROM events WHERE id = ?`)
      .get(id);
  }

  /** Also where the event is sealed. Throws `unavailable` when its part is damaged. */
  find(id: number): EventRow | null {
    return this.get(id) ?? this.sealed.find(id);
  }

  /** `updated` increases even when the clock stands still. */
  update(id: number, draft: EventDraft, now: number): EventRow {
    const old = this.db
      .query<{ index: string; bytes: number; updated: number }, [number]>(
        'SELECT "index", bytes, updated FROM events WHERE id = ?',
      )
      .get(id);
    if (old === null) return this.#updateSealed(id, draft, now);
    const { bytes, ascii } = sizeOf(draft);
    const { index, sourcetype, source, host, data, fields, eventTime } = draft;
    this.db
      .query(
        `UPDATE events SET updated = ?, event_time = ?, "index" = ?, sourcetype = ?, source = ?, host = ?, data = ?,
         fields = jsonb(?), ascii = ?, bytes = ? WHERE id = ?`,
      )
      .run(
        Math.max(now, old.updated + 1),
        eventTime,
        index,
        sourcetype,
        source,
        host,
        data,
        fields,
        ascii,
        bytes,
        id,
      );
    this.db.query('INSERT INTO changed_events (id) VALUES (?)').run(id);
    this.#count(old.index, -1, -old.bytes, id);
    this.#count(index, 1, bytes, id);
    return this.get(id)!;
  }

  /** It becomes a row again. */
  #updateSealed(id: number, draft: EventDraft, now: number): EventRow {
    const old = this.sealed.find(id)!;
    this.sealed.remove(old.part, new Set([id]), now);
    const { bytes, ascii } = sizeOf(draft);
    const { index, sourcetype, source, host, data, fields, eventTime } = draft;
    const values = [old.created, id, eventTime, index, sourcetype, source, host, data, fields];
    this.#insert.run(...values, ascii, bytes);
    const updated = Math.max(now, old.updated + 1);
    this.db.query('UPDATE events SET updated = ? WHERE id = ?').run(updated, id);
    this.db.query('INSERT INTO changed_events (id) VALUES (?)').run(id);
    this.#count(old.index, -1, -old.bytes, id);
    this.#count(index, 1, bytes, id);
    return this.get(id)!;
  }

  /** Of one part. `now`: microseconds. */
  deleteSealed(part: Part, events: readonly SealedEvent[], now: number): void {
    this.sealed.remove(part, new Set(events.map(({ id }) => id)), now);
    for (const { index, bytes, id } of events) this.#count(index, -1, -bytes, id);
  }

  /** With all its events, read or not. */
  dropPart(part: Part, now: number): void {
    dropPart(this.db, part, now);
    this.#count(part.index, part.gone - part.rows, -part.bytes, part.minId);
  }

  /** Those that are rows. */
  delete(ids: readonly number[]): void {
    const find = this.db.query<{ index: string; bytes: number }, [number]>(
      'SELECT "index", bytes FROM events WHERE id = ?',
    );
    const remove = this.db.query('DELETE FROM events WHERE id = ?');
    for (const id of ids) {
      const old = find.get(id);
      if (old === null) continue;
      remove.run(id);
      this.#count(old.index, -1, -old.bytes, id);
    }
  }

  /** A lower bound for the ids of the index, or of all events. */
  firstIdOf(index: string | null): number {
    if (index === null) return 0;
    const found = this.db
      .query<{ first_id: number }, [string]>('SELECT first_id FROM indexes WHERE name = ?')
      .get(index);
    return found?.first_id ?? 0;
  }

  /** All events of the index up to that id are deleted. */
  noteFirst(index: string, id: number): void {
    this.db.query('UPDATE indexes SET first_id = max(first_id, ?) WHERE name = ?').run(id, index);
  }

  /** The smallest id created at that time (microseconds) or later; past the newest id when there is none. */
  firstIdCreatedFrom(micros: number): number {
    return firstIdCreatedFrom(this.db, micros);
  }

  /** The answer to an earlier request with that key. */
  findReply(userId: number, route: string, key: string): KeptReply | null {
    const row = this.db
      .query<{ body_hash: Uint8Array; answer: string }, [number, string, string]>(
        'SELECT body_hash, answer FROM replies WHERE user_id = ? AND route = ? AND key = ?',
      )
      .get(userId, route, key);
    return row === null ? null : { bodyHash: row.body_hash, answer: row.answer };
  }

  keepReply(userId: number, route: string, key: string, reply: KeptReply, now: number): void {
    this.db
      .query('INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?)')
      .run(userId, route, key, reply.bodyHash, reply.answer, now);
  }

  /** `before`: microseconds. */
  forgetReplies(before: number): void {
    this.db.query('DELETE FROM replies WHERE created < ? AND user_id <> ?').run(before, NOBODY);
  }

  /** Lines of a file already imported and the hash of its first line; null when none were. */
  findProgress(
    file: string,
  ): { readonly lines: number; readonly firstLineHash: Uint8Array } | null {
    const kept = this.findReply(NOBODY, IMPORT_ROUTE, file);
    return kept === null ? null : { lines: Number(kept.answer), firstLineHash: kept.bodyHash };
  }

  keepProgress({ file, firstLineHash, lines }: Omit<ProgressOrder, 'kind'>, now: number): void {
    const reply = { bodyHash: firstLineHash, answer: String(lines) };
    this.keepReply(NOBODY, IMPORT_ROUTE, file, reply, now);
  }

  /** Columns that lines told, those told last at the end. */
  layouts(): [place: string, layout: Layout][] {
    return this.db
      .query<{ key: string; answer: string }, [number, string]>(
        'SELECT key, answer FROM replies WHERE user_id = ? AND route = ? ORDER BY created',
      )
      .all(NOBODY, LAYOUT_ROUTE)
      .map(({ key, answer }) => [key, JSON.parse(answer) as Layout]);
  }

  keepLayout({ place, layout }: LayoutChange, now: number): void {
    if (layout === null) {
      this.db
        .query('DELETE FROM replies WHERE user_id = ? AND route = ? AND key = ?')
        .run(NOBODY, LAYOUT_ROUTE, place);
      return;
    }
    const reply = { bodyHash: NO_HASH, answer: JSON.stringify(layout) };
    this.keepReply(NOBODY, LAYOUT_ROUTE, place, reply, now);
  }

  /** Null when no batch of that name was committed in the slot. */
  findBatch(slot: number, name: string): string | null {
    const kept = this.findReply(NOBODY, BATCH_ROUTE, String(slot));
    return kept !== null && Buffer.from(kept.bodyHash).toString() === name ? kept.answer : null;
  }

  keepBatch(slot: number, name: string, answer: string, now: number): void {
    const reply = { bodyHash: Buffer.from(name), answer };
    this.keepReply(NOBODY, BATCH_ROUTE, String(slot), reply, now);
  }

  /** Next number of a channel, from 0. `now`: microseconds. */
  acknowledge(sender: string, channel: string, now: number): number {
    const known = this.db
      .query<{ next: number }, [number, string, string]>(
        'UPDATE ack_channels SET next = next + 1, used = ? WHERE sender = ? AND channel = ? RETURNING next',
      )
      .get(now, sender, channel);
    if (known !== null) return known.next - 1;
    // A client that invents a channel for every request must not fill the disk.
    this.db
      .query(
        `DELETE FROM ack_channels WHERE sender = ?1 AND channel IN (
           SELECT channel FROM ack_channels WHERE sender = ?1 ORDER BY used DESC LIMIT -1 OFFSET ?2)`,
      )
      .run(sender, MAX_CHANNELS - 1);
    this.db
      .query('INSERT INTO ack_channels (sender, channel, next, used) VALUES (?, ?, 1, ?)')
      .run(sender, channel, now);
    return 0;
  }

  /** `before`: microseconds. */
  forgetChannels(before: number): void {
    this.db.query('DELETE FROM ack_channels WHERE used < ?').run(before);
  }

  close(): void {
    this.db.close();
  }

  #count(index: string, events: number, bytes: number, addedId: number): void {
    // Deletions leave the bound as it is.
    const id = events > 0 ? addedId : Number.MAX_SAFE_INTEGER;
    const totals = this.#totals.get(index);
    if (totals === undefined) this.#totals.set(index, { events, bytes, firstId: id });
    else {
      totals.events += events;
      totals.bytes += bytes;
      if (id < totals.firstId) totals.firstId = id;
    }
  }

  #addTotals(name: string, events: number, bytes: number, firstId: number): void {
    this.db
      .query(
        `INSERT INTO indexes (name, events, bytes, first_id) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (name) DO UPDATE SET events = events + ?2, bytes = bytes + ?3, first_id = min(first_id, ?4)`,
      )
      .run(name, events, bytes, firstId);
    this.db.query('DELETE FROM indexes WHERE name = ? AND events <= 0').run(name);
  }
}

/** Binary search over ids, because `created` never decreases with them. */
export function firstIdCreatedFrom(db: Database, micros: number): number {
  const { low: first, high: last } = db
    .query<{ low: number | null; high: number | null }, []>(
      'SELECT (SELECT min(id) FROM events) AS low, (SELECT max(id) FROM events) AS high',
    )
    .get()!;
  if (first === null || last === null) return 1;
  const next = db.query<{ id: number; created: number }, [number]>(
    'SELECT id, created FROM events WHERE id >= ? ORDER BY id LIMIT 1',
  );
  let low = first;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = next.get(middle);
    if (found !== null && found.created < micros) low = found.id + 1;
    else high = middle;
  }
  return low;
}

/** Renamed into place when complete, so that an empty file is never a new store. */
function makeStore(path: string): void {
  const draft = `${path}.${process.pid}.new`;
  try {
    closeSync(openSync(draft, 'w', 0o600));
    const db = new Database(draft, { readwrite: true });
    try {
      // Only before the first table.
      db.run(`PRAGMA auto_vacuum = ${INCREMENTAL}`);
      createEventSchema(db);
    } finally {
      db.close();
    }
    placeNew(draft, path);
  } catch (error) {
    throw unusable(error);
  } finally {
    rmSync(draft, { force: true });
  }
}

function insertSql(rows: number): string {
  const row = '(?1, ?1, ?, ?, ?, ?, ?, ?, ?, jsonb(?), ?, ?)';
  return `INSERT INTO events (created, updated, id, event_time, "index", sourcetype, source, host, data, fields, ascii, bytes)
    VALUES ${new Array(rows).fill(row).join(', ')}`;
}

/** UTF-8 bytes of the event's texts and JSON, and whether all are ASCII. */
function sizeOf({ index, sourcetype, source, host, data, fields }: EventDraft): {
  bytes: number;
  ascii: 0 | 1;
} {
  const characters =
    data.length + fields.length + index.length + sourcetype.length + source.length + host.length;
  let bytes = Buffer.byteLength(data) + Buffer.byteLength(fields) + Buffer.byteLength(index);
  bytes += Buffer.byteLength(sourcetype) + Buffer.byteLength(source) + Buffer.byteLength(host);
  // Any other character takes more bytes than UTF-16 units.
  return { bytes, ascii: bytes === characters ? 1 : 0 };
}

function unusable(error: unknown): AppError {
  const why = error instanceof Error ? error.message : String(error);
  return new AppError('state-unusable', storeProblem(why), { cause: error });
}
