import { AppError } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import {
  FirstRows,
  type FilePreview,
  MAX_PREVIEW_ROWS,
  previewCells,
} from '../../src/tables/infer/file-preview.ts';
import type { KindLimits } from '../../src/docroot/kind.ts';
import { MAX_ROWS_LOOKED_AT } from '../../src/tables/infer/header-row.ts';
import type { Cell, ReadOptions } from '../../src/tables/types.ts';
import { type Dialect, placeOf } from './dialect.ts';
import { rangeOfTable, readWorkbook } from './reader.ts';
import { TableSink } from './table-sink.ts';

interface FirstRow {
  readonly number: number;
  readonly cells: Cell[];
}

/** Reads the first rows of the sheet. */
export async function previewWorkbook(
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
