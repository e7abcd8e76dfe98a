/** Moves through a worksheet part row by row. */
import { unreadable } from '../../../src/base/errors.ts';
import { PartText } from '../xml/part-text.ts';
import { afterElement, nextTag, XmlCursor } from '../xml/xml-cursor.ts';
import { RowScanner } from './row-scanner.ts';

interface SheetStart {
  readonly prefix: string;
  /** Start and end of the tag of the element with the rows; null in a sheet without rows. */
  readonly data: { readonly from: number; readonly to: number; readonly isEmpty: boolean } | null;
}

export class SheetWindow {
  readonly window: PartText;
  /** The row last found. */
  row: RowScanner;
  #previous = 0;

  constructor(part: string, chunks: AsyncGenerator<Uint8Array>) {
    this.window = new PartText(part, chunks);
    this.row = new RowScanner(part, '');
  }

  /**
   * Reads up to the rows; the window then still begins at the part's start. Throws
   * `unreadable-file`.
   */
  async start(): Promise<SheetStart> {
    const { window } = this;
    let start = startIn(window);
    for (; start === null; start = startIn(window)) await window.more();
    this.row = new RowScanner(window.part, start.prefix);
    return start;
  }

  /**
   * Looks for the next row. `row`: it is in the window after `position`; pass it by setting
   * `position` to `row.to`. `end`: the closing tag follows. `cut`: the window ends first, call
   * `more`. Rows refused by `wantsCells` are found without their cells.
   */
  find(wantsCells?: (row: number) => boolean): 'row' | 'end' | 'cut' {
    const { window, row } = this;
    const { text } = window;
    for (;;) {
      const at = nextTag(text, window.position, window.part);
      if (at < 0) return 'cut';
      if (text.startsWith('</', at)) return 'end';
      if (row.isRow(text, at)) {
        if (!row.scan(text, at, this.#previous, wantsCells)) return 'cut';
        this.#previous = row.number;
        return 'row';
      }
      const end = afterElement(text, at, window.part);
      if (end < 0) return 'cut';
      window.position = end;
    }
  }

  /** Throws `unreadable-file` at the end of the part. */
  async more(): Promise<void> {
    const { window } = this;
    if (!(await window.fill())) throw unreadable(`${window.part} ends in the middle of its rows`);
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
