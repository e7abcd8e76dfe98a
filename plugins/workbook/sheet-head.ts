/**
 * What stands in a worksheet before its rows, as far as an edit needs it: the extent of the sheet and the styles of its
 * columns.
 */
import { type CellRange, parseRange } from './cell-reference.ts';
import { MAX_SHEET_COLUMNS } from './limits.ts';
import { type Span, XmlCursor } from './xml-cursor.ts';

/** The head of one worksheet. */
export interface SheetHead {
  /** The `ref` attribute of the `dimension` element, with its name and quotes; null without one. */
  readonly dimension: { readonly span: Span; readonly range: CellRange } | null;
  /** Style of cells that are added to a column, 0 for none. */
  columnStyle(column: number): number;
}

/** Reads `text` up to `end`, where the element with the rows begins. */
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
