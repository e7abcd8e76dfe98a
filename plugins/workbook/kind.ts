import { extensionOf } from '../../src/base/paths.ts';
import type { Kind, KindLimits } from '../../src/docroot/kind.ts';
import { MAX_CELL_TEXT } from '../../src/tables/encode/sheet-text.ts';
import { type Dialect, guessedSource, placeOf } from './dialect.ts';
import { editWorkbook, LEGACY_IS_READ_ONLY } from './edit/editor.ts';
import { FOREIGN_IS_READ_ONLY } from './foreign-reader.ts';
import { readWorkbook, readWorksheetNames, rangeOfTable } from './reader.ts';
import { AppError } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import {
  FirstRows,
  type FilePreview,
  MAX_PREVIEW_ROWS,
  previewCells,
} from '../../src/tables/infer/file-preview.ts';
import { MAX_ROWS_LOOKED_AT } from '../../src/tables/infer/header-row.ts';
import type { Cell, ReadOptions } from '../../src/tables/types.ts';
import { TableSink } from './table-sink.ts';

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
