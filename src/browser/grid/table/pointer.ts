/** Mouse and touch on the grid, except inside the cell editor. */
import { placeOfEvent } from './cells.ts';
import type { GridEvents } from '../grid-events.ts';
import type { GridColumn } from '../../../pages/grid/model.ts';
import type { Place } from './places.ts';
import type { Selection } from './selection.ts';

interface PointerOptions {
  readonly grid: HTMLElement;
  readonly selection: Selection;
  readonly events: GridEvents;
  columns(): readonly GridColumn[];
}

export function startPointer(options: PointerOptions): void {
  new GridPointer(options).start();
}

class GridPointer {
  readonly #options: PointerOptions;
  #pressed: Place | null = null;
  #isDragging = false;
  #tapped: Place = { row: -1, column: -1 };

  constructor(options: PointerOptions) {
    this.#options = options;
  }

  start(): void {
    const { grid } = this.#options;
    grid.addEventListener('click', (event) => this.#click(event));
    grid.addEventListener('dblclick', (event) => this.#doubleClick(event));
    grid.addEventListener('pointerdown', (event) => this.#press(event));
    grid.addEventListener('pointermove', (event) => this.#drag(event));
    document.addEventListener('pointerup', () => this.#release());
  }

  #placeOf({ target }: Event): Place | null {
    return placeOfEvent(target, this.#options.grid);
  }

  #click(event: PointerEvent): void {
    const target = event.target as HTMLElement;
    const place = this.#placeOf(event);
    if (isInEditor(event) || place === null) return;
    const column = this.#options.columns()[place.column];
    if (place.row >= 0) this.#clickCell(event, target, place);
    else if (column !== undefined) this.#clickHead(event, target, column);
    else this.#clickCorner(target);
  }

  #clickHead(event: PointerEvent, target: HTMLElement, column: GridColumn): void {
    const { events } = this.#options;
    const menu = target.closest<HTMLElement>('.head-menu');
    if (menu !== null) events.menu(column, menu);
    else events.sort(column, event.shiftKey || event.ctrlKey || event.metaKey);
  }

  #clickCorner(target: HTMLElement): void {
    const { selection, grid } = this.#options;
    if (!target.matches('input[type=checkbox]')) return;
    if ((target as HTMLInputElement).checked) selection.selectAll();
    else selection.selectNone();
    grid.focus({ preventScroll: true });
  }

  #clickCell(event: PointerEvent, target: HTMLElement, place: Place): void {
    const { selection, events, grid } = this.#options;
    const { row, column } = this.#tapped;
    const isSecondTap =
      event.pointerType === 'touch' && place.row === row && place.column === column;
    this.#tapped = place;
    if (event.shiftKey && place.column >= 0) {
      getSelection()?.removeAllRanges();
      selection.stretchTo(place);
      return;
    }
    selection.activate(place);
    const data = selection.activeRow;
    if (data === undefined) return;
    if (target.matches('input[type=checkbox]')) {
      selection.toggle(place.row, event.shiftKey ? selection.anchorRow : place.row);
    } else if (event.shiftKey) {
      selection.extendTo(place.row);
      return;
    } else if (target.closest('.row-id') !== null) events.open(data);
    // A finger has no double click of its own everywhere, and no Enter.
    else if (isSecondTap && place.column >= 0) events.edit(place, null);
    selection.anchorRow = place.row;
    if (target.matches('input, button')) grid.focus({ preventScroll: true });
  }

  #doubleClick(event: MouseEvent): void {
    const place = this.#placeOf(event);
    if (place === null || place.row < 0 || isInEditor(event)) return;
    this.#options.events.edit(place, null);
  }

  #press(event: PointerEvent): void {
    const place = this.#placeOf(event);
    const isCell = place !== null && place.row >= 0 && place.column >= 0;
    const isPlain = event.pointerType === 'mouse' && event.button === 0 && !event.shiftKey;
    const isFree = !isInEditor(event) && !isHandle(event);
    this.#pressed = isCell && isPlain && isFree ? place : null;
  }

  /** The mouse drags a block; a finger scrolls. */
  #drag(event: PointerEvent): void {
    const { selection, grid } = this.#options;
    const from = this.#pressed;
    if (from === null || event.buttons !== 1) return;
    const place = this.#placeOf(event);
    if (place === null || place.row < 0 || place.column < 0) return;
    const { row, column } = this.#isDragging ? selection.active : from;
    // Within one cell a drag selects its text.
    if (place.row === row && place.column === column) return;
    getSelection()?.removeAllRanges();
    grid.classList.add('dragging');
    if (!this.#isDragging) selection.activate(from);
    this.#isDragging = true;
    selection.stretchTo(place);
  }

  #release(): void {
    this.#pressed = null;
    this.#isDragging = false;
    this.#options.grid.classList.remove('dragging');
  }
}

function isHandle({ target }: Event): boolean {
  return (target as HTMLElement).matches('.fill-handle');
}

function isInEditor({ target }: Event): boolean {
  return (target as HTMLElement).closest('.editor') !== null;
}
