/** Request rates by user over a sliding window. Refused requests are not counted; in memory only. */
import type { Clock } from '../../base/clock.ts';
import { Lru } from '../../base/lru.ts';

const WINDOW_MS: Readonly<Record<string, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};
const MAX_USERS = 10_000;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #times = new Lru<number, number[]>(MAX_USERS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts the request and returns 0 when it is within `rate` (`''`: unlimited); else the whole seconds to wait. */
  take(userId: number, rate: string): number {
    const [amount = '', unit = ''] = rate.split('/');
    const windowMs = WINDOW_MS[unit];
    if (windowMs === undefined) return 0;
    const now = this.#clock.monotonic();
    const limit = Number(amount);
    const times = (this.#times.get(userId) ?? []).filter((at) => now - at < windowMs);
    this.#times.set(userId, times);
    if (times.length >= limit)
      return Math.max(1, Math.ceil((times.at(-limit)! + windowMs - now) / 1000));
    times.push(now);
    return 0;
  }
}
