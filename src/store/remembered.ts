/** A cache of shared state. A write by any process clears everything, so a revocation counts from the next request. */
import { Lru } from '../base/lru.ts';
import type { MaybePromise } from '../base/scheduling/maybe-promise.ts';
import type { Database } from './database.ts';

export class Remembered<Value> {
  readonly #values: Lru<string, Value>;
  #changeCount: number | null = null;

  constructor(maxEntries: number) {
    this.#values = new Lru(maxEntries);
  }

  /** Synchronous when cached. Null results are cached too. */
  get(db: Database, argument: string, read: () => Promise<Value>): MaybePromise<Value> {
    const before = db.changeCount();
    if (before === null) return read();
    if (before !== this.#changeCount) {
      this.#values.clear();
      this.#changeCount = before;
    }
    const known = this.#values.get(argument);
    return known === undefined ? this.#learn(db, argument, read, before) : known;
  }

  async #learn(
    db: Database,
    argument: string,
    read: () => Promise<Value>,
    before: number,
  ): Promise<Value> {
    const value = await read();
    // A write during the read may or may not be in the result; another query may have seen it already.
    if (before === this.#changeCount && db.changeCount() === before) {
      this.#values.set(argument, value);
    }
    return value;
  }
}

/** One cache per database; two servers in one process share nothing. */
export function rememberedFor<Value>(maxEntries: number): (db: Database) => Remembered<Value> {
  const memories = new WeakMap<Database, Remembered<Value>>();
  return (db) => {
    let memory = memories.get(db);
    if (memory === undefined) {
      memory = new Remembered(maxEntries);
      memories.set(db, memory);
    }
    return memory;
  };
}
