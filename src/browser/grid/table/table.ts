/**
 * The grid: only visible rows are elements, out of any number.
 *
 * Our own, because available grids page through remote rows or load them from the top; none jumps
 * to row 900,000. The scrolling element has the focus and names the active cell by
 * `aria-activedescendant` (WAI-ARIA grid pattern), so recycling rows never loses the focus.
 *
 * Keyboard and pointer change selection and scrolling; those notify the table, which draws.
 */
import { type GridColumn, type GridRow, idOf } from '../../../pages/grid/model.ts';
import type { SortStep } from '../../../pages/grid/view.ts';
import { make } from '../../shared/element.ts';
import { idOfCell, makeHead, makeRow, type UnsavedValue } from './cells.ts';
import { ColumnLayout } from './column-layout.ts';
import type { CellBlock, Place } from './places.ts';
import type { RowStore } from './rows.ts';
import { ROW_HEIGHT, ScrollRange } from './scroll-range.ts';
import { Selection } from './selection.ts';

interface GridOptions {
  readonly label: string;
  readonly store: RowStore;
  readonly mayWrite: boolean;
  selectionChanged(): void;
  unsaved(row: GridRow, column: GridColumn): UnsavedValue | undefined;
  /** By others, a moment ago. */
  isChanged(row: GridRow, column: string): boolean;
  /** A selection exceeded `limit`. */
  tooMany(limit: number): void;
}

export class GridTable {
  readonly element: HTMLElement;
  readonly selection: Selection;
  readonly mayWrite: boolean;
  /** The row being edited, which must not be recycled. */
  held: number | null = null;
  /** Shown in the last cell of the selection; null without write access. */
  handle: HTMLElement | null = null;
  readonly #options: GridOptions;
  readonly #head = make('div.grid-head', { role: 'rowgroup' });
  readonly #body = make('div.grid-body', { role: 'rowgroup' });
  readonly #layout: ColumnLayout;
  readonly #scroll: ScrollRange;
  readonly #rows = new Map<number, HTMLElement>();
  /** What each row's element shows; undefined while loading. */
  readonly #drawn = new WeakMap<HTMLElement, GridRow | undefined>();
  /** Preview of a fill. */
  #fillArea: CellBlock | null = null;
  #drawnBlock: CellBlock | null = null;
  #sort: readonly SortStep[] = [];
  #filtered: ReadonlySet<string> = new Set();
  #frame = 0;

  constructor(options: GridOptions) {
    const { label, store, mayWrite } = options;
    this.#options = options;
    this.mayWrite = mayWrite;
    this.element = make(
      'div.grid',
      {
        role: 'grid',
        tabindex: 0,
        'aria-label': label,
        'aria-readonly': mayWrite ? null : 'true',
        'aria-multiselectable': 'true',
        onfocus: () => this.#markActive(),
      },
      this.#head,
      this.#body,
    );
    this.#layout = new ColumnLayout(store, mayWrite);
    this.#scroll = new ScrollRange(
      this.element,
      () => this.total,
      () => this.draw(),
    );
    this.selection = new Selection({
      store,
      columns: () => this.columns,
      moved: () => this.#reveal(),
      rowsChanged: () => this.update(),
      changed: () => options.selectionChanged(),
      tooMany: (limit) => options.tooMany(limit),
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** The place at a point of the window, or the nearest visible one. */
  placeAt(x: number, y: number): Place {
    const { left, top } = this.element.getBoundingClientRect();
    const below = Math.min(y - top, this.element.clientHeight - 1) - ROW_HEIGHT;
    return {
      row: this.#scroll.rowAt(below),
      column: this.#layout.columnAt(this.element, x - left),
    };
  }

  markFill(area: CellBlock | null): void {
    this.#fillArea = area;
    this.draw();
  }

  get columns(): readonly GridColumn[] {
    return this.#layout.columns;
  }

  columnsOf({ left, right }: CellBlock): readonly GridColumn[] {
    return this.columns.slice(left, right + 1);
  }

  get total(): number {
    return this.#options.store.total ?? 0;
  }

  get firstRow(): number {
    return this.#scroll.firstRow;
  }

  /** Rows per Page Up or Page Down. */
  get page(): number {
    return this.#scroll.page;
  }

  setColumns(
    columns: readonly GridColumn[],
    pinned: readonly string[],
    sort: readonly SortStep[],
    filtered: Iterable<string>,
  ): void {
    const before = this.columns.map(({ name }) => name);
    if (columns.some(({ name }, index) => name !== before[index])) this.selection.dropBlock();
    this.#layout.show(columns, pinned);
    this.#sort = sort;
    this.#filtered = new Set(filtered);
    this.#drawHead();
    this.update();
  }

  /** Redraws only rows whose data changed. */
  refresh(): void {
    const { store } = this.#options;
    if (this.#layout.isOutdated) return this.update();
    this.#clearRows((index, row) => this.#drawn.get(row) !== store.at(index));
    this.draw();
  }

  update(): void {
    if (this.#layout.isOutdated) {
      this.#layout.measure();
      this.#drawHead();
    }
    this.#clearRows(() => true);
    this.draw();
  }

  draw(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#drawNow());
  }

  toTop(): void {
    this.#scroll.toTop();
    this.selection.toTop();
  }

  /** Null when not visible. */
  cell(place: Place): HTMLElement | null {
    // Fast typing must reach this cell before the next frame.
    if (!this.#rows.has(place.row)) this.#drawNow();
    const row = this.#rows.get(place.row);
    return (row?.children[place.column + 1] as HTMLElement | undefined) ?? null;
  }

  #reveal(): void {
    const { row, column } = this.selection.active;
    if (row >= 0) this.#scroll.reveal(row);
    this.#layout.reveal(this.element, column);
    this.draw();
  }

  #drawHead(): void {
    this.element.setAttribute('aria-colcount', String(this.columns.length + 1));
    this.#layout.apply(this.element);
    const head = makeHead({
      layout: this.#layout,
      sort: this.#sort,
      filtered: this.#filtered,
      mayWrite: this.mayWrite,
    });
    this.#head.replaceChildren(head);
  }

  #clearRows(isOld: (index: number, row: HTMLElement) => boolean): void {
    for (const [index, row] of this.#rows) {
      if (index === this.held || !isOld(index, row)) continue;
      row.remove();
      this.#rows.delete(index);
    }
  }

  #drawNow(): void {
    this.#scroll.keepWithin();
    this.element.setAttribute('aria-rowcount', String(this.total + 1));
    this.#body.style.height = `${this.#scroll.barHeight}px`;
    const { first, end } = this.#scroll.inSight;
    this.#options.store.want(first, Math.max(first + 1, end));
    this.#clearRows((index) => index < first || index >= end);
    // Before adding rows, so that layout measures as few elements as possible.
    const { shift } = this.#scroll;
    for (let index = first; index < end; index++) {
      if (!this.#rows.has(index)) this.#addRow(index);
    }
    for (const [index, row] of this.#rows) {
      row.style.transform = `translateY(${Math.round(index * ROW_HEIGHT + shift)}px)`;
    }
    this.#markActive();
    this.#markAll();
    this.#markBlocks();
    this.#placeHandle();
  }

  /** In the last cell of the selection, unless that is being edited. */
  #placeHandle(): void {
    if (this.handle === null) return;
    const { target, rows } = this.selection;
    const hasSource =
      target !== null && rows.size === 0 && this.columnsOf(target).some((one) => one.isWritable);
    const row = hasSource ? this.#rows.get(target.bottom) : undefined;
    const cell = row?.children[(target?.right ?? 0) + 1];
    if (cell === undefined || cell.classList.contains('editor')) this.handle.remove();
    else if (this.handle.parentElement !== cell) cell.append(this.handle);
  }

  #addRow(index: number): void {
    const { store, unsaved, isChanged } = this.#options;
    const data = store.at(index);
    const row = makeRow({
      layout: this.#layout,
      index,
      data,
      isSelected: data !== undefined && this.selection.rows.has(idOf(data)),
      mayWrite: this.mayWrite,
      unsaved,
      isChanged,
    });
    this.#rows.set(index, row);
    this.#drawn.set(row, data);
    this.#body.append(row);
  }

  #markBlocks(): void {
    const { block } = this.selection;
    const fill = this.#fillArea;
    for (const cell of this.#body.querySelectorAll('.in-fill')) cell.classList.remove('in-fill');
    if (block === null && this.#drawnBlock === null && fill === null) return;
    this.#drawnBlock = block;
    for (const [row, { children }] of this.#rows) {
      for (let column = 0; column < this.columns.length; column++) {
        const cell = children[column + 1]!;
        const isIn = isWithin(block, row, column);
        cell.classList.toggle('in-block', isIn);
        if (isIn) cell.setAttribute('aria-selected', 'true');
        else cell.removeAttribute('aria-selected');
        cell.classList.toggle('in-fill', isWithin(fill, row, column));
      }
    }
  }

  /** The corner box shows whether all, some or no rows are selected. */
  #markAll(): void {
    const box = this.#head.querySelector<HTMLInputElement>('.corner input');
    if (box === null) return;
    box.checked = this.selection.isAll;
    box.indeterminate = this.selection.rows.size > 0 && !box.checked;
  }

  #markActive(): void {
    this.element.querySelector('.active')?.classList.remove('active');
    const { row, column } = this.selection.active;
    const id = idOfCell(row, column);
    const cell = this.element.querySelector(`[id="${id}"]`);
    if (cell === null) {
      this.element.removeAttribute('aria-activedescendant');
      return;
    }
    cell.classList.add('active');
    this.element.setAttribute('aria-activedescendant', id);
  }
}

function isWithin(block: CellBlock | null, row: number, column: number): boolean {
  if (block === null || row < block.top || row > block.bottom) return false;
  return column >= block.left && column <= block.right;
}
