/**
 * The corner of the selection, dragged to fill neighbouring cells by mouse, pen or finger. Only
 * with write access; the keyboard equivalent is Ctrl+D.
 */
import { EdgeScroll } from './edge-scroll.ts';
import { make } from '../element.ts';
import { type Fill, fillArea } from '../writing/fill-plan.ts';
import type { CellBlock, Place } from './places.ts';

const SLACK = 4;

interface HandleOptions {
  readonly grid: HTMLElement;
  source(): CellBlock | null;
  placeAt(x: number, y: number): Place;
  marked(area: CellBlock | null): void;
  fill(fill: Fill, isCopy: boolean): void;
}

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
    // On the document: the cell that holds the handle may scroll away.
    document.addEventListener('pointermove', (event) => this.#move(event));
    document.addEventListener('pointerup', (event) => this.#release(event));
    document.addEventListener('pointercancel', () => this.#stop());
    document.addEventListener('keydown', (event) => this.#key(event), { capture: true });
  }

  #press(event: PointerEvent): void {
    const source = this.#options.source();
    if (event.button !== 0 || !event.isPrimary || source === null) return;
    // Otherwise the mouse would select text.
    event.preventDefault();
    this.#pull = { pointer: event.pointerId, x: event.clientX, y: event.clientY, source };
  }

  #move({ pointerId, clientX, clientY }: PointerEvent): void {
    const pull = this.#pull;
    if (pull === null || pointerId !== pull.pointer) return;
    if (!this.#isMoving) {
      if (Math.hypot(clientX - pull.x, clientY - pull.y) < SLACK) return;
      this.#isMoving = true;
      // Capturing suppresses a click wherever the pointer is released.
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
