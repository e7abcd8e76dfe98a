/**
 * What Ctrl+C and Ctrl+X put on the clipboard: the selected rows as a spreadsheet takes them, or the block of cells, or the
 * active cell.
 */
import { TABBED } from './clip.ts';
import { cellOf, countText, type GridColumn, type GridRow, plainText } from './model.ts';
import { sizeOf } from './places.ts';
import type { GridTable } from './table.ts';

/** What became of it. */
interface Copied {
  /** False: some of it is not here yet, and nothing is on the clipboard. */
  readonly isDone: boolean;
  /** For people; `''` where nothing has to be said. */
  readonly text: string;
}

/** Puts what is selected on the clipboard; null when there is nothing, or something else has the focus. */
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

/** `cells` says that neither commas nor lines in the text are borders of cells. */
function put(event: ClipboardEvent, text: string, cells = text): void {
  event.clipboardData?.setData('text/plain', text);
  event.clipboardData?.setData(TABBED, cells);
  event.preventDefault();
}

function cellsOf(rows: readonly GridRow[], columns: readonly GridColumn[]): string[][] {
  return rows.map((row) => columns.map(({ name }) => plainText(cellOf(row, name))));
}

function tabbed(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => cells.map(quotedCell).join('\t')).join('\n');
}

function quotedCell(text: string): string {
  return /["\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
