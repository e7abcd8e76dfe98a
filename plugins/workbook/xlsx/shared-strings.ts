/** Shared strings (ECMA-376-1, 18.4.9). */
import { unreadable } from '../../../src/base/errors.ts';
import { MAX_CELL_CHARACTERS } from '../../../src/tables/limits.ts';
import type { ArchiveEntry } from '../archive/archive.ts';
import { expand } from '../archive/expansion.ts';
import { PartText } from '../xml/part-text.ts';
import { afterElement, nextTag, XmlCursor } from '../xml/xml-cursor.ts';
import { textOf, unescaped } from '../xml/xml-text.ts';
import { sharedPart, type WorkbookPackage } from './package.ts';

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

async function readItems(
  window: PartText,
  { name }: ArchiveEntry,
  visit: ItemVisitor,
): Promise<void> {
  let root = new XmlCursor(window.text, name);
  for (; !root.next(); root = new XmlCursor(window.text, name)) await window.more();
  if (root.kind === 'empty') return;
  window.position = root.to;
  const itemTag = `<${root.prefix}si`;
  for (let index = 0; ;) {
    const { text } = window;
    const at = nextTag(text, window.position, name);
    if (at >= 0 && text.startsWith('</', at)) return;
    const end = at < 0 ? -1 : afterElement(text, at, name);
    if (end < 0) {
      await window.more();
      continue;
    }
    if (text.startsWith(itemTag, at)) visit(window, at, end, index++);
    window.position = end;
  }
}

/**
 * The text of a string item, the `si` or `is` element, plain or rich; phonetic hints are left out
 * (18.4.8 and 18.4.12). Throws `unreadable-file`.
 */
export function stringItem(text: string, from: number, to: number, part: string): string {
  const found = plainText(text, from, to) ?? richText(text.slice(from, to), part);
  if (found.length > MAX_CELL_CHARACTERS) {
    throw unreadable(`${part} has a text of more than ${MAX_CELL_CHARACTERS} characters`);
  }
  return found;
}

/** The common case: a single `t` element without prefix. */
function plainText(text: string, from: number, to: number): string | null {
  const inner = text.indexOf('>', from) + 1;
  if (!text.startsWith('<t>', inner) && !text.startsWith('<t ', inner)) return null;
  const start = text.indexOf('>', inner) + 1;
  const end = text.indexOf('<', start);
  const isAlone = text.startsWith('</t></', end) && text.indexOf('>', end + 4) === to - 1;
  return isAlone && text[start - 2] !== '/' ? unescaped(textOf(text.slice(start, end))) : null;
}

function richText(element: string, part: string): string {
  const cursor = new XmlCursor(element, part);
  let found = '';
  while (cursor.next()) {
    if (cursor.kind !== 'open') continue;
    if (cursor.local === 'rPh') cursor.skip();
    else if (cursor.local === 't') {
      const from = cursor.to;
      if (!cursor.skip()) break;
      found += unescaped(textOf(element.slice(from, cursor.from)));
      if (found.length > MAX_CELL_CHARACTERS) break;
    }
  }
  return found;
}
