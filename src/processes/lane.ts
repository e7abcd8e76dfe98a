/**
 * Limits how many jobs run at once. Users who hold the fewest places go first, then those whose last turn is longest
 * ago. A held place can be moved to another lane, so that a long job stops blocking those behind it.
 */
import { currentPerson } from '../base/scheduling/current-person.ts';
import { AppError } from '../base/errors.ts';

interface Waiter {
  readonly person: string | null;
  readonly admit: () => void;
  readonly refuse: (error: unknown) => void;
}

/** Call `leave` once; it frees the place in whichever lane it is by then. */
export interface Place {
  lane: Lane;
  readonly person: string | null;
}

/** Places each user holds, in all lanes that share it. Jobs without a user are not counted. */
export class Holdings {
  readonly #most: () => number;
  readonly #places = new Map<string, number>();

  constructor(most: () => number = () => Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  get isBounded(): boolean {
    return this.#most() < Number.POSITIVE_INFINITY;
  }

  of(person: string | null): number {
    return person === null ? 0 : (this.#places.get(person) ?? 0);
  }

  mayTake(person: string | null): boolean {
    return this.of(person) < this.#most();
  }

  add(person: string | null, places: 1 | -1): void {
    if (person === null) return;
    const held = this.of(person) + places;
    if (held === 0) this.#places.delete(person);
    else this.#places.set(person, held);
  }
}

export class Lane {
  readonly #limit: number;
  readonly #maxQueue: number;
  readonly #holdings: Holdings;
  readonly #waiters = new Set<Waiter>();
  /** When each user who waits or holds a place last got one. */
  readonly #turns = new Map<string | null, number>();
  #taken = 0;
  #admitted = 0;

  /** `maxQueue`: of one user. With bounded `holdings` the last place is for a user who holds none. */
  constructor(limit: number, maxQueue: number, holdings = new Holdings()) {
    this.#limit = limit;
    this.#maxQueue = maxQueue;
    this.#holdings = holdings;
  }

  get queued(): number {
    return this.#waiters.size;
  }

  /** Somebody else waits who may take a place. */
  isWantedBesides(person: string | null): boolean {
    return [...this.#waiters].some(
      (waiter) => waiter.person !== person && this.#holdings.mayTake(waiter.person),
    );
  }

  get hasRoom(): boolean {
    return this.#taken < this.#limit;
  }

  /** Errors: `unavailable` when the queue is full, or no place came free within `timeoutMs`; the signal's reason. */
  async enter(
    timeoutMs: number,
    signal: AbortSignal | undefined,
    person: string | null,
  ): Promise<Place> {
    signal?.throwIfAborted();
    if (this.#mayTake(person)) this.#take(person);
    else await this.#wait(timeoutMs, signal, person);
    return { lane: this, person };
  }

  /** For short work without a user. Errors as `enter`. */
  async run<Result>(timeoutMs: number, work: () => Promise<Result>): Promise<Result> {
    const place = await this.enter(timeoutMs, undefined, currentPerson());
    try {
      return await work();
    } finally {
      Lane.leave(place);
    }
  }

  static leave({ lane, person }: Place): void {
    lane.#holdings.add(person, -1);
    lane.#taken -= 1;
    lane.admitNext();
  }

  /** Moves a held place here, which frees its old one. Only while {@link hasRoom}. */
  adopt(place: Place): void {
    this.#taken += 1;
    const former = place.lane;
    place.lane = this;
    former.#taken -= 1;
    former.#holdings.add(place.person, -1);
    this.#holdings.add(place.person, 1);
    former.admitNext();
  }

  /** Fills free places; call it when a user gave one back in another lane. */
  admitNext(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      this.#waiters.delete(next);
      this.#take(next.person);
      next.admit();
    }
    if (this.#taken === 0 && this.#waiters.size === 0) this.#turns.clear();
  }

  #next(): Waiter | null {
    let next: Waiter | null = null;
    for (const waiter of this.#waiters) {
      if (!this.#mayTake(waiter.person)) continue;
      if (next === null || this.#isSooner(waiter.person, next.person)) next = waiter;
    }
    return next;
  }

  #isSooner(a: string | null, b: string | null): boolean {
    const more = this.#holdings.of(a) - this.#holdings.of(b);
    return more < 0 || (more === 0 && this.#turnOf(a) < this.#turnOf(b));
  }

  #turnOf(person: string | null): number {
    return this.#turns.get(person) ?? 0;
  }

  #mayTake(person: string | null): boolean {
    const left = this.#limit - this.#taken;
    if (left <= 0 || !this.#holdings.mayTake(person)) return false;
    return left > 1 || !this.#holdings.isBounded || this.#holdings.of(person) === 0;
  }

  close(error: AppError): void {
    for (const waiter of [...this.#waiters]) waiter.refuse(error);
  }

  #take(person: string | null): void {
    this.#taken += 1;
    this.#holdings.add(person, 1);
    this.#turns.set(person, ++this.#admitted);
  }

  #wait(timeoutMs: number, signal: AbortSignal | undefined, person: string | null): Promise<void> {
    let own = 0;
    for (const waiter of this.#waiters) if (waiter.person === person) own += 1;
    if (own >= this.#maxQueue) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = {
      person,
      admit: resolve,
      refuse: (error) => {
        this.#waiters.delete(waiter);
        reject(error);
      },
    };
    const onAbort = (): void => waiter.refuse(signal?.reason);
    const timer = setTimeout(() => waiter.refuse(busy()), timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#waiters.add(waiter);
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    });
  }
}

function busy(): AppError {
  return new AppError('unavailable', 'The server is busy; try again later', {
    headers: { 'Retry-After': '1' },
  });
}
