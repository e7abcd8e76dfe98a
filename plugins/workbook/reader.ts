import { unreadable } from '../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { KindLimits, SheetName } from '../../src/docroot/kind.ts';
import type { ReadOptions, RowSink } from '../../src/tables/types.ts';
import { type Archive, openArchive } from './archive/archive.ts';
import {
  foreignSheetNames,
  isFlatDocument,
  isForeign,
  readForeignSheet,
} from './foreign-reader.ts';
import { DEFAULT_LIMITS, MAX_PART_BYTES } from './limits.ts';
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
  const format = await formatOf(source, maxBytes);
  if (format.kind === 'legacy') return readLegacySheet(source, options, sink);
  if (format.kind === 'foreign') return readForeignSheet(source, format.archive, options, sink);
  return readSheet(source, options, sink, maxBytes);
}

/** In workbook order. Throws `unreadable-file`. */
export async function readWorksheetNames(
  source: FileSource,
  { maxBytes }: KindLimits = DEFAULT_LIMITS,
): Promise<SheetName[]> {
  const format = await formatOf(source, maxBytes);
  if (format.kind === 'foreign') return foreignSheetNames(source, format.archive);
  const { worksheets } =
    format.kind === 'legacy'
      ? await openLegacyWorkbook(source)
      : await openPackage(source, maxBytes);
  return worksheets.map(({ name, isHidden }) => (isHidden ? { hidden: name } : name));
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
