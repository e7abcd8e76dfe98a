/**
 * Time, handed in as an argument so that tests can move it.
 *
 * Wall time is for what people and tokens see, monotonic time for durations and limits: a clock set back must
 * neither freeze nor reset a limiter.
 */

/** Tells the time; tests bring their own. */
export interface Clock {
  /** Wall time in epoch milliseconds; may jump either way. */
  now(): number;
  /** Milliseconds since an arbitrary start, never decreasing; comparable within this process only. */
  monotonic(): number;
}

/** The machine's clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

let last = { epochMs: 0, text: '1970-01-01T00:00:00.000Z' };

/** `2026-11-20T23:29:00.715Z` (DS-16). The text sorts as the time does for the years 0 to 9999. */
export function timestamp(epochMs: number): string {
  // A busy server asks dozens of times for the same millisecond.
  if (epochMs !== last.epochMs) last = { epochMs, text: new Date(epochMs).toISOString() };
  return last.text;
}
