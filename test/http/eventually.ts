/**
 * Conditions that come true a little later.
 */
import { patienceFor } from '../support/patience.ts';

const POLL_MS = 10;

/** Longest time until a change of the document root shows, in ms (DS-33). */
export const PICK_UP_MS = 1_000;

/**
 * Tries until `check` passes (does not throw); resolves with its result. After `limitMs`, longer on shared cores, the
 * last failure is thrown.
 * The limit is judged by when a try began, so a slow answer alone is no failure.
 */
export async function eventually<Result>(
  check: () => Result | Promise<Result>,
  limitMs = 5_000,
): Promise<Result> {
  const deadline = performance.now() + patienceFor(limitMs);
  for (;;) {
    const isLast = performance.now() >= deadline;
    try {
      return await check();
    } catch (error) {
      if (isLast) throw error;
    }
    await Bun.sleep(POLL_MS);
  }
}
