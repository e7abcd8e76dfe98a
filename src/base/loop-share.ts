/**
 * Long work on the event loop in slices, so that requests get their turn in between: however many ask for time here, together
 * they keep the loop no longer than a slice.
 */

/** Requests wait this much longer at most, once for each time they come back to the loop. */
const SLICE_MS = 4;
/** As much is left to them between two slices: whoever works here takes half of the loop at most. */
const REST_MS = 4;

/** Time shared by everybody who works through the same object. */
export class LoopShare {
  #until = Number.NEGATIVE_INFINITY;
  #pause: Promise<void> | null = null;

  /** Whether the slice is used up; asking costs about 30 ns. */
  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Takes time off the slice for work that follows from this one and that nobody here can measure. */
  spend(ms: number): void {
    this.#until -= ms;
  }

  /** Resolves when there is time left: in the next slice unless it is still this one's. */
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
