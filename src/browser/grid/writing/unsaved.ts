/** Typed values not yet in the file, being saved or refused. They survive a lost connection. */
import type { Edit } from '../table/editor.ts';
import type { UnsavedValue } from '../grid-events.ts';
import { type GridColumn, type GridRow, idOf } from '../../../pages/grid/model.ts';

type Entry = Edit & UnsavedValue & { readonly status: number };

/** At most one per cell: a later value replaces the earlier. */
export class UnsavedEdits {
  readonly #entries = new Map<string, Entry>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get size(): number {
    return this.#entries.size;
  }

  of(row: GridRow, column: GridColumn): Entry | undefined {
    return this.#entries.get(keyOf(row, column));
  }

  over(row: GridRow): GridRow {
    const mine = [...this.#entries.values()].filter((one) => idOf(one.row) === idOf(row));
    return { ...row, ...Object.fromEntries(mine.map(({ column, value }) => [column.name, value])) };
  }

  /** Those not being saved. */
  failed(): readonly Entry[] {
    return [...this.#entries.values()].filter(({ problem }) => problem !== null);
  }

  /** False when a later value has replaced this one meanwhile. */
  put(edit: Edit, problem: string | null, status = 0): boolean {
    const key = keyOf(edit.row, edit.column);
    const present = this.#entries.get(key);
    if (problem !== null && present?.value !== edit.value) return false;
    this.#entries.set(key, Object.assign(edit, { problem, status }));
    this.#changed();
    return true;
  }

  remove(edit: Edit): void {
    const key = keyOf(edit.row, edit.column);
    if (this.#entries.get(key)?.value !== edit.value) return;
    this.#entries.delete(key);
    this.#changed();
  }

  /** Edits based on `before` now count as based on `after`, which our own change made. */
  versionChanged(before: string, after: string): void {
    for (const entry of this.#entries.values()) if (entry.version === before) entry.version = after;
  }
}

function keyOf(row: GridRow, { name }: GridColumn): string {
  return `${idOf(row)} ${name}`;
}
