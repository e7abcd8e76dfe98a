/**
 * What was read of shared state, for as long as nobody has written to it.
 *
 * Who is asking and what he may do is looked up for every request, and mostly nothing has changed since the last one.
 * A write by anybody, another process included, forgets everything, so a revocation counts from the next request on.
 */
import { Lru } from '../base/lru.ts';
import type { Soon } from '../base/soon.ts';
import type { Database } from './database.ts';

/** Answers of one question by its argument; at most `maxEntries`. */
export class Remembered<Value> {
  readonly #values: Lru<string, Value>;
  #changeCount: number | null = null;

  constructor(maxEntries: number) {
    this.#values = new Lru(maxEntries);
  }

  /** The remembered answer at once, or what `read` gives. Null answers are remembered too. */
  get(db: Database, argument: string, read: () => Promise<Value>): Soon<Value> {
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
    // What was written while it was read may or may not be in it; another question may have seen that write already.
    if (before === this.#changeCount && db.changeCount() === before) {
      this.#values.set(argument, value);
    }
    return value;
  }
}

/** One memory for each database; two servers in one process share nothing. */
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
