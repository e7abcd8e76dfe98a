import type { FileSource } from '../../src/base/files/file-source.ts';
import type { ReadOptions, RowSink } from '../../src/tables/types.ts';
import { legacySheetNames, readLegacySheet } from './legacy-reader.ts';
import { DEFAULT_LIMITS, type WorkbookLimits } from './limits.ts';
import { openPackage } from './package.ts';
import { readSheet } from './sheet-reader.ts';
import { formatOf } from './workbook-format.ts';

/** The content, not the name, decides the format. Throws `unreadable-file`. */
export async function readWorkbook(
  source: FileSource,
  options: ReadOptions,
  sink: RowSink,
  limits: WorkbookLimits = DEFAULT_LIMITS,
): Promise<void> {
  if ((await formatOf(source)) === 'xlsx') return readSheet(source, options, sink, limits);
  return readLegacySheet(source, options, sink);
}

/** In workbook order, hidden ones included. Throws `unreadable-file`. */
export async function readWorksheetNames(
  source: FileSource,
  limits: WorkbookLimits = DEFAULT_LIMITS,
): Promise<string[]> {
  if ((await formatOf(source)) === 'xlsx') {
    const { worksheets } = await openPackage(source, limits);
    return worksheets.map(({ name }) => name);
  }
  return legacySheetNames(source);
}
