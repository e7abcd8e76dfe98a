/**
 * Worksheets, what they share, and how they relate (ECMA-376-1, 12.3; ECMA-376-2, 6.5). Links to outside are never
 * followed.
 */
import { unreadable } from '../../../src/base/errors.ts';
import type { FileSource } from '../../../src/base/files/file-source.ts';
import { TimeSlice } from '../../../src/base/scheduling/time-slice.ts';
import { type Archive, type ArchiveEntry, openArchive } from '../archive/archive.ts';
import { expandWhole } from '../archive/expansion.ts';
import { MAX_SHEETS } from '../limits.ts';
import { type Span, XmlCursor } from '../xml/xml-cursor.ts';
import { refuseOtherEncodings, unescaped } from '../xml/xml-text.ts';

/** Visible or hidden; no chart, dialog or macro sheet. */
export interface Worksheet {
  readonly name: string;
  readonly entry: ArchiveEntry;
  readonly isHidden: boolean;
}

/** Nothing of the sheets is read yet. */
export interface WorkbookPackage {
  readonly archive: Archive;
  readonly workbook: ArchiveEntry;
  readonly workbookText: string;
  readonly relationships: readonly Relationship[];
  readonly worksheets: readonly Worksheet[];
  readonly is1904: boolean;
}

export async function openPackage(source: FileSource, maxBytes: number): Promise<WorkbookPackage> {
  const archive = await openArchive(source, maxBytes);
  if (archive.find('EncryptedPackage')) throw unreadable('it is encrypted');
  const roots = await relationshipsOf(archive, '');
  const workbook = roots.find(({ type }) => type === 'officeDocument')?.entry;
  if (!workbook) throw unreadable('it is no workbook: the package names no document');
  if (workbook.name.toLowerCase().endsWith('.bin')) {
    throw unreadable('it is a binary workbook (.xlsb); save it as .xlsx');
  }
  const workbookText = await partText(archive, workbook);
  const relationships = await relationshipsOf(archive, workbook.name);
  const parsed = await parseWorkbook(workbookText, workbook.name, relationships);
  return { archive, workbook, workbookText, relationships, ...parsed };
}

export function sharedPart(book: WorkbookPackage, type: string): ArchiveEntry | null {
  return book.relationships.find((candidate) => candidate.type === type)?.entry ?? null;
}

/** The first without a name. Throws `unreadable-file` when there is none. */
export function worksheetNamed(book: WorkbookPackage, name: string | undefined): Worksheet {
  const found =
    name === undefined
      ? book.worksheets[0]
      : (book.worksheets.find((sheet) => sheet.name === name) ??
        book.worksheets.find((sheet) => sheet.name.normalize() === name.normalize()));
  if (found) return found;
  throw unreadable(`it has no worksheet named ${JSON.stringify(name)}`);
}

/** In slices: some workbooks have tens of thousands of defined names. */
async function parseWorkbook(
  text: string,
  part: string,
  relationships: readonly Relationship[],
): Promise<Pick<WorkbookPackage, 'worksheets' | 'is1904'>> {
  const slice = new TimeSlice();
  const cursor = new XmlCursor(text, part);
  const byId = new Map(relationships.map((relationship) => [relationship.id, relationship]));
  const worksheets = new Map<string, Worksheet>();
  let sheets = 0;
  let is1904 = false;
  const root = cursor.next() ? cursor.local : '';
  if (root !== 'workbook') throw unreadable('it is no workbook');
  while (cursor.next()) {
    if (slice.isOver) await slice.rest();
    if (cursor.kind === 'close') continue;
    if (cursor.local === 'workbookPr') is1904 = isTrue(cursor.attribute('date1904'));
    if (cursor.local !== 'sheet') continue;
    const spelling = cursor.attribute('name');
    const id = cursor.prefixedAttribute('id');
    if (spelling === undefined || id === undefined) throw cursor.malformed(cursor.from);
    const name = unescaped(spelling);
    if (++sheets > MAX_SHEETS) throw unreadable(`it has more than ${MAX_SHEETS} sheets`);
    const meant = byId.get(id);
    if (!meant) throw unreadable(`the sheet ${JSON.stringify(name)} is missing`);
    if (meant.type !== 'worksheet') continue;
    if (worksheets.has(name)) {
      throw unreadable(`it has two worksheets named ${JSON.stringify(name)}`);
    }
    const isHidden = (cursor.attribute('state') ?? 'visible') !== 'visible';
    worksheets.set(name, { name, entry: meant.entry, isHidden });
  }
  if (!cursor.isComplete) throw cursor.malformed(cursor.to);
  if (worksheets.size === 0) throw unreadable('it has no worksheet');
  return { worksheets: [...worksheets.values()], is1904 };
}

export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true' || value === 'on';
}

interface Relationship {
  readonly id: string;
  /**
   * Last segment of the type, the same in both flavours of the format (`worksheet`, `styles`, …).
   */
  readonly type: string;
  readonly entry: ArchiveEntry;
  readonly span: Span;
}

export async function partText(archive: Archive, entry: ArchiveEntry): Promise<string> {
  const text = (await expandWhole(archive, entry)).toString('latin1');
  refuseOtherEncodings(text, entry.name);
  return text;
}

/** '' means the package. */
export function relationshipsEntry(archive: Archive, part: string): ArchiveEntry | null {
  const slash = part.lastIndexOf('/') + 1;
  return archive.find(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`);
}

/** Only those to existing parts. Throws `unreadable-file`. */
export async function relationshipsOf(archive: Archive, part: string): Promise<Relationship[]> {
  const entry = relationshipsEntry(archive, part);
  if (entry === null) return [];
  const cursor = new XmlCursor(await partText(archive, entry), entry.name);
  const found: Relationship[] = [];
  while (cursor.next()) {
    if (cursor.kind === 'close' || cursor.local !== 'Relationship') continue;
    const from = cursor.from;
    const [id, type, target, mode] = ['Id', 'Type', 'Target', 'TargetMode'].map((name) =>
      cursor.attribute(name),
    );
    cursor.skip();
    const meant = target === undefined ? null : resolveTarget(archive, part, target);
    if (id === undefined || type === undefined || mode === 'External' || meant === null) continue;
    const span = { from, to: cursor.to };
    found.push({ id, type: type.slice(type.lastIndexOf('/') + 1), entry: meant, span });
  }
  if (!cursor.isComplete) throw unreadable(`${entry.name} is malformed XML`);
  return found;
}

function resolveTarget(archive: Archive, part: string, target: string): ArchiveEntry | null {
  const folder = target.startsWith('/') ? '' : part.slice(0, part.lastIndexOf('/') + 1);
  const segments: string[] = [];
  for (const segment of (folder + target).split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const name = segments.join('/');
  return archive.find(name) ?? archive.find(percentDecoded(name));
}

function percentDecoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // Not percent-encoded.
    return name;
  }
}
