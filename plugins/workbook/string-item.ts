/**
 * The text of a string item, plain or rich; phonetic hints are left out (ECMA-376-1, 18.4.8 and
 * 18.4.12).
 */
import { MAX_CELL_CHARACTERS } from '../../src/tables/limits.ts';
import { unreadable } from './unreadable.ts';
import { XmlCursor } from './xml-cursor.ts';
import { textOf, unescaped } from './xml-text.ts';

/** From the `si` or `is` element. Throws `unreadable-file`. */
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
