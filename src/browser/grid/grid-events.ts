import type { Fill } from './writing/fill-plan.ts';
import type { CellValue, GridColumn, GridRow } from '../../pages/grid/model.ts';
import type { Place } from './table/places.ts';

/** A value not yet in the file. */
export interface UnsavedValue {
  readonly value: CellValue;
  /** Null while it is being saved. */
  readonly problem: string | null;
}

export interface GridEvents {
  sort(column: GridColumn, isMore: boolean): void;
  menu(column: GridColumn, anchor: HTMLElement): void;
  /** Edits the active cell, starting with `text` when a character was typed. */
  edit(place: Place, text: string | null): void;
  open(row: GridRow): void;
  selectionChanged(): void;
  unsaved(row: GridRow, column: GridColumn): UnsavedValue | undefined;
  /** A selection exceeded `limit`. */
  tooMany(limit: number): void;
  /** The fill handle was dragged; `isCopy` repeats values instead of continuing a series. */
  fill(fill: Fill, isCopy: boolean): void;
  /** Keys that do not navigate; true when handled. */
  key(event: KeyboardEvent): boolean;
}
