/** The selected rows, the block, or the active cell, as spreadsheets take them. */
import {
  cellOf,
  countText,
  type GridColumn,
  type GridRow,
  plainText,
} from '../../../pages/grid/model.ts';
import { type Cells, TABBED } from './clip.ts';
import { sizeOf } from './places.ts';
import type { GridTable } from './table.ts';

interface Copied {
  /** False: some rows are not loaded yet and nothing was copied. */
  readonly isDone: boolean;
  /** Message for the user; `''` for none. */
  readonly text: string;
}

export function copySelected(table: GridTable, event: ClipboardEvent): Copied | null {
  const { columns, element, selection } = table;
  const { activeRow, active, rows: selected, block } = selection;
  const hasMarked = getSelection()?.isCollapsed === false;
  if (document.activeElement !== element || hasMarked) return null;
  if (selected.size > 0) {
    const chosen = [...selected.values()].sort((a, b) => a.place - b.place).map(({ row }) => row);
    const head = columns.map(({ name }) => name);
    put(event, tabbed([head, ...cellsOf(chosen, columns)]));
    const text = `Copied ${countText(selected.size)}, with the names of the columns.`;
    return { isDone: true, text };
  }
  if (block !== null) {
    const rows = selection.blockRows;
    event.preventDefault();
    if (rows === null) {
      return { isDone: false, text: 'Not copied: these rows are still on their way. Try again.' };
    }
    put(event, tabbed(cellsOf(rows, table.columnsOf(block))));
    return { isDone: true, text: `Copied ${countText(sizeOf(block).cells, 'cell')}.` };
  }
  const column = columns[active.column];
  if (activeRow === undefined || column === undefined) return null;
  const text = plainText(cellOf(activeRow, column.name));
  put(event, text, tabbed([[text]]));
  return { isDone: true, text: '' };
}

/**
 * `cells` is the tab-separated form, in which commas and line breaks of a value do not split it.
 */
function put(event: ClipboardEvent, text: string, cells = text): void {
  event.clipboardData?.setData('text/plain', text);
  event.clipboardData?.setData(TABBED, cells);
  event.preventDefault();
}

function cellsOf(rows: readonly GridRow[], columns: readonly GridColumn[]): Cells {
  return rows.map((row) => columns.map(({ name }) => plainText(cellOf(row, name))));
}

function tabbed(rows: Cells): string {
  return rows.map((cells) => cells.map(quotedCell).join('\t')).join('\n');
}

function quotedCell(text: string): string {
  return /["\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
