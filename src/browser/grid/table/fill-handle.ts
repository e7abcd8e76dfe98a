/**
 * The corner of the selection, dragged to fill neighbouring cells by mouse, pen or finger. Only
 * with write access; the keyboard equivalent is Ctrl+D.
 */
import { make } from '../../shared/element.ts';
import { type Fill, fillArea } from '../writing/fill-plan.ts';
import type { CellBlock } from './places.ts';
import { ROW_HEIGHT } from './scroll-range.ts';
import type { GridTable } from './table.ts';

const SLACK = 4;
const EDGE = 16;
/** Maximum pixels per frame. */
const MAX_STEP = 48;

interface Pull {
  readonly pointer: number;
  readonly source: CellBlock;
  readonly startX: number;
  readonly startY: number;
  x: number;
  y: number;
  isMoving: boolean;
  area: CellBlock | null;
}

/** `isCopy` repeats values instead of continuing a series. */
export function startFillHandle(
  table: GridTable,
  fill: (fill: Fill, isCopy: boolean) => void,
): void {
  const { element: grid } = table;
  const handle = make('span.fill-handle', { 'aria-hidden': 'true' });
  handle.title = 'Pull to fill cells with what is selected';
  table.handle = handle;
  let pull: Pull | null = null;
  let frame = 0;

  const reach = (moving: Pull): void => {
    moving.area = fillArea(moving.source, table.placeAt(moving.x, moving.y));
    table.markFill(moving.area);
  };
  /** Past the grid's edge it scrolls: the further outside, the faster. */
  const scroll = (): void => {
    frame = 0;
    if (pull === null) return;
    const { left, top } = grid.getBoundingClientRect();
    const byX = stepAt(pull.x - left, 0, grid.clientWidth);
    const byY = stepAt(pull.y - top, ROW_HEIGHT, grid.clientHeight);
    if (byX === 0 && byY === 0) return;
    frame = requestAnimationFrame(() => {
      grid.scrollBy(byX, byY);
      if (pull !== null) reach(pull);
      scroll();
    });
  };
  const stop = (): void => {
    if (pull === null) return;
    pull = null;
    cancelAnimationFrame(frame);
    frame = 0;
    grid.classList.remove('filling');
    table.markFill(null);
  };

  handle.addEventListener('pointerdown', (event) => {
    const { button, isPrimary, pointerId: pointer, clientX: x, clientY: y } = event;
    const source = table.selection.target;
    if (button !== 0 || !isPrimary || source === null) return;
    // Otherwise the mouse would select text.
    event.preventDefault();
    pull = { pointer, source, startX: x, startY: y, x, y, isMoving: false, area: null };
  });
  // On the document: the cell that holds the handle may scroll away.
  document.addEventListener('pointermove', ({ pointerId, clientX, clientY }) => {
    if (pull === null || pointerId !== pull.pointer) return;
    if (!pull.isMoving) {
      if (Math.hypot(clientX - pull.startX, clientY - pull.startY) < SLACK) return;
      pull.isMoving = true;
      // Capturing suppresses a click wherever the pointer is released.
      grid.setPointerCapture(pointerId);
      grid.classList.add('filling');
    }
    Object.assign(pull, { x: clientX, y: clientY });
    reach(pull);
    if (frame === 0) scroll();
  });
  document.addEventListener('pointerup', ({ pointerId, ctrlKey, metaKey, altKey }) => {
    if (pull === null || pointerId !== pull.pointer) return;
    const { source, area } = pull;
    stop();
    if (area !== null) fill({ source, area }, ctrlKey || metaKey || altKey);
  });
  document.addEventListener('pointercancel', stop);
  const key = (event: KeyboardEvent): void => {
    if (pull?.isMoving !== true || event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    stop();
  };
  document.addEventListener('keydown', key, { capture: true });
}

function stepAt(place: number, start: number, end: number): number {
  const [before, after] = [start + EDGE - place, place - (end - EDGE)];
  if (before > 0) return -Math.min(MAX_STEP, Math.ceil(before / 4));
  return after > 0 ? Math.min(MAX_STEP, Math.ceil(after / 4)) : 0;
}
