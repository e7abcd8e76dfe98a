/**
 * Finds rows and cells in decoded text, for reading and editing.
 *
 * Rules (RFC 4180), so that no character is ever lost: a line ends with LF, CRLF or CR; a line without any character
 * is no row. A cell is quoted when its very first character is `"`; inside, `""` is a quote and everything else is
 * literal. After the closing quote, text up to the next delimiter or line end belongs to the cell verbatim (`"a"b"`
 * is `ab"`), as in spreadsheets. A quote elsewhere is an ordinary character. A quoted cell still open at the end of
 * the text is an error.
 */
import { cellAt, closingQuote, QUOTE, unquoted } from './cell-value.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../../src/tables/limits.ts';

const LF = 10;
const CR = 13;
/** Every character a doubled quote, between two quotes. */
const MAX_RAW_CELL = 2 * MAX_CELL_CHARACTERS + 2;

export interface LineEndings {
  lf: number;
  crlf: number;
  cr: number;
}

/** `stop`: where requested; the others: at a row that is not, or cannot be, complete. */
type ScanState = 'stop' | 'incomplete' | 'open-quote' | 'wide-row' | 'large-cell';

interface ScanOptions {
  readonly delimiter: number;
  /** No more text follows: a last row without line end is complete. */
  readonly isFinal: boolean;
  /** Rows that begin at or after this are left for the next scan. */
  readonly stopAt: number;
}

/** Cells are separated by one delimiter, so one number per cell suffices. Reused between scans. */
export class RowSpans {
  count = 0;
  /** First character after the complete rows and blank lines. */
  consumed = 0;
  state: ScanState = 'stop';
  /** Start of the cell that ended the scan in a state other than `stop`. */
  openCell = 0;
  readonly endings: LineEndings = { lf: 0, crlf: 0, cr: 0 };

  #ends = new Int32Array(4096);
  #cells = 0;
  /** Per row: first character, first character after its line end, index after its last cell. */
  #rows = new Int32Array(1536);

  start(row: number): number {
    return this.#rows[row * 3]!;
  }

  end(row: number): number {
    return this.#rows[row * 3 + 1]!;
  }

  contentEnd(row: number): number {
    return this.#ends[this.#rows[row * 3 + 2]! - 1]!;
  }

  width(row: number): number {
    return this.#rows[row * 3 + 2]! - this.#firstCell(row);
  }

  cells(text: string, row: number): (string | number)[] {
    const last = this.#rows[row * 3 + 2]!;
    let from = this.start(row);
    const cells: (string | number)[] = [];
    for (let index = this.#firstCell(row); index < last; index++) {
      const to = this.#ends[index]!;
      cells.push(cellAt(text, from, to));
      from = to + 1;
    }
    return cells;
  }

  spellings(text: string, row: number): string[] {
    const last = this.#rows[row * 3 + 2]!;
    let from = this.start(row);
    const cells: string[] = [];
    for (let index = this.#firstCell(row); index < last; index++) {
      cells.push(text.slice(from, this.#ends[index]!));
      from = this.#ends[index]! + 1;
    }
    return cells;
  }

  /** Discards what an earlier scan found. */
  scan(text: string, from: number, options: ScanOptions): void {
    const { isFinal, stopAt } = options;
    this.count = this.#cells = 0;
    this.consumed = from;
    this.state = 'stop';
    this.endings.lf = this.endings.crlf = this.endings.cr = 0;
    let at = from;
    while (at < text.length && at < stopAt) {
      const code = text.charCodeAt(at);
      const contentEnd = code === LF || code === CR ? at : this.#scanCells(text, at, options);
      if (contentEnd < 0) return;
      const next = afterLineEnd(text, contentEnd, isFinal, this.endings);
      if (next < 0) return this.#fail('incomplete', contentEnd);
      if (contentEnd > at) this.#addRow(at, next);
      at = next;
      this.consumed = at;
    }
  }

  #firstCell(row: number): number {
    return row === 0 ? 0 : this.#rows[row * 3 - 1]!;
  }

  #fail(state: ScanState, cell: number): void {
    this.state = state;
    this.openCell = cell;
  }

  /** Returns the end of the last cell, or -1 when the scan must end. */
  #scanCells(text: string, from: number, { delimiter, isFinal }: ScanOptions): number {
    const first = this.#cells;
    const length = text.length;
    for (let at = from; ; at++) {
      const end = endOfCell(text, at, delimiter);
      const isOpen = end < 0 || (end === length && !isFinal);
      if (isOpen || end - at > MAX_CELL_CHARACTERS) {
        const size = (end < 0 ? length : end) - at;
        if (isTooLarge(text, at, size, end, isOpen)) this.#fail('large-cell', at);
        else if (isOpen) this.#fail(end < 0 && isFinal ? 'open-quote' : 'incomplete', at);
        if (this.state !== 'stop') return -1;
      }
      if (this.#cells === this.#ends.length) this.#ends = doubled(this.#ends);
      this.#ends[this.#cells++] = end;
      if (end === length || text.charCodeAt(end) !== delimiter) return end;
      if (this.#cells - first >= MAX_COLUMNS) {
        this.#fail('wide-row', from);
        return -1;
      }
      at = end;
    }
  }

  #addRow(start: number, end: number): void {
    if ((this.count + 1) * 3 > this.#rows.length) this.#rows = doubled(this.#rows);
    const at = this.count++ * 3;
    this.#rows[at] = start;
    this.#rows[at + 1] = end;
    this.#rows[at + 2] = this.#cells;
  }
}

/** -1 while more text may decide: a CR may be half of a CRLF. */
export function afterLineEnd(
  text: string,
  at: number,
  isFinal: boolean,
  endings: LineEndings,
): number {
  if (at === text.length) return isFinal ? at : -1;
  if (text.charCodeAt(at) === LF) {
    endings.lf++;
    return at + 1;
  }
  if (at + 1 === text.length && !isFinal) return -1;
  if (text.charCodeAt(at + 1) === LF) {
    endings.crlf++;
    return at + 2;
  }
  endings.cr++;
  return at + 1;
}

/** A delimiter, a line end or the end of the text; -1: a quote is open. */
function endOfCell(text: string, from: number, delimiter: number): number {
  const length = text.length;
  let at = from;
  if (text.charCodeAt(at) === QUOTE) {
    at = closingQuote(text, at + 1) + 1;
    if (at === 0) return -1;
  }
  for (; at < length; at++) {
    const code = text.charCodeAt(at);
    // Most characters are above 13 and no delimiter: two comparisons instead of three.
    if (code === delimiter || (code <= CR && (code === LF || code === CR))) break;
  }
  return at;
}

/** An open cell only once no closing could save it. */
function isTooLarge(text: string, at: number, size: number, end: number, isOpen: boolean): boolean {
  const isQuoted = text.charCodeAt(at) === QUOTE;
  if (isOpen) return size > (isQuoted ? MAX_RAW_CELL : MAX_CELL_CHARACTERS);
  return (isQuoted ? unquoted(text, at, end).length : size) > MAX_CELL_CHARACTERS;
}

function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}
