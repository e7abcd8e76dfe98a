/**
 * The grid has elements only for visible rows, so a plain table of the loaded ones replaces it for
 * printing.
 */
import {
  cellOf,
  countText,
  type GridColumn,
  type GridRow,
  shownText,
} from '../../pages/grid/model.ts';
import { make, makeTable } from '../shared/element.ts';
import { isNumeric } from './table/cells.ts';

interface PrintingOptions {
  readonly page: HTMLElement;
  rows(): Iterable<readonly [index: number, row: GridRow]>;
  columns(): readonly GridColumn[];
  total(): number | null;
  first(): number;
}

/** Some twenty sheets of paper. */
const MAX_ROWS = 1_000;

export function startPrinting(options: PrintingOptions): void {
  let sheet: HTMLElement | null = null;
  const change = (isPrinting: boolean): void => {
    sheet?.remove();
    sheet = isPrinting ? sheetOf(options) : null;
    if (sheet !== null) options.page.append(sheet);
  };
  matchMedia('print').addEventListener('change', ({ matches }) => change(matches));
  addEventListener('beforeprint', () => change(true));
  addEventListener('afterprint', () => change(false));
}

function sheetOf({ rows, columns, total, first }: PrintingOptions): HTMLElement {
  const shown = runAround([...rows()], first());
  const heads = columns();
  const from = shown[0]?.[0] ?? 0;
  const all = countText(total() ?? shown.length);
  const text =
    shown.length === (total() ?? 0) ? all : `Rows ${from + 1} to ${from + shown.length} of ${all}`;
  const look = (column: GridColumn) => ({ class: isNumeric(column) ? 'number' : null });
  const rowOf = (row: GridRow): HTMLElement =>
    make(
      'tr',
      heads.map((column) => make('td', look(column), shownText(cellOf(row, column.name)))),
    );
  const table = makeTable(
    heads.map((column) => make('th', look(column), column.name)),
    shown.map(([, row]) => rowOf(row)),
  );
  return make('div.print-sheet', make('p.fine', text), table);
}

function runAround(
  rows: readonly (readonly [number, GridRow])[],
  first: number,
): (readonly [number, GridRow])[] {
  const at = rows.findIndex(([index]) => index >= first);
  if (at < 0) return rows.slice(-MAX_ROWS);
  let start = at;
  while (start > 0 && rows[start - 1]![0] === rows[start]![0] - 1) start--;
  let end = at + 1;
  while (end < rows.length && rows[end]![0] === rows[end - 1]![0] + 1) end++;
  const isLong = end - start > MAX_ROWS;
  return rows.slice(isLong ? at : start, isLong ? Math.min(end, at + MAX_ROWS) : end);
}
