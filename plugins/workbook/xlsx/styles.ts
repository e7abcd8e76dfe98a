/** Which cell formats show dates (ECMA-376-1, 18.8). */
import { TimeSlice } from '../../../src/base/scheduling/time-slice.ts';
import { builtInKind, type DateKind, formatKind } from '../serial-date.ts';
import { XmlCursor } from '../xml/xml-cursor.ts';
import { partText, sharedPart, type WorkbookPackage } from './package.ts';

/** By cell format index (a cell's `s`); `none` beyond the end. */
export type DateKinds = readonly DateKind[];

/**
 * No dates without a styles part. In slices: a workbook may have 65,000 cell formats. Throws
 * `unreadable-file`.
 */
export async function readDateKinds(book: WorkbookPackage): Promise<DateKinds> {
  const entry = sharedPart(book, 'styles');
  if (entry === null) return [];
  const slice = new TimeSlice();
  const cursor = new XmlCursor(await partText(book.archive, entry), entry.name);
  const custom = new Map<number, DateKind>();
  const kinds: DateKind[] = [];
  // Differential and named styles have such elements too; only these lists count.
  let list = '';
  while (cursor.next()) {
    if (slice.isOver) await slice.rest();
    const { local, kind, depth } = cursor;
    if (depth === 2 && kind === 'open') list = local;
    else if (depth === 1) list = '';
    if (kind === 'close') continue;
    if (list === 'numFmts' && local === 'numFmt') {
      custom.set(
        Number(cursor.attribute('numFmtId')),
        formatKind(cursor.attribute('formatCode') ?? ''),
      );
    } else if (list === 'cellXfs' && local === 'xf') {
      const id = Number(cursor.attribute('numFmtId') ?? 0);
      kinds.push(custom.get(id) ?? builtInKind(id));
    }
  }
  if (!cursor.isComplete) throw cursor.malformed(cursor.to);
  return kinds;
}
