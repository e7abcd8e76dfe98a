/**
 * Typed copies in the making: the order for the worker, and how far it has read the file.
 */
import { AppError } from '../base/errors.ts';
import { type CopyFolder, tableId } from './copy-folder.ts';
import type { Lineage } from './copy-lineage.ts';
import { readingProgress, type ReadingProgress } from './reading-progress.ts';
import { TABLE_FORMAT } from './table-meta.ts';
import type { TableTarget } from './table-target.ts';
import { Table } from './table.ts';

/** Order for the parse worker: read the file and leave a finished copy at `out`. */
export interface BuildOrder extends Lineage {
  readonly target: TableTarget;
  readonly out: string;
}

/** The copies that are being made. */
export class CopyBuilds {
  readonly #folder: CopyFolder;
  readonly #build: (order: BuildOrder) => Promise<void>;
  /** Where copies are being made, by table id. */
  readonly #paths = new Map<string, string>();

  /** `build` resolves when the copy is complete. */
  constructor(folder: CopyFolder, build: (order: BuildOrder) => Promise<void>) {
    this.#folder = folder;
    this.#build = build;
  }

  /** A new copy of the table, open. Throws what `build` throws, and `unavailable`; then nothing is left of it. */
  async make(target: TableTarget, lineage: Lineage): Promise<Table> {
    const out = this.#folder.newPath(target);
    const id = tableId(target);
    this.#paths.set(id, out);
    try {
      await this.#build({ target, out, ...lineage });
      const table = Table.open(out, TABLE_FORMAT);
      if (table) return table;
      throw new AppError('unavailable', `The copy of '${target.rel}' could not be opened`);
    } catch (error) {
      this.#folder.remove(out);
      throw error;
    } finally {
      if (this.#paths.get(id) === out) this.#paths.delete(id);
    }
  }

  /** How far the reading of the file is; null when it is not being read, or has told nothing yet. */
  progress(target: TableTarget): ReadingProgress | null {
    const path = this.#paths.get(tableId(target));
    return path === undefined ? null : readingProgress(path);
  }
}
