/**
 * Which rows are in sight, of more than an element can scroll: past some height one pixel of the scroll bar stands for several
 * of the rows, while a wheel and a finger still move them by their own pixels.
 */

/** Pixels; that of the head too. */
export const ROW_HEIGHT = 32;
/** Rows above and below the visible ones. */
const OVERSCAN = 8;
/** Browsers stop at some 17 to 33 million pixels; beyond this the scroll bar is scaled. */
const MAX_HEIGHT = 12_000_000;

/** The part of all rows that the scrolling element shows. */
export class ScrollRange {
  readonly #element: HTMLElement;
  readonly #total: () => number;
  readonly #moved: () => void;
  /** Pixels from the top of all rows, which may be more than the element can scroll. */
  #offset = 0;
  /** Of the element, when it was last looked at. */
  #scrollTop = 0;

  /** `total` is the number of rows; `moved` is told when others may be in sight. */
  constructor(element: HTMLElement, total: () => number, moved: () => void) {
    this.#element = element;
    this.#total = total;
    this.#moved = moved;
    element.addEventListener('scroll', () => this.#scrolled());
    element.addEventListener('scrollend', () => this.#scrollEnded());
    element.addEventListener('wheel', (event) => this.#wheel(event));
  }

  /** Place of the first row in sight. */
  get firstRow(): number {
    return Math.floor(this.#offset / ROW_HEIGHT);
  }

  /** Place of the row that is so many pixels below the head; of the first or last row when it is above or below them. */
  rowAt(y: number): number {
    const row = Math.floor((this.#offset + y) / ROW_HEIGHT);
    return Math.max(this.firstRow, Math.min(row, this.#total() - 1));
  }

  /** Rows that Page Up and Page Down go by: one of those in sight stays there. */
  get page(): number {
    return Math.max(1, Math.floor(this.#viewHeight / ROW_HEIGHT) - 1);
  }

  /** How high the element's content is, in pixels. */
  get barHeight(): number {
    return Math.min(this.#height, MAX_HEIGHT);
  }

  /** Places of the rows that have to be elements (`end` exclusive). */
  get inSight(): { first: number; end: number } {
    const bottom = this.#offset + this.#viewHeight;
    return {
      first: Math.max(0, this.firstRow - OVERSCAN),
      end: Math.min(this.#total(), Math.ceil(bottom / ROW_HEIGHT) + OVERSCAN),
    };
  }

  /** Pixels by which rows are drawn off their true places: they stand around the place the scroll bar is at. */
  get shift(): number {
    return this.#element.scrollTop - this.#offset;
  }

  /** Stays within the rows, of which there may be fewer now. */
  keepWithin(): void {
    this.#offset = Math.max(0, Math.min(this.#offset, this.#height - this.#viewHeight));
  }

  /** To the first row, without being told. */
  toTop(): void {
    this.#offset = 0;
    this.#element.scrollTop = 0;
    this.#scrollTop = 0;
  }

  /** Brings a row into sight, as near as it can be to where one was. */
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

  /** How many pixels of rows one pixel of the scroll bar stands for. */
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
    // A scroll we made ourselves rounds; it must not move the rows.
    if (Math.abs(shown - scrollTop) >= 1) {
      // Where the scroll bar is scaled, a finger still moves the rows by its own pixels; only the bar itself makes leaps.
      const isLeap = this.#scale === 1 || Math.abs(by) > this.#viewHeight;
      this.#offset = isLeap ? scrollTop * this.#scale : this.#offset + by;
    }
    this.#moved();
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
