/**
 * The selection: always an active cell, and either a block with the active cell at one corner, or
 * rows by id. It may exceed the visible rows; missing rows are fetched.
 */
import { type GridColumn, type GridRow, idOf } from '../../../pages/grid/model.ts';
import { blockBetween, type CellBlock, type Place, sizeOf } from './places.ts';
import type { WrittenRow } from '../writing/row-edits.ts';
import type { RowStore } from './rows.ts';

export const MAX_SELECTED = 10_000;

interface SelectionOptions {
  readonly store: RowStore;
  columns(): readonly GridColumn[];
  moved(): void;
  rowsChanged(): void;
  changed(): void;
  tooMany(limit: number): void;
}

export class Selection {
  readonly rows = new Map<number, { readonly place: number; readonly row: GridRow }>();
  anchorRow = 0;
  readonly #options: SelectionOptions;
  #active: Place = { row: 0, column: 0 };
  /** The corner opposite the active cell; null without a block. */
  #corner: Place | null = null;
  #blockRows: readonly GridRow[] | null = null;
  /** Guards against rows that arrive after a newer selection. */
  #selecting = 0;

  constructor(options: SelectionOptions) {
    this.#options = options;
  }

  get active(): Place {
    return this.#active;
  }

  get activeRow(): GridRow | undefined {
    return this.#active.row < 0 ? undefined : this.#options.store.at(this.#active.row);
  }

  get block(): CellBlock | null {
    if (this.#corner === null) return null;
    const block = blockBetween(this.#corner, this.#active);
    return sizeOf(block).cells > 1 ? block : null;
  }

  get target(): CellBlock | null {
    const { row, column } = this.#active;
    if (this.block !== null || row < 0 || column < 0) return this.block;
    return { top: row, bottom: row, left: column, right: column };
  }

  get blockRows(): readonly GridRow[] | null {
    const { block } = this;
    if (block === null) return null;
    const { rows } = sizeOf(block);
    const present = this.#options.store.loadedBetween(block.top, block.bottom);
    if (present.length === rows) return present;
    return this.#blockRows?.length === rows ? this.#blockRows : null;
  }

  get chosen(): readonly GridRow[] {
    return [...this.rows.values()].map(({ row }) => row);
  }

  /** Applies our own change to the selected rows. */
  written(rows: readonly WrittenRow[]): void {
    for (const values of rows) {
      const chosen = this.rows.get(values._row_id);
      if (chosen === undefined) continue;
      this.rows.set(values._row_id, { ...chosen, row: { ...chosen.row, ...values } as GridRow });
    }
  }

  get isNone(): boolean {
    return this.rows.size === 0 && this.block === null;
  }

  get isAll(): boolean {
    return this.rows.size > 0 && this.rows.size >= Math.min(this.#total, MAX_SELECTED);
  }

  activate(place: Place): void {
    const hadBlock = this.#corner !== null;
    this.#corner = null;
    this.#goTo(place);
    if (hadBlock) this.#options.changed();
  }

  toTop(): void {
    this.#corner = null;
    this.#active = { row: 0, column: Math.max(0, this.#active.column) };
  }

  dropBlock(): void {
    this.#corner = null;
  }

  selectBlock({ top, bottom, left, right }: CellBlock): void {
    this.#goTo({ row: top, column: left });
    this.#corner = { row: bottom, column: right };
    this.#blockChanged();
  }

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

  /** Loads the rows of the block in advance: a copy event cannot wait. */
  async fetchBlock(): Promise<void> {
    const { block } = this;
    this.#blockRows = null;
    if (block === null || this.blockRows !== null) return;
    const selecting = ++this.#selecting;
    const rows = await this.#options.store.between(block.top, block.bottom);
    if (selecting === this.#selecting) this.#blockRows = rows;
  }

  selectNone(): void {
    this.#corner = null;
    this.rows.clear();
    this.#options.rowsChanged();
    this.#options.changed();
  }

  selectAll(): void {
    void this.selectBetween(0, this.#total - 1);
  }

  toggle(row: number, to: number): void {
    const data = this.#options.store.at(row);
    if (data !== undefined) void this.selectBetween(row, to, !this.rows.has(idOf(data)));
  }

  extendTo(row: number): void {
    this.rows.clear();
    void this.selectBetween(row, this.anchorRow);
  }

  /** Selects or deselects the rows between two places, visible or not. */
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
