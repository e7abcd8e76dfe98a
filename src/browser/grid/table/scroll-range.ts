/**
 * Beyond a height one pixel of the scroll bar stands for several of the rows, while wheel and
 * finger still move pixel by pixel.
 */

/** Pixels; also the height of the head. */
export const ROW_HEIGHT = 32;
/** Rows kept above and below the visible ones. */
const OVERSCAN = 8;
/** Browsers stop at some 17 to 33 million pixels; beyond this the scroll bar is scaled. */
const MAX_HEIGHT = 12_000_000;

export class ScrollRange {
  readonly #element: HTMLElement;
  readonly #total: () => number;
  readonly #moved: () => void;
  /** Pixels from the top of all rows, which may exceed what the element can scroll. */
  #offset = 0;
  #scrollTop = 0;

  /** `total` is the number of rows; `moved` is called when the visible rows may have changed. */
  constructor(element: HTMLElement, total: () => number, moved: () => void) {
    this.#element = element;
    this.#total = total;
    this.#moved = moved;
    element.addEventListener('scroll', () => this.#scrolled());
    element.addEventListener('scrollend', () => this.#scrollEnded());
    element.addEventListener('wheel', (event) => this.#wheel(event));
  }

  get firstRow(): number {
    return Math.floor(this.#offset / ROW_HEIGHT);
  }

  /** The row at so many pixels below the head, clamped to the existing rows. */
  rowAt(y: number): number {
    const row = Math.floor((this.#offset + y) / ROW_HEIGHT);
    return Math.max(this.firstRow, Math.min(row, this.#total() - 1));
  }

  /** Rows per Page Up or Page Down: one visible row stays visible. */
  get page(): number {
    return Math.max(1, Math.floor(this.#viewHeight / ROW_HEIGHT) - 1);
  }

  get barHeight(): number {
    return Math.min(this.#height, MAX_HEIGHT);
  }

  /** Rows that need elements; `end` exclusive. */
  get inSight(): { first: number; end: number } {
    const bottom = this.#offset + this.#viewHeight;
    return {
      first: Math.max(0, this.firstRow - OVERSCAN),
      end: Math.min(this.#total(), Math.ceil(bottom / ROW_HEIGHT) + OVERSCAN),
    };
  }

  /**
   * Pixels by which rows are drawn away from their true positions, to stand near the scroll bar's.
   */
  get shift(): number {
    return this.#element.scrollTop - this.#offset;
  }

  /** Clamps after the number of rows has shrunk. */
  keepWithin(): void {
    this.#offset = Math.max(0, Math.min(this.#offset, this.#height - this.#viewHeight));
  }

  /** Does not call `moved`. */
  toTop(): void {
    this.#offset = 0;
    this.#element.scrollTop = 0;
    this.#scrollTop = 0;
  }

  reveal(row: number): void {
    const top = row * ROW_HEIGHT;
    if (top < this.#offset) this.#moveTo(top);
    else if (top + ROW_HEIGHT > this.#offset + this.#viewHeight) {
      this.#moveTo(top + ROW_HEIGHT - this.#viewHeight);
    }
  }

  get #height(): number {
    return this.#total() * ROW_HEIGHT;
  }

  get #viewHeight(): number {
    return Math.max(ROW_HEIGHT, this.#element.clientHeight - ROW_HEIGHT);
  }

  get #scale(): number {
    const real = this.#height - this.#viewHeight;
    const room = this.barHeight - this.#viewHeight;
    return real <= 0 || room <= 0 ? 1 : real / room;
  }

  #scrolled(): void {
    const { scrollTop } = this.#element;
    const shown = this.#offset / this.#scale;
    const by = scrollTop - this.#scrollTop;
    this.#scrollTop = scrollTop;
    // Our own scrolling rounds; that must not move the rows.
    if (Math.abs(shown - scrollTop) >= 1) {
      // With a scaled scroll bar a finger still moves rows pixel by pixel; only dragging the bar
      // leaps.
      const isLeap = this.#scale === 1 || Math.abs(by) > this.#viewHeight;
      this.#offset = isLeap ? scrollTop * this.#scale : this.#offset + by;
    }
    this.#moved();
  }

  /** After touch scrolling the bar is synchronised with the rows. */
  #scrollEnded(): void {
    if (this.#scale !== 1) this.#moveTo(this.#offset);
  }

  /** With a scaled scroll bar the wheel still moves pixel by pixel. */
  #wheel(event: WheelEvent): void {
    if (this.#scale === 1 || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? ROW_HEIGHT : event.deltaMode === 2 ? this.#viewHeight : 1;
    this.#moveTo(this.#offset + event.deltaY * unit);
    this.#element.scrollLeft += event.deltaX;
  }

  #moveTo(offset: number): void {
    const end = Math.max(0, this.#height - this.#viewHeight);
    this.#offset = Math.max(0, Math.min(offset, end));
    this.#element.scrollTop = this.#offset / this.#scale;
    this.#scrollTop = this.#element.scrollTop;
    this.#moved();
  }
}
