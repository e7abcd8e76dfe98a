/**
 * 1, 2, 4 … 30 seconds. The first failures in a row cause none, so that one poisonous request does not shut out the
 * others.
 */

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Times are milliseconds of one monotonic clock. */
export class Backoff {
  readonly #freeFailures: number;
  #failures = 0;
  #notBefore = 0;

  /** `freeFailures`: failures in a row without a delay. */
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

  remainingMs(nowMs: number): number {
    return Math.max(0, this.#notBefore - nowMs);
  }
}
