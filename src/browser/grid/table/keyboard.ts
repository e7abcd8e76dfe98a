/** The page handles events first, so its own keys win. */
import type { GridColumn, GridRow } from '../../../pages/grid/model.ts';
import type { Place } from './places.ts';
import type { GridTable } from './table.ts';

export interface GridActions {
  sort(column: GridColumn, isMore: boolean): void;
  menu(column: GridColumn, anchor: HTMLElement): void;
  /** Edits the active cell, starting with `text` when a character was typed. */
  edit(place: Place, text: string | null): void;
  open(row: GridRow): void;
  /** Keys that do not navigate; true when handled. */
  key(event: KeyboardEvent): boolean;
}

export function startKeyboard(table: GridTable, actions: GridActions): void {
  table.element.addEventListener('keydown', (event) => {
    if (event.target !== table.element || event.isComposing) return;
    if (actions.key(event) || press(event, table, actions)) event.preventDefault();
  });
}

/** True when handled. */
function press(event: KeyboardEvent, table: GridTable, actions: GridActions): boolean {
  const { selection, columns } = table;
  const { active, activeRow, block } = selection;
  const { key, shiftKey, altKey } = event;
  const isCommand = event.ctrlKey || event.metaKey;
  const column = columns[active.column];
  if (isCommand && !altKey && key.toLowerCase() === 'a') {
    selection.selectAll();
    return true;
  }
  if (key === 'Escape' && !selection.isNone) {
    selection.selectNone();
    return true;
  }
  const moved = altKey ? null : movement(key, isCommand, table);
  if (moved !== null) {
    if (shiftKey) selection.stretchTo(moved);
    else {
      selection.anchorRow = Math.max(0, moved.row);
      selection.activate(moved);
    }
    return true;
  }
  if (isCommand || altKey) {
    if (!altKey || key !== 'ArrowDown' || column === undefined) return false;
    openMenu(column, table, actions);
    return true;
  }
  if (active.row < 0) {
    if (key !== 'Enter' && key !== ' ') return false;
    if (column !== undefined && key === 'Enter') actions.sort(column, shiftKey);
    else if (column !== undefined) openMenu(column, table, actions);
    return true;
  }
  if (key === ' ') {
    if (block !== null) void selection.selectBetween(block.top, block.bottom);
    else selection.toggle(active.row, active.row);
    return true;
  }
  if ((key === 'Enter' || key === 'F2') && activeRow !== undefined) {
    if (active.column < 0 || shiftKey) actions.open(activeRow);
    else actions.edit(active, null);
    return true;
  }
  if (key.length !== 1 || !table.mayWrite || column?.isWritable !== true) return false;
  actions.edit(active, key);
  return true;
}

function openMenu(column: GridColumn, table: GridTable, { menu }: GridActions): void {
  const head = `[data-column="${table.selection.active.column}"] .head-menu`;
  const anchor = table.element.querySelector<HTMLElement>(head);
  if (anchor !== null) menu(column, anchor);
}

/** Null when the key does not navigate. The place may lie outside the grid: it is clamped. */
function movement(key: string, isFar: boolean, table: GridTable): Place | null {
  const { row, column } = table.selection.active;
  const [lastRow, lastColumn] = [table.total - 1, table.columns.length - 1];
  switch (key) {
    case 'ArrowUp':
      return { row: isFar ? 0 : row - 1, column };
    case 'ArrowDown':
      return { row: isFar ? lastRow : row + 1, column };
    case 'ArrowLeft':
      return { row, column: isFar ? 0 : column - 1 };
    case 'ArrowRight':
      return { row, column: isFar ? lastColumn : column + 1 };
    case 'PageUp':
      return { row: Math.max(0, row - table.page), column };
    case 'PageDown':
      return { row: row + table.page, column };
    case 'Home':
      return { row: isFar ? 0 : row, column: 0 };
    case 'End':
      return { row: isFar ? lastRow : row, column: lastColumn };
    default:
      return null;
  }
}
