/**
 * What is selected in the grid: the active cell always, and either a block of cells, whose other corner the active cell is, or
 * rows by their ids. Rows and blocks may be larger than what is in sight; the rows of them that are not here are fetched.
 */
import { type GridColumn, type GridRow, idOf } from './model.ts';
import { blockBetween, type CellBlock, type Place, sizeOf } from './places.ts';
import type { WrittenRow } from './row-edits.ts';
import type { RowStore } from './rows.ts';

/** Rows selected at once: as many as a spreadsheet takes from the clipboard without a pause. */
export const MAX_SELECTED = 10_000;

interface SelectionOptions {
  readonly store: RowStore;
  columns(): readonly GridColumn[];
  /** Another cell is the active one, or another block is selected: it is brought into sight. */
  moved(): void;
  /** Other rows are selected: all are drawn anew. */
  rowsChanged(): void;
  /** The page is told. */
  changed(): void;
  /** More was to be selected than can be at once. */
  tooMany(limit: number): void;
}

/** The active cell, the block and the selected rows. */
export class Selection {
  /** The selected rows by their ids, with their places; they stay when they are out of sight. */
  readonly rows = new Map<number, { readonly place: number; readonly row: GridRow }>();
  /** Where rows are selected from while Shift is held. */
  anchorRow = 0;
  readonly #options: SelectionOptions;
  #active: Place = { row: 0, column: 0 };
  /** Where the block of cells began, whose other corner is the active cell; null while there is none. */
  #corner: Place | null = null;
  /** Rows of the block, those that were never in sight too; null while they are on their way. */
  #blockRows: readonly GridRow[] | null = null;
  /** Counts selections, because rows for one may come after the next was made. */
  #selecting = 0;

  constructor(options: SelectionOptions) {
    this.#options = options;
  }

  /** Where the active cell is. */
  get active(): Place {
    return this.#active;
  }

  /** The row of the active cell, when it is there. */
  get activeRow(): GridRow | undefined {
    return this.#active.row < 0 ? undefined : this.#options.store.at(this.#active.row);
  }

  /** The selected cells when they are more than the active one. */
  get block(): CellBlock | null {
    if (this.#corner === null) return null;
    const block = blockBetween(this.#corner, this.#active);
    return sizeOf(block).cells > 1 ? block : null;
  }

  /** The block, else the active cell; null on the head and on the numbers of the rows. */
  get target(): CellBlock | null {
    const { row, column } = this.#active;
    if (this.block !== null || row < 0 || column < 0) return this.block;
    return { top: row, bottom: row, left: column, right: column };
  }

  /** The rows of the block, as they are here; null while some are on their way. */
  get blockRows(): readonly GridRow[] | null {
    const { block } = this;
    if (block === null) return null;
    const { rows } = sizeOf(block);
    const present: GridRow[] = [];
    for (let row = block.top; row <= block.bottom; row++) {
      const data = this.#options.store.at(row);
      if (data === undefined) break;
      present.push(data);
    }
    if (present.length === rows) return present;
    return this.#blockRows?.length === rows ? this.#blockRows : null;
  }

  /** The selected rows as they were seen, or as our own changes have left them since. */
  get chosen(): readonly GridRow[] {
    return [...this.rows.values()].map(({ row }) => row);
  }

  /** Our own change has put these values into rows. */
  written(rows: readonly WrittenRow[]): void {
    for (const values of rows) {
      const chosen = this.rows.get(values._row_id);
      if (chosen === undefined) continue;
      this.rows.set(values._row_id, { ...chosen, row: { ...chosen.row, ...values } as GridRow });
    }
  }

  /** Whether there is neither a block nor a selected row. */
  get isNone(): boolean {
    return this.rows.size === 0 && this.block === null;
  }

  /** Whether all rows of the view are selected, or as many as can be. */
  get isAll(): boolean {
    return this.rows.size > 0 && this.rows.size >= Math.min(this.#total, MAX_SELECTED);
  }

  /** Makes a cell the active one, without a block, and brings it into sight. */
  activate(place: Place): void {
    const hadBlock = this.#corner !== null;
    this.#corner = null;
    this.#goTo(place);
    if (hadBlock) this.#options.changed();
  }

  /** Makes the cell of the first row the active one, without a block. Tells nobody: the view is another anyway. */
  toTop(): void {
    this.#corner = null;
    this.#active = { row: 0, column: Math.max(0, this.#active.column) };
  }

  /** There is no block any more, because its columns are others. Tells nobody. */
  dropBlock(): void {
    this.#corner = null;
  }

  /** Selects a block, with its first cell as the active one. */
  selectBlock({ top, bottom, left, right }: CellBlock): void {
    this.#goTo({ row: top, column: left });
    this.#corner = { row: bottom, column: right };
    this.#blockChanged();
  }

  /** Stretches the block from where it began to a cell. */
  stretchTo(place: Place): void {
    const { row, column } = this.#corner ?? this.#active;
    const start = { row: Math.max(0, row), column: Math.max(0, column) };
    const last = start.row + (MAX_SELECTED - 1) * Math.sign(place.row - start.row);
    const isTooFar = Math.abs(place.row - start.row) >= MAX_SELECTED;
    const end = Math.max(0, isTooFar ? last : place.row);
    this.#selecting++;
    if (this.rows.size > 0) {
      this.rows.clear();
      this.#options.rowsChanged();
    }
    this.#goTo({ row: end, column: Math.max(0, place.column) });
    this.#corner = start;
    this.#blockChanged();
    if (isTooFar) this.#options.tooMany(MAX_SELECTED);
  }

  /** Fetches the rows of the block that are not here: who copies cannot wait. */
  async fetchBlock(): Promise<void> {
    const { block } = this;
    this.#blockRows = null;
    if (block === null || this.blockRows !== null) return;
    const selecting = ++this.#selecting;
    const rows = await this.#options.store.between(block.top, block.bottom);
    if (selecting === this.#selecting) this.#blockRows = rows;
  }

  /** Nothing is selected any more. */
  selectNone(): void {
    this.#corner = null;
    this.rows.clear();
    this.#options.rowsChanged();
    this.#options.changed();
  }

  /** Selects all rows of the view, as many as can be at once. */
  selectAll(): void {
    void this.selectBetween(0, this.#total - 1);
  }

  /** Selects a row and those up to another, or takes them out of the selection when the first of them is in it. */
  toggle(row: number, to: number): void {
    const data = this.#options.store.at(row);
    if (data !== undefined) void this.selectBetween(row, to, !this.rows.has(idOf(data)));
  }

  /** Selects the rows from the anchor to another, and no others. */
  extendTo(row: number): void {
    this.rows.clear();
    void this.selectBetween(row, this.anchorRow);
  }

  /** Selects the rows between two places, also those that were never in sight, or takes them out of the selection. */
  async selectBetween(one: number, other: number, isSelected = true): Promise<void> {
    const { store, rowsChanged, changed, tooMany } = this.#options;
    const first = Math.max(0, Math.min(one, other));
    const last = Math.min(this.#total - 1, Math.max(one, other));
    const selecting = ++this.#selecting;
    this.#corner = null;
    const rows = await store.between(first, Math.min(last, first + MAX_SELECTED - 1));
    if (selecting !== this.#selecting) return;
    rows.forEach((row, index) => {
      if (isSelected) this.rows.set(idOf(row), { place: first + index, row });
      else this.rows.delete(idOf(row));
    });
    rowsChanged();
    changed();
    if (last - first >= MAX_SELECTED) tooMany(MAX_SELECTED);
  }

  get #total(): number {
    return this.#options.store.total ?? 0;
  }

  #goTo({ row, column }: Place): void {
    const lastColumn = this.#options.columns().length - 1;
    this.#active = {
      row: Math.max(-1, Math.min(row, this.#total - 1)),
      column: Math.max(-1, Math.min(column, lastColumn)),
    };
    this.#options.moved();
  }

  #blockChanged(): void {
    this.#options.changed();
    void this.fetchBlock();
  }
}
