/**
 * The one process that writes events, as the server sees it: opened, called with a time limit, replaced when it dies.
 *
 * When it dies during a batch, its successor reports what was committed and writes the rest; when that one dies too,
 * waiting requests get a 503, and only an `Idempotency-Key` makes repeating safe.
 */
import { streamOfChunks } from '../../base/scheduling/chunk-stream.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isFailure, readFailure } from '../../processes/child-error.ts';
import type { ChildProcess } from '../../processes/child-process.ts';
import { BINARY } from '../../processes/child-server.ts';
import type { ChildSupply } from '../../processes/child-supply.ts';
import { unavailable } from '../intake/queue-room.ts';
import { NOT_WRITABLE } from './writer-jobs.ts';
import type { Framed, FramedPieces, WriterOrder, WriterSettings } from './writer-orders.ts';
import type { WriterResult } from './writer-orders.ts';
import { framePieces, lengthOf, unframe } from './writer-orders.ts';

export interface WriterProcessOptions {
  readonly supply: ChildSupply;
  readonly stateDir: string;
  /** Called before each batch; a different object means changed settings. */
  readonly settings: () => WriterSettings;
  readonly clock: Clock;
  readonly log: Log;
}

const START_LIMIT_MS = 30_000;
/** Opening may check a large store and recover the log of a crash. */
const OPEN_LIMIT_MS = 120_000;
/** Delay after a failed open: the check reads the file. */
const REOPEN_MS = 10_000;
/** Per batch: a disk may stall for seconds, and large bodies take time. */
const RUN_LIMIT_MS = 12_000;
const RUN_MS_PER_MIB = 500;
const CLOSE_LIMIT_MS = 20_000;
const MIB = 1024 * 1024;

export class WriterProcess {
  readonly #options: WriterProcessOptions;
  #child: ChildProcess | null = null;
  #opening: Promise<ChildProcess> | null = null;
  #settings: WriterSettings | null = null;
  #problem: string | null = null;
  #openedAt = Number.NEGATIVE_INFINITY;
  #bytesAsked = 0;

  constructor(options: WriterProcessOptions) {
    this.#options = options;
  }

  /** For operators; null when the store can be used. */
  get problem(): string | null {
    return this.#problem;
  }

  /** With the store open and current settings. Throws `unavailable`. */
  async open(): Promise<ChildProcess> {
    const settings = this.#options.settings();
    const child = this.#child;
    if (child !== null && child.isAlive) {
      if (settings !== this.#settings) {
        await this.#ask(child, 'configure', jsonBody(settings), START_LIMIT_MS);
        this.#settings = settings;
      }
      return child;
    }
    this.#opening ??= this.#start(settings).finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  /**
   * Results in order, once on disk. When the process dies, the next one is asked and does not write committed orders
   * again. Throws `unavailable`, and what the writer threw.
   */
  async run(batch: readonly FramedPieces<WriterOrder>[]): Promise<Framed<WriterResult>[]> {
    const child = await this.open();
    try {
      return await this.#runIn(child, batch);
    } catch (error) {
      if (child === this.#child || this.#problem !== null) throw error;
      return await this.#runIn(await this.open(), batch);
    }
  }

  async #runIn(
    child: ChildProcess,
    batch: readonly FramedPieces<WriterOrder>[],
  ): Promise<Framed<WriterResult>[]> {
    const pieces = framePieces(batch);
    // A copy of a large one would hold everybody up.
    const isLarge = lengthOf(pieces) > MIB;
    const body = isLarge ? streamOfChunks(pieces.values()) : Buffer.concat(pieces);
    const bytes = batch.reduce((sum, one) => sum + lengthOf(one.body), 0);
    this.#bytesAsked += bytes;
    try {
      // The previous batch may still be running: its bytes count as well.
      const limitMs = RUN_LIMIT_MS + (this.#bytesAsked / MIB) * RUN_MS_PER_MIB;
      const init = { body: body as Bun.BodyInit, headers: { 'Content-Type': BINARY } };
      const results = unframe<WriterResult>(await this.#ask(child, 'run', init, limitMs));
      this.#options.supply.recordSuccess();
      return results;
    } finally {
      this.#bytesAsked -= bytes;
    }
  }

  /** Never rejects. */
  async close(): Promise<void> {
    // Without closing, the log is only checkpointed at the next start.
    if (this.#child?.isAlive === true)
      await this.#ask(this.#child, 'close', jsonBody(null), CLOSE_LIMIT_MS).catch(() => undefined);
    this.#child = null;
    await this.#options.supply.stop();
  }

  async #start(settings: WriterSettings): Promise<ChildProcess> {
    const now = this.#options.clock.monotonic();
    if (this.#problem !== null && now - this.#openedAt < REOPEN_MS)
      throw unavailable(NOT_WRITABLE, 10);
    this.#openedAt = now;
    const child = await this.#take();
    const { stateDir } = this.#options;
    try {
      await this.#ask(child, 'open', jsonBody({ stateDir, settings }), OPEN_LIMIT_MS);
    } catch (error) {
      child.kill('its store cannot be used');
      throw error;
    }
    this.#problem = null;
    this.#settings = settings;
    this.#child = child;
    return child;
  }

  async #take(): Promise<ChildProcess> {
    try {
      return await this.#options.supply.take(performance.now() + START_LIMIT_MS, undefined);
    } catch (error) {
      const seconds = error instanceof AppError ? Number(error.headers['Retry-After']) : 1;
      throw unavailable(NOT_WRITABLE, seconds > 0 ? seconds : 1, error);
    }
  }

  async #ask(
    child: ChildProcess,
    job: string,
    init: RequestInit,
    limitMs: number,
  ): Promise<Uint8Array> {
    let failure: Error;
    try {
      const signal = AbortSignal.timeout(limitMs);
      const response = await child.fetch(job, { method: 'POST', ...init, signal });
      if (!isFailure(response)) return await response.bytes();
      failure = await readFailure(response);
    } catch (error) {
      this.#discard(child, error);
      throw unavailable(NOT_WRITABLE, 1, error);
    }
    if (failure instanceof AppError && failure.code === 'state-unusable') {
      this.#problem = failure.message;
      if (child === this.#child) this.#child = null;
      child.kill('its store cannot be used');
      throw unavailable(NOT_WRITABLE, 10, failure);
    }
    throw failure;
  }

  /** Several batches may be lost with one process: it counts once. */
  #discard(child: ChildProcess, error: unknown): void {
    if (child === this.#child) this.#child = null;
    else if (!child.isAlive) return;
    this.#options.log.error('the process that writes events ended or did not answer', { error });
    child.kill('it did not answer');
    this.#options.supply.recordCrash();
  }
}

function jsonBody(value: unknown): RequestInit {
  return {
    body: JSON.stringify(value),
    headers: { 'Content-Type': 'application/json' },
  };
}
