/**
 * Long work done in slices, so that no request waits for it (architecture: nothing holds the event loop for 50 ms).
 */
import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 8;

/** `if (slice.isOver) await slice.rest()` between the steps of the work. */
export class TimeSlice {
  #startedAt = performance.now();

  /** Lets other work run once and starts the next slice. */
  async rest(): Promise<void> {
    await setImmediate();
    this.#startedAt = performance.now();
  }

  /** Whether it is time to `rest`. */
  get isOver(): boolean {
    return performance.now() - this.#startedAt >= SLICE_MS;
  }
}
