/**
 * OpenDocument and binary Excel worksheets, through SheetJS, which holds the whole sheet in memory and follows
 * whatever range a file claims: time and memory of the process are its limits.
 */
import { unreadable } from '../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { SheetName } from '../../src/docroot/kind.ts';
import type { Cell, ReadOptions, RowSink } from '../../src/tables/types.ts';
import type { CellObject, WorkBook } from 'xlsx';
import type { Archive } from './archive/archive.ts';
import { expandWhole } from './archive/expansion.ts';
import { MAX_ROWS, MAX_SHEET_COLUMNS } from './limits.ts';
import { formatKind, serialText } from './serial-date.ts';
import { TableSink } from './table-sink.ts';

export const FOREIGN_IS_READ_ONLY =
  'Workbooks in .ods, .fods and .xlsb are read-only; save the file as .xlsx to edit it';

/** Approximate size of a cell in the file, for progress. */
const CELL_BYTES = 16;

/** OpenDocument or binary parts. */
export function isForeign(archive: Archive): boolean {
  return (archive.find('content.xml') ?? archive.find('xl/workbook.bin')) !== null;
}

/** The flat form of OpenDocument is one XML file. */
export async function isFlatDocument(source: FileSource): Promise<boolean> {
  const start = (await readBytes(source, 0, 4096)).toString('latin1');
  return /^(?:\xef\xbb\xbf)?\s*</.test(start) && start.includes('<office:document');
}

/** `archive` is null for a flat document. Throws `unreadable-file`. */
export async function readForeignSheet(
  source: FileSource,
  archive: Archive | null,
  options: ReadOptions,
  sink: RowSink,
): Promise<void> {
  refuseClaims(await markupOf(source, archive));
  const book = await parsed(source, options.sheet);
  const name = options.sheet ?? book.SheetNames[0] ?? '';
  const sheet = book.Sheets[name];
  if (!sheet) throw unreadable(`it has no worksheet named ${JSON.stringify(name)}`);
  const is1904 = book.Workbook?.WBProps?.date1904 === true;
  const identity = {
    format: 'foreign',
    sheet: name,
    table: null,
    grows: false,
    readOnlyReason: FOREIGN_IS_READ_ONLY,
  } as const;
  const table = new TableSink(sink, identity, options);
  let bytes = 0;
  for (const [index, row] of (sheet['!data'] ?? []).entries()) {
    // Rows and cells that are missing are holes.
    if (row === undefined) continue;
    bytes += row.length * CELL_BYTES;
    table.row(index + 1, bytes, (width) =>
      Array.from({ length: Math.min(width, row.length) }, (_, column) =>
        cellOf(row[column], is1904),
      ),
    );
  }
  table.end(bytes);
}

/** Hidden ones of OpenDocument have a style that says so. */
export async function foreignSheetNames(
  source: FileSource,
  archive: Archive | null,
): Promise<SheetName[]> {
  const markup = await markupOf(source, archive);
  refuseClaims(markup);
  const book = await parsed(source, null);
  const properties = book.Workbook?.Sheets ?? [];
  const hidden = hiddenTables(markup);
  return book.SheetNames.map((name, index) =>
    (properties[index]?.Hidden ?? 0) !== 0 || hidden.has(name) ? { hidden: name } : name,
  );
}

/** Of an OpenDocument; '' for binary parts. */
async function markupOf(source: FileSource, archive: Archive | null): Promise<string> {
  if (archive === null) return (await readBytes(source, 0, source.size)).toString('utf8');
  const content = archive.find('content.xml');
  return content === null ? '' : (await expandWhole(archive, content)).toString('utf8');
}

/** The parser makes as many rows and cells as a repetition claims. */
function refuseClaims(markup: string): void {
  for (const [, unit, count] of markup.matchAll(/number-(rows|columns)-repeated="([^"]*)"/g)) {
    const most = unit === 'rows' ? MAX_ROWS : MAX_SHEET_COLUMNS;
    if (!(Number(count) <= most)) throw unreadable(`it repeats more than ${most} ${unit}`);
  }
}

function hiddenTables(markup: string): Set<string> {
  const styles = new Set<string>();
  for (const [, attributes = '', body = ''] of markup.matchAll(
    /<style:style ([^>]*style:family="table"[^>]*)>([^]*?)<\/style:style>/g,
  )) {
    if (body.includes('table:display="false"')) styles.add(attributeOf(attributes, 'style:name'));
  }
  const hidden = new Set<string>();
  for (const [, attributes = ''] of markup.matchAll(/<table:table ([^>]*)>/g)) {
    if (styles.has(attributeOf(attributes, 'table:style-name'))) {
      hidden.add(plainText(attributeOf(attributes, 'table:name')));
    }
  }
  return hidden;
}

function attributeOf(attributes: string, name: string): string {
  return new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
}

function plainText(markup: string): string {
  const names: Readonly<Record<string, string>> = {
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    amp: '&',
  };
  return markup.replace(/&(\w+);/g, (whole, name: string) => names[name] ?? whole);
}

/** Throws `unreadable-file` for whatever the parser throws. */
async function parsed(source: FileSource, sheet: string | null | undefined): Promise<WorkBook> {
  const { read } = await import('xlsx');
  const bytes = await readBytes(source, 0, source.size);
  // It writes to standard error what it thinks of number formats.
  const { error } = console;
  console.error = () => {};
  try {
    const some =
      sheet === null ? { bookSheets: true } : sheet === undefined ? {} : { sheets: sheet };
    return read(bytes, { type: 'buffer', dense: true, cellNF: true, cellHTML: false, ...some });
  } catch (cause) {
    throw unreadable('its parts make no sense', cause);
  } finally {
    console.error = error;
  }
}

function cellOf(cell: CellObject | undefined, is1904: boolean): Cell {
  if (cell?.v === undefined) return '';
  if (cell.t === 'e') return cell.w ?? '';
  // LibreOffice writes a boolean of Excel as a formula with a number.
  const isWord = cell.w === 'TRUE' || cell.w === 'FALSE';
  if (cell.t === 'b' || (cell.t === 'n' && isWord && (cell.v === 0 || cell.v === 1))) {
    return Boolean(cell.v);
  }
  if (typeof cell.v !== 'number') return String(cell.v);
  const kind = formatKind(String(cell.z ?? 'General'));
  return serialText(cell.v, kind, is1904) ?? cell.v;
}
