/** Scrolls while something is dragged past the grid's edge: the further outside, the faster. */
import { ROW_HEIGHT } from './scroll-range.ts';

const EDGE = 16;
/** Maximum pixels per frame. */
const MAX_STEP = 48;

export class EdgeScroll {
  readonly #grid: HTMLElement;
  readonly #moved: (x: number, y: number) => void;
  #frame = 0;
  #x = 0;
  #y = 0;

  /** `moved` is called after each step with the pointer's position. */
  constructor(grid: HTMLElement, moved: (x: number, y: number) => void) {
    this.#grid = grid;
    this.#moved = moved;
  }

  at(x: number, y: number): void {
    this.#x = x;
    this.#y = y;
    if (this.#frame === 0) this.#next();
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  #next(): void {
    const { left, top } = this.#grid.getBoundingClientRect();
    const { clientWidth, clientHeight } = this.#grid;
    const byX = stepAt(this.#x - left, 0, clientWidth);
    const byY = stepAt(this.#y - top, ROW_HEIGHT, clientHeight);
    if (byX === 0 && byY === 0) {
      this.#frame = 0;
      return;
    }
    this.#frame = requestAnimationFrame(() => {
      this.#grid.scrollBy(byX, byY);
      this.#moved(this.#x, this.#y);
      this.#next();
    });
  }
}

function stepAt(place: number, start: number, end: number): number {
  const [before, after] = [start + EDGE - place, place - (end - EDGE)];
  if (before > 0) return -Math.min(MAX_STEP, Math.ceil(before / 4));
  return after > 0 ? Math.min(MAX_STEP, Math.ceil(after / 4)) : 0;
}
