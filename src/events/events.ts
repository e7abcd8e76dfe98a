/**
 * Only point reads and the newest events are read in the server's process; anything that may take long runs in
 * workers.
 */
import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { ChildPool } from '../processes/child-pool.ts';
import { ChildSupply } from '../processes/child-supply.ts';
import type { Config } from '../config/settings.ts';
import { partBytes, partWith } from './parts/manifest.ts';
import type { EventRow } from './event.ts';
import { EVENT_SELECT } from './event.ts';
import type { IndexTotals } from './read/index-totals.ts';
import { Ingest } from './intake/writer-queue.ts';
import { unavailable } from './intake/queue-room.ts';
import { Sealing } from './parts/sealing.ts';
import { EVENTS_FILE } from './store/schema.ts';
import { identityOf } from './store/store-file.ts';
import { NOT_WRITABLE } from './store/writer-jobs.ts';
import type { WriterSettings } from './store/writer-orders.ts';

export interface EventsOptions {
  readonly config: () => Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly command: (role: string, socketPath: string) => readonly string[];
  readonly socketDir: string;
  readonly readers: ChildPool;
}

/** Restarting it takes 60 ms. */
const INDEXER_IDLE_MS = 10_000;
const INDEX_STEP_LIMIT_MS = 120_000;
/** Between two checks for events to index; a commit wakes it earlier. */
const INDEX_PAUSE_MS = 1_000;
/** How soon commits of other processes are noticed; a second is promised. */
const LOOK_MS = 500;
/**
 * With so many events waiting for the writer, the index rests three times as long as it works: both want a whole
 * core.
 */
const BUSY_EVENTS = 100;
const INDEX_YIELD = 3;
const INDEX_RETRY_MS = 30_000;
const MIB = 2 ** 20;

export class Events {
  readonly ingest: Ingest;
  readonly sealing: Sealing;
  readonly stateDir: string;
  readonly #options: EventsOptions;
  readonly #indexers: ChildPool;
  #opened: Promise<void> | null = null;
  #db: Database | null = null;
  #dbIdentity: string | null = null;
  #settings: { config: Config; value: WriterSettings } | null = null;
  readonly #listeners = new Set<() => void>();
  #indexTimer: Timer | null = null;
  #lookTimer: Timer | null = null;
  #seenVersion: number | null = null;
  #isIndexing = false;
  #isClosing = false;

  constructor(options: EventsOptions) {
    this.#options = options;
    this.stateDir = options.config().state_dir;
    const { log, socketDir, clock } = options;
    this.ingest = new Ingest({
      supply: new ChildSupply({
        role: 'events',
        command: (socketPath) => options.command('events', socketPath),
        socketDir,
        log,
        recycleRssBytes: Number.POSITIVE_INFINITY,
        maxIdle: 1,
        isUrgent: true,
      }),
      stateDir: this.stateDir,
      settings: () => this.#writerSettings(),
      limits: () => queueLimits(options.config()),
      clock,
      log,
      onCommit: () => this.#committed(),
    });
    this.#indexers = new ChildPool({
      role: 'events-index',
      size: 1,
      command: (socketPath) => options.command('events-index', socketPath),
      socketDir,
      log,
      maxRssBytes: 512 * MIB,
      idleMs: INDEXER_IDLE_MS,
    });
    this.sealing = new Sealing({
      stateDir: this.stateDir,
      children: new ChildPool({
        role: 'events-seal',
        size: 1,
        command: (socketPath) => options.command('events-seal', socketPath),
        socketDir,
        log,
        maxRssBytes: 1024 * MIB,
        idleMs: INDEXER_IDLE_MS,
      }),
      ingest: this.ingest,
      afterMinutes: () => options.config().events.seal_after_minutes,
      clock,
      log,
    });
  }

  /** A damaged store sets `ingest.problem`; the rest of the server runs. */
  open(): Promise<void> {
    this.#opened ??= this.ingest.open().then(() => {
      this.#indexLater(0);
      this.#lookTimer = setInterval(() => this.#lookForOthers(), LOOK_MS);
      this.#lookTimer.unref();
      this.sealing.start();
    });
    return this.#opened;
  }

  /** Called after every commit with changes. Returns the unsubscribe function. */
  onCommit(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Throws `unavailable` while the store cannot be read. */
  async get(id: number): Promise<EventRow | null> {
    const { row, isSealed } = this.#read((db) => ({
      row: db.query<EventRow, [number]>(`SELECT ${EVENT_SELECT} FROM events WHERE id = ?`).get(id),
      isSealed: partWith(db, id).length > 0,
    }));
    if (row !== null || !isSealed) return row;
    const response = await this.request('events-one', { id });
    return (await response.json()) as EventRow | null;
  }

  /** Number for the next request on a HEC channel; 0 for an unused channel. */
  nextAck(sender: string, channel: string): number {
    return this.#read(
      (db) =>
        db
          .query<{ next: number }, [string, string]>(
            'SELECT next FROM ack_channels WHERE sender = ? AND channel = ?',
          )
          .get(sender, channel)?.next ?? 0,
    );
  }

  newestId(): number {
    return this.#read(
      (db) =>
        db
          .query<{ id: number }, []>(
            'SELECT max(coalesce((SELECT max(id) FROM events), 0), coalesce((SELECT max(max_id) FROM parts), 0)) AS id',
          )
          .get()!.id,
    );
  }

  /** `after` exclusive, `upTo` inclusive, ascending; at most `limit` events and little more than 1 MiB of text. */
  async between(after: number, upTo: number, limit: number): Promise<EventRow[]> {
    const hot = this.#read((db) => {
      const sealed = 'SELECT 1 FROM parts WHERE max_id > ? AND min_id <= ? LIMIT 1';
      if (db.query(sealed).get(after, upTo) !== null) return null;
      const rows: EventRow[] = [];
      let size = 0;
      const found = db
        .query<EventRow, [number, number, number]>(
          `SELECT ${EVENT_SELECT} FROM events WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`,
        )
        .iterate(after, upTo, limit);
      for (const row of found) {
        rows.push(row);
        size += row.data.length + row.fields.length;
        if (size > MIB) break;
      }
      return rows;
    });
    if (hot !== null) return hot;
    const response = await this.request('events-between', { after, upTo, limit });
    return (await response.json()) as EventRow[];
  }

  indexNames(): string[] {
    return this.#read((db) =>
      db
        .query<{ name: string }, []>('SELECT name FROM indexes ORDER BY name')
        .all()
        .map(({ name }) => name),
    );
  }

  /** By name; read by a worker, because the newest event of an index may be far back. */
  async indexTotals(): Promise<IndexTotals[]> {
    const response = await this.request('events-totals', {});
    return (await response.json()) as IndexTotals[];
  }

  /** Bytes of database pages in use, and of sealed events. */
  sizeInUse(): number {
    return this.#read((db) => {
      const one = (pragma: string): number =>
        Number(Object.values(db.query(`PRAGMA ${pragma}`).get() as object)[0]);
      return (one('page_count') - one('freelist_count')) * one('page_size') + partBytes(db);
    });
  }

  /** Null while the store cannot be read. */
  sizeIfOpen(): number | null {
    try {
      return this.sizeInUse();
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  /** Runs a job of `read-jobs.ts`; the body streams. Errors as `ChildPool.request`. */
  async request(
    job: string,
    order: object,
    signal?: AbortSignal,
    isLong = false,
  ): Promise<Response> {
    if (this.ingest.problem !== null) throw unavailable(NOT_WRITABLE, 10);
    const { readers, config } = this.#options;
    return readers.request(
      job,
      { ...order, stateDir: this.stateDir },
      {
        timeoutMs: config().limits.query_timeout_seconds * 1000,
        signal,
        dedicated: isLong,
      },
    );
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#lookTimer !== null) clearInterval(this.#lookTimer);
    if (this.#indexTimer !== null) clearTimeout(this.#indexTimer);
    await this.sealing.stop();
    await this.#indexers.stop();
    this.#db?.close();
    this.#db = null;
    await this.ingest.close();
  }

  #read<Result>(read: (db: Database) => Result): Result {
    if (this.ingest.problem !== null) throw unavailable(NOT_WRITABLE, 10);
    try {
      return read(this.#openDb());
    } catch (error) {
      if (error instanceof AppError) throw error;
      this.#options.log.error('the event store could not be read', { error });
      this.#db?.close();
      this.#db = null;
      throw unavailable(NOT_WRITABLE, 5, error);
    }
  }

  #openDb(): Database {
    const path = join(this.stateDir, EVENTS_FILE);
    const identity = identityOf(path);
    if (this.#db !== null && identity !== null && identity !== this.#dbIdentity) {
      this.#db.close();
      this.#db = null;
    }
    if (this.#db === null) {
      this.#db = openReader(path);
      this.#dbIdentity = identity;
    }
    return this.#db;
  }

  /** Commands such as `svc events import` also write; tails and the index learn of it here. */
  #lookForOthers(): void {
    if (this.#db === null || this.#isClosing) return;
    try {
      const row = this.#db.query<{ data_version: number }, []>('PRAGMA data_version').get();
      const version = row?.data_version ?? null;
      if (version !== this.#seenVersion) this.#committed();
      this.#seenVersion = version;
    } catch (error) {
      // The next reader gets the error; nobody waits here.
      this.#options.log.debug('the event store could not be looked at', { error });
    }
  }

  #committed(): void {
    for (const listener of this.#listeners) listener();
    this.#indexLater(INDEX_PAUSE_MS);
  }

  #indexLater(ms: number): void {
    if (this.#isIndexing || this.#isClosing || this.#indexTimer !== null) return;
    this.#indexTimer = setTimeout(() => {
      this.#indexTimer = null;
      void this.#index();
    }, ms);
    this.#indexTimer.unref();
  }

  async #index(): Promise<void> {
    if (this.ingest.problem !== null || this.#isUntouched()) return;
    this.#isIndexing = true;
    let pauseMs: number | null = null;
    const { clock } = this.#options;
    const startedAt = clock.monotonic();
    try {
      const response = await this.#indexers.request(
        'step',
        { stateDir: this.stateDir },
        { timeoutMs: INDEX_STEP_LIMIT_MS },
      );
      const { hasMore } = (await response.json()) as { hasMore: boolean };
      if (hasMore)
        pauseMs = this.#isTakingMuch() ? INDEX_YIELD * (clock.monotonic() - startedAt) : 0;
    } catch (error) {
      // Searches scan meanwhile, with the same results.
      if (!this.#isClosing)
        this.#options.log.warning('the substring index was not brought up to date', { error });
      pauseMs = INDEX_RETRY_MS;
    }
    this.#isIndexing = false;
    if (pauseMs !== null) this.#indexLater(pauseMs);
  }

  /** A store that never held events needs no index process. */
  #isUntouched(): boolean {
    try {
      const counter = "SELECT value FROM counters WHERE name = 'next_id'";
      return this.#read((db) => db.query<{ value: number }, []>(counter).get()?.value === 1);
    } catch {
      // The indexer reports the problem.
      return false;
    }
  }

  #isTakingMuch(): boolean {
    return this.ingest.stats().events >= BUSY_EVENTS;
  }

  #writerSettings(): WriterSettings {
    const config = this.#options.config();
    if (this.#settings?.config !== config)
      this.#settings = { config, value: writerSettings(config) };
    return this.#settings.value;
  }
}

function openReader(path: string): Database {
  if (!existsSync(path)) throw unavailable(NOT_WRITABLE, 5);
  const db = new Database(path, { readonly: true });
  db.run('PRAGMA busy_timeout = 20');
  db.run('PRAGMA trusted_schema = OFF');
  return db;
}

function queueLimits({ events }: Config): {
  events: number;
  bytes: number;
  waitMs: number;
  minFreeBytes: number;
  commitMs: number;
} {
  return {
    events: events.queue_events,
    bytes: events.queue_bytes,
    waitMs: events.queue_wait_ms,
    minFreeBytes: events.min_free_bytes,
    commitMs: events.commit_ms,
  };
}

export function writerSettings({ events }: Config): WriterSettings {
  const { limits, extractors, syslog_timezone: syslogTimezone } = events;
  return {
    limits: {
      maxDecodedBytes: limits.max_decoded_bytes,
      maxEventBytes: limits.max_event_bytes,
      maxEvents: limits.max_events,
      maxDepth: limits.max_depth,
      maxFields: limits.max_fields,
    },
    extraction: { extractors, syslogTimezone },
  };
}
