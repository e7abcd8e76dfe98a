/**
 * Values that were typed and are not in the file yet: on their way, or refused. Cells show them, and nothing that was typed is
 * lost while a connection is.
 */
import type { Edit } from './editor.ts';
import type { UnsavedValue } from './grid-events.ts';
import { type GridColumn, type GridRow, idOf } from './model.ts';

/** A value with what became of it. */
type Entry = Edit & UnsavedValue & { readonly status: number };

/** At most one for each cell: a later one takes the place of an earlier. */
export class UnsavedEdits {
  readonly #entries = new Map<string, Entry>();
  readonly #changed: () => void;

  /** `changed` is told whenever a cell has to be drawn anew. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Number of cells. */
  get size(): number {
    return this.#entries.size;
  }

  /** The value of a cell. */
  of(row: GridRow, column: GridColumn): Entry | undefined {
    return this.#entries.get(keyOf(row, column));
  }

  /** A row as its cells show it. */
  over(row: GridRow): GridRow {
    const mine = [...this.#entries.values()].filter((one) => idOf(one.row) === idOf(row));
    return { ...row, ...Object.fromEntries(mine.map(({ column, value }) => [column.name, value])) };
  }

  /** Those that are not on their way. */
  failed(): readonly Entry[] {
    return [...this.#entries.values()].filter(({ problem }) => problem !== null);
  }

  /** Keeps a value, with what is wrong and the status that said so; false when a later one has taken its place meanwhile. */
  put(edit: Edit, problem: string | null, status = 0): boolean {
    const key = keyOf(edit.row, edit.column);
    const present = this.#entries.get(key);
    if (problem !== null && present?.value !== edit.value) return false;
    this.#entries.set(key, Object.assign(edit, { problem, status }));
    this.#changed();
    return true;
  }

  /** Forgets a value, unless a later one has taken its place. */
  remove(edit: Edit): void {
    const key = keyOf(edit.row, edit.column);
    if (this.#entries.get(key)?.value !== edit.value) return;
    this.#entries.delete(key);
    this.#changed();
  }

  /** Those made on a version go on from what our own change has made of it. */
  versionChanged(before: string, after: string): void {
    for (const entry of this.#entries.values()) if (entry.version === before) entry.version = after;
  }
}

function keyOf(row: GridRow, { name }: GridColumn): string {
  return `${idOf(row)} ${name}`;
}
