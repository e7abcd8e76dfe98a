/** Mouse and touch on the grid, except inside the cell editor. */
import { placeOfEvent } from './cells.ts';
import type { GridActions } from './keyboard.ts';
import type { Place } from './places.ts';
import type { GridTable } from './table.ts';

export function startPointer(table: GridTable, actions: GridActions): void {
  const { element: grid, selection } = table;
  let pressed: Place | null = null;
  let isDragging = false;
  let tapped: Place = { row: -1, column: -1 };
  const placeOf = ({ target }: Event): Place | null => placeOfEvent(target, grid);

  const clickCell = (event: PointerEvent, target: HTMLElement, place: Place): void => {
    const isSecondTap = event.pointerType === 'touch' && isSame(place, tapped);
    tapped = place;
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
    } else if (target.closest('.row-id') !== null) actions.open(data);
    // A finger has no double click of its own everywhere, and no Enter.
    else if (isSecondTap && place.column >= 0) actions.edit(place, null);
    selection.anchorRow = place.row;
    if (target.matches('input, button')) grid.focus({ preventScroll: true });
  };
  grid.addEventListener('click', (event) => {
    const target = event.target as HTMLElement;
    const place = placeOf(event);
    if (isInEditor(event) || place === null) return;
    const column = table.columns[place.column];
    const menu = target.closest<HTMLElement>('.head-menu');
    if (place.row >= 0) clickCell(event, target, place);
    else if (column !== undefined && menu !== null) actions.menu(column, menu);
    else if (column !== undefined) {
      actions.sort(column, event.shiftKey || event.ctrlKey || event.metaKey);
    } else if (target.matches('input[type=checkbox]')) {
      if ((target as HTMLInputElement).checked) selection.selectAll();
      else selection.selectNone();
      grid.focus({ preventScroll: true });
    }
  });
  grid.addEventListener('dblclick', (event) => {
    const place = placeOf(event);
    if (place !== null && place.row >= 0 && !isInEditor(event)) actions.edit(place, null);
  });
  grid.addEventListener('pointerdown', (event) => {
    const place = placeOf(event);
    const isPlain = event.pointerType === 'mouse' && event.button === 0 && !event.shiftKey;
    const isHandle = (event.target as HTMLElement).matches('.fill-handle');
    const isFree = isPlain && !isHandle && !isInEditor(event);
    pressed = isCell(place) && isFree ? place : null;
  });
  // The mouse drags a block; a finger scrolls.
  grid.addEventListener('pointermove', (event) => {
    if (pressed === null || event.buttons !== 1) return;
    const place = placeOf(event);
    // Within one cell a drag selects its text.
    if (!isCell(place) || isSame(place, isDragging ? selection.active : pressed)) return;
    getSelection()?.removeAllRanges();
    grid.classList.add('dragging');
    if (!isDragging) selection.activate(pressed);
    isDragging = true;
    selection.stretchTo(place);
  });
  document.addEventListener('pointerup', () => {
    pressed = null;
    isDragging = false;
    grid.classList.remove('dragging');
  });
}

function isCell(place: Place | null): place is Place {
  return place !== null && place.row >= 0 && place.column >= 0;
}

function isSame(one: Place, other: Place): boolean {
  return one.row === other.row && one.column === other.column;
}

function isInEditor({ target }: Event): boolean {
  return (target as HTMLElement).closest('.editor') !== null;
}
