import type { Entry } from './column.ts';

/** An integer for each entry of the list last seen, -1 until it is set; kept while batches share the list. */
export class ByEntry {
  #entries: readonly Entry[] | null = null;
  #known = new Int32Array(0);

  of(entries: readonly Entry[]): Int32Array {
    const isSame = this.#entries === entries;
    if (isSame && this.#known.length >= entries.length) return this.#known;
    const known = new Int32Array(entries.length + (isSame ? entries.length : 0)).fill(-1);
    if (isSame) known.set(this.#known);
    this.#entries = entries;
    this.#known = known;
    return known;
  }

  forget(): void {
    this.#entries = null;
  }
}
