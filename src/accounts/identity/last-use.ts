/** Uses closer than this to the last recorded one are not written. */
const USE_INTERVAL_MS = 60 * 1000;

/** Of a session, key or token. */
export function isUseDue(lastUsedAt: string | null, now: number): boolean {
  // Absolute, because the clock may have been set back.
  return lastUsedAt === null || Math.abs(now - Date.parse(lastUsedAt)) >= USE_INTERVAL_MS;
}
