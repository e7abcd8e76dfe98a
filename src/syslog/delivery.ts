/**
 * From a listener to the store: messages gather while the batch before them is being written, in a bounded memory.
 *
 * Syslog has no answers, so what the store cannot take now is tried again; while memory is full, streams are not read and
 * datagrams are dropped and counted.
 */
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';

/** A message and who sent it. */
export interface SyslogMessage {
  readonly peer: string;
  readonly bytes: Uint8Array;
}

interface DeliveryOptions {
  readonly name: string;
  /** Resolves when the messages are on disk. Rejects with `unavailable`, `throttled` to be tried again later. */
  readonly store: (messages: readonly SyslogMessage[]) => Promise<void>;
  readonly onLost: (messages: readonly SyslogMessage[], reason: string, status: number) => void;
  /** There is room again. */
  readonly onRoom: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_MESSAGES = 20_000;
const MAX_BYTES = 8 * 2 ** 20;
const MAX_BATCH = 1_000;
const MAX_BATCH_BYTES = 2 ** 20;
const RETRY_MS = 500;
const REPORT_MS = 60_000;

/** The queue of one listener. */
export class SyslogDelivery {
  readonly #options: DeliveryOptions;
  #waiting: SyslogMessage[] = [];
  #bytes = 0;
  #pump: Promise<void> | null = null;
  #isClosing = false;
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** Messages that the listener's user may not store. */
  refused = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#waiting.length >= MAX_MESSAGES || this.#bytes >= MAX_BYTES;
  }

  get #isHalfEmpty(): boolean {
    return this.#waiting.length < MAX_MESSAGES / 2 && this.#bytes < MAX_BYTES / 2;
  }

  /** Takes a message. Who cannot wait is to ask `isFull` first; who can stops reading then. */
  add(message: SyslogMessage): void {
    this.#waiting.push(message);
    this.#bytes += message.bytes.length;
    this.#pump ??= this.#work();
  }

  /** Stores what waits; what cannot be stored within `limitMs` is lost, and counted in the answer. */
  async close(limitMs: number): Promise<number> {
    this.#isClosing = true;
    await Promise.race([this.#pump, Bun.sleep(limitMs)]);
    return this.#waiting.length;
  }

  async #work(): Promise<void> {
    // What comes in the same turn goes together.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      const isDone = await this.#deliver(batch);
      if (isDone) {
        this.#waiting.splice(0, batch.length);
        for (const { bytes } of batch) this.#bytes -= bytes.length;
        if (this.#isHalfEmpty) this.#options.onRoom();
      } else await Bun.sleep(RETRY_MS);
    }
    this.#pump = null;
  }

  #nextBatch(): SyslogMessage[] {
    const batch: SyslogMessage[] = [];
    let size = 0;
    for (const message of this.#waiting) {
      if (batch.length >= MAX_BATCH || (size > 0 && size + message.bytes.length > MAX_BATCH_BYTES))
        break;
      batch.push(message);
      size += message.bytes.length;
    }
    return batch;
  }

  /** False: to be tried again. */
  async #deliver(batch: readonly SyslogMessage[]): Promise<boolean> {
    try {
      await this.#options.store(batch);
      return true;
    } catch (error) {
      const isLater = error instanceof AppError && (error.status === 503 || error.status === 429);
      this.#report(error);
      if (isLater && !this.#isClosing) return false;
      this.refused += batch.length;
      const isKnown = error instanceof AppError;
      this.#options.onLost(
        batch,
        isKnown ? error.message : String(error),
        isKnown ? error.status : 500,
      );
      return true;
    }
  }

  /** A flood of refusals is one line a minute. */
  #report(error: unknown): void {
    const { clock, log, name } = this.#options;
    const now = clock.monotonic();
    if (now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    log.warning('syslog messages are not stored', { listener: name, error });
  }
}
