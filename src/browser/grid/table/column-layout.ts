/**
 * Widths and positions of the columns. Measured once by heads and the first rows, then fixed while
 * scrolling.
 */
import { cellOf, type GridColumn, lineText } from '../../../pages/grid/model.ts';
import type { RowStore } from './rows.ts';

const NUMBER_WIDTH = 56;
const SELECT_WIDTH = 28;
const MIN_WIDTH = 72;
const MAX_WIDTH = 360;
/** Pixels for menu button, sort arrow and padding of a head. */
const HEAD_ROOM = 68;

export class ColumnLayout {
  columns: readonly GridColumn[] = [];
  #pinned: ReadonlySet<string> = new Set();
  readonly #widths = new Map<string, number>();
  #hasMeasured = false;

  constructor(
    private readonly store: RowStore,
    private readonly hasBoxes: boolean,
  ) {}

  show(columns: readonly GridColumn[], pinned: readonly string[]): void {
    this.columns = columns;
    this.#pinned = new Set(pinned);
    this.measure();
  }

  get isOutdated(): boolean {
    return !this.#hasMeasured && this.store.at(0) !== undefined;
  }

  measure(): void {
    const sample = [...this.store.loaded()].slice(0, 60).map(([, row]) => row);
    this.#hasMeasured = sample.length > 0;
    for (const column of this.columns) {
      if (this.#widths.has(column.name) && this.#hasMeasured === false) continue;
      const texts = sample.map((row) => lineText(cellOf(row, column.name)).slice(0, 60));
      const widest = Math.max(0, ...texts.map((text) => textWidth(text)));
      const width = Math.max(textWidth(column.name, 600) + HEAD_ROOM, widest + 28);
      this.#widths.set(column.name, Math.round(Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, width))));
    }
  }

  /** Sets the CSS variables that lay out rows. */
  apply({ style }: HTMLElement): void {
    const widths = this.columns.map((column) => `${this.#widthOf(column)}px`);
    style.setProperty('--columns', `${this.#numberWidth}px ${widths.join(' ')}`);
    style.setProperty('--width', `${this.#left(this.columns.length)}px`);
  }

  pin(cell: HTMLElement, index: number): void {
    if (!this.#pinned.has(this.columns[index]!.name)) return;
    cell.classList.add('pinned');
    cell.style.left = `${this.#left(index)}px`;
  }

  /** Scrolls an element sideways; −1, the row numbers, is always visible. */
  reveal(element: HTMLElement, index: number): void {
    if (index < 0 || this.#pinned.has(this.columns[index]?.name ?? '')) return;
    const left = this.#left(index);
    const pinnedEnd = this.#left(this.#pinnedCount);
    const width = this.#widthOf(this.columns[index]!);
    const { scrollLeft, clientWidth } = element;
    if (left < scrollLeft + pinnedEnd) element.scrollLeft = left - pinnedEnd;
    else if (left + width > scrollLeft + clientWidth) {
      element.scrollLeft = left + width - clientWidth;
    }
  }

  /** The column at a distance in pixels from the left edge, clamped to the visible ones. */
  columnAt({ scrollLeft, clientWidth }: HTMLElement, x: number): number {
    const pinnedEnd = this.#left(this.#pinnedCount);
    const within = Math.max(this.#numberWidth, Math.min(x, clientWidth - 1));
    const place = within < pinnedEnd ? within : within + scrollLeft;
    let right = this.#numberWidth;
    const last = this.columns.length - 1;
    for (let column = 0; column < last; column++) {
      right += this.#widthOf(this.columns[column]!);
      if (place < right) return column;
    }
    return last;
  }

  get #pinnedCount(): number {
    return this.columns.filter(({ name }) => this.#pinned.has(name)).length;
  }

  get #numberWidth(): number {
    const digits = String(this.store.total ?? 0).length;
    const width = Math.max(NUMBER_WIDTH, 24 + digits * 9);
    return width + (this.hasBoxes ? SELECT_WIDTH : 0);
  }

  #left(column: number): number {
    const before = this.columns.slice(0, column);
    return before.reduce((sum, one) => sum + this.#widthOf(one), this.#numberWidth);
  }

  #widthOf({ name }: GridColumn): number {
    return this.#widths.get(name) ?? 140;
  }
}

const canvas = document.createElement('canvas').getContext('2d');

function textWidth(text: string, weight = 400): number {
  if (canvas === null) return text.length * 8;
  canvas.font = `${weight} 14px system-ui, sans-serif`;
  return canvas.measureText(text).width;
}
