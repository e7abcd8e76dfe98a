/** The tags of a worksheet around its cells, as far as an edit needs them. */
import { type CellRange, parseRange } from '../cell-reference.ts';
import { MAX_SHEET_COLUMNS } from '../limits.ts';
import { isTrue } from '../xlsx/package.ts';
import type { RowScanner } from '../xlsx/row-scanner.ts';
import { type Span, XmlCursor } from '../xml/xml-cursor.ts';

/** What precedes the rows. */
export interface SheetHead {
  readonly dimension: { readonly span: Span; readonly range: CellRange } | null;
  columnStyle(column: number): number;
}

export function parseSheetHead(text: string, end: number, prefix: string, part: string): SheetHead {
  const cursor = new XmlCursor(text.slice(0, end), part);
  const columns: { min: number; max: number; style: number }[] = [];
  let dimension: SheetHead['dimension'] = null;
  while (cursor.next()) {
    if (cursor.kind === 'close') continue;
    if (cursor.name === `${prefix}dimension`) {
      const range = parseRange(cursor.attribute('ref') ?? '');
      const span = cursor.attributeSpan('ref');
      if (range && span) dimension = { span, range };
    } else if (cursor.name === `${prefix}col`) {
      const [min, max, style] = ['min', 'max', 'style'].map((name) =>
        Number(cursor.attribute(name)),
      );
      if (style! > 0 && min! >= 1 && max! <= MAX_SHEET_COLUMNS) {
        columns.push({ min: min!, max: max!, style: style! });
      }
    }
  }
  return {
    dimension,
    columnStyle: (column) =>
      columns.find(({ min, max }) => min <= column + 1 && column + 1 <= max)?.style ?? 0,
  };
}

export function styleOfRow(text: string, row: RowScanner): number {
  const cursor = openTag(text, row);
  return isTrue(cursor.attribute('customFormat')) ? Number(cursor.attribute('s') ?? 0) || 0 : 0;
}

/** By column, of existing and of missing cells, up to `width`. */
export function stylesOfRow(
  text: string,
  row: RowScanner,
  width: number,
  columnStyle: (column: number) => number,
): number[] {
  const rowStyle = styleOfRow(text, row);
  return Array.from({ length: width }, (_, column) => {
    const cell = row.at(column);
    return cell ? Math.max(0, cell.style) : rowStyle || columnStyle(column);
  });
}

export function placeFor(row: RowScanner, column: number): number | null {
  const next = row.cells.slice(0, row.count).find((cell) => cell.column > column);
  return next?.start ?? null;
}

/** The `spans` attribute after adding cells in these columns; null when unchanged. */
export function widenedSpans(
  text: string,
  row: RowScanner,
  columns: readonly number[],
): (Span & { readonly markup: string }) | null {
  const cursor = openTag(text, row);
  const span = cursor.attributeSpan('spans');
  const match = /^(\d+):(\d+)$/.exec(cursor.attribute('spans') ?? '');
  if (span === null || match === null) return null;
  const [first, last] = [Number(match[1]), Number(match[2])];
  const from = Math.min(first, ...columns.map((column) => column + 1));
  const to = Math.max(last, ...columns.map((column) => column + 1));
  if (from === first && to === last) return null;
  const markup = `spans="${from}:${to}"`;
  return { from: row.from + span.from, to: row.from + span.to, markup };
}

function openTag(text: string, row: RowScanner): XmlCursor {
  const cursor = new XmlCursor(text.slice(row.from, row.openEnd), 'row');
  cursor.next();
  return cursor;
}
