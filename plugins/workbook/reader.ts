import { unreadable } from '../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { KindLimits, SheetName } from '../../src/docroot/kind.ts';
import type { ReadOptions, RowSink } from '../../src/tables/types.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { readLegacySheet } from './xls/legacy-reader.ts';
import { openLegacyWorkbook } from './xls/legacy-workbook.ts';
import { openPackage } from './xlsx/package.ts';
import { readSheet } from './xlsx/sheet-reader.ts';

const ZIP = Buffer.from('PK\u0003\u0004', 'latin1');
const COMPOUND_FILE = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** The content, not the name, decides the format. Throws `unreadable-file`. */
export async function readWorkbook(
  source: FileSource,
  options: ReadOptions,
  sink: RowSink,
  { maxBytes }: KindLimits = DEFAULT_LIMITS,
): Promise<void> {
  return (await isLegacy(source))
    ? readLegacySheet(source, options, sink)
    : readSheet(source, options, sink, maxBytes);
}

/** In workbook order. Throws `unreadable-file`. */
export async function readWorksheetNames(
  source: FileSource,
  { maxBytes }: KindLimits = DEFAULT_LIMITS,
): Promise<SheetName[]> {
  const { worksheets } = (await isLegacy(source))
    ? await openLegacyWorkbook(source)
    : await openPackage(source, maxBytes);
  return worksheets.map(({ name, isHidden }) => (isHidden ? { hidden: name } : name));
}

/** By the first bytes. Throws `unreadable-file` for any other file. */
async function isLegacy(source: FileSource): Promise<boolean> {
  const start = await readBytes(source, 0, COMPOUND_FILE.length);
  if (start.subarray(0, ZIP.length).equals(ZIP)) return false;
  if (start.equals(COMPOUND_FILE)) return true;
  throw unreadable(start.length === 0 ? 'it is empty' : 'it is no Excel workbook');
}
