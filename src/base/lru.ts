/** Drops the least recently used entry. Relies on `Map` keeping insertion order. */

/** `get` and `set` make an entry the newest. All calls are O(1). */
export class Lru<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #maxEntries: number;
  readonly #onEvict: ((key: K, value: V) => void) | undefined;
  /** So that an entry used again and again is not moved each time. */
  #newest: K | undefined = undefined;

  /** `onEvict`: only for entries pushed out, not for `delete`, `clear` or replaced values. */
  constructor(maxEntries: number, onEvict?: (key: K, value: V) => void) {
    if (!(maxEntries >= 1)) throw new RangeError('maxEntries must be at least 1');
    this.#maxEntries = maxEntries;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Makes the entry the newest. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined || key === this.#newest) return value;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    if (this.#entries.size <= this.#maxEntries) return;
    for (const [oldestKey, oldest] of this.#entries) {
      this.#entries.delete(oldestKey);
      this.#onEvict?.(oldestKey, oldest);
      return;
    }
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Oldest first; does not count as use. Entries may be deleted while iterating. */
  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }
}
