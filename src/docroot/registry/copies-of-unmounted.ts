/**
 * Typed copies of files that are away (`unmounted.ts`), deleted once the file is known to be gone.
 *
 * Right after a mount or unmount nobody can tell whether a missing file was deleted or went with its file system.
 */
import type { Log } from '../../base/log.ts';
import type { Tables } from '../../tables/copy/tables.ts';
import type { Registry } from './registry.ts';

interface CopiesOfUnmountedOptions {
  readonly registry: Registry;
  readonly tables: Tables;
  readonly log: Log;
}

const SETTLED_MS = 1_000;

export class CopiesOfUnmounted {
  readonly #options: CopiesOfUnmountedOptions;
  readonly #waiting = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;

  constructor(options: CopiesOfUnmountedOptions) {
    this.#options = options;
  }

  add(rel: string): void {
    this.#waiting.add(rel);
  }

  changed(): void {
    if (this.#isClosed || this.#waiting.size === 0 || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#ask().catch((error: unknown) => {
        this.#options.log.warning('copies of files that may be gone were not deleted', { error });
      });
    }, SETTLED_MS);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const { registry, tables } = this.#options;
    // Looking at one path refreshes the list of mounts; only then can the others be judged.
    await registry.refresh([...this.#waiting].slice(0, 1));
    const asked = [...this.#waiting].filter((rel) => !registry.isAway(rel));
    if (asked.length === 0) return;
    await registry.refresh(asked);
    await registry.listed();
    if (this.#isClosed) return;
    const isUndecided = (rel: string): boolean => registry.isAway(rel) || registry.isUnlisted(rel);
    const known = new Set(asked.filter((rel) => !isUndecided(rel)));
    for (const rel of known) this.#waiting.delete(rel);
    const datasets = registry.list().filter(({ kind }) => kind.dataset);
    await tables.prune(datasets, (rel) => !known.has(rel) || isUndecided(rel));
  }
}
