/**
 * In which order names came, so that a file that appears beside another one does not take over its address.
 *
 * A file that goes and comes back within a day has its old place. Survives restarts; when the memory is lost, all
 * that is there then came together.
 */
import { MemoryFile } from '../../base/files/memory-file.ts';
import type { Log } from '../../base/log.ts';
import type { Table } from './names.ts';

/** Below the state folder. */
export const ARRIVALS_FILE = 'names.memory';

interface ArrivalsOptions {
  readonly memory: { readonly path: string; readonly isWritten: boolean } | null;
  /** Epoch ms. */
  readonly now: () => number;
  readonly log: Log;
}

interface Arrival {
  /** Smaller came earlier; equal came together. */
  readonly order: number;
  /** Epoch ms; null while it is there or out of sight. */
  readonly goneAt: number | null;
}

type Saved = readonly (readonly [key: string, order: number, goneAt?: number])[];

/** Changes within this time are saved together. */
const SAVE_AFTER_MS = 500;
const KEPT_GONE_MS = 24 * 3_600_000;
/** Of what is gone: a program may make and delete files all day. */
const MAX_GONE = 10_000;

export class Arrivals {
  readonly #options: ArrivalsOptions;
  readonly #memory: MemoryFile<Saved> | null;
  #arrivals: ReadonlyMap<string, Arrival>;
  #next = 0;
  #saving: Timer | null = null;

  constructor(options: ArrivalsOptions) {
    this.#options = options;
    const { memory, log } = options;
    this.#memory = memory === null ? null : new MemoryFile(memory.path, log);
    this.#arrivals = this.#memory?.load(arrivalsIn) ?? new Map();
    for (const { order } of this.#arrivals.values()) this.#next = Math.max(this.#next, order + 1);
  }

  /** Smaller came earlier; infinite for what was never there. */
  orderOf(table: Pick<Table, 'rel' | 'sheet'>): number {
    return this.#arrivals.get(keyOf(table))?.order ?? Infinity;
  }

  follow(tables: Iterable<Table>, isAway: (rel: string) => boolean): void {
    const arrivals = new Map<string, Arrival>();
    let hasChanged = false;
    let hasNew = false;
    for (const table of tables) {
      const known = this.#arrivals.get(keyOf(table));
      hasNew ||= known === undefined;
      hasChanged ||= known === undefined || known.goneAt !== null;
      arrivals.set(keyOf(table), { order: known?.order ?? this.#next, goneAt: null });
    }
    const now = this.#options.now();
    let gone = 0;
    for (const [key, known] of this.#arrivals) {
      if (arrivals.has(key)) continue;
      const goneAt = isAway(key) ? null : (known.goneAt ?? now);
      hasChanged ||= goneAt !== known.goneAt;
      if (goneAt !== null && (now - goneAt > KEPT_GONE_MS || ++gone > MAX_GONE)) continue;
      arrivals.set(key, { order: known.order, goneAt });
    }
    if (!hasChanged) return;
    if (hasNew) this.#next++;
    this.#arrivals = arrivals;
    this.#saveLater();
  }

  #saveLater(): void {
    if (this.#options.memory?.isWritten !== true) return;
    this.#saving ??= setTimeout(() => {
      this.#saving = null;
      const saved: Saved = Array.from(this.#arrivals, ([key, { order, goneAt }]) =>
        goneAt === null ? [key, order] : [key, order, goneAt],
      );
      this.#memory?.save(saved);
    }, SAVE_AFTER_MS);
    this.#saving.unref();
  }
}

function arrivalsIn(saved: Saved): Map<string, Arrival> {
  return new Map(saved.map(([key, order, goneAt = null]) => [key, { order, goneAt }]));
}

function keyOf({ rel, sheet }: Pick<Table, 'rel' | 'sheet'>): string {
  return sheet === null ? rel : `${rel}/${sheet}`;
}
