/**
 * The typed copies whose rows the search reads. They stay open between searches that follow each other, because opening
 * one takes longer than reading a hundred rows of it, but not for long: who holds a copy keeps the disk space of one
 * that was deleted meanwhile.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CopyRows } from '../tables/copy/copy-rows.ts';

/** Three file descriptors each. */
const MAX_OPEN = 64;
const IDLE_MS = 1_000;

export class RowCopies {
  /** By path; the least recently used one stands first. */
  readonly #open = new Map<string, CopyRows>();
  readonly #used = new Set<string>();
  #sweep: Timer | null = null;

  /** Null when it is gone or damaged: its resource is then about to be read anew. */
  at(folder: string, name: string): CopyRows | null {
    const path = join(folder, name);
    const copy = this.#open.get(path) ?? opened(path);
    if (copy === null || !existsSync(path)) {
      this.#close(path);
      return null;
    }
    this.#used.add(path);
    this.#open.delete(path);
    this.#open.set(path, copy);
    if (this.#open.size > MAX_OPEN) this.#close(this.#open.keys().next().value!);
    this.#sweep ??= setInterval(() => this.#closeUnused(), IDLE_MS).unref();
    return copy;
  }

  close(): void {
    this.#used.clear();
    this.#closeUnused();
  }

  #closeUnused(): void {
    for (const path of [...this.#open.keys()]) if (!this.#used.has(path)) this.#close(path);
    this.#used.clear();
    if (this.#open.size > 0 || this.#sweep === null) return;
    clearInterval(this.#sweep);
    this.#sweep = null;
  }

  #close(path: string): void {
    this.#open.get(path)?.close();
    this.#open.delete(path);
  }
}

function opened(path: string): CopyRows | null {
  try {
    return new CopyRows(path);
  } catch {
    return null;
  }
}
