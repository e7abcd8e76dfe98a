/** Recalculation on opening, and removal of the calculation chain when a formula is gone. */
import { unreadable } from '../../../src/base/errors.ts';
import { TimeSlice } from '../../../src/base/scheduling/time-slice.ts';
import type { ArchiveEntry } from '../archive/archive.ts';
import { expand } from '../archive/expansion.ts';
import {
  isTrue,
  partText,
  relationshipsEntry,
  sharedPart,
  type WorkbookPackage,
} from '../xlsx/package.ts';
import { PartText } from '../xml/part-text.ts';
import { XmlCursor } from '../xml/xml-cursor.ts';

/** Elements before `calcPr` (ECMA-376-1, 18.2.27), last first. */
const BEFORE_CALCULATION = [
  'definedNames',
  'externalReferences',
  'functionGroups',
  'sheets',
] as const;

/** Null when it asks for calculation already. Throws `unreadable-file`. */
export async function recalculatingWorkbook(book: WorkbookPackage): Promise<string | null> {
  const slice = new TimeSlice();
  const text = book.workbookText;
  const cursor = new XmlCursor(text, book.workbook.name);
  const ends = new Map<string, number>();
  let prefix = '';
  while (cursor.next()) {
    if (slice.isOver) await slice.rest();
    if (cursor.depth === 1 && cursor.local === 'workbook') prefix = cursor.prefix;
    if (cursor.kind === 'close') {
      if (cursor.depth === 1) ends.set(cursor.name, cursor.to);
      continue;
    }
    if (cursor.kind === 'empty' && cursor.depth === 1) ends.set(cursor.name, cursor.to);
    if (cursor.name !== `${prefix}calcPr`) continue;
    if (isTrue(cursor.attribute('fullCalcOnLoad'))) return null;
    const present = cursor.attributeSpan('fullCalcOnLoad');
    const from = present?.from ?? cursor.from + 1 + cursor.name.length;
    const attribute = `${present ? '' : ' '}fullCalcOnLoad="1"`;
    return text.slice(0, from) + attribute + text.slice(present?.to ?? from);
  }
  const before = BEFORE_CALCULATION.find((local) => ends.has(prefix + local));
  const at = before === undefined ? undefined : ends.get(prefix + before);
  if (at === undefined) throw unreadable(`${book.workbook.name} names no sheets`);
  return `${text.slice(0, at)}<${prefix}calcPr fullCalcOnLoad="1"/>${text.slice(at)}`;
}

/** Null when there is none. */
export async function withoutCalculationChain(
  book: WorkbookPackage,
): Promise<{ removed: ArchiveEntry; replaced: Map<ArchiveEntry, string> } | null> {
  const { archive, workbook, relationships } = book;
  const relationship = relationships.find(({ type }) => type === 'calcChain');
  const relationshipsPart = relationshipsEntry(archive, workbook.name);
  if (!relationship || relationshipsPart === null) return null;
  const replaced = new Map<ArchiveEntry, string>();
  const text = await partText(archive, relationshipsPart);
  const { from, to } = relationship.span;
  replaced.set(relationshipsPart, text.slice(0, from) + text.slice(to));
  const types = archive.find('[Content_Types].xml');
  if (types !== null) {
    const content = await partText(archive, types);
    replaced.set(types, withoutContentType(content, types.name, relationship.entry.name));
  }
  return { removed: relationship.entry, replaced };
}

function withoutContentType(text: string, part: string, removed: string): string {
  const cursor = new XmlCursor(text, part);
  while (cursor.next()) {
    if (cursor.kind === 'close' || cursor.local !== 'Override') continue;
    const { from } = cursor;
    const name = cursor.attribute('PartName') ?? '';
    cursor.skip();
    if (name.toLowerCase() !== `/${removed.toLowerCase()}`) continue;
    return text.slice(0, from) + text.slice(cursor.to);
  }
  return text;
}

const FORMULA = /<(?:[A-Za-z_][\w.-]*:)?f[\s/>]/;

/** A calculation chain proves it; else sheets are read up to the first formula. */
export async function hasFormulasElsewhere(
  book: WorkbookPackage,
  except: ArchiveEntry,
): Promise<boolean> {
  if (sharedPart(book, 'calcChain') !== null) return true;
  for (const { entry } of book.worksheets) {
    if (entry === except) continue;
    const window = new PartText(entry.name, expand(book.archive, entry));
    if (await window.holds((text) => FORMULA.test(text), 256)) return true;
  }
  return false;
}
