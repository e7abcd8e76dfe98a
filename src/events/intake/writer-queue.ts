/**
 * The queue of the writer process.
 *
 * The next batch gathers while others are written, so concurrent requests share one fsync and a lone one does not
 * wait. The queue is bounded by events and bytes; what does not fit is refused before anything of it is stored.
 */
import { statfsSync } from 'node:fs';
import { stateFolder } from '../../store/state-files.ts';
import type { QueuePlace, RoomLimits } from './queue-room.ts';
import { QueueRoom, unavailable } from './queue-room.ts';
import { NOT_WRITABLE } from '../store/writer-jobs.ts';
import type { Pieces, WriterOrder, WriterResult } from '../store/writer-orders.ts';
import { lengthOf } from '../store/writer-orders.ts';
import { WriterProcess, type WriterProcessOptions } from '../store/writer-process.ts';

interface QueueLimits extends RoomLimits {
  readonly minFreeBytes: number;
  /** Longest a batch waits for more orders. */
  readonly commitMs: number;
}

export interface Written {
  readonly result: WriterResult;
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null;
}

interface IngestStats {
  readonly events: number;
  readonly bytes: number;
  readonly commitsPerSecond: number;
  readonly p99Ms: number;
  /** Total since the start, and the number of commits. */
  readonly commitSeconds: number;
  readonly commits: number;
}

interface IngestOptions extends WriterProcessOptions {
  readonly limits: () => QueueLimits;
  /** After every batch that changed the store. */
  readonly onCommit: () => void;
}

interface Waiting {
  readonly order: WriterOrder;
  readonly body: Pieces;
  readonly bytes: number;
  readonly holder: string;
  readonly settle: (written: Written) => void;
  readonly fail: (error: unknown) => void;
}

/** A batch is written in one go; with more the requests after it would wait too long. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
const MAX_BATCH_ORDERS = 1_000;
/** While one batch is written the next is sent to the writer, which then never idles. */
const MAX_UNDER_WAY = 2;
/** A replaced writer may be asked again for any batch under way. */
const KEPT_BATCHES = 2 * MAX_UNDER_WAY;
const FREE_CHECK_MS = 1_000;
const KEPT_COMMITS = 512;

export class Ingest {
  readonly #options: IngestOptions;
  readonly #writer: WriterProcess;
  readonly #room: QueueRoom;
  #queue: Waiting[] = [];
  #isPumping = false;
  readonly #underWay = new Set<Promise<void>>();
  /** About as many clients are about to send their next order. */
  #lastOrders = 0;
  #wakeGatherer: (() => void) | null = null;
  #isClosing = false;
  #batches = 0;
  #freeCheckedAt = Number.NEGATIVE_INFINITY;
  #hasRoomOnDisk = true;
  readonly #commits: { at: number; ms: number }[] = [];
  #commitMs = 0;
  #commitCount = 0;

  constructor(options: IngestOptions) {
    this.#options = options;
    this.#writer = new WriterProcess(options);
    const { limits, clock } = options;
    this.#room = new QueueRoom({
      limits,
      clock,
      retrySeconds: () => this.#retrySeconds(),
      folder: stateFolder(options.stateDir, 'tmp'),
      requireDisk: () => this.#requireDisk(),
    });
  }

  /** For operators; null when the store can be used. */
  get problem(): string | null {
    return this.#writer.problem;
  }

  /** Opens the store now, not with the first order. Never rejects; see `problem`. */
  async open(): Promise<void> {
    try {
      await this.#writer.open();
    } catch (error) {
      // Closed before the store was open: not a problem of the store.
      if (this.#isClosing) return;
      this.#options.log.error('the event store cannot be used', { error, problem: this.problem });
    }
  }

  /**
   * To be filled while the body arrives and left after the answer. Throws `unavailable` when nothing is accepted
   * (shutdown, disk), before the body need be read.
   */
  place(holder: string): QueuePlace {
    this.#requireOpen();
    this.#requireDisk();
    return this.#room.place(holder);
  }

  /**
   * Resolves once what the order stored is on disk. `events` is an estimate, `name` the credential; `place` already
   * holds the room of the body and is left here. Errors: `unavailable` with Retry-After (queue full, disk, damaged
   * store, writer crashed, shutdown), `throttled` for a holder of more than half of the queue.
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
    const { name } = holder;
    this.#queue.push({ order, body, bytes, holder: name, settle: resolve, fail: reject });
    if (this.#queue.length >= this.#gathersUpTo()) this.#wakeGatherer?.();
    this.#pump();
    const written = await promise;
    const { spooledBytes } = written.result;
    return spooledBytes === null
      ? written
      : { ...written, body: place.takeFile().added(spooledBytes) };
  }

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

  /** Writes what is queued, then closes the store. */
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

  /** Estimates how long the queue will take. */
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
    // Collects requests of the same turn of the event loop.
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

  /**
   * Half as many orders as the last batch had: clients just answered will send again in a moment, and a lone one waits for
   * nobody.
   */
  #gathersUpTo(): number {
    return Math.floor(this.#lastOrders / 2);
  }

  /** Waits briefly for likely orders, so that they share a sync. */
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
    this.#queue = byTurns(this.#queue);
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
    const startedAt = clock.monotonic();
    this.#batches += 1;
    const slot = this.#batches % KEPT_BATCHES;
    const name = { kind: 'batch' as const, name: crypto.randomUUID(), slot };
    const results = await this.#writer.run([
      { head: name, body: new Uint8Array() },
      ...batch.map(({ order, body }) => ({ head: order, body })),
    ]);
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

/** Round robin over credentials, each one's orders in order: a large sender does not delay others. */
function byTurns(queue: Waiting[]): Waiting[] {
  if (queue.every(({ holder }) => holder === queue[0]!.holder)) return queue;
  const sent = new Map<string, number>();
  const turns = queue.map((waiting) => {
    const turn = sent.get(waiting.holder) ?? 0;
    sent.set(waiting.holder, turn + 1);
    return { waiting, turn };
  });
  return turns.toSorted((a, b) => a.turn - b.turn).map(({ waiting }) => waiting);
}

function freeBytes(dir: string): number {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    // Free space unknown: the write itself will fail if there is none.
    return Number.POSITIVE_INFINITY;
  }
}
