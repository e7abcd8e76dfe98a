/** Moves through a worksheet part row by row. */
import { PartText } from '../xml/part-text.ts';
import { afterElement, nextTag, XmlCursor } from '../xml/xml-cursor.ts';
import { RowScanner } from './row-scanner.ts';

interface SheetStart {
  readonly prefix: string;
  /** Start and end of the tag of the element with the rows; null in a sheet without rows. */
  readonly data: { readonly from: number; readonly to: number; readonly isEmpty: boolean } | null;
}

export class SheetWindow extends PartText {
  #row = new RowScanner(this.part, '');

  /**
   * Reads up to the rows; the window then still begins at the part's start. Throws
   * `unreadable-file`.
   */
  async start(): Promise<SheetStart> {
    let start = startIn(this);
    for (; start === null; start = startIn(this)) await this.more();
    this.#row = new RowScanner(this.part, start.prefix);
    return start;
  }

  /**
   * Up to the closing tag of `sheetData`; rows refused by `wantsCells` come without their cells. The window may not
   * move during a visit. Throws `unreadable-file`.
   */
  async eachRow(
    visit: (row: RowScanner) => Promise<void> | void,
    wantsCells?: (row: number) => boolean,
  ): Promise<void> {
    const row = this.#row;
    for (let previous = 0; ;) {
      const { text, part } = this;
      const at = nextTag(text, this.position, part);
      if (at >= 0 && text.startsWith('</', at)) return;
      if (at >= 0 && !row.isRow(text, at)) {
        const end = afterElement(text, at, part);
        if (end >= 0) {
          this.position = end;
          continue;
        }
      } else if (at >= 0 && row.scan(text, at, previous, wantsCells)) {
        previous = row.number;
        const visited = visit(row);
        if (visited) await visited;
        this.position = row.to;
        continue;
      }
      await this.more('ends in the middle of its rows');
    }
  }
}

function startIn(window: PartText): SheetStart | null {
  const cursor = new XmlCursor(window.text, window.part);
  if (!cursor.next()) return null;
  const { prefix, kind: rootKind } = cursor;
  if (rootKind === 'empty') return { prefix, data: null };
  while (cursor.next()) {
    if (cursor.kind === 'close') {
      if (cursor.depth === 0) return { prefix, data: null };
    } else if (cursor.name === `${prefix}sheetData`) {
      const { from, to, kind } = cursor;
      return { prefix, data: { from, to, isEmpty: kind === 'empty' } };
    }
  }
  return null;
}
