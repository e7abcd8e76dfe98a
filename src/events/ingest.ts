/**
 * The queue before the writer's process (EV-48, EV-50, EV-51).
 *
 * While batches are being written the next gathers, so requests that arrive together share one fsync and a lone one
 * waits for nobody. The queue is bounded by events and bytes; what does not fit is refused before anything of it is stored.
 */
import { statfsSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ChildSupply } from '../children/child-supply.ts';
import type { QueuePlace, RoomLimits } from './queue-room.ts';
import { QueueRoom, unavailable } from './queue-room.ts';
import { NOT_WRITABLE } from './writer-jobs.ts';
import type { Pieces, WriterOrder, WriterResult, WriterSettings } from './writer-orders.ts';
import { lengthOf } from './writer-orders.ts';
import { WriterProcess } from './writer-process.ts';

/** How much may wait, and when writing stops. */
interface QueueLimits extends RoomLimits {
  readonly minFreeBytes: number;
  /** Longest a batch waits for more orders. */
  readonly commitMs: number;
}

/** What came of an order. */
export interface Written {
  readonly result: WriterResult;
  /** Null: an answer without one. */
  readonly body: Uint8Array | null;
}

/** Figures of the queue and the last commits. */
interface IngestStats {
  readonly events: number;
  readonly bytes: number;
  readonly commitsPerSecond: number;
  readonly p99Ms: number;
  /** Milliseconds of every commit since the start, and how many. */
  readonly commitSeconds: number;
  readonly commits: number;
}

interface IngestOptions {
  readonly supply: ChildSupply;
  readonly stateDir: string;
  /** Asked before each batch; another object means changed settings. */
  readonly settings: () => WriterSettings;
  readonly limits: () => QueueLimits;
  readonly clock: Clock;
  readonly log: Log;
  /** After every batch that stored, changed or deleted something. */
  readonly onCommit: () => void;
}

interface Waiting {
  readonly order: WriterOrder;
  readonly body: Pieces;
  readonly bytes: number;
  readonly settle: (written: Written) => void;
  readonly fail: (error: unknown) => void;
}

/** A batch is written in one go; past this the requests behind it would wait too long. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
const MAX_BATCH_ORDERS = 1_000;
/** While one batch is written the next one crosses to the writer, which then never waits for it. */
const MAX_UNDER_WAY = 2;
const FREE_CHECK_MS = 1_000;
const KEPT_COMMITS = 512;

/** Hands orders to the one writer, in the order they came. */
export class Ingest {
  readonly #options: IngestOptions;
  readonly #writer: WriterProcess;
  readonly #room: QueueRoom;
  #queue: Waiting[] = [];
  #isPumping = false;
  readonly #underWay = new Set<Promise<void>>();
  /** Orders of the last batch: about as many clients are about to send their next one. */
  #lastOrders = 0;
  #wakeGatherer: (() => void) | null = null;
  #isClosing = false;
  #freeCheckedAt = Number.NEGATIVE_INFINITY;
  #hasRoomOnDisk = true;
  readonly #commits: { at: number; ms: number }[] = [];
  #commitMs = 0;
  #commitCount = 0;

  constructor(options: IngestOptions) {
    this.#options = options;
    this.#writer = new WriterProcess(options);
    const { limits, clock } = options;
    this.#room = new QueueRoom({ limits, clock, retrySeconds: () => this.#retrySeconds() });
  }

  /** What is wrong with the store, for operators; null when it can be used. */
  get problem(): string | null {
    return this.#writer.problem;
  }

  /** Opens the store at once instead of with the first order. Never rejects; see `problem`. */
  async open(): Promise<void> {
    try {
      await this.#writer.open();
    } catch (error) {
      // Stopped before the store was open: nothing is wrong with it.
      if (this.#isClosing) return;
      this.#options.log.error('the event store cannot be used', { error, problem: this.problem });
    }
  }

  /**
   * A place in the queue for a request of that credential, to be filled while its body comes in and left after the answer.
   * Throws `unavailable` when nothing is taken now (shutdown, disk): then the body need not be read at all.
   */
  place(holder: string): QueuePlace {
    this.#requireOpen();
    this.#requireDisk();
    return this.#room.place(holder);
  }

  /**
   * Resolves when the order is done: what it stored is on disk then. `events` is an estimate of what it holds, `name` the
   * credential; `place` holds the room of its body already, and is left here. Errors: `unavailable` with Retry-After (queue
   * full, disk, damaged store, the writer's end, shutdown), `throttled` for a holder of more than half of the queue.
   */
  async submit(
    order: WriterOrder,
    body: Pieces,
    holder: { readonly events: number; readonly name: string; readonly place?: QueuePlace | null },
  ): Promise<Written> {
    this.#requireOpen();
    if (order.kind === 'intake' || order.kind === 'update') this.#requireDisk();
    using place = holder.place ?? this.#room.place(holder.name);
    const bytes = lengthOf(body);
    await place.take({ events: holder.events, bytes: Math.max(0, bytes - place.bytes) });
    const { promise, resolve, reject } = Promise.withResolvers<Written>();
    this.#queue.push({ order, body, bytes, settle: resolve, fail: reject });
    if (this.#queue.length >= this.#gathersUpTo()) this.#wakeGatherer?.();
    this.#pump();
    return await promise;
  }

  /** Whether an order would be taken now, without waiting. */
  get isAccepting(): boolean {
    if (this.#isClosing || this.problem !== null) return false;
    return this.#hasDisk() && this.#room.fits({ events: 1, bytes: 1 });
  }

  stats(): IngestStats {
    const since = this.#options.clock.monotonic() - 10_000;
    const recent = this.#commits.filter(({ at }) => at >= since);
    const sorted = recent.map(({ ms }) => ms).toSorted((a, b) => a - b);
    return {
      ...this.#room.held,
      commitsPerSecond: recent.length / 10,
      p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
      commitSeconds: this.#commitMs / 1000,
      commits: this.#commitCount,
    };
  }

  /** Writes what waits, then closes the store. */
  async close(): Promise<void> {
    this.#isClosing = true;
    while (this.#isPumping || this.#underWay.size > 0) await Bun.sleep(5);
    await this.#writer.close();
  }

  #requireOpen(): void {
    if (this.#isClosing) throw unavailable('Server is shutting down.', 5);
  }

  #requireDisk(): void {
    if (!this.#hasDisk()) throw unavailable(NOT_WRITABLE, 5);
  }

  #hasDisk(): boolean {
    const { clock, stateDir, limits } = this.#options;
    const now = clock.monotonic();
    if (now - this.#freeCheckedAt >= FREE_CHECK_MS) {
      this.#freeCheckedAt = now;
      this.#hasRoomOnDisk = freeBytes(stateDir) >= limits().minFreeBytes;
    }
    return this.#hasRoomOnDisk;
  }

  /** About as long as what waits will take. */
  #retrySeconds(): number {
    const perBatch = this.#commits.at(-1)?.ms ?? 1000;
    return Math.min(
      30,
      Math.max(1, Math.ceil((perBatch * (this.#room.held.bytes / MAX_BATCH_BYTES)) / 1000)),
    );
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    // Requests of the same turn of the event loop go together.
    await new Promise(setImmediate);
    while (this.#queue.length > 0) {
      while (this.#underWay.size >= MAX_UNDER_WAY) await Promise.race(this.#underWay);
      await this.#gather();
      const batch = this.#nextBatch();
      const writing = this.#write(batch)
        .catch((error: unknown) => {
          for (const { fail } of batch) fail(error);
        })
        .finally(() => this.#underWay.delete(writing));
      this.#underWay.add(writing);
    }
    this.#isPumping = false;
  }

  /** Half of the clients of the last batch: those that were answered with it send again in a moment, and a lone one waits for nobody. */
  #gathersUpTo(): number {
    return Math.floor(this.#lastOrders / 2);
  }

  /** Waits a little for the orders that are likely to come, so that they share a sync (EV-48). */
  async #gather(): Promise<void> {
    const { commitMs } = this.#options.limits();
    if (commitMs === 0 || this.#queue.length >= this.#gathersUpTo()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, commitMs);
    this.#wakeGatherer = resolve;
    await promise;
    clearTimeout(timer);
    this.#wakeGatherer = null;
  }

  #nextBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#queue) {
      if (count > 0 && (bytes + waiting.bytes > MAX_BATCH_BYTES || count >= MAX_BATCH_ORDERS))
        break;
      bytes += waiting.bytes;
      count += 1;
    }
    this.#lastOrders = count;
    return this.#queue.splice(0, count);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const { clock, onCommit } = this.#options;
    const child = await this.#writer.open();
    const startedAt = clock.monotonic();
    const parts = batch.map(({ order, body }) => ({ head: order, body }));
    const results = await this.#writer.run(child, parts);
    this.#noteCommit(startedAt);
    for (const [index, { head, body }] of results.entries()) {
      batch[index]!.settle({ result: head, body: head.hasBody ? body : null });
    }
    if (
      results.some(
        ({ head }) => head.accepted > 0 || head.indexes.length > 0 || head.pruned.length > 0,
      )
    )
      onCommit();
  }

  #noteCommit(startedAt: number): void {
    const at = this.#options.clock.monotonic();
    const ms = at - startedAt;
    this.#commits.push({ at, ms });
    if (this.#commits.length > KEPT_COMMITS) this.#commits.shift();
    this.#commitMs += ms;
    this.#commitCount += 1;
  }
}

function freeBytes(dir: string): number {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    // The folder cannot be asked: the write itself will tell.
    return Number.POSITIVE_INFINITY;
  }
}
