/**
 * Typed copies that wait for files that are away (`away-mounts.ts`): they go when it shows that the file is gone after all.
 *
 * Whether a file was deleted, or went with its file system, cannot be told of the moment in which anything was mounted; and
 * what was on a disk may be deleted there while it is away. A copy holds all that stood in its file, so it must not stay.
 */
import type { Log } from '../base/log.ts';
import type { Tables } from '../dataset/tables.ts';
import type { Registry } from './registry.ts';

interface AwayCopiesOptions {
  readonly registry: Registry;
  readonly tables: Tables;
  readonly log: Log;
}

/** From a change until it is asked again what is away. */
const SETTLED_MS = 1_000;

/** The copies that were set aside since the start. */
export class AwayCopies {
  readonly #options: AwayCopiesOptions;
  /** Rels of their files. */
  readonly #waiting = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;

  constructor(options: AwayCopiesOptions) {
    this.#options = options;
  }

  /** A copy of the file was set aside. */
  add(rel: string): void {
    this.#waiting.add(rel);
  }

  /** To be told after every change of what is published. */
  changed(): void {
    if (this.#isClosed || this.#waiting.size === 0 || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#ask().catch((error: unknown) => {
        this.#options.log.warning('copies of files that may be gone were not deleted', { error });
      });
    }, SETTLED_MS);
  }

  /** Leaves those that still wait to the next start. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const { registry, tables } = this.#options;
    // One look tells which file systems are there by now, and only of their files anything can be told.
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
