/**
 * The memory that all request bodies may take together, shared by user: one user's bodies take a quarter of it at most,
 * unless it is a single one; all requests without a credential count as one user. A body holds its estimate until its
 * request is answered.
 */
import { AppError } from '../../base/errors.ts';
import { countGarbage } from '../../base/scheduling/garbage-collection.ts';

const WAIT_MS = 2_000;
/** Bodies of one person that wait. */
const MAX_WAITING = 64;
const MEMORY_PER_BYTE = 3;
/** An empty object takes 85 bytes, a value of a row with all that is made of it until it is written about three times as much. */
const MEMORY_PER_VALUE = 256;
/** The largest body with the most values needs 6.3 times its size. */
const ROOM_PER_BODY_BYTE = 8;
const LEAST_ROOM_BYTES = 128 * 1024 * 1024;

/** Bodies up to here are read before they take room, so a slow small body blocks nobody. */
export const SMALL_BODY_BYTES = 64 * 1024;

export function bodyMemory(bytes: number, values: number): number {
  return bytes * MEMORY_PER_BYTE + values * MEMORY_PER_VALUE;
}

interface Asked {
  readonly person: string;
  readonly bytes: number;
  readonly own: number;
}

interface Waiter extends Asked {
  readonly admit: () => void;
}

export class BodyRoom {
  readonly #room: () => number;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();
  #total = 0;

  /** `maxBodyBytes`: of the largest body. */
  constructor(maxBodyBytes: () => number) {
    this.#room = () => Math.max(LEAST_ROOM_BYTES, maxBodyBytes() * ROOM_PER_BODY_BYTE);
  }

  /**
   * `own`: bytes this body holds already. Throws `throttled` when the user's other bodies fill his share for WAIT_MS,
   * `unavailable` when those of others leave too little; both with Retry-After.
   */
  async take(person: string, bytes: number, own: number): Promise<void> {
    const asked = { person, bytes, own };
    if (this.#fits(asked)) this.#add(person, bytes);
    else await this.#wait(asked);
  }

  give(person: string, bytes: number): void {
    this.#add(person, -bytes);
    countGarbage(bytes);
    for (const waiter of this.#waiting) {
      if (!this.#fits(waiter)) continue;
      this.#waiting.delete(waiter);
      this.#add(waiter.person, waiter.bytes);
      waiter.admit();
    }
  }

  async #wait(asked: Asked): Promise<void> {
    let waiting = 0;
    for (const { person } of this.#waiting) if (person === asked.person) waiting++;
    if (waiting >= MAX_WAITING) throw this.#refusal(asked);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { ...asked, admit: resolve };
    this.#waiting.add(waiter);
    const timer = setTimeout(() => {
      this.#waiting.delete(waiter);
      reject(this.#refusal(asked));
    }, WAIT_MS);
    await promise.finally(() => clearTimeout(timer));
  }

  #fits(asked: Asked): boolean {
    const total = this.#total + asked.bytes;
    return this.#isWithinShare(asked) && (total <= this.#room() || this.#total <= asked.own);
  }

  #isWithinShare({ person, bytes, own }: Asked): boolean {
    const held = this.#held.get(person) ?? 0;
    return held + bytes <= this.#room() / 4 || held <= own;
  }

  #add(person: string, bytes: number): void {
    this.#total += bytes;
    const held = (this.#held.get(person) ?? 0) + bytes;
    if (held > 0) this.#held.set(person, held);
    else this.#held.delete(person);
  }

  #refusal(asked: Asked): AppError {
    const headers = { 'Retry-After': '2' };
    return this.#isWithinShare(asked)
      ? new AppError('unavailable', 'Too many request bodies are being worked on', { headers })
      : new AppError('throttled', 'Too much of your request bodies is being worked on', {
          headers,
        });
  }
}
