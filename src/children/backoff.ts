/**
 * How long to wait before starting a child again after it failed: 1, 2, 4 … 30 seconds (DS-170), after a number of
 * failures in a row that cost nothing, so that one poisonous request does not shut out the others.
 */

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Counts failures in a row. Times are milliseconds of one monotonic clock, given by the caller. */
export class Backoff {
  readonly #freeFailures: number;
  #failures = 0;
  #notBefore = 0;

  /** `freeFailures`: failures in a row after which no pause is made yet. */
  constructor(freeFailures: number) {
    this.#freeFailures = freeFailures;
  }

  failed(nowMs: number): void {
    this.#failures += 1;
    const counted = this.#failures - this.#freeFailures;
    if (counted <= 0) return;
    this.#notBefore = nowMs + Math.min(LONGEST_MS, FIRST_MS * 2 ** (counted - 1));
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBefore = 0;
  }

  /** Milliseconds until the next start is allowed; 0 when it is allowed now. */
  remainingMs(nowMs: number): number {
    return Math.max(0, this.#notBefore - nowMs);
  }
}
