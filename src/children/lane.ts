/**
 * How many jobs run at once and who is next: a bounded number of places, a bounded first-in first-out queue.
 *
 * A place can be moved to another lane while it is held, so that a job which turns out to take long stops blocking the
 * jobs behind it.
 */
import { AppError } from '../base/errors.ts';

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (error: unknown) => void;
}

/** A held place; `leave` may be called once and frees it wherever it is by then. */
export interface Place {
  lane: Lane;
}

/** Places for jobs of one urgency. */
export class Lane {
  readonly #limit: number;
  readonly #maxQueue: number;
  readonly #waiters = new Set<Waiter>();
  #taken = 0;

  constructor(limit: number, maxQueue: number) {
    this.#limit = limit;
    this.#maxQueue = maxQueue;
  }

  get queued(): number {
    return this.#waiters.size;
  }

  get hasRoom(): boolean {
    return this.#taken < this.#limit;
  }

  /**
   * Waits for a place. Errors: `unavailable` when the queue is full, or when no place came free within `timeoutMs`;
   * the signal's reason when it is aborted.
   */
  async enter(timeoutMs: number, signal: AbortSignal | undefined): Promise<Place> {
    signal?.throwIfAborted();
    if (this.hasRoom) this.#taken += 1;
    else await this.#wait(timeoutMs, signal);
    return { lane: this };
  }

  /** Gives the place back; the longest waiting job gets it. */
  static leave(place: Place): void {
    place.lane.#free();
  }

  /** Moves a held place here, which frees one where it was. Only while {@link hasRoom}. */
  adopt(place: Place): void {
    this.#taken += 1;
    const former = place.lane;
    place.lane = this;
    former.#free();
  }

  /** Refuses every waiting job with `error`. */
  close(error: AppError): void {
    for (const waiter of [...this.#waiters]) waiter.refuse(error);
  }

  #free(): void {
    const [next] = this.#waiters;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiters.delete(next);
    next.admit();
  }

  #wait(timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiters.size >= this.#maxQueue) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = {
      admit: resolve,
      refuse: (error) => {
        this.#waiters.delete(waiter);
        reject(error);
      },
    };
    const onAbort = (): void => waiter.refuse(signal?.reason);
    const timer = setTimeout(() => waiter.refuse(busy()), timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#waiters.add(waiter);
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    });
  }
}

function busy(): AppError {
  return new AppError('unavailable', 'The server is busy; try again later', {
    headers: { 'Retry-After': '1' },
  });
}
