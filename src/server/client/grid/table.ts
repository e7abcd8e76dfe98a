/**
 * The grid itself: of any number of rows only those in sight are elements.
 *
 * An own small grid, because the grids to be had page through remote rows or load them from the top on; none jumps to row
 * 900,000. The element that scrolls has the focus, the active cell is told by `aria-activedescendant` (WAI-ARIA grid
 * pattern), so recycling rows never loses the focus.
 */
import { type CellBlock, sizeOf } from './block-plan.ts';
import {
  cellOf,
  type CellValue,
  type GridColumn,
  type GridRow,
  idOf,
  isBlank,
  lineText,
} from './model.ts';
import { make } from './element.ts';
import type { RowStore } from './rows.ts';
import type { SortStep } from './view.ts';

/** Where the active cell is: row −1 is the head, column −1 the row number. */
export interface Place {
  readonly row: number;
  readonly column: number;
}

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
  /** Keys that are no movement; true when used. */
  key(event: KeyboardEvent): boolean;
}

interface GridOptions {
  readonly label: string;
  readonly store: RowStore;
  readonly mayWrite: boolean;
  readonly events: GridEvents;
}

const ROW_HEIGHT = 32;
/** Rows above and below the visible ones. */
const OVERSCAN = 8;
/** Browsers stop at some 17 to 33 million pixels; beyond this the scroll bar is scaled. */
const MAX_HEIGHT = 12_000_000;
/** Rows selected at once: as many as a spreadsheet takes from the clipboard without a pause. */
export const MAX_SELECTED = 10_000;
const NUMBER_WIDTH = 56;
const SELECT_WIDTH = 28;
const MIN_WIDTH = 72;
const MAX_WIDTH = 360;
/** Room for the menu button, the arrow of a sort and the padding of a head. */
const HEAD_ROOM = 68;

/** The scrolling grid. */
export class GridTable {
  readonly element: HTMLElement;
  active: Place = { row: 0, column: 0 };
  /** The selected rows by their ids, with their places; they stay when they are out of sight. */
  readonly selected = new Map<number, { readonly place: number; readonly row: GridRow }>();
  columns: readonly GridColumn[] = [];
  readonly #options: GridOptions;
  readonly #head = make('div', { class: 'grid-head', role: 'rowgroup' });
  readonly #body = make('div', { class: 'grid-body', role: 'rowgroup' });
  readonly #rows = new Map<number, HTMLElement>();
  /** What a row's element shows; undefined while there is nothing. */
  readonly #drawn = new WeakMap<HTMLElement, GridRow | undefined>();
  #pinned: ReadonlySet<string> = new Set();
  #sort: readonly SortStep[] = [];
  readonly #filtered = new Set<string>();
  readonly #widths = new Map<string, number>();
  #hasMeasured = false;
  /** Pixels from the top of all rows, which may be more than the element can scroll. */
  #offset = 0;
  /** Of the element, when it was last looked at. */
  #scrollTop = 0;
  /** The row whose editor must not be recycled. */
  held: number | null = null;
  #frame = 0;
  #anchorRow = 0;
  /** Where the block of cells began, whose other corner is the active cell; null while there is none. */
  #corner: Place | null = null;
  /** The block as it is drawn. */
  #drawnBlock: CellBlock | null = null;
  /** Rows of the block, those that were never in sight too; null while they are on their way. */
  #blockRows: readonly GridRow[] | null = null;
  /** Where the mouse went down on a cell, and whether it has left it since. */
  #pressed: Place | null = null;
  #isDragging = false;
  /** Where the last click was. */
  #tapped: Place = { row: -1, column: -1 };
  /** Counts selections, because rows for one may come after the next was made. */
  #selecting = 0;

  constructor(options: GridOptions) {
    this.#options = options;
    this.element = make(
      'div',
      {
        class: 'grid',
        role: 'grid',
        tabindex: 0,
        'aria-label': options.label,
        'aria-readonly': options.mayWrite ? null : 'true',
        'aria-multiselectable': 'true',
        onscroll: () => this.#scrolled(),
        onscrollend: () => this.#scrollEnded(),
        onwheel: (event: WheelEvent) => this.#wheel(event),
        onkeydown: (event: KeyboardEvent) => this.#key(event),
        onclick: (event: PointerEvent) => this.#click(event),
        ondblclick: (event: MouseEvent) => this.#doubleClick(event),
        onpointerdown: (event: PointerEvent) => this.#press(event),
        onpointermove: (event: PointerEvent) => this.#drag(event),
        onfocus: () => this.#markActive(),
      },
      this.#head,
      this.#body,
    );
    new ResizeObserver(() => this.draw()).observe(this.element);
    document.addEventListener('pointerup', () => {
      this.#pressed = null;
      this.#isDragging = false;
      this.element.classList.remove('dragging');
    });
  }

  /** Shows these columns from now on. */
  setColumns(
    columns: readonly GridColumn[],
    pinned: readonly string[],
    sort: readonly SortStep[],
    filtered: Iterable<string>,
  ): void {
    const before = this.columns.map(({ name }) => name);
    if (columns.some(({ name }, index) => name !== before[index])) this.#corner = null;
    this.columns = columns;
    this.#pinned = new Set(pinned);
    this.#sort = sort;
    this.#filtered.clear();
    for (const name of filtered) this.#filtered.add(name);
    this.#measure();
    this.#drawHead();
    this.#clearRows();
    this.draw();
  }

  /** Draws rows whose data is another than what is shown, after the store got some: the others keep their elements. */
  refresh(): void {
    const { store } = this.#options;
    if (!this.#hasMeasured && store.at(0) !== undefined) return this.update();
    for (const [index, row] of this.#rows) {
      if (index === this.held || this.#drawn.get(row) === store.at(index)) continue;
      row.remove();
      this.#rows.delete(index);
    }
    this.draw();
  }

  /** Draws all rows anew. */
  update(): void {
    if (!this.#hasMeasured && this.#options.store.at(0) !== undefined) {
      this.#measure();
      this.#drawHead();
    }
    this.#clearRows();
    this.draw();
  }

  /** Draws what has come into sight. */
  draw(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#drawNow());
  }

  /** To the first row, as after a change of the filter. */
  toTop(): void {
    this.#offset = 0;
    this.element.scrollTop = 0;
    this.#scrollTop = 0;
    this.#corner = null;
    this.active = { row: 0, column: Math.max(0, this.active.column) };
  }

  /** Makes a cell the active one, without a block, and brings it into sight. */
  activate(place: Place): void {
    const hadBlock = this.#corner !== null;
    this.#corner = null;
    this.#goTo(place);
    if (hadBlock) this.#options.events.selectionChanged();
  }

  #goTo(place: Place): void {
    const total = this.#options.store.total ?? 0;
    const first = -1;
    this.active = {
      row: Math.max(first, Math.min(place.row, total - 1)),
      column: Math.max(-1, Math.min(place.column, this.columns.length - 1)),
    };
    this.#reveal();
    this.draw();
  }

  /** The element of a cell in sight. */
  cell(place: Place): HTMLElement | null {
    // Who types faster than the screen is drawn types into this cell all the same.
    if (!this.#rows.has(place.row)) this.#drawNow();
    const row = this.#rows.get(place.row);
    return (row?.children[place.column + 1] as HTMLElement | undefined) ?? null;
  }

  /** Place of the first row in sight. */
  get firstRow(): number {
    return Math.floor(this.#offset / ROW_HEIGHT);
  }

  /** The row of the active cell, when it is there. */
  get activeRow(): GridRow | undefined {
    return this.active.row < 0 ? undefined : this.#options.store.at(this.active.row);
  }

  /** The selected cells when they are more than the active one. */
  get block(): CellBlock | null {
    if (this.#corner === null) return null;
    const { row, column } = this.active;
    const block = {
      top: Math.min(row, this.#corner.row),
      bottom: Math.max(row, this.#corner.row),
      left: Math.min(column, this.#corner.column),
      right: Math.max(column, this.#corner.column),
    };
    return sizeOf(block).cells > 1 ? block : null;
  }

  /** The block, else the active cell; null on the head and on the numbers of the rows. */
  get target(): CellBlock | null {
    const { row, column } = this.active;
    if (this.block !== null || row < 0 || column < 0) return this.block;
    return { top: row, bottom: row, left: column, right: column };
  }

  /** Columns of a block. */
  columnsOf({ left, right }: CellBlock): readonly GridColumn[] {
    return this.columns.slice(left, right + 1);
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

  /** Selects a block, with its first cell as the active one. */
  selectBlock({ top, bottom, left, right }: CellBlock): void {
    this.#goTo({ row: top, column: left });
    this.#corner = { row: bottom, column: right };
    this.#blockChanged();
  }

  /** Stretches the block from where it began to a cell. */
  #stretchTo(place: Place): void {
    const { row, column } = this.#corner ?? this.active;
    const start = { row: Math.max(0, row), column: Math.max(0, column) };
    const last = start.row + (MAX_SELECTED - 1) * Math.sign(place.row - start.row);
    const isTooFar = Math.abs(place.row - start.row) >= MAX_SELECTED;
    const end = Math.max(0, isTooFar ? last : place.row);
    this.#selecting++;
    if (this.selected.size > 0) {
      this.selected.clear();
      this.update();
    }
    this.#goTo({ row: end, column: Math.max(0, place.column) });
    this.#corner = start;
    this.#blockChanged();
    if (isTooFar) this.#options.events.tooMany(MAX_SELECTED);
  }

  #blockChanged(): void {
    this.draw();
    this.#options.events.selectionChanged();
    void this.fetchBlock();
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
    this.selected.clear();
    this.update();
    this.#options.events.selectionChanged();
  }

  /** Selects the rows between two places, also those that were never in sight, or takes them out of the selection. */
  async selectBetween(one: number, other: number, isSelected = true): Promise<void> {
    const { store, events } = this.#options;
    const first = Math.max(0, Math.min(one, other));
    const last = Math.min(this.#total - 1, Math.max(one, other));
    const selecting = ++this.#selecting;
    this.#corner = null;
    const rows = await store.between(first, Math.min(last, first + MAX_SELECTED - 1));
    if (selecting !== this.#selecting) return;
    rows.forEach((row, index) => {
      if (isSelected) this.selected.set(idOf(row), { place: first + index, row });
      else this.selected.delete(idOf(row));
    });
    this.update();
    events.selectionChanged();
    if (last - first >= MAX_SELECTED) events.tooMany(MAX_SELECTED);
  }

  get #total(): number {
    return this.#options.store.total ?? 0;
  }

  get #height(): number {
    return this.#total * ROW_HEIGHT;
  }

  get #viewHeight(): number {
    return Math.max(ROW_HEIGHT, this.element.clientHeight - ROW_HEIGHT);
  }

  /** How many pixels of rows one pixel of the scroll bar stands for. */
  get #scale(): number {
    const real = this.#height - this.#viewHeight;
    const room = Math.min(this.#height, MAX_HEIGHT) - this.#viewHeight;
    return real <= 0 || room <= 0 ? 1 : real / room;
  }

  #scrolled(): void {
    const { scrollTop } = this.element;
    const shown = this.#offset / this.#scale;
    const by = scrollTop - this.#scrollTop;
    this.#scrollTop = scrollTop;
    // A scroll we made ourselves rounds; it must not move the rows.
    if (Math.abs(shown - scrollTop) >= 1) {
      // Where the scroll bar is scaled, a finger still moves the rows by its own pixels; only the bar itself makes leaps.
      const isLeap = this.#scale === 1 || Math.abs(by) > this.#viewHeight;
      this.#offset = isLeap ? scrollTop * this.#scale : this.#offset + by;
    }
    this.draw();
  }

  /** After a finger has moved rows by its own pixels, the scroll bar goes where they are. */
  #scrollEnded(): void {
    if (this.#scale !== 1) this.#moveTo(this.#offset);
  }

  /** Where the scroll bar is scaled, a turn of the wheel still moves by its own pixels. */
  #wheel(event: WheelEvent): void {
    if (this.#scale === 1 || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? ROW_HEIGHT : event.deltaMode === 2 ? this.#viewHeight : 1;
    this.#moveTo(this.#offset + event.deltaY * unit);
    this.element.scrollLeft += event.deltaX;
  }

  #moveTo(offset: number): void {
    const end = Math.max(0, this.#height - this.#viewHeight);
    this.#offset = Math.max(0, Math.min(offset, end));
    this.element.scrollTop = this.#offset / this.#scale;
    this.#scrollTop = this.element.scrollTop;
    this.draw();
  }

  #reveal(): void {
    const { row, column } = this.active;
    if (row >= 0) {
      const top = row * ROW_HEIGHT;
      if (top < this.#offset) this.#moveTo(top);
      else if (top + ROW_HEIGHT > this.#offset + this.#viewHeight) {
        this.#moveTo(top + ROW_HEIGHT - this.#viewHeight);
      }
    }
    if (column < 0 || this.#pinned.has(this.columns[column]?.name ?? '')) return;
    const left = this.#left(column);
    const pinnedEnd = this.#left(this.#pinnedCount);
    const width = this.#widthOf(this.columns[column]!);
    const { scrollLeft, clientWidth } = this.element;
    if (left < scrollLeft + pinnedEnd) this.element.scrollLeft = left - pinnedEnd;
    else if (left + width > scrollLeft + clientWidth) {
      this.element.scrollLeft = left + width - clientWidth;
    }
  }

  get #pinnedCount(): number {
    return this.columns.filter(({ name }) => this.#pinned.has(name)).length;
  }

  get #numberWidth(): number {
    const digits = String(this.#total).length;
    const width = Math.max(NUMBER_WIDTH, 24 + digits * 9);
    return width + (this.#options.mayWrite ? SELECT_WIDTH : 0);
  }

  #left(column: number): number {
    const before = this.columns.slice(0, column);
    return before.reduce((sum, one) => sum + this.#widthOf(one), this.#numberWidth);
  }

  #widthOf({ name }: GridColumn): number {
    return this.#widths.get(name) ?? 140;
  }

  /** Columns as wide as their heads and first rows; those that were wide enough before stay. */
  #measure(): void {
    const sample = [...this.#options.store.loaded()].slice(0, 60).map(([, row]) => row);
    this.#hasMeasured = sample.length > 0;
    for (const column of this.columns) {
      if (this.#widths.has(column.name) && this.#hasMeasured === false) continue;
      const texts = sample.map((row) => lineText(cellOf(row, column.name)).slice(0, 60));
      const widest = Math.max(0, ...texts.map((text) => textWidth(text)));
      const width = Math.max(textWidth(column.name, 600) + HEAD_ROOM, widest + 28);
      this.#widths.set(column.name, Math.round(Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, width))));
    }
  }

  #drawHead(): void {
    this.element.setAttribute('aria-colcount', String(this.columns.length + 1));
    const { style } = this.element;
    const widths = this.columns.map((column) => `${this.#widthOf(column)}px`);
    style.setProperty('--columns', `${this.#numberWidth}px ${widths.join(' ')}`);
    style.setProperty('--width', `${this.#left(this.columns.length)}px`);
    const number = make(
      'div',
      { class: 'cell corner', role: 'columnheader', id: 'grid-head--1', 'aria-colindex': 1 },
      this.#options.mayWrite
        ? make('input', { type: 'checkbox', tabindex: -1, 'aria-label': 'Select all rows' })
        : null,
      make('span', {}, '#'),
    );
    const row = make('div', { class: 'row', role: 'row', 'aria-rowindex': 1 }, number);
    for (const [index, column] of this.columns.entries()) row.append(this.#headOf(column, index));
    this.#head.replaceChildren(row);
  }

  #headOf(column: GridColumn, index: number): HTMLElement {
    const at = this.#sort.findIndex((step) => step.column === column.name);
    const step = this.#sort[at];
    const arrow = step === undefined ? '' : step.isDescending ? ' ↓' : ' ↑';
    const rank = step !== undefined && this.#sort.length > 1 ? String(at + 1) : '';
    const menu = make(
      'button',
      {
        type: 'button',
        class: 'head-menu',
        tabindex: -1,
        'aria-label': `Menu of ${column.name}`,
        'aria-haspopup': 'dialog',
      },
      make('span', {
        'aria-hidden': 'true',
        class: this.#filtered.has(column.name) ? 'glyph funnel' : 'glyph dots',
      }),
    );
    const head = make(
      'div',
      {
        class: `cell head${isNumeric(column) ? ' number' : ''}${this.#filtered.has(column.name) ? ' filtered' : ''}`,
        role: 'columnheader',
        id: `grid-head-${index}`,
        'aria-colindex': index + 2,
        'aria-sort': step === undefined ? null : step.isDescending ? 'descending' : 'ascending',
        'data-column': index,
        title: `${column.name} (${column.type})`,
      },
      make('span', { class: 'head-name' }, column.name),
      make('span', { class: 'head-sort', 'aria-hidden': 'true' }, arrow + rank),
      menu,
    );
    this.#pin(head, index);
    return head;
  }

  #pin(cell: HTMLElement, index: number): void {
    if (!this.#pinned.has(this.columns[index]!.name)) return;
    cell.classList.add('pinned');
    cell.style.left = `${this.#left(index)}px`;
  }

  #clearRows(): void {
    for (const [index, row] of this.#rows) {
      if (index === this.held) continue;
      row.remove();
      this.#rows.delete(index);
    }
  }

  #drawNow(): void {
    const { store } = this.#options;
    const total = this.#total;
    this.#offset = Math.max(0, Math.min(this.#offset, this.#height - this.#viewHeight));
    this.element.setAttribute('aria-rowcount', String(total + 1));
    this.#body.style.height = `${Math.min(this.#height, MAX_HEIGHT)}px`;
    const first = Math.max(0, Math.floor(this.#offset / ROW_HEIGHT) - OVERSCAN);
    const end = Math.min(
      total,
      Math.ceil((this.#offset + this.#viewHeight) / ROW_HEIGHT) + OVERSCAN,
    );
    store.want(first, Math.max(first + 1, end));
    for (const [index, row] of this.#rows) {
      if (index === this.held || (index >= first && index < end)) continue;
      row.remove();
      this.#rows.delete(index);
    }
    // Rows stand around the place the scroll bar is at, wherever they are in truth.
    const shift = this.element.scrollTop - this.#offset;
    for (let index = first; index < end; index++) {
      if (!this.#rows.has(index)) this.#addRow(index);
    }
    for (const [index, row] of this.#rows) {
      row.style.transform = `translateY(${Math.round(index * ROW_HEIGHT + shift)}px)`;
    }
    this.#markActive();
    this.#markAll();
    this.#markBlock();
  }

  #markBlock(): void {
    const { block } = this;
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

  /** The box in the corner says whether all, some or none are selected. */
  #markAll(): void {
    const box = this.#head.querySelector<HTMLInputElement>('.corner input');
    if (box === null) return;
    const { size } = this.selected;
    box.checked = size > 0 && size >= Math.min(this.#total, MAX_SELECTED);
    box.indeterminate = size > 0 && !box.checked;
  }

  #addRow(index: number): void {
    const data = this.#options.store.at(index);
    const row = make('div', { class: 'row', role: 'row', 'aria-rowindex': index + 2 });
    if (data === undefined) {
      row.classList.add('waiting');
      row.setAttribute('aria-busy', 'true');
    }
    row.append(this.#numberCell(index, data));
    for (const [at, column] of this.columns.entries())
      row.append(this.#cell(index, at, column, data));
    const isSelected = data !== undefined && this.selected.has(idOf(data));
    row.setAttribute('aria-selected', String(isSelected));
    row.classList.toggle('selected', isSelected);
    row.dataset['row'] = String(index);
    this.#rows.set(index, row);
    this.#drawn.set(row, data);
    this.#body.append(row);
  }

  #numberCell(index: number, data: GridRow | undefined): HTMLElement {
    const id = data === undefined ? '' : String(idOf(data));
    const isChecked = data !== undefined && this.selected.has(idOf(data));
    return make(
      'div',
      {
        class: 'cell corner',
        role: 'rowheader',
        id: `grid-${index}--1`,
        'aria-colindex': 1,
      },
      this.#options.mayWrite
        ? make('input', {
            type: 'checkbox',
            tabindex: -1,
            checked: isChecked,
            'aria-label': `Select row ${id}`,
          })
        : null,
      make('button', { type: 'button', class: 'row-id', tabindex: -1, title: 'Show the row' }, id),
    );
  }

  #cell(index: number, at: number, column: GridColumn, data: GridRow | undefined): HTMLElement {
    const unsaved = data === undefined ? undefined : this.#options.events.unsaved(data, column);
    const value = unsaved?.value ?? (data === undefined ? '' : cellOf(data, column.name));
    const cell = make('div', {
      class: `cell${isNumeric(column) ? ' number' : ''}${isBlank(value) ? ' blank' : ''}`,
      role: 'gridcell',
      id: `grid-${index}-${at}`,
      dir: column.type === 'string' ? 'auto' : null,
      'aria-colindex': at + 2,
      'aria-readonly': this.#options.mayWrite && !column.isWritable ? 'true' : null,
      'aria-invalid': unsaved?.problem ? 'true' : null,
      'aria-busy': unsaved?.problem === null ? 'true' : null,
      title: unsaved?.problem,
    });
    // Only files that have both tell nothing from an empty text.
    cell.textContent = value === null ? 'null' : lineText(value);
    this.#pin(cell, at);
    return cell;
  }

  #markActive(): void {
    this.element.querySelector('.active')?.classList.remove('active');
    const { row, column } = this.active;
    const id = row < 0 ? `grid-head-${column}` : `grid-${row}-${column}`;
    const cell = this.element.querySelector(`[id="${id}"]`);
    if (cell === null) {
      this.element.removeAttribute('aria-activedescendant');
      return;
    }
    cell.classList.add('active');
    this.element.setAttribute('aria-activedescendant', id);
  }

  #placeOf(target: EventTarget | null): Place | null {
    const cell = (target as HTMLElement).closest<HTMLElement>('.cell');
    if (cell === null || !this.element.contains(cell)) return null;
    const row = cell.closest<HTMLElement>('[data-row]')?.dataset['row'];
    const column = Number(cell.getAttribute('aria-colindex')) - 2;
    return { row: row === undefined ? -1 : Number(row), column };
  }

  #click(event: PointerEvent): void {
    const target = event.target as HTMLElement;
    if (target.closest('.editor') !== null) return;
    const place = this.#placeOf(target);
    if (place === null) return;
    const before = this.#anchorRow;
    const column = this.columns[place.column];
    if (place.row < 0 && column !== undefined) {
      const menu = target.closest<HTMLElement>('.head-menu');
      if (menu !== null) this.#options.events.menu(column, menu);
      else this.#options.events.sort(column, event.shiftKey || event.ctrlKey || event.metaKey);
      return;
    }
    if (place.row < 0) return this.#clickCorner(target);
    const { row, column: at } = this.#tapped;
    const isSecondTap = event.pointerType === 'touch' && place.row === row && place.column === at;
    this.#tapped = place;
    if (event.shiftKey && place.column >= 0) {
      getSelection()?.removeAllRanges();
      this.#stretchTo(place);
      return;
    }
    this.activate(place);
    const data = this.activeRow;
    if (data === undefined) return;
    if (target.matches('input[type=checkbox]')) {
      this.#toggle(place.row, event.shiftKey ? before : place.row);
    } else if (event.shiftKey) {
      this.#extendTo(place.row);
      return;
    } else if (target.closest('.row-id') !== null) this.#options.events.open(data);
    // A finger has no double click of its own everywhere, and no Enter.
    else if (isSecondTap && place.column >= 0) this.#options.events.edit(place, null);
    this.#anchorRow = place.row;
    if (target.matches('input, button')) this.element.focus({ preventScroll: true });
  }

  #press(event: PointerEvent): void {
    const place = this.#placeOf(event.target);
    const isCell = place !== null && place.row >= 0 && place.column >= 0;
    const isPlain = event.pointerType === 'mouse' && event.button === 0 && !event.shiftKey;
    const isFree = (event.target as HTMLElement).closest('.editor') === null;
    this.#pressed = isCell && isPlain && isFree ? place : null;
  }

  /** The mouse pulls a block; a finger scrolls. */
  #drag(event: PointerEvent): void {
    const from = this.#pressed;
    if (from === null || event.buttons !== 1) return;
    const place = this.#placeOf(event.target);
    if (place === null || place.row < 0 || place.column < 0) return;
    const { row, column } = this.#isDragging ? this.active : from;
    // Within one cell its text is marked, as anywhere.
    if (place.row === row && place.column === column) return;
    getSelection()?.removeAllRanges();
    this.element.classList.add('dragging');
    if (!this.#isDragging) this.activate(from);
    this.#isDragging = true;
    this.#stretchTo(place);
  }

  #clickCorner(target: HTMLElement): void {
    if (!target.matches('input[type=checkbox]')) return;
    if ((target as HTMLInputElement).checked) this.selectAll();
    else this.selectNone();
    this.element.focus({ preventScroll: true });
  }

  /** Selects all rows of the view, as many as can be at once. */
  selectAll(): void {
    void this.selectBetween(0, this.#total - 1);
  }

  #toggle(row: number, from: number): void {
    const data = this.#options.store.at(row);
    if (data !== undefined) void this.selectBetween(row, from, !this.selected.has(idOf(data)));
  }

  #doubleClick(event: MouseEvent): void {
    const place = this.#placeOf(event.target);
    if (place === null || place.row < 0 || (event.target as HTMLElement).closest('.editor')) return;
    this.#options.events.edit(place, null);
  }

  #key(event: KeyboardEvent): void {
    if (event.target !== this.element || event.isComposing) return;
    if (this.#options.events.key(event)) {
      event.preventDefault();
      return;
    }
    const isCommand = event.ctrlKey || event.metaKey;
    if (this.#selectionKey(event, isCommand)) {
      event.preventDefault();
      return;
    }
    const moved = this.#movement(event, isCommand);
    if (moved !== null) {
      event.preventDefault();
      if (event.shiftKey) return this.#stretchTo(moved);
      this.#anchorRow = Math.max(0, moved.row);
      this.activate(moved);
      return;
    }
    if (isCommand || event.altKey) return this.#altKey(event);
    this.#act(event);
  }

  #selectionKey({ key, altKey }: KeyboardEvent, isCommand: boolean): boolean {
    if (isCommand && !altKey && key.toLowerCase() === 'a') {
      this.selectAll();
      return true;
    }
    const isNothing = this.selected.size === 0 && this.block === null;
    if (key !== 'Escape' || isNothing) return false;
    this.selectNone();
    return true;
  }

  #altKey(event: KeyboardEvent): void {
    const column = this.columns[this.active.column];
    if (!event.altKey || event.key !== 'ArrowDown' || column === undefined) return;
    event.preventDefault();
    this.#openMenu(column);
  }

  #openMenu(column: GridColumn): void {
    const anchor = this.#head.querySelector<HTMLElement>(
      `[data-column="${this.active.column}"] .head-menu`,
    );
    if (anchor !== null) this.#options.events.menu(column, anchor);
  }

  #extendTo(row: number): void {
    this.selected.clear();
    void this.selectBetween(row, this.#anchorRow);
  }

  #movement({ key, altKey }: KeyboardEvent, isCommand: boolean): Place | null {
    if (altKey) return null;
    const { row, column } = this.active;
    const page = Math.max(1, Math.floor(this.#viewHeight / ROW_HEIGHT) - 1);
    const last = this.#total - 1;
    switch (key) {
      case 'ArrowUp':
        return { row: isCommand ? 0 : row - 1, column };
      case 'ArrowDown':
        return { row: isCommand ? last : row + 1, column };
      case 'ArrowLeft':
        return { row, column: isCommand ? 0 : column - 1 };
      case 'ArrowRight':
        return { row, column: isCommand ? this.columns.length - 1 : column + 1 };
      case 'PageUp':
        return { row: Math.max(0, row - page), column };
      case 'PageDown':
        return { row: row + page, column };
      case 'Home':
        return { row: isCommand ? 0 : row, column: 0 };
      case 'End':
        return { row: isCommand ? last : row, column: this.columns.length - 1 };
      default:
        return null;
    }
  }

  #act(event: KeyboardEvent): void {
    const { events, mayWrite } = this.#options;
    const { row, column } = this.active;
    const data = this.activeRow;
    const head = this.columns[column];
    if (row < 0) {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      if (head === undefined) return;
      if (event.key === 'Enter') events.sort(head, event.shiftKey);
      else this.#openMenu(head);
    } else if (event.key === ' ' && this.block !== null) {
      event.preventDefault();
      void this.selectBetween(this.block.top, this.block.bottom);
    } else if (event.key === ' ') {
      event.preventDefault();
      this.#toggle(row, row);
    } else if ((event.key === 'Enter' || event.key === 'F2') && data !== undefined) {
      event.preventDefault();
      if (column < 0 || event.shiftKey) events.open(data);
      else events.edit(this.active, null);
    } else if (event.key.length === 1 && mayWrite && column >= 0 && head?.isWritable === true) {
      event.preventDefault();
      events.edit(this.active, event.key);
    }
  }
}

function isNumeric({ type }: GridColumn): boolean {
  return type === 'integer' || type === 'number';
}

const canvas = document.createElement('canvas').getContext('2d');

function textWidth(text: string, weight = 400): number {
  if (canvas === null) return text.length * 8;
  canvas.font = `${weight} 14px system-ui, sans-serif`;
  return canvas.measureText(text).width;
}
