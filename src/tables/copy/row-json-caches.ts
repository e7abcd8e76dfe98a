/**
 * Which tables keep the texts of their rows (`row-json.ts`): those whose version is read again and again. The tables
 * read last share MAX_BYTES.
 */
import { isWhole } from '../read/query-plan.ts';
import { areIdsCheap } from '../read/query-run.ts';
import { MAX_KEPT_ROW_ID, RowJson } from './row-json.ts';
import type { Table } from './table.ts';
import type { PreparedRead } from './table-cache.ts';

/** Of all tables. */
const MAX_BYTES = 32 << 20;
/** Pages of a version read before its rows are kept; most tables are read a few times. */
const PAGES_BEFORE_KEEPING = 16;

export class RowJsonCaches {
  /** With kept rows; the last read is at the end. */
  readonly #tables = new Set<Table>();
  #newest: Table | null = null;

  /** Null when rows are not kept. */
  textsFor(table: Table, { plan, format }: PreparedRead): RowJson | null {
    if (format !== 'json' || !areIdsCheap(plan) || !isWhole(plan, table.columns)) return null;
    const { cache, state } = table;
    if (cache.rowJson === null) {
      cache.pagesRead++;
      // Exactly then: once given up, not again for this version.
      if (cache.pagesRead !== PAGES_BEFORE_KEEPING) return null;
      if (state.lastRowId > MAX_KEPT_ROW_ID) return null;
      cache.rowJson = new RowJson(state.lastRowId);
      this.#touch(table);
      // The offsets take most of it, even before a row is read.
      this.grown(table);
      return cache.rowJson;
    }
    this.#touch(table);
    return cache.rowJson;
  }

  /** Call when rows were added. Beyond the limit it starts anew if that is worth it. */
  grown({ cache, state }: Table): void {
    if (cache.rowJson?.isFull) {
      cache.rowJson = cache.rowJson.isWorthIt ? new RowJson(state.lastRowId) : null;
    }
    let bytes = 0;
    for (const table of this.#tables) {
      if (table.cache.rowJson === null) this.#tables.delete(table);
      else bytes += table.cache.rowJson.bytes;
    }
    for (const oldest of this.#tables) {
      if (bytes <= MAX_BYTES) return;
      bytes -= oldest.cache.rowJson?.bytes ?? 0;
      oldest.cache.rowJson = null;
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
