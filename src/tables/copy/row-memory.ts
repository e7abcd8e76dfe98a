/**
 * Decides which tables keep the texts of their rows (`row-texts.ts`).
 *
 * A table starts when lists of one version are read again and again, and ends with the version. The tables read last
 * share MAX_BYTES.
 */
import { isWhole } from '../read/query-plan.ts';
import { areIdsCheap } from '../read/query-run.ts';
import { MAX_KEPT_ROW_ID, RowTexts } from './row-texts.ts';
import type { Table } from './table.ts';
import type { PreparedRead } from './table-memory.ts';

/** Of all tables. */
const MAX_BYTES = 32 << 20;
/** Pages of a version read before its rows are kept; most tables are read a few times. */
const PAGES_BEFORE_KEEPING = 16;

export class RowMemory {
  /** With kept rows; the last read is at the end. */
  readonly #tables = new Set<Table>();
  #newest: Table | null = null;

  /** Null when rows are not kept. */
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
      // The places of the rows take most of it, even before a row is read.
      this.grown(table);
      return memory.rowTexts;
    }
    this.#touch(table);
    return memory.rowTexts;
  }

  /** Call when rows were added. Beyond the limit it starts anew if that is worth it. */
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
