/**
 * Limits on how much runs at once in this process. Waiters are served in the order they came.
 */
import { AppError } from './errors.ts';

/** At most `limit` pieces of work at once, at most `maxQueue` waiting (default: no bound). */
export class Semaphore {
  readonly #limit: number;
  readonly #maxQueue: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limit: number, maxQueue = Number.POSITIVE_INFINITY) {
    if (!(limit >= 1)) throw new RangeError('limit must be at least 1');
    this.#limit = limit;
    this.#maxQueue = maxQueue;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /**
   * Runs `work` when a place is free and answers its result; the place is given back in every case.
   *
   * Throws `unavailable` at once when the queue is full, and the signal's reason when it aborts before work starts;
   * started work is not interrupted.
   */
  async run<T>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T> {
    const release = await this.acquire(signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Takes a place until the answered function is called; calling it again does nothing. Errors as for `run`. */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#running >= this.#limit) await this.#wait(signal);
    else this.#running++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#passOn();
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size >= this.#maxQueue) {
      throw new AppError('unavailable', 'Too many requests are waiting', {
        headers: { 'Retry-After': '1' },
      });
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        this.#waiting.delete(start);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.add(start);
    });
  }

  #passOn(): void {
    for (const next of this.#waiting) {
      // The place goes straight to the next in line, so nobody who comes later can take it in between.
      this.#waiting.delete(next);
      next();
      return;
    }
    this.#running--;
  }
}

/** One piece of work at a time. */
export class Mutex extends Semaphore {
  constructor(maxQueue?: number) {
    super(1, maxQueue);
  }
}
