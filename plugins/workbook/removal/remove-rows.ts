/**
 * Removes rows as Excel does: what stands below moves up, and whatever refers to it follows, in all parts of the
 * workbook. Where something cannot follow, nothing is removed.
 */
import type { ArchiveEntry } from '../archive/archive.ts';
import type { PackedPart } from '../archive/part-writer.ts';
import { parseRange } from '../cell-reference.ts';
import type { EditedBook } from '../formulas/recalculate.ts';
import { relationshipsOf, type Worksheet } from '../xlsx/package.ts';
import { PartText } from '../xml/part-text.ts';
import { XmlCursor } from '../xml/xml-cursor.ts';
import { CannotShift, type Removal, RowShift } from './row-shift.ts';
import { shiftedMarkup } from './shifted-markup.ts';
import { shiftedSheet } from './shifted-sheet.ts';

/** Parts of a worksheet that refer to no rows, or in ways that are followed. */
const FOLLOWED = new Set(
  'table drawing vmlDrawing comments hyperlink printerSettings image customProperty'.split(' '),
);

export interface RemovedRows {
  readonly shift: RowShift;
  readonly workbookText: string;
}

/** Null, and nothing is changed, where they must stay. Throws `unreadable-file`. */
export async function removeRows(
  edited: EditedBook,
  sheet: Worksheet,
  rows: Iterable<number>,
): Promise<RemovedRows | null> {
  return moveRows(edited, sheet, new RowShift(rows));
}

/** As `removeRows`, by what becomes of each row. */
export async function moveRows(
  edited: EditedBook,
  sheet: Worksheet,
  shift: RowShift,
): Promise<RemovedRows | null> {
  const removal = { shift, target: sheet.name.toLowerCase() };
  try {
    const { texts, packed, workbookText } = await shiftedParts(edited, sheet, removal);
    for (const [entry, text] of texts) edited.parts.replaceText(entry, text);
    for (const [entry, part] of packed) edited.parts.replace(entry, part);
    return { shift: removal.shift, workbookText };
  } catch (error) {
    if (error instanceof CannotShift) return null;
    throw error;
  }
}

interface ShiftedParts {
  readonly texts: Map<ArchiveEntry, string>;
  readonly packed: Map<ArchiveEntry, PackedPart>;
  readonly workbookText: string;
}

async function shiftedParts(
  { book, parts }: EditedBook,
  sheet: Worksheet,
  removal: Removal,
): Promise<ShiftedParts> {
  const texts = new Map<ArchiveEntry, string>();
  const packed = new Map<ArchiveEntry, PackedPart>();
  const put = async (entry: ArchiveEntry, shifted: (text: string) => string): Promise<void> => {
    const text = await parts.textOf(entry);
    const now = shifted(text);
    if (now !== text) texts.set(entry, now);
  };
  for (const worksheet of book.worksheets) {
    const isTarget = worksheet === sheet;
    const own = worksheet.name.toLowerCase();
    for (const { type, entry } of await relationshipsOf(book.archive, worksheet.entry.name)) {
      if (isTarget && !FOLLOWED.has(type)) throw new CannotShift(`a part of the type ${type}`);
      const place = { own, part: entry.name };
      if (type === 'table') {
        if (isTarget) requireRowsLeft(await parts.textOf(entry), entry.name, removal);
        await put(entry, (text) => shiftedMarkup(text, place, removal));
      }
      if (!isTarget) continue;
      if (type === 'comments') await put(entry, (text) => shiftedMarkup(text, place, removal));
      if (type === 'drawing') await put(entry, (text) => shiftedAnchors(text, removal));
      if (type === 'vmlDrawing') await put(entry, (text) => shiftedNotes(text, removal));
    }
    if (!isTarget && !(await mentions({ book, parts }, worksheet, sheet.name))) continue;
    const part = await shiftedSheet(parts, worksheet, removal);
    if (part !== null) packed.set(worksheet.entry, part);
  }
  for (const entry of book.archive.entries) {
    if (/\/charts\/[^/]*\.xml$/i.test(entry.name)) {
      await put(entry, (text) => shiftedMarkup(text, { own: '', part: entry.name }, removal));
    } else if (/\/pivotCacheDefinition[^/]*\.xml$/i.test(entry.name)) {
      await put(entry, (text) => shiftedSource(text, entry.name, removal));
    }
  }
  const place = { own: '', part: book.workbook.name };
  const workbookText = shiftedMarkup(book.workbookText, place, removal);
  if (workbookText !== book.workbookText) texts.set(book.workbook, workbookText);
  return { texts, packed, workbookText };
}

/** Only then its formulas can refer to the sheet. */
async function mentions(
  { parts }: EditedBook,
  { entry }: Worksheet,
  name: string,
): Promise<boolean> {
  const escaped = name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll("'", "''");
  const wanted = [escaped, escaped.replaceAll("'", '&apos;'), escaped.replaceAll("'", '&#39;')].map(
    (one) => Buffer.from(one).toString('latin1').toLowerCase(),
  );
  const window = new PartText(entry.name, parts.expand(entry));
  return window.holds((text) => {
    const lower = text.toLowerCase();
    return wanted.some((one) => lower.includes(one));
  }, 1024);
}

/** A table keeps its header, its totals and a row between. */
function requireRowsLeft(text: string, part: string, { shift }: Removal): void {
  const cursor = new XmlCursor(text, part);
  const range = cursor.next() ? parseRange(cursor.attribute('ref') ?? '') : null;
  if (range === null) throw new CannotShift('a table without a range');
  const header = Number(cursor.attribute('headerRowCount') ?? 1);
  const totals = Number(cursor.attribute('totalsRowCount') ?? 0);
  const [first, last] = [range.first.row + header, range.last.row - totals];
  const isCut = [
    [range.first.row, first - 1],
    [last + 1, range.last.row],
  ].some(([from, to]) => from! <= to! && shift.before(to! + 1) > shift.before(from!));
  if (isCut || shift.span(first, last) === null) throw new CannotShift('the rows of a table');
}

/** Rows of anchors count from 0. */
function shiftedAnchors(text: string, { shift }: Removal): string {
  return text.replaceAll(
    /(<([\w.-]+:)?row>\s*)(\d+)(\s*<\/\2?row>)/g,
    (_, open: string, __, row: string, close: string) => {
      return `${open}${Number(row) - shift.before(Number(row) + 1)}${close}`;
    },
  );
}

/** The boxes of notes, whose rows count from 0; those of removed rows go. */
function shiftedNotes(text: string, { shift }: Removal): string {
  return text.replaceAll(/<v:shape\s[^]*?<\/v:shape>/g, (shape) => {
    const row = /<x:Row>\s*(\d+)\s*<\/x:Row>/.exec(shape)?.[1];
    if (row === undefined) throw new CannotShift('a drawing of an older program');
    if (shift.has(Number(row) + 1)) return '';
    const moved = (at: string): string => String(Number(at) - shift.before(Number(at) + 1));
    return shape
      .replace(/(<x:Row>\s*)\d+/, `$1${moved(row)}`)
      .replace(/(<x:Anchor>)([^<]*)/, (_, open: string, numbers: string) => {
        const list = numbers.split(',');
        // Column, offset, row, offset of two corners.
        for (const at of [2, 6])
          if (list[at] !== undefined) list[at] = ` ${moved(list[at].trim())}`;
        return open + list.join(',');
      });
  });
}

/** Where a pivot table has its data. */
function shiftedSource(text: string, part: string, removal: Removal): string {
  const cursor = new XmlCursor(text, part);
  while (cursor.next()) {
    if (cursor.kind === 'close' || cursor.local !== 'worksheetSource') continue;
    if ((cursor.attribute('sheet') ?? '').toLowerCase() !== removal.target) return text;
    const { from } = cursor;
    const to = cursor.to;
    const element = shiftedMarkup(text.slice(from, to), { own: removal.target, part }, removal);
    return text.slice(0, from) + element + text.slice(to);
  }
  return text;
}
