/**
 * Ingest counters for operators: per credential, unknown credentials, and rejected entries.
 *
 * Kept in memory and written to the state database at least every ten seconds: a killed process loses the last
 * counts, never an event.
 */
import type { Clock } from '../../base/clock.ts';
import { timestamp } from '../../base/clock.ts';
import { sha256Hex } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Database } from '../../store/database.ts';
import type { RejectReason } from './ingest-totals.ts';
import { IngestTotals } from './ingest-totals.ts';
import type { WriterResult } from '../store/writer-orders.ts';

export interface Sender {
  readonly kind: 'api_key' | 'token' | 'basic' | 'session' | 'bearer' | 'listener';
  readonly id: string;
  readonly label: string;
}

/** Times are RFC 3339. */
export interface SenderCounters extends Sender {
  readonly dialect: string;
  requests: number;
  accepted: number;
  rejected: number;
  duplicates: number;
  throttled: number;
  bytes: number;
  last_at: string | null;
  last_error: string | null;
  last_error_at: string | null;
}

export interface RejectView {
  readonly at: string;
  readonly dialect: string;
  readonly credential: string;
  readonly position: string;
  readonly reason: string;
  readonly sample: string;
}

/** Identified by the first 8 hex digits of the SHA-256 of the credential. */
export interface UnknownView {
  readonly hash: string;
  count: number;
  last_address: string;
  last_at: string;
}

interface CountersOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

const FLUSH_MS = 10_000;
const MAX_REJECTS = 1_000;
const MAX_UNKNOWN = 100;

export class IngestCounters {
  readonly totals = new IngestTotals();
  readonly #options: CountersOptions;
  readonly #counters = new Map<string, SenderCounters>();
  readonly #changed = new Set<string>();
  readonly #unknown = new Map<string, UnknownView>();
  #rejects: RejectView[] = [];
  #loading: Promise<void> | null = null;
  #timer: Timer | null = null;

  constructor(options: CountersOptions) {
    this.#options = options;
  }

  /** `bytes` as received. */
  noteResult(sender: Sender, dialect: string, bytes: number, result: WriterResult): void {
    this.totals.noteResult(dialect, result);
    const counters = this.#of(sender, dialect);
    const now = timestamp(this.#options.clock.now());
    counters.requests += 1;
    counters.bytes += bytes;
    counters.accepted += result.accepted;
    counters.rejected += result.rejected;
    if (result.isReplay) counters.duplicates += 1;
    counters.last_at = now;
    const problem = result.problem ?? result.rejects[0]?.reason ?? null;
    if (problem !== null) this.#noteError(counters, problem, now);
    for (const { position, reason, sample } of result.rejects) {
      this.#rejects.push({
        at: now,
        dialect,
        credential: `${sender.kind} ${sender.id}`,
        position,
        reason,
        sample,
      });
    }
    if (this.#rejects.length > MAX_REJECTS) this.#rejects = this.#rejects.slice(-MAX_REJECTS);
  }

  /** For requests refused before they reach the writer. */
  noteRefusal(sender: Sender, dialect: string, problem: string, reason: RejectReason): void {
    this.totals.noteRejected(dialect, reason, 1);
    const counters = this.#of(sender, dialect);
    const now = timestamp(this.#options.clock.now());
    counters.requests += 1;
    if (reason === 'throttled') counters.throttled += 1;
    this.#noteError(counters, problem, now);
  }

  /** For what was received where no answer is given. A flood for one reason is one entry of `rejects`. */
  noteLost(
    sender: Sender,
    dialect: string,
    lost: Pick<RejectView, 'reason' | 'position'> & {
      readonly count: number;
      readonly kind: RejectReason;
      readonly sample: () => string;
    },
  ): void {
    const { count, kind, reason, position } = lost;
    this.totals.noteRejected(dialect, kind, count);
    const counters = this.#of(sender, dialect);
    const at = timestamp(this.#options.clock.now());
    counters.rejected += count;
    this.#noteError(counters, reason, at);
    const credential = `${sender.kind} ${sender.id}`;
    const last = this.#rejects.at(-1);
    if (last !== undefined && last.credential === credential && last.reason === reason) return;
    this.#rejects.push({ at, dialect, credential, position, reason, sample: lost.sample() });
    if (this.#rejects.length > MAX_REJECTS) this.#rejects = this.#rejects.slice(-MAX_REJECTS);
  }

  noteUnknown(credential: string, address: string): void {
    const hash = sha256Hex(credential).slice(0, 8);
    const now = timestamp(this.#options.clock.now());
    const known = this.#unknown.get(hash);
    this.#unknown.delete(hash);
    this.#unknown.set(hash, {
      hash,
      count: (known?.count ?? 0) + 1,
      last_address: address,
      last_at: now,
    });
    if (this.#unknown.size > MAX_UNKNOWN) this.#unknown.delete(this.#unknown.keys().next().value!);
  }

  async credentials(): Promise<SenderCounters[]> {
    await this.#load();
    return [...this.#counters.values()];
  }

  unknown(): UnknownView[] {
    return [...this.#unknown.values()].toReversed();
  }

  rejects(): RejectView[] {
    return this.#rejects.toReversed();
  }

  /** Never rejects. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    let changed: string[] = [];
    try {
      await this.#load();
      changed = [...this.#changed];
      this.#changed.clear();
      for (const key of changed) await this.#write(this.#counters.get(key)!);
    } catch (error) {
      // Retried at the next flush.
      for (const key of changed) this.#changed.add(key);
      this.#options.log.warning('counters of ingest were not written', { error });
    }
  }

  #noteError(counters: SenderCounters, problem: string, now: string): void {
    counters.last_error = problem.slice(0, 500);
    counters.last_error_at = now;
  }

  #of(sender: Sender, dialect: string): SenderCounters {
    const key = JSON.stringify([sender.kind, sender.id, dialect]);
    let counters = this.#counters.get(key);
    if (counters === undefined) this.#counters.set(key, (counters = noCounters(sender, dialect)));
    this.#changed.add(key);
    if (this.#timer === null) {
      this.#timer = setTimeout(() => void this.flush(), FLUSH_MS);
      this.#timer.unref();
    }
    return counters;
  }

  #load(): Promise<void> {
    this.#loading ??= this.#options.db
      .all<SenderCounters>('SELECT * FROM ingest_counters')
      .then((rows) => {
        for (const row of rows) this.#take(row);
      })
      .catch((error: unknown) => {
        this.#loading = null;
        throw error;
      });
    return this.#loading;
  }

  #take(row: SenderCounters): void {
    const key = JSON.stringify([row.kind, row.id, row.dialect]);
    const own = this.#counters.get(key);
    if (own === undefined) {
      this.#counters.set(key, { ...row });
      return;
    }
    for (const name of SUMS) own[name] += row[name];
    own.last_at ??= row.last_at;
    if (own.last_error !== null) return;
    own.last_error = row.last_error;
    own.last_error_at = row.last_error_at;
  }

  async #write(counters: SenderCounters): Promise<void> {
    const { kind, id, dialect, label } = counters;
    await this.#options.db.relaxed.run(
      `INSERT INTO ingest_counters (kind, id, dialect, label, requests, accepted, rejected, duplicates, throttled, bytes,
         last_at, last_error, last_error_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (kind, id, dialect) DO UPDATE SET label = excluded.label, requests = excluded.requests,
         accepted = excluded.accepted, rejected = excluded.rejected, duplicates = excluded.duplicates,
         throttled = excluded.throttled, bytes = excluded.bytes, last_at = excluded.last_at,
         last_error = excluded.last_error, last_error_at = excluded.last_error_at`,
      [
        kind,
        id,
        dialect,
        label,
        ...SUMS.map((name) => counters[name]),
        counters.last_at,
        counters.last_error,
        counters.last_error_at,
      ],
    );
  }
}

const SUMS = ['requests', 'accepted', 'rejected', 'duplicates', 'throttled', 'bytes'] as const;

function noCounters({ kind, id, label }: Sender, dialect: string): SenderCounters {
  const sums = { requests: 0, accepted: 0, rejected: 0, duplicates: 0, throttled: 0, bytes: 0 };
  return {
    kind,
    id,
    label,
    dialect,
    ...sums,
    last_at: null,
    last_error: null,
    last_error_at: null,
  };
}
