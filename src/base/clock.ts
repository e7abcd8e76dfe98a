/**
 * Wall time is for people and tokens, monotonic time for durations: a clock set back must neither freeze nor reset a
 * limiter.
 */
export interface Clock {
  /** Epoch milliseconds; may jump either way. */
  now(): number;
  /** Milliseconds since an arbitrary start, never decreasing; comparable within this process only. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

let last = { epochMs: 0, text: '1970-01-01T00:00:00.000Z' };

/** `2026-11-20T23:29:00.715Z`. Sorts as the time does for the years 0 to 9999. */
export function timestamp(epochMs: number): string {
  // A busy server asks dozens of times per millisecond.
  if (epochMs !== last.epochMs) last = { epochMs, text: new Date(epochMs).toISOString() };
  return last.text;
}
