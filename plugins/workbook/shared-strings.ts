/** Shared strings (ECMA-376-1, 18.4.9). */
import type { ArchiveEntry } from './archive.ts';
import { unreadable } from './unreadable.ts';
import { expand } from './expansion.ts';
import { sharedPart, type WorkbookPackage } from './package.ts';
import { PartText } from './part-text.ts';
import { stringItem } from './string-item.ts';
import { XmlCursor } from './xml-cursor.ts';
import { afterElement, nextTag } from './xml-element.ts';

/** In order; none without a table. Throws `unreadable-file`. */
export async function readSharedStrings(book: WorkbookPackage): Promise<string[]> {
  const strings: string[] = [];
  await eachItem(book, ({ text, part }, from, to) => {
    strings.push(stringItem(text, from, to, part));
  });
  return strings;
}

/** Reads the whole table but holds only these. Throws `unreadable-file`. */
export async function pickSharedStrings(
  book: WorkbookPackage,
  indexes: ReadonlySet<number>,
): Promise<Map<number, string>> {
  const picked = new Map<number, string>();
  if (indexes.size === 0) return picked;
  await eachItem(book, ({ text, part }, from, to, index) => {
    if (indexes.has(index)) picked.set(index, stringItem(text, from, to, part));
  });
  return picked;
}

type ItemVisitor = (window: PartText, from: number, to: number, index: number) => void;

async function eachItem(book: WorkbookPackage, visit: ItemVisitor): Promise<void> {
  const entry = sharedPart(book, 'sharedStrings');
  if (entry === null) return;
  const window = new PartText(entry.name, expand(book.archive, entry));
  try {
    await readItems(window, entry, visit);
    await window.drain();
  } finally {
    await window.close();
  }
}

async function readItems(window: PartText, entry: ArchiveEntry, visit: ItemVisitor): Promise<void> {
  const root = await openRoot(window, entry);
  if (root.isEmpty) return;
  for (let index = 0; ;) {
    const { text } = window;
    const at = nextTag(text, window.position, entry.name);
    if (at >= 0 && text.startsWith('</', at)) return;
    const end = at < 0 ? -1 : afterElement(text, at, entry.name);
    if (end < 0) {
      if (!(await window.fill())) throw unreadable(`${entry.name} is malformed XML`);
      continue;
    }
    if (text.startsWith(root.itemTag, at)) visit(window, at, end, index++);
    window.position = end;
  }
}

async function openRoot(
  window: PartText,
  entry: ArchiveEntry,
): Promise<{ itemTag: string; isEmpty: boolean }> {
  for (;;) {
    const cursor = new XmlCursor(window.text, entry.name);
    if (cursor.next()) {
      window.position = cursor.to;
      return { itemTag: `<${cursor.prefix}si`, isEmpty: cursor.kind === 'empty' };
    }
    if (!(await window.fill())) throw unreadable(`${entry.name} is malformed XML`);
  }
}
