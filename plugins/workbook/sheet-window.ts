/**
 * A worksheet part as it is expanded, moved through row by row.
 */
import { unreadable } from './file-bytes.ts';
import { PartText } from './part-text.ts';
import { RowScanner } from './row-scanner.ts';
import { XmlCursor } from './xml-cursor.ts';
import { afterElement, nextTag } from './xml-element.ts';

/** Where a sheet's rows begin in the window. */
interface SheetStart {
  /** Prefix of the sheet's elements with its colon, or ''. */
  readonly prefix: string;
  /** Where the tag of the element with the rows stands, and where it ends; null in a sheet without rows. */
  readonly data: { readonly from: number; readonly to: number; readonly isEmpty: boolean } | null;
}

/** Finds the rows of one worksheet; its `window` is to be closed by whoever made it. */
export class SheetWindow {
  readonly window: PartText;
  /** The row last moved to. */
  row: RowScanner;
  #previous = 0;

  /** `chunks` are the content of the part. */
  constructor(part: string, chunks: AsyncGenerator<Uint8Array>) {
    this.window = new PartText(part, chunks);
    this.row = new RowScanner(part, '');
  }

  /**
   * Reads to the start of the rows. The window then holds the part from its beginning; `position` stays 0. Throws
   * `unreadable-file`.
   */
  async start(): Promise<SheetStart> {
    const { window } = this;
    for (;;) {
      const start = startIn(window);
      if (start !== null) {
        this.row = new RowScanner(window.part, start.prefix);
        return start;
      }
      if (!(await window.fill())) throw unreadable(`${window.part} is malformed XML`);
    }
  }

  /**
   * Looks for the next row, from a position past the tag of the element that holds them. `row`: it stands in the window
   * somewhere after `position`, to be passed by moving `position` to `row.to`; `end`: the closing tag is the next one;
   * `cut`: the window ends before, call `more`. Rows for which `wantsCells` says no are found without their cells.
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

  /** Reads on. Throws `unreadable-file` when there is nothing more. */
  async more(): Promise<void> {
    const { window } = this;
    if (!(await window.fill())) throw unreadable(`${window.part} ends in the middle of its rows`);
  }
}

/** Null when the window does not yet reach to the rows. */
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
