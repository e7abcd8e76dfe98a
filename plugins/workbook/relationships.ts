/**
 * Relationships of an office package (ECMA-376-2, 6.5).
 *
 * Links to files and addresses outside are never followed.
 */
import type { Archive, ArchiveEntry } from './archive.ts';
import { unreadable } from './unreadable.ts';
import { expandWhole } from './expansion.ts';
import { refuseOtherEncodings } from './xml-encoding.ts';
import { type Span, XmlCursor } from './xml-cursor.ts';

export interface Relationship {
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
