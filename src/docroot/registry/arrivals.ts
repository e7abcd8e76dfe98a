/**
 * In which order names came, so that a file that appears beside another one does not take over its address.
 *
 * What is there when the folder is first read came together. Survives restarts; when the memory is lost, all that is there
 * then came together once more.
 */
import { MemoryFile } from '../../base/files/memory-file.ts';
import type { Log } from '../../base/log.ts';
import type { Table } from './names.ts';

/** Below the state folder. */
export const ARRIVALS_FILE = 'names.json';

interface ArrivalsOptions {
  readonly memory: { readonly path: string; readonly isWritten: boolean } | null;
  readonly log: Log;
}

type Saved = readonly (readonly [key: string, order: number])[];

/** Changes within this time are saved together. */
const SAVE_AFTER_MS = 500;

export class Arrivals {
  readonly #memory: MemoryFile<Saved> | null;
  readonly #isWritten: boolean;
  #orders: ReadonlyMap<string, number>;
  #next = 0;
  #saving: Timer | null = null;

  constructor({ memory, log }: ArrivalsOptions) {
    this.#memory = memory === null ? null : new MemoryFile(memory.path, log);
    this.#isWritten = memory?.isWritten === true;
    this.#orders = this.#memory?.load((saved) => new Map(saved)) ?? new Map();
    for (const order of this.#orders.values()) this.#next = Math.max(this.#next, order + 1);
  }

  /** Smaller came earlier; equal came together. */
  orderOf(table: Pick<Table, 'rel' | 'sheet'>): number {
    return this.#orders.get(keyOf(table)) ?? Infinity;
  }

  /** Forgets what is gone, but not what is out of sight. */
  follow(tables: Iterable<Table>, isAway: (rel: string) => boolean): void {
    const orders = new Map<string, number>();
    let hasNew = false;
    for (const table of tables) {
      const known = this.#orders.get(keyOf(table));
      hasNew ||= known === undefined;
      orders.set(keyOf(table), known ?? this.#next);
    }
    for (const [key, order] of this.#orders) {
      if (!orders.has(key) && isAway(key)) orders.set(key, order);
    }
    if (!hasNew && orders.size === this.#orders.size) return;
    if (hasNew) this.#next++;
    this.#orders = orders;
    this.#saveLater();
  }

  #saveLater(): void {
    if (!this.#isWritten) return;
    this.#saving ??= setTimeout(() => {
      this.#saving = null;
      this.#memory?.save([...this.#orders]);
    }, SAVE_AFTER_MS);
    this.#saving.unref();
  }
}

function keyOf({ rel, sheet }: Pick<Table, 'rel' | 'sheet'>): string {
  return sheet === null ? rel : `${rel}/${sheet}`;
}
