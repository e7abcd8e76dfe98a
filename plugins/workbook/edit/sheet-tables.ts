/** Excel's list objects (ECMA-376-1, 18.5): a created row extends the table above it. */
import type { Archive, ArchiveEntry } from '../archive/archive.ts';
import { type CellRange, parseRange, rangeText } from '../cell-reference.ts';
import { partText, relationshipsOf } from '../xlsx/package.ts';
import { type Span, XmlCursor } from '../xml/xml-cursor.ts';

export interface CreatedRows {
  /** Sheet rows, inclusive. */
  readonly first: number;
  readonly last: number;
  readonly firstColumn: number;
  /** End of the columns, from A. */
  readonly width: number;
}

/** New texts (one character per byte) of the table parts. Throws `unreadable-file`. */
export async function extendedTables(
  archive: Archive,
  sheet: ArchiveEntry,
  rows: CreatedRows,
): Promise<Map<ArchiveEntry, string>> {
  const extended = new Map<ArchiveEntry, string>();
  for (const { type, entry } of await relationshipsOf(archive, sheet.name)) {
    if (type !== 'table') continue;
    const text = extendedTable(await partText(archive, entry), entry.name, rows);
    if (text !== null) extended.set(entry, text);
  }
  return extended;
}

/**
 * Columns (in the sheet, from 0) of a table that the rows extend or lie in, which it fills with formulas
 * (`calculatedColumnFormula`). Throws `unreadable-file`.
 */
export async function calculatedColumns(
  archive: Archive,
  sheet: ArchiveEntry,
  rows: CreatedRows,
): Promise<Set<number>> {
  const columns = new Set<number>();
  for (const { type, entry } of await relationshipsOf(archive, sheet.name)) {
    if (type !== 'table') continue;
    const cursor = new XmlCursor(await partText(archive, entry), entry.name);
    let range: CellRange | null = null;
    let column = -1;
    while (cursor.next()) {
      if (cursor.kind === 'close') continue;
      if (range === null) {
        range = parseRange(cursor.attribute('ref') ?? '');
        const isAbove = range && range.first.row < rows.first && range.last.row >= rows.first - 1;
        if (!isAbove) break;
      } else if (cursor.local === 'tableColumn') column++;
      else if (cursor.local === 'calculatedColumnFormula') columns.add(range.first.column + column);
    }
  }
  return columns;
}

/** Null when the table ends elsewhere, contains the rows already, or ends with its totals. */
function extendedTable(text: string, part: string, rows: CreatedRows): string | null {
  const cursor = new XmlCursor(text, part);
  const references: { span: Span; range: CellRange }[] = [];
  while (cursor.next()) {
    if (cursor.kind === 'close') continue;
    const totals = cursor.attribute('totalsRowCount') ?? '0';
    if (references.length === 0 && totals !== '0') return null;
    if (references.length > 0 && cursor.local !== 'autoFilter') continue;
    const range = parseRange(cursor.attribute('ref') ?? '');
    const span = cursor.attributeSpan('ref');
    if (!range || !span) return null;
    references.push({ span, range });
  }
  const table = references[0]?.range;
  const goesOn =
    table !== undefined &&
    table.first.row < rows.first &&
    table.last.row >= rows.first - 1 &&
    table.last.row < rows.last &&
    table.first.column < rows.width &&
    table.last.column >= rows.firstColumn;
  if (!goesOn) return null;
  let result = text;
  for (const { span, range } of references.toReversed()) {
    const longer = rangeText({ ...range, last: { ...range.last, row: rows.last } });
    result = `${result.slice(0, span.from)}ref="${longer}"${result.slice(span.to)}`;
  }
  return result;
}
