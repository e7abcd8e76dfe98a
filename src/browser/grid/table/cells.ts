/** The grid's DOM: head, rows, cells, and the place an element stands for. Stateless. */
import type { ColumnLayout } from '../view/column-layout.ts';
import { make } from '../element.ts';
import type { UnsavedValue } from '../grid-events.ts';
import {
  cellOf,
  type GridColumn,
  type GridRow,
  idOf,
  isBlank,
  lineText,
} from '../../../pages/grid/model.ts';
import type { Place } from './places.ts';
import type { SortStep } from '../../../pages/grid/view.ts';

interface HeadOptions {
  readonly layout: ColumnLayout;
  readonly sort: readonly SortStep[];
  readonly filtered: ReadonlySet<string>;
  readonly mayWrite: boolean;
}

export function makeHead(options: HeadOptions): HTMLElement {
  const number = make(
    'div',
    { class: 'cell corner', role: 'columnheader', id: idOfCell(-1, -1), 'aria-colindex': 1 },
    options.mayWrite
      ? make('input', { type: 'checkbox', tabindex: -1, 'aria-label': 'Select all rows' })
      : null,
    make('span', {}, '#'),
  );
  const row = make('div', { class: 'row', role: 'row', 'aria-rowindex': 1 }, number);
  for (const [at, column] of options.layout.columns.entries()) {
    row.append(headCell(options, at, column));
  }
  return row;
}

function headCell(
  { layout, sort, filtered }: HeadOptions,
  index: number,
  column: GridColumn,
): HTMLElement {
  const at = sort.findIndex((step) => step.column === column.name);
  const step = sort[at];
  const arrow = step === undefined ? '' : step.isDescending ? ' ↓' : ' ↑';
  const rank = step !== undefined && sort.length > 1 ? String(at + 1) : '';
  const isFiltered = filtered.has(column.name);
  const head = make(
    'div',
    {
      class: `cell head${isNumeric(column) ? ' number' : ''}${isFiltered ? ' filtered' : ''}`,
      role: 'columnheader',
      id: idOfCell(-1, index),
      'aria-colindex': index + 2,
      'aria-sort': step === undefined ? null : step.isDescending ? 'descending' : 'ascending',
      'data-column': index,
      title: `${column.name} (${column.type})`,
    },
    make('span', { class: 'head-name' }, column.name),
    make('span', { class: 'head-sort', 'aria-hidden': 'true' }, arrow + rank),
    menuButton(column, isFiltered),
  );
  layout.pin(head, index);
  return head;
}

function menuButton({ name }: GridColumn, isFiltered: boolean): HTMLElement {
  return make(
    'button',
    {
      type: 'button',
      class: 'head-menu',
      tabindex: -1,
      'aria-label': `Menu of ${name}`,
      'aria-haspopup': 'dialog',
    },
    make('span', { 'aria-hidden': 'true', class: isFiltered ? 'glyph funnel' : 'glyph dots' }),
  );
}

interface RowOptions {
  readonly layout: ColumnLayout;
  readonly index: number;
  readonly data: GridRow | undefined;
  readonly isSelected: boolean;
  readonly mayWrite: boolean;
  unsaved(row: GridRow, column: GridColumn): UnsavedValue | undefined;
}

export function makeRow(options: RowOptions): HTMLElement {
  const { layout, index, data, isSelected } = options;
  const row = make('div', { class: 'row', role: 'row', 'aria-rowindex': index + 2 });
  if (data === undefined) {
    row.classList.add('waiting');
    row.setAttribute('aria-busy', 'true');
  }
  row.append(numberCell(options));
  for (const [at, column] of layout.columns.entries()) row.append(dataCell(options, at, column));
  row.setAttribute('aria-selected', String(isSelected));
  row.classList.toggle('selected', isSelected);
  row.dataset['row'] = String(index);
  return row;
}

function numberCell({ index, data, isSelected, mayWrite }: RowOptions): HTMLElement {
  const id = data === undefined ? '' : String(idOf(data));
  return make(
    'div',
    { class: 'cell corner', role: 'rowheader', id: idOfCell(index, -1), 'aria-colindex': 1 },
    mayWrite
      ? make('input', {
          type: 'checkbox',
          tabindex: -1,
          checked: isSelected,
          'aria-label': `Select row ${id}`,
        })
      : null,
    make('button', { type: 'button', class: 'row-id', tabindex: -1, title: 'Show the row' }, id),
  );
}

function dataCell(options: RowOptions, at: number, column: GridColumn): HTMLElement {
  const { layout, index, data, mayWrite } = options;
  const unsaved = data === undefined ? undefined : options.unsaved(data, column);
  const value = unsaved?.value ?? (data === undefined ? '' : cellOf(data, column.name));
  const cell = make('div', {
    class: `cell${isNumeric(column) ? ' number' : ''}${isBlank(value) ? ' blank' : ''}`,
    role: 'gridcell',
    id: idOfCell(index, at),
    dir: column.type === 'string' ? 'auto' : null,
    'aria-colindex': at + 2,
    'aria-readonly': mayWrite && !column.isWritable ? 'true' : null,
    'aria-invalid': unsaved?.problem ? 'true' : null,
    'aria-busy': unsaved?.problem === null ? 'true' : null,
    title: unsaved?.problem,
  });
  // Only file types that have both distinguish null from an empty text.
  cell.textContent = value === null ? 'null' : lineText(value);
  layout.pin(cell, at);
  return cell;
}

export function idOfCell(row: number, column: number): string {
  return row < 0 ? `grid-head-${column}` : `grid-${row}-${column}`;
}

export function placeOfEvent(target: EventTarget | null, grid: HTMLElement): Place | null {
  const cell = (target as HTMLElement).closest<HTMLElement>('.cell');
  if (cell === null || !grid.contains(cell)) return null;
  const row = cell.closest<HTMLElement>('[data-row]')?.dataset['row'];
  const column = Number(cell.getAttribute('aria-colindex')) - 2;
  return { row: row === undefined ? -1 : Number(row), column };
}

function isNumeric({ type }: GridColumn): boolean {
  return type === 'integer' || type === 'number';
}
