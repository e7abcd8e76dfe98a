/** What precedes the rows of a worksheet, as far as an edit needs it. */
import { type CellRange, parseRange } from './cell-reference.ts';
import { MAX_SHEET_COLUMNS } from './limits.ts';
import { type Span, XmlCursor } from './xml-cursor.ts';

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
