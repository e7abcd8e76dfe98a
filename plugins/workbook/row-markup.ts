import type { RowScanner } from './row-scanner.ts';
import { type Span, XmlCursor } from './xml-cursor.ts';
import { isTrue } from './package.ts';

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
    const index = row.indexOf(column);
    return index < 0 ? rowStyle || columnStyle(column) : Math.max(0, row.styles[index]!);
  });
}

export function placeFor(row: RowScanner, column: number): number | null {
  for (let index = 0; index < row.count; index++) {
    if (row.columns[index]! > column) return row.starts[index]!;
  }
  return null;
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
