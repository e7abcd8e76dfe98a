/** Shared strings (ECMA-376-1, 18.4.9). */
import { unreadable } from '../../../src/base/errors.ts';
import { MAX_CELL_CHARACTERS } from '../../../src/tables/limits.ts';
import { expand } from '../archive/expansion.ts';
import { PartText } from '../xml/part-text.ts';
import { XmlCursor } from '../xml/xml-cursor.ts';
import { textOf, unescaped } from '../xml/xml-text.ts';
import { sharedPart, type WorkbookPackage } from './package.ts';

/** None without a table. Reads the whole table but holds only the wanted ones. */
export async function readSharedStrings(
  book: WorkbookPackage,
  wanted?: ReadonlySet<number>,
): Promise<string[]> {
  const strings: string[] = [];
  const entry = wanted?.size === 0 ? null : sharedPart(book, 'sharedStrings');
  if (entry === null) return strings;
  const window = new PartText(entry.name, expand(book.archive, entry));
  try {
    let root = new XmlCursor(window.text, entry.name);
    for (; !root.next(); root = new XmlCursor(window.text, entry.name)) await window.more();
    const itemTag = `<${root.prefix}si`;
    window.position = root.to;
    let index = 0;
    const visit = (from: number, to: number): void => {
      const { text } = window;
      if (!text.startsWith(itemTag, from)) return;
      if (!wanted || wanted.has(index)) strings[index] = stringItem(text, from, to, entry.name);
      index++;
    };
    if (root.kind === 'open') await window.eachElement(visit);
    await window.drain();
  } finally {
    await window.close();
  }
  return strings;
}

/**
 * The `si` or `is` element, plain or rich; phonetic hints are left out (18.4.8, 18.4.12). Throws `unreadable-file`.
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
