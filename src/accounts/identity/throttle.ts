/**
 * Failed logins in a sliding window.
 *
 * Monotonic time, so a changed clock neither frees nor locks out anybody; a bounded number of entries, dropping the
 * one whose last failure is oldest.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { sha256Hex } from '../../base/ids.ts';
import { networkOf } from '../../base/ip-network.ts';
import { Lru } from '../../base/lru.ts';

const WINDOW_MS = 15 * 60 * 1000;
const MAX_FAILURES_PER_PAIR = 10;
/** An IPv4 address, or the /64 of an IPv6 one, the least one customer has. */
const MAX_FAILURES_PER_ADDRESS = 50;
/** Per /48: some customers have one, which is 65,536 of the above; so does a whole company. */
const MAX_FAILURES_PER_SITE = 500;
/** Of each table; a full one is about 2 MB of pairs, 6 MB of addresses. */
const MAX_ENTRIES = 10_000;
const MAX_SITES = 1000;

export interface LoginSource {
  readonly username: string;
  readonly address: string;
}

export class LoginThrottle {
  readonly #clock: Clock;
  #failures = 0;
  readonly #pairs = new Lru<string, number[]>(MAX_ENTRIES);
  readonly #addresses = new Lru<string, number[]>(MAX_ENTRIES);
  readonly #sites = new Lru<string, number[]>(MAX_SITES);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws `throttled` with `Retry-After` while a limit is reached, for a right password too. */
  check(source: LoginSource): void {
    const now = this.#clock.monotonic();
    const waits = [
      waitOf(this.#pairs.get(pairKey(source)), MAX_FAILURES_PER_PAIR, now),
      waitOf(this.#addresses.get(networkOf(source.address, 64)), MAX_FAILURES_PER_ADDRESS, now),
      waitOf(this.#sites.get(networkOf(source.address, 48)), MAX_FAILURES_PER_SITE, now),
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
    note(this.#addresses, networkOf(source.address, 64), MAX_FAILURES_PER_ADDRESS, now);
    note(this.#sites, networkOf(source.address, 48), MAX_FAILURES_PER_SITE, now);
  }

  get failures(): number {
    return this.#failures;
  }

  succeeded(source: LoginSource): void {
    this.#pairs.delete(pairKey(source));
  }
}

function pairKey({ username, address }: LoginSource): string {
  // A name may have any length; its digest does not.
  return `${sha256Hex(username)} ${networkOf(address, 64)}`;
}

/** Milliseconds until fewer than `limit` failures lie in the window; 0 or less: now. */
function waitOf(failures: readonly number[] | undefined, limit: number, now: number): number {
  const decisive = failures?.at(-limit);
  return decisive === undefined ? 0 : decisive + WINDOW_MS - now;
}

function note(table: Lru<string, number[]>, key: string, limit: number, now: number): void {
  const failures = table.get(key) ?? [];
  failures.push(now);
  // Failures before the last `limit` do not matter.
  if (failures.length > limit) failures.shift();
  table.set(key, failures);
}
