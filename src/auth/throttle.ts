/**
 * Failed logins, counted over a sliding window (DS-102).
 *
 * Counts monotonic time, so a changed clock neither frees nor freezes anybody, and holds a bounded number of entries: when
 * full it forgets whoever failed longest ago. State of this process only.
 */
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { sha256Hex } from '../base/ids.ts';
import { Lru } from '../base/lru.ts';

const WINDOW_MS = 15 * 60 * 1000;
const MAX_FAILURES_PER_PAIR = 10;
const MAX_FAILURES_PER_ADDRESS = 50;
/** Each of the two tables; a full one is about 2 MB of pairs, 6 MB of addresses. */
const MAX_ENTRIES = 10_000;

/** Who tries to sign in. */
export interface LoginSource {
  readonly username: string;
  /** Client address (DS-204). */
  readonly address: string;
}

/** Counts failures of one process; every password check asks it before and tells it after. */
export class LoginThrottle {
  readonly #clock: Clock;
  #failures = 0;
  /** Times of the failures, oldest first. */
  readonly #pairs = new Lru<string, number[]>(MAX_ENTRIES);
  readonly #addresses = new Lru<string, number[]>(MAX_ENTRIES);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws `throttled` with `Retry-After` while either limit is reached, for a right password too. */
  check(source: LoginSource): void {
    const now = this.#clock.monotonic();
    const waits = [
      waitOf(this.#pairs.get(pairKey(source)), MAX_FAILURES_PER_PAIR, now),
      waitOf(this.#addresses.get(source.address), MAX_FAILURES_PER_ADDRESS, now),
    ];
    const waitMs = Math.max(...waits);
    if (waitMs <= 0) return;
    throw new AppError('throttled', 'Too many failed logins', {
      headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
    });
  }

  failed(source: LoginSource): void {
    this.#failures += 1;
    const now = this.#clock.monotonic();
    note(this.#pairs, pairKey(source), MAX_FAILURES_PER_PAIR, now);
    note(this.#addresses, source.address, MAX_FAILURES_PER_ADDRESS, now);
  }

  /** Failed attempts since the start. */
  get failures(): number {
    return this.#failures;
  }

  /** Forgets the failures of this name from this address; those of the address stay. */
  succeeded(source: LoginSource): void {
    this.#pairs.delete(pairKey(source));
  }
}

function pairKey({ username, address }: LoginSource): string {
  // A name comes from outside in any length; its digest does not.
  return `${sha256Hex(username)} ${address}`;
}

/** Milliseconds until fewer than `limit` failures lie within the window; 0 or less: now. */
function waitOf(failures: readonly number[] | undefined, limit: number, now: number): number {
  const decisive = failures?.at(-limit);
  return decisive === undefined ? 0 : decisive + WINDOW_MS - now;
}

function note(table: Lru<string, number[]>, key: string, limit: number, now: number): void {
  const failures = table.get(key) ?? [];
  failures.push(now);
  // Older ones than the last `limit` decide nothing.
  if (failures.length > limit) failures.shift();
  table.set(key, failures);
}
