/** Who waits for changes now: bounded in number, and by name for those who look at the same dataset. */
import type { ChangeFeed } from './change-feed.ts';

const MAX_OF_USER = 20;
const MAX_IN_ALL = 2_000;

export interface Subscription extends Disposable {
  /** After the next change, of people too, or so many milliseconds; at once when the subscription ends. */
  next(milliseconds: number): Promise<void>;
  readonly hasEnded: boolean;
  /** Names of the others at the same place, sorted; null when `place` is. */
  others(): readonly string[] | null;
}

interface Wanted {
  readonly userId: number;
  readonly username: string;
  /** Where others may see this user; null: nowhere. */
  readonly place: string | null;
  readonly signal: AbortSignal;
}

export class Subscribers {
  readonly #open = new Set<{ readonly wanted: Wanted; readonly wake: () => void }>();
  readonly #unsubscribe: () => void;
  #isClosed = false;

  constructor(feed: ChangeFeed) {
    this.#unsubscribe = feed.onAppend(() => this.#wake(null));
  }

  get count(): number {
    return this.#open.size;
  }

  /** Null when the user, or all together, have the most there may be. */
  subscribe(wanted: Wanted): Subscription | null {
    const own = [...this.#open].filter((one) => one.wanted.userId === wanted.userId).length;
    if (own >= MAX_OF_USER || this.#open.size >= MAX_IN_ALL) return null;
    const { signal, place } = wanted;
    let waiting: (() => void) | null = null;
    let isNews = false;
    const wake = (): void => {
      isNews = true;
      waiting?.();
    };
    const one = { wanted, wake };
    this.#open.add(one);
    signal.addEventListener('abort', wake);
    if (place !== null) this.#wake(place);
    const hasEnded = (): boolean => signal.aborted || this.#isClosed || !this.#open.has(one);
    return {
      get hasEnded() {
        return hasEnded();
      },
      next: async (milliseconds) => {
        if (!isNews && !hasEnded()) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, milliseconds);
            timer.unref();
            waiting = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
        waiting = null;
        isNews = false;
      },
      others: () => (place === null ? null : this.#othersAt(place, wanted.userId)),
      [Symbol.dispose]: () => {
        if (!this.#open.delete(one)) return;
        signal.removeEventListener('abort', wake);
        if (place !== null) this.#wake(place);
      },
    };
  }

  #othersAt(place: string, userId: number): string[] {
    const names = [...this.#open].flatMap(({ wanted }) =>
      wanted.place === place && wanted.userId !== userId ? [wanted.username] : [],
    );
    return [...new Set(names)].sort();
  }

  /** Those of a place; null: all. */
  #wake(place: string | null): void {
    for (const one of this.#open) if (place === null || one.wanted.place === place) one.wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#wake(null);
  }
}
