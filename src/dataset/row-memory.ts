/**
 * Which tables keep the texts of their rows (`row-texts.ts`), for all tables of the process.
 *
 * A table begins with it when lists of one version were read again and again, and ends with the version. Bounded: the
 * tables read last have MAX_BYTES together.
 */
import { isWhole } from './query-plan.ts';
import { areIdsCheap } from './query-run.ts';
import { MAX_KEPT_ROW_ID, RowTexts } from './row-texts.ts';
import type { Table } from './table.ts';
import type { PreparedRead } from './table-memory.ts';

/** Of all tables. */
const MAX_BYTES = 32 << 20;
/** Pages of a version that are read before its rows are kept; most tables are looked at a few times. */
const PAGES_BEFORE_KEEPING = 16;

/** Rows of the tables that are read most. */
export class RowMemory {
  /** With kept rows; the one that was read last at the end. */
  readonly #tables = new Set<Table>();
  #newest: Table | null = null;

  /** Where the rows of a list are, or shall be kept; null when they are not. */
  textsFor(table: Table, { plan, format }: PreparedRead): RowTexts | null {
    if (format !== 'json' || !areIdsCheap(plan) || !isWhole(plan, table.columns)) return null;
    const { memory, state } = table;
    if (memory.rowTexts === null) {
      memory.pagesRead++;
      // Exactly then: once given up, not again for this version.
      if (memory.pagesRead !== PAGES_BEFORE_KEEPING) return null;
      if (state.lastRowId > MAX_KEPT_ROW_ID) return null;
      memory.rowTexts = new RowTexts(state.lastRowId);
      this.#touch(table);
      // The places of the rows take most of it, also when no row is read.
      this.grown(table);
      return memory.rowTexts;
    }
    this.#touch(table);
    return memory.rowTexts;
  }

  /** To be told when rows were added, which may have been too many: then it begins anew if that is worth it. */
  grown({ memory, state }: Table): void {
    if (memory.rowTexts?.isFull) {
      memory.rowTexts = memory.rowTexts.isWorthIt ? new RowTexts(state.lastRowId) : null;
    }
    let bytes = 0;
    for (const table of this.#tables) {
      if (table.memory.rowTexts === null) this.#tables.delete(table);
      else bytes += table.memory.rowTexts.bytes;
    }
    for (const oldest of this.#tables) {
      if (bytes <= MAX_BYTES) return;
      bytes -= oldest.memory.rowTexts?.bytes ?? 0;
      oldest.memory.rowTexts = null;
      this.#tables.delete(oldest);
    }
  }

  #touch(table: Table): void {
    if (this.#newest === table && this.#tables.has(table)) return;
    this.#tables.delete(table);
    this.#tables.add(table);
    this.#newest = table;
  }
}
