import { AppError } from '../../base/errors.ts';
import type { Turn } from '../../processes/turn.ts';
import { type CopyFolder, tableId } from './copy-folder.ts';
import type { Lineage } from './copy-lineage.ts';
import { readingProgress, type ReadingProgress } from './reading-progress.ts';
import { TABLE_FORMAT } from './table-meta.ts';
import type { TableTarget } from './table-target.ts';
import { Table } from './table.ts';

/** Order for the parse worker: read the file and write a finished copy to `out`. */
export interface BuildOrder extends Lineage {
  readonly target: TableTarget;
  readonly out: string;
}

export class CopyBuilds {
  readonly #folder: CopyFolder;
  readonly #build: (order: BuildOrder, turn: Turn) => Promise<void>;
  /** By table id. */
  readonly #paths = new Map<string, string>();

  constructor(folder: CopyFolder, build: (order: BuildOrder, turn: Turn) => Promise<void>) {
    this.#folder = folder;
    this.#build = build;
  }

  /** An open new copy. Throws what `build` throws, and `unavailable`; then nothing is left of it. */
  async make(target: TableTarget, lineage: Lineage, turn: Turn): Promise<Table> {
    const out = this.#folder.newPath(target);
    const id = tableId(target);
    this.#paths.set(id, out);
    try {
      await this.#build({ target, out, ...lineage }, turn);
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

  /** Null when the file is not being read or nothing was reported yet. */
  progress(target: TableTarget): ReadingProgress | null {
    const path = this.#paths.get(tableId(target));
    return path === undefined ? null : readingProgress(path);
  }
}
