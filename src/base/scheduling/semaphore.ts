/** Waiters are served in order of arrival; a `Lane` shares between people. */

/** At most `limit` pieces of work at once. */
export class Semaphore {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limit: number) {
    if (!(limit >= 1)) throw new RangeError('limit must be at least 1');
    this.#limit = limit;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /** Throws the signal's reason when it aborts before work starts. */
  async run<T>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T> {
    const release = await this.acquire(signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** The returned function gives the place back and may be called again. Errors as for `run`. */
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
      // The place goes straight to the next in line, so that no newcomer takes it.
      this.#waiting.delete(next);
      next();
      return;
    }
    this.#running--;
  }
}

export class Mutex extends Semaphore {
  constructor() {
    super(1);
  }
}
