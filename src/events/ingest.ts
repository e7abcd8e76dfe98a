/**
 * The queue before the writer's process (EV-48, EV-50, EV-51).
 *
 * While batches are being written the next gathers, so requests that arrive together share one fsync and a lone one
 * waits for nobody. The queue is bounded by events and bytes; what does not fit is refused before anything of it is stored.
 */
import { statfsSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ChildProcess } from '../children/child-process.ts';
import { isFailure, readFailure } from '../children/child-error.ts';
import { BINARY } from '../children/child-server.ts';
import type { ChildSupply } from '../children/child-supply.ts';
import { NOT_WRITABLE } from './writer-jobs.ts';
import type { WriterOrder, WriterResult, WriterSettings } from './writer-orders.ts';
import { frame, unframe } from './writer-orders.ts';

/** How much may wait, and when writing stops. */
export interface QueueLimits {
  readonly events: number;
  readonly bytes: number;
  readonly waitMs: number;
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
export interface IngestStats {
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
  readonly body: Uint8Array;
  readonly events: number;
  readonly settle: (written: Written) => void;
  readonly fail: (error: unknown) => void;
}

/** A batch is written in one go; past this the requests behind it would wait too long. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
const MAX_BATCH_ORDERS = 1_000;
/** While one batch is written the next one crosses to the writer, which then never waits for it. */
const MAX_UNDER_WAY = 2;
const START_LIMIT_MS = 15_000;
/** A store that could not be opened is tried again no sooner: the check reads the file. */
const REOPEN_MS = 10_000;
const FREE_CHECK_MS = 1_000;
const KEPT_COMMITS = 512;

/** Hands orders to the one writer, in the order they came. */
export class Ingest {
  readonly #options: IngestOptions;
  #child: ChildProcess | null = null;
  #opening: Promise<ChildProcess> | null = null;
  #settings: WriterSettings | null = null;
  #problem: string | null = null;
  #openedAt = Number.NEGATIVE_INFINITY;
  #queue: Waiting[] = [];
  #events = 0;
  #bytes = 0;
  readonly #heldBy = new Map<string, number>();
  #isPumping = false;
  readonly #underWay = new Set<Promise<void>>();
  /** Orders of the last batch: about as many clients are about to send their next one. */
  #lastOrders = 0;
  #wakeGatherer: (() => void) | null = null;
  #isClosing = false;
  #roomWaiters: (() => void)[] = [];
  #freeCheckedAt = Number.NEGATIVE_INFINITY;
  #hasRoomOnDisk = true;
  readonly #commits: { at: number; ms: number }[] = [];
  #commitMs = 0;
  #commitCount = 0;

  constructor(options: IngestOptions) {
    this.#options = options;
  }

  /** What is wrong with the store, for operators; null when it can be used. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Opens the store at once instead of with the first order. Never rejects; see `problem`. */
  async open(): Promise<void> {
    try {
      await this.#writer();
    } catch (error) {
      this.#options.log.error('the event store cannot be used', { error, problem: this.#problem });
    }
  }

  /**
   * Resolves when the order is done: what it stored is on disk then. `events` is an estimate of what it holds, `holder`
   * the credential. Errors: `unavailable` with Retry-After (queue full, disk, damaged store, shutdown), `throttled` for a
   * holder of more than half of the queue.
   */
  async submit(
    order: WriterOrder,
    body: Uint8Array,
    holder: { readonly events: number; readonly name: string },
  ): Promise<Written> {
    if (this.#isClosing) throw unavailable('Server is shutting down.', 5);
    if (order.kind === 'intake' || order.kind === 'update') this.#requireDisk();
    await this.#enter(body.length, holder);
    const { promise, resolve, reject } = Promise.withResolvers<Written>();
    this.#queue.push({ order, body, events: holder.events, settle: resolve, fail: reject });
    if (this.#queue.length >= this.#gathersUpTo()) this.#wakeGatherer?.();
    this.#pump();
    try {
      return await promise;
    } finally {
      this.#leave(body.length, holder);
    }
  }

  /** Whether an order would be taken now, without waiting. */
  get isAccepting(): boolean {
    if (this.#isClosing || this.#problem !== null) return false;
    return this.#hasDisk() && this.#fits(1, 1);
  }

  stats(): IngestStats {
    const since = this.#options.clock.monotonic() - 10_000;
    const recent = this.#commits.filter(({ at }) => at >= since);
    const sorted = recent.map(({ ms }) => ms).toSorted((a, b) => a - b);
    return {
      events: this.#events,
      bytes: this.#bytes,
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
    // A store that is not closed is only folded into its file at the next start.
    await this.#child?.fetch('close', jsonBody(null)).catch(() => undefined);
    this.#child = null;
    await this.#options.supply.stop();
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

  async #enter(
    bytes: number,
    holder: { readonly events: number; readonly name: string },
  ): Promise<void> {
    const { clock, limits } = this.#options;
    const deadline = clock.monotonic() + limits().waitMs;
    while (!this.#fits(bytes, holder.events)) {
      const { events } = limits();
      if ((this.#heldBy.get(holder.name) ?? 0) > events / 2) throw throttled(1);
      const left = deadline - clock.monotonic();
      if (left <= 0) throw unavailable('Event queue is full.', this.#retrySeconds());
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#roomWaiters.push(resolve);
      await Promise.race([promise, Bun.sleep(left)]);
    }
    this.#events += holder.events;
    this.#bytes += bytes;
    this.#heldBy.set(holder.name, (this.#heldBy.get(holder.name) ?? 0) + holder.events);
  }

  #fits(bytes: number, events: number): boolean {
    const { limits } = this.#options;
    // One that is larger than the whole queue may still pass alone.
    if (this.#events === 0) return true;
    return this.#events + events <= limits().events && this.#bytes + bytes <= limits().bytes;
  }

  #leave(bytes: number, holder: { readonly events: number; readonly name: string }): void {
    this.#events -= holder.events;
    this.#bytes -= bytes;
    const held = (this.#heldBy.get(holder.name) ?? 0) - holder.events;
    if (held > 0) this.#heldBy.set(holder.name, held);
    else this.#heldBy.delete(holder.name);
    for (const wake of this.#roomWaiters.splice(0)) wake();
  }

  /** About as long as what waits will take. */
  #retrySeconds(): number {
    const perBatch = this.#commits.at(-1)?.ms ?? 1000;
    return Math.min(
      30,
      Math.max(1, Math.ceil((perBatch * (this.#bytes / MAX_BATCH_BYTES)) / 1000)),
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
    for (const { body } of this.#queue) {
      if (count > 0 && (bytes + body.length > MAX_BATCH_BYTES || count >= MAX_BATCH_ORDERS)) break;
      bytes += body.length;
      count += 1;
    }
    this.#lastOrders = count;
    return this.#queue.splice(0, count);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const { clock, onCommit } = this.#options;
    const child = await this.#writer();
    const startedAt = clock.monotonic();
    const parts = batch.map(({ order, body }) => ({ head: order, body }));
    const response = await this.#ask(child, 'run', {
      body: frame(parts) as Bun.BodyInit,
      headers: { 'Content-Type': BINARY },
    });
    const results = unframe<WriterResult>(await response.bytes());
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

  /** The process that writes, with the store open and the present settings. */
  async #writer(): Promise<ChildProcess> {
    const settings = this.#options.settings();
    if (this.#child !== null && this.#child.isAlive) {
      if (settings !== this.#settings) {
        await this.#ask(this.#child, 'configure', jsonBody(settings));
        this.#settings = settings;
      }
      return this.#child;
    }
    this.#opening ??= this.#openStore(settings).finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #openStore(settings: WriterSettings): Promise<ChildProcess> {
    const now = this.#options.clock.monotonic();
    if (this.#problem !== null && now - this.#openedAt < REOPEN_MS)
      throw unavailable(NOT_WRITABLE, 10);
    this.#openedAt = now;
    const child = await this.#options.supply.take(performance.now() + START_LIMIT_MS, undefined);
    const { stateDir } = this.#options;
    try {
      await this.#ask(child, 'open', jsonBody({ stateDir, settings }));
    } catch (error) {
      child.kill('its store cannot be used');
      throw error;
    }
    this.#problem = null;
    this.#settings = settings;
    this.#child = child;
    return child;
  }

  /** Errors: those of the job; `unavailable` when the process ended. */
  async #ask(child: ChildProcess, job: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await child.fetch(job, { method: 'POST', ...init });
    } catch (error) {
      this.#options.log.error('the process that writes events ended', { error });
      child.kill('its connection broke');
      this.#options.supply.recordCrash();
      throw unavailable(NOT_WRITABLE, 1, error);
    }
    if (!isFailure(response)) return response;
    const failure = await readFailure(response);
    if (failure instanceof AppError && failure.code === 'state-unusable') {
      this.#problem = failure.message;
      if (child === this.#child) this.#child = null;
      child.kill('its store cannot be used');
      throw unavailable(NOT_WRITABLE, 10, failure);
    }
    throw failure;
  }
}

function jsonBody(value: unknown): RequestInit {
  return {
    method: 'POST',
    body: JSON.stringify(value),
    headers: { 'Content-Type': 'application/json' },
  };
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

/** 503 with the moment to come back. */
export function unavailable(message: string, seconds: number, cause?: unknown): AppError {
  return new AppError('unavailable', message, {
    headers: { 'Retry-After': String(seconds) },
    cause,
  });
}

/** 429 of EV-14. */
export function throttled(seconds: number): AppError {
  const unit = seconds === 1 ? 'second' : 'seconds';
  return new AppError(
    'throttled',
    `Request was throttled. Expected available in ${seconds} ${unit}.`,
    {
      headers: { 'Retry-After': String(seconds) },
    },
  );
}
