/** Head, rows, cells, and the place an element stands for. Stateless. */
import {
  cellOf,
  type GridColumn,
  type GridRow,
  idOf,
  isBlank,
  lineText,
} from '../../../pages/grid/model.ts';
import type { SortStep } from '../../../pages/grid/view.ts';
import { make } from '../../shared/element.ts';
import type { ColumnLayout } from './column-layout.ts';
import type { Place } from './places.ts';

/** A value not yet in the file. */
export interface UnsavedValue {
  readonly value: string;
  /** Null while it is being saved. */
  readonly problem: string | null;
}

interface HeadOptions {
  readonly layout: ColumnLayout;
  readonly sort: readonly SortStep[];
  readonly filtered: ReadonlySet<string>;
  readonly mayWrite: boolean;
}

export function makeHead(options: HeadOptions): HTMLElement {
  const { layout, mayWrite } = options;
  const number = make(
    'div.cell.corner',
    { role: 'columnheader', id: idOfCell(-1, -1), 'aria-colindex': 1 },
    mayWrite ? boxOf('Select all rows', false) : null,
    make('span', '#'),
  );
  const heads = layout.columns.map((column, index) => headCell(options, index, column));
  return make('div.row', { role: 'row', 'aria-rowindex': 1 }, number, heads);
}

function headCell(
  { layout, sort, filtered }: HeadOptions,
  index: number,
  column: GridColumn,
): HTMLElement {
  const { name, type } = column;
  const at = sort.findIndex((step) => step.column === name);
  const order = at < 0 ? null : sort[at]!.isDescending ? 'descending' : 'ascending';
  const arrow = order === null ? '' : order === 'descending' ? ' ↓' : ' ↑';
  const rank = at >= 0 && sort.length > 1 ? String(at + 1) : '';
  const isFiltered = filtered.has(name);
  const menu = {
    type: 'button',
    tabindex: -1,
    'aria-label': `Menu of ${name}`,
    'aria-haspopup': 'dialog',
  };
  const glyph = make(isFiltered ? 'span.glyph.funnel' : 'span.glyph.dots', {
    'aria-hidden': 'true',
  });
  const head = make(
    'div',
    {
      class: `cell head${isNumeric(column) ? ' number' : ''}${isFiltered ? ' filtered' : ''}`,
      role: 'columnheader',
      id: idOfCell(-1, index),
      'aria-colindex': index + 2,
      'aria-sort': order,
      'data-column': index,
      title: `${name} (${type})`,
    },
    make('span.head-name', name),
    make('span.head-sort', { 'aria-hidden': 'true' }, arrow + rank),
    make('button.head-menu', menu, glyph),
  );
  layout.pin(head, index);
  return head;
}

interface RowOptions {
  readonly layout: ColumnLayout;
  readonly index: number;
  readonly data: GridRow | undefined;
  readonly isSelected: boolean;
  readonly mayWrite: boolean;
  unsaved(row: GridRow, column: GridColumn): UnsavedValue | undefined;
  isChanged(row: GridRow, column: string): boolean;
}

export function makeRow(options: RowOptions): HTMLElement {
  const { layout, index, data, isSelected, mayWrite } = options;
  const id = data === undefined ? '' : String(idOf(data));
  const number = make(
    'div.cell.corner',
    { role: 'rowheader', id: idOfCell(index, -1), 'aria-colindex': 1 },
    mayWrite ? boxOf(`Select row ${id}`, isSelected) : null,
    make('button.row-id', { type: 'button', tabindex: -1, title: 'Show the row' }, id),
  );
  const isWaiting = data === undefined;
  return make(
    'div',
    {
      class: `row${isWaiting ? ' waiting' : ''}${isSelected ? ' selected' : ''}`,
      role: 'row',
      'aria-rowindex': index + 2,
      'aria-busy': isWaiting ? 'true' : null,
      'aria-selected': String(isSelected),
      'data-row': index,
    },
    number,
    layout.columns.map((column, at) => dataCell(options, at, column)),
  );
}

function boxOf(label: string, checked: boolean): HTMLElement {
  return make('input', { type: 'checkbox', tabindex: -1, checked, 'aria-label': label });
}

function dataCell(options: RowOptions, at: number, column: GridColumn): HTMLElement {
  const { layout, index, data, mayWrite } = options;
  const unsaved = data === undefined ? undefined : options.unsaved(data, column);
  const value = unsaved?.value ?? (data === undefined ? '' : cellOf(data, column.name));
  const isChanged = data !== undefined && options.isChanged(data, column.name);
  const cell = make('div', {
    class: `cell${isNumeric(column) ? ' number' : ''}${isBlank(value) ? ' blank' : ''}${isChanged ? ' changed' : ''}`,
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
  return { row: Number(row ?? -1), column: Number(cell.getAttribute('aria-colindex')) - 2 };
}

export function isNumeric({ type }: GridColumn): boolean {
  return type === 'integer' || type === 'number';
}
