/** The grid's keys. The page handles events first, so its own keys win. */
import type { GridEvents } from '../grid-events.ts';
import type { GridColumn } from '../../../pages/grid/model.ts';
import { movement } from './movement.ts';
import type { Selection } from './selection.ts';

interface KeyboardOptions {
  readonly grid: HTMLElement;
  readonly selection: Selection;
  readonly mayWrite: boolean;
  readonly events: GridEvents;
  columns(): readonly GridColumn[];
  total(): number;
  /** Rows per Page Up or Page Down. */
  page(): number;
}

export function startKeyboard(options: KeyboardOptions): void {
  options.grid.addEventListener('keydown', (event) => press(event, options));
}

function press(event: KeyboardEvent, options: KeyboardOptions): void {
  const { grid, selection, events } = options;
  if (event.target !== grid || event.isComposing) return;
  if (events.key(event) || select(event, selection)) {
    event.preventDefault();
    return;
  }
  const moved = movement(event, selection.active, {
    rows: options.total(),
    columns: options.columns().length,
    page: options.page(),
  });
  if (moved !== null) {
    event.preventDefault();
    if (event.shiftKey) return selection.stretchTo(moved);
    selection.anchorRow = Math.max(0, moved.row);
    selection.activate(moved);
    return;
  }
  if (isCommand(event) || event.altKey) return pressAlt(event, options);
  act(event, options);
}

function isCommand({ ctrlKey, metaKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey;
}

function select(event: KeyboardEvent, selection: Selection): boolean {
  if (isCommand(event) && !event.altKey && event.key.toLowerCase() === 'a') {
    selection.selectAll();
    return true;
  }
  if (event.key !== 'Escape' || selection.isNone) return false;
  selection.selectNone();
  return true;
}

function pressAlt(event: KeyboardEvent, options: KeyboardOptions): void {
  const column = options.columns()[options.selection.active.column];
  if (!event.altKey || event.key !== 'ArrowDown' || column === undefined) return;
  event.preventDefault();
  openMenu(column, options);
}

function openMenu(column: GridColumn, { grid, selection, events }: KeyboardOptions): void {
  const anchor = grid.querySelector<HTMLElement>(
    `[data-column="${selection.active.column}"] .head-menu`,
  );
  if (anchor !== null) events.menu(column, anchor);
}

function act(event: KeyboardEvent, options: KeyboardOptions): void {
  const { selection, events, mayWrite } = options;
  const { active, activeRow, block } = selection;
  const column = options.columns()[active.column];
  if (active.row < 0) return actOnHead(event, column, options);
  if (event.key === ' ') {
    event.preventDefault();
    if (block !== null) void selection.selectBetween(block.top, block.bottom);
    else selection.toggle(active.row, active.row);
  } else if ((event.key === 'Enter' || event.key === 'F2') && activeRow !== undefined) {
    event.preventDefault();
    if (active.column < 0 || event.shiftKey) events.open(activeRow);
    else events.edit(active, null);
  } else if (event.key.length === 1 && mayWrite && column?.isWritable === true) {
    event.preventDefault();
    events.edit(active, event.key);
  }
}

function actOnHead(
  event: KeyboardEvent,
  column: GridColumn | undefined,
  options: KeyboardOptions,
): void {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  event.preventDefault();
  if (column === undefined) return;
  if (event.key === 'Enter') options.events.sort(column, event.shiftKey);
  else openMenu(column, options);
}
