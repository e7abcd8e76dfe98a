/**
 * The grid: only visible rows are elements, out of any number.
 *
 * Our own, because available grids page through remote rows or load them from the top; none jumps
 * to row 900,000. The scrolling element has the focus and names the active cell by
 * `aria-activedescendant` (WAI-ARIA grid pattern), so recycling rows never loses the focus.
 *
 * Keyboard and pointer change selection and scrolling; those notify the table, which draws.
 */
import { idOfCell, makeHead, makeRow } from './cells.ts';
import { ColumnLayout } from '../view/column-layout.ts';
import { make } from '../element.ts';
import { FillHandle } from './fill-handle.ts';
import type { GridEvents } from '../grid-events.ts';
import { startKeyboard } from './keyboard.ts';
import { type GridColumn, type GridRow, idOf } from '../../../pages/grid/model.ts';
import type { CellBlock, Place } from './places.ts';
import { startPointer } from './pointer.ts';
import type { RowStore } from './rows.ts';
import { ROW_HEIGHT, ScrollRange } from './scroll-range.ts';
import { Selection } from './selection.ts';
import type { SortStep } from '../../../pages/grid/view.ts';

interface GridOptions {
  readonly label: string;
  readonly store: RowStore;
  readonly mayWrite: boolean;
  readonly events: GridEvents;
}

export class GridTable {
  readonly element: HTMLElement;
  readonly selection: Selection;
  /** The row being edited, which must not be recycled. */
  held: number | null = null;
  readonly #options: GridOptions;
  readonly #head = make('div', { class: 'grid-head', role: 'rowgroup' });
  readonly #body = make('div', { class: 'grid-body', role: 'rowgroup' });
  readonly #layout: ColumnLayout;
  readonly #scroll: ScrollRange;
  readonly #rows = new Map<number, HTMLElement>();
  /** What each row's element shows; undefined while loading. */
  readonly #drawn = new WeakMap<HTMLElement, GridRow | undefined>();
  readonly #handle: FillHandle | null;
  /** Preview of a fill. */
  #fillArea: CellBlock | null = null;
  #drawnBlock: CellBlock | null = null;
  #sort: readonly SortStep[] = [];
  #filtered: ReadonlySet<string> = new Set();
  #frame = 0;

  constructor(options: GridOptions) {
    this.#options = options;
    const { store, events, mayWrite } = options;
    this.element = this.#makeElement();
    this.#layout = new ColumnLayout(store, mayWrite);
    this.#scroll = new ScrollRange(
      this.element,
      () => this.#total,
      () => this.draw(),
    );
    this.selection = new Selection({
      store,
      columns: () => this.columns,
      moved: () => this.#reveal(),
      rowsChanged: () => this.update(),
      changed: () => events.selectionChanged(),
      tooMany: (limit) => events.tooMany(limit),
    });
    this.#handle = mayWrite ? this.#makeHandle() : null;
    this.#listen();
  }

  #makeHandle(): FillHandle {
    return new FillHandle({
      grid: this.element,
      source: () => this.selection.target,
      placeAt: (x, y) => this.#placeAt(x, y),
      marked: (area) => {
        this.#fillArea = area;
        this.draw();
      },
      fill: (fill, isCopy) => this.#options.events.fill(fill, isCopy),
    });
  }

  /** The place at a point of the window, or the nearest visible one. */
  #placeAt(x: number, y: number): Place {
    const { left, top } = this.element.getBoundingClientRect();
    const below = Math.min(y - top, this.element.clientHeight - 1) - ROW_HEIGHT;
    return {
      row: this.#scroll.rowAt(below),
      column: this.#layout.columnAt(this.element, x - left),
    };
  }

  #makeElement(): HTMLElement {
    const { label, mayWrite } = this.#options;
    return make(
      'div',
      {
        class: 'grid',
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
  }

  #listen(): void {
    const { events, mayWrite } = this.#options;
    const shared = {
      grid: this.element,
      selection: this.selection,
      events,
      columns: () => this.columns,
    };
    startKeyboard({
      ...shared,
      mayWrite,
      total: () => this.#total,
      page: () => this.#scroll.page,
    });
    startPointer(shared);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  get columns(): readonly GridColumn[] {
    return this.#layout.columns;
  }

  columnsOf({ left, right }: CellBlock): readonly GridColumn[] {
    return this.columns.slice(left, right + 1);
  }

  get firstRow(): number {
    return this.#scroll.firstRow;
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
    this.#clearRows();
    this.draw();
  }

  /** Redraws only rows whose data changed. */
  refresh(): void {
    const { store } = this.#options;
    if (this.#layout.isOutdated) return this.update();
    for (const [index, row] of this.#rows) {
      if (index === this.held || this.#drawn.get(row) === store.at(index)) continue;
      row.remove();
      this.#rows.delete(index);
    }
    this.draw();
  }

  update(): void {
    if (this.#layout.isOutdated) {
      this.#layout.measure();
      this.#drawHead();
    }
    this.#clearRows();
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

  get #total(): number {
    return this.#options.store.total ?? 0;
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
      mayWrite: this.#options.mayWrite,
    });
    this.#head.replaceChildren(head);
  }

  #clearRows(): void {
    for (const [index, row] of this.#rows) {
      if (index === this.held) continue;
      row.remove();
      this.#rows.delete(index);
    }
  }

  #drawNow(): void {
    this.#scroll.keepWithin();
    this.element.setAttribute('aria-rowcount', String(this.#total + 1));
    this.#body.style.height = `${this.#scroll.barHeight}px`;
    const { first, end } = this.#scroll.inSight;
    this.#options.store.want(first, Math.max(first + 1, end));
    for (const [index, row] of this.#rows) {
      if (index === this.held || (index >= first && index < end)) continue;
      row.remove();
      this.#rows.delete(index);
    }
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
    this.#markBlock();
    this.#markFill();
    this.#placeHandle();
  }

  /** In the last cell of the selection, unless that is being edited. */
  #placeHandle(): void {
    if (this.#handle === null) return;
    const { element } = this.#handle;
    const { target, rows } = this.selection;
    const hasSource =
      target !== null && rows.size === 0 && this.columnsOf(target).some((one) => one.isWritable);
    const row = hasSource ? this.#rows.get(target.bottom) : undefined;
    const cell = row?.children[(target?.right ?? 0) + 1];
    if (cell === undefined || cell.classList.contains('editor')) element.remove();
    else if (element.parentElement !== cell) cell.append(element);
  }

  #markFill(): void {
    const area = this.#fillArea;
    for (const cell of this.#body.querySelectorAll('.in-fill')) cell.classList.remove('in-fill');
    if (area === null) return;
    for (const [index, row] of this.#rows) {
      if (index < area.top || index > area.bottom) continue;
      for (let at = area.left; at <= area.right; at++) {
        row.children[at + 1]?.classList.add('in-fill');
      }
    }
  }

  #addRow(index: number): void {
    const { store, mayWrite, events } = this.#options;
    const data = store.at(index);
    const row = makeRow({
      layout: this.#layout,
      index,
      data,
      isSelected: data !== undefined && this.selection.rows.has(idOf(data)),
      mayWrite,
      unsaved: (row, column) => events.unsaved(row, column),
    });
    this.#rows.set(index, row);
    this.#drawn.set(row, data);
    this.#body.append(row);
  }

  #markBlock(): void {
    const { block } = this.selection;
    if (block === null && this.#drawnBlock === null) return;
    this.#drawnBlock = block;
    for (const [index, row] of this.#rows) {
      const isRow = block !== null && index >= block.top && index <= block.bottom;
      for (let at = 0; at < this.columns.length; at++) {
        const cell = row.children[at + 1]!;
        const isIn = isRow && at >= block.left && at <= block.right;
        cell.classList.toggle('in-block', isIn);
        if (isIn) cell.setAttribute('aria-selected', 'true');
        else cell.removeAttribute('aria-selected');
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
