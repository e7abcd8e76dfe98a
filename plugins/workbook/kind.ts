import { extensionOf } from '../../src/base/paths.ts';
import type { Kind, KindLimits, SheetName } from '../../src/docroot/kind.ts';
import { MAX_CELL_TEXT } from '../../src/tables/encode/sheet-text.ts';
import { type Dialect, guessedSource, placeOf } from './dialect.ts';
import { editWorkbook, LEGACY_IS_READ_ONLY } from './edit/editor.ts';
import {
  FOREIGN_IS_READ_ONLY,
  foreignSheetNames,
  isFlatDocument,
  isForeign,
  readForeignSheet,
} from './foreign-reader.ts';
import { AppError, unreadable } from '../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import {
  FirstRows,
  type FilePreview,
  MAX_PREVIEW_ROWS,
  previewCells,
} from '../../src/tables/infer/file-preview.ts';
import { MAX_ROWS_LOOKED_AT } from '../../src/tables/infer/header-row.ts';
import type { Cell, ReadOptions, RowSink } from '../../src/tables/types.ts';
import { TableSink } from './table-sink.ts';
import { type Archive, openArchive } from './archive/archive.ts';
import { rangeText } from './cell-reference.ts';
import { DEFAULT_LIMITS, MAX_PART_BYTES } from './limits.ts';
import { readLegacySheet } from './xls/legacy-reader.ts';
import { openLegacyWorkbook } from './xls/legacy-workbook.ts';
import { namedTables, tableNamed } from './xlsx/named-tables.ts';
import { openPackage } from './xlsx/package.ts';
import { readSheet } from './xlsx/sheet-reader.ts';

const READ_ONLY: ReadonlyMap<string, string> = new Map([
  ['.xls', LEGACY_IS_READ_ONLY],
  ...['.ods', '.fods', '.xlsb'].map((extension) => [extension, FOREIGN_IS_READ_ONLY] as const),
]);

/** One dataset per worksheet: .xlsx and .xlsm read and written, the others read-only. */
export const workbook: Kind = {
  type: 'excel',
  family: 'dataset',
  extensions: ['.xlsx', '.xlsm', '.xls', '.ods', '.fods', '.xlsb'],
  dataset: {
    read: readWorkbook,
    edit: editWorkbook,
    editsWholeFile: true,
    hasTypedCells: true,
    preview: previewWorkbook,
    maxTextLength: MAX_CELL_TEXT,
    sheets: readWorksheetNames,
    source: (dialect) => guessedSource(dialect as unknown as Dialect),
    readOnlyReason: (rel) => READ_ONLY.get(extensionOf(rel)) ?? null,
  },
};

interface FirstRow {
  readonly number: number;
  readonly cells: Cell[];
}

/** Reads the first rows of the sheet. */
async function previewWorkbook(
  source: FileSource,
  options: ReadOptions,
  limits: KindLimits,
): Promise<FilePreview> {
  const first: FirstRow[] = [];
  const enough = new Error('enough rows');
  const look = (number: number, cells: Cell[]): void => {
    first.push({ number, cells });
    if (first.length >= MAX_ROWS_LOOKED_AT) throw enough;
  };
  const nothing = { header: () => {}, segment: () => {}, layout: () => {} };
  let problem: string | null = null;
  try {
    await readWorkbook(source, { ...options, learned: {}, look }, nothing, limits);
  } catch (error) {
    if (error !== enough && !(error instanceof AppError)) throw error;
    if (error !== enough) problem = (error as AppError).message;
  }
  const named = await rangeOfTable(source, options.sheet, limits);
  const place = named === undefined ? options : { range: named };
  const sink = new FirstRows();
  const table = new TableSink(
    sink,
    { format: 'xlsx', sheet: '', table: null, grows: false },
    place,
  );
  for (const { number, cells } of first) table.row(number, 0, (width) => cells.slice(0, width));
  table.end(0);
  return {
    lines: first
      .slice(0, MAX_PREVIEW_ROWS)
      .map(({ number, cells }) => ({ number, cells: previewCells(cells) })),
    found: placeOf(sink.dialect as unknown as Dialect),
    columns: sink.columns,
    rows: sink.rows,
    problem,
  };
}

const ZIP = Buffer.from('PK\u0003\u0004', 'latin1');
const COMPOUND_FILE = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** The content, not the name, decides the format. Throws `unreadable-file`. */
export async function readWorkbook(
  source: FileSource,
  options: ReadOptions,
  sink: RowSink,
  { maxBytes }: KindLimits = DEFAULT_LIMITS,
): Promise<void> {
  const format = await formatOf(source, maxBytes);
  if (format.kind === 'legacy') return readLegacySheet(source, options, sink);
  if (format.kind === 'foreign') return readForeignSheet(source, format.archive, options, sink);
  return readSheet(source, options, sink, maxBytes);
}

/** In workbook order, each worksheet before the tables named on it. Throws `unreadable-file`. */
export async function readWorksheetNames(
  source: FileSource,
  { maxBytes }: KindLimits = DEFAULT_LIMITS,
): Promise<SheetName[]> {
  const format = await formatOf(source, maxBytes);
  if (format.kind === 'foreign') return foreignSheetNames(source, format.archive);
  if (format.kind === 'legacy') {
    const { worksheets } = await openLegacyWorkbook(source);
    return worksheets.map(({ name, isHidden }) => (isHidden ? { hidden: name } : name));
  }
  const book = await openPackage(source, maxBytes);
  const names: SheetName[] = [];
  const isTaken = new Set(book.worksheets.map(({ name }) => name));
  for (const sheet of book.worksheets) {
    const tables = await namedTables(book, sheet, ({ name }, rows) =>
      readRows(source, name, rows, maxBytes),
    );
    const own = tables.map((table) => `${sheet.name}/${table}`).filter((one) => !isTaken.has(one));
    for (const name of [sheet.name, ...own]) names.push(sheet.isHidden ? { hidden: name } : name);
  }
  return names;
}

/** In A1 notation, of a table that the workbook names; undefined for a whole worksheet. */
async function rangeOfTable(
  source: FileSource,
  name: string | undefined,
  { maxBytes }: KindLimits,
): Promise<string | undefined> {
  if (name?.includes('/') !== true) return undefined;
  if ((await formatOf(source, maxBytes)).kind !== 'package') return undefined;
  const { table } = await tableNamed(await openPackage(source, maxBytes), name);
  return table === null ? undefined : rangeText(table.range);
}

/** The cells of some rows; the sheet is read up to the last of them. */
async function readRows(
  source: FileSource,
  sheet: string,
  wanted: readonly number[],
  maxBytes: number,
): Promise<ReadonlyMap<number, Cell[]>> {
  const found = new Map<number, Cell[]>();
  const last = Math.max(...wanted);
  const enough = new Error('enough rows');
  const look = (row: number, cells: Cell[]): void => {
    if (wanted.includes(row)) found.set(row, cells);
    if (row >= last) throw enough;
  };
  const nothing = { header: () => {}, segment: () => {}, layout: () => {} };
  try {
    await readSheet(source, { sheet, learned: { firstColumn: 0 }, look }, nothing, maxBytes);
  } catch (error) {
    if (error !== enough) throw error;
  }
  return found;
}

type Format =
  | { readonly kind: 'package' | 'legacy' }
  /** The archive is null for a flat document. */
  | { readonly kind: 'foreign'; readonly archive: Archive | null };

/** Throws `unreadable-file` for any other file. */
async function formatOf(source: FileSource, maxBytes: number): Promise<Format> {
  const start = await readBytes(source, 0, COMPOUND_FILE.length);
  if (start.equals(COMPOUND_FILE)) return { kind: 'legacy' };
  if (start.subarray(0, ZIP.length).equals(ZIP)) {
    const archive = await openArchive(source, maxBytes);
    return isForeign(archive) ? { kind: 'foreign', archive } : { kind: 'package' };
  }
  if (await isFlatDocument(source)) {
    if (source.size <= MAX_PART_BYTES) return { kind: 'foreign', archive: null };
    throw unreadable(`a flat document of more than ${MAX_PART_BYTES} bytes`);
  }
  throw unreadable(start.length === 0 ? 'it is empty' : 'it is no Excel workbook');
}
