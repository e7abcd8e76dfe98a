/** All who share a `LoopShare` together hold the loop no longer than a slice. */

/** Requests wait at most this much longer, once each time they return to the loop. */
const SLICE_MS = 4;
/** As much is left to requests between slices: work takes at most half of the loop. */
const REST_MS = 4;

/** Time shared by everybody who works through the same object. */
export class LoopShare {
  #until = Number.NEGATIVE_INFINITY;
  #pause: Promise<void> | null = null;

  /** Asking costs about 30 ns. */
  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** For follow-up work that cannot be measured here. */
  spend(ms: number): void {
    this.#until -= ms;
  }

  /** Resolves when there is time left in a slice. */
  async turn(): Promise<void> {
    while (this.isOver) {
      this.#pause ??= new Promise((resolve) => {
        setTimeout(() => {
          this.#until = performance.now() + SLICE_MS;
          this.#pause = null;
          resolve();
        }, REST_MS);
      });
      await this.#pause;
    }
  }
}
