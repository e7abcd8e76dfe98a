/**
 * The corner of what is selected, which is pulled down, up or sideways to fill cells with it: by the mouse, a pen or a finger.
 * Only made for those who may write; by keyboard the same is Ctrl+D.
 */
import { EdgeScroll } from './edge-scroll.ts';
import { make } from './element.ts';
import { type Fill, fillArea } from './fill-plan.ts';
import type { CellBlock, Place } from './places.ts';

/** Pixels until a press is a pull. */
const SLACK = 4;

interface HandleOptions {
  readonly grid: HTMLElement;
  /** What is selected; null when there is nothing to fill from. */
  source(): CellBlock | null;
  /** The place below a point of the window, or the one nearest to it. */
  placeAt(x: number, y: number): Place;
  /** Where the pattern would go now. */
  marked(area: CellBlock | null): void;
  /** `isCopy`: nothing is to go on as a series. */
  fill(fill: Fill, isCopy: boolean): void;
}

/** The corner; the table puts it into the cell where it belongs. */
export class FillHandle {
  readonly element = make('span', { class: 'fill-handle', 'aria-hidden': 'true' });
  readonly #options: HandleOptions;
  readonly #scroll: EdgeScroll;
  #pull: {
    readonly pointer: number;
    readonly x: number;
    readonly y: number;
    readonly source: CellBlock;
  } | null = null;
  #isMoving = false;
  #area: CellBlock | null = null;

  constructor(options: HandleOptions) {
    this.#options = options;
    const { grid } = options;
    this.#scroll = new EdgeScroll(grid, (x, y) => this.#reach(x, y));
    this.element.title = 'Pull to fill cells with what is selected';
    this.element.addEventListener('pointerdown', (event) => this.#press(event));
    // On the document: the cell that the corner is in may be scrolled away under it.
    document.addEventListener('pointermove', (event) => this.#move(event));
    document.addEventListener('pointerup', (event) => this.#release(event));
    document.addEventListener('pointercancel', () => this.#stop());
    document.addEventListener('keydown', (event) => this.#key(event), { capture: true });
  }

  #press(event: PointerEvent): void {
    const source = this.#options.source();
    if (event.button !== 0 || !event.isPrimary || source === null) return;
    // Otherwise the mouse would mark text.
    event.preventDefault();
    this.#pull = { pointer: event.pointerId, x: event.clientX, y: event.clientY, source };
  }

  #move({ pointerId, clientX, clientY }: PointerEvent): void {
    const pull = this.#pull;
    if (pull === null || pointerId !== pull.pointer) return;
    if (!this.#isMoving) {
      if (Math.hypot(clientX - pull.x, clientY - pull.y) < SLACK) return;
      this.#isMoving = true;
      // From here on no click comes of it, whatever is below the pointer at the end.
      this.#options.grid.setPointerCapture(pointerId);
      this.#options.grid.classList.add('filling');
    }
    this.#reach(clientX, clientY);
    this.#scroll.at(clientX, clientY);
  }

  #reach(x: number, y: number): void {
    if (this.#pull === null) return;
    this.#area = fillArea(this.#pull.source, this.#options.placeAt(x, y));
    this.#options.marked(this.#area);
  }

  #release({ pointerId, ctrlKey, metaKey, altKey }: PointerEvent): void {
    const [pull, area] = [this.#pull, this.#area];
    if (pull === null || pointerId !== pull.pointer) return;
    this.#stop();
    if (area !== null) {
      this.#options.fill({ source: pull.source, area }, ctrlKey || metaKey || altKey);
    }
  }

  #key(event: KeyboardEvent): void {
    if (!this.#isMoving || event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    this.#stop();
  }

  #stop(): void {
    if (this.#pull === null) return;
    this.#pull = null;
    this.#isMoving = false;
    this.#area = null;
    this.#scroll.stop();
    this.#options.grid.classList.remove('filling');
    this.#options.marked(null);
  }
}
