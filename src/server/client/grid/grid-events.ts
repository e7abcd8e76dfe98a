/**
 * What the grid asks of the page around it: the grid shows and moves, the page knows what a sort, an edit and a row's dialog are.
 */
import type { Fill } from './fill-plan.ts';
import type { CellValue, GridColumn, GridRow } from './model.ts';
import type { Place } from './places.ts';

/** A value that is not in the file yet. */
export interface UnsavedValue {
  readonly value: CellValue;
  /** Why it is not; null while it is on its way. */
  readonly problem: string | null;
}

/** What the grid asks of the page. */
export interface GridEvents {
  /** A head was pressed; `isMore` adds to the sort. */
  sort(column: GridColumn, isMore: boolean): void;
  /** The menu of a column is wanted, beside `anchor`. */
  menu(column: GridColumn, anchor: HTMLElement): void;
  /** The active cell is to be changed, starting with `text` when a character was typed. */
  edit(place: Place, text: string | null): void;
  open(row: GridRow): void;
  selectionChanged(): void;
  /** What stands in a cell instead of the value of the file; undefined: that value. */
  unsaved(row: GridRow, column: GridColumn): UnsavedValue | undefined;
  /** More was to be selected than can be at once. */
  tooMany(limit: number): void;
  /** A block was pulled over other cells; `isCopy` when nothing of it is to go on as a series. */
  fill(fill: Fill, isCopy: boolean): void;
  /** Keys that are no movement; true when used. */
  key(event: KeyboardEvent): boolean;
}
