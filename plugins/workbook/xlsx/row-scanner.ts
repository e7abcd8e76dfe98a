/**
 * Finds cells and values in the XML of a sheet (ECMA-376-1, 18.3.1.73 `row`, 18.3.1.4 `c`), for reading and editing.
 *
 * A row is scanned as a whole or not at all. Rows and cells without a reference follow the one before. Contradicting
 * references are refused: rows out of order, a cell that names another row or occurs twice.
 */
import { unreadable } from '../../../src/base/errors.ts';
import { referenceText } from '../cell-reference.ts';
import { MAX_ROWS, MAX_SHEET_COLUMNS } from '../limits.ts';
import { afterElement, afterTag, nextTag } from '../xml/xml-cursor.ts';
import { ABSENT, type CellType, SheetTag } from './sheet-tag.ts';

const SPACE = 0x20;
const BANG = 33;
const SLASH = 47;
const LESS = 60;
const GREATER = 62;
const QUESTION = 63;
const LETTER_F = 0x66;
const LETTER_V = 0x76;

/** Where a cell and its parts are in the text; ABSENT for a part it has not. */
export class CellSpan {
  row = 0;
  /** From 0. */
  column = 0;
  start = 0;
  end = 0;
  style = 0;
  type: CellType = 'number';
  /** Content of the `v` element. */
  valueFrom = ABSENT;
  valueTo = ABSENT;
  /** The `f` element with its tags. */
  formulaFrom = ABSENT;
  formulaTo = ABSENT;
  /** The `is` element with its tags. */
  inlineFrom = ABSENT;
  inlineTo = ABSENT;
}

export class RowScanner {
  /** In the sheet, from 1. */
  number = 0;
  /** Start and end of the row's element, and end of its opening tag. */
  from = 0;
  openEnd = 0;
  to = 0;
  isEmpty = false;
  /** The first `count` are the row's, in file order; reused for the next row. */
  readonly cells: CellSpan[] = [];
  count = 0;

  readonly #part: string;
  readonly #rowName: string;
  readonly #cellName: string;
  readonly #rowClose: string;
  readonly #prefixLength: number;
  #text = '';
  /** Where the next comment or CDATA section, instruction and formula are, at the earliest. */
  readonly #obstacles: readonly { readonly mark: string; at: number }[];
  readonly #tag: SheetTag;
  /** By column: the last scan that found a cell in it. */
  readonly #seen = new Uint32Array(MAX_SHEET_COLUMNS);
  #scans = 0;

  constructor(part: string, prefix: string) {
    this.#part = part;
    this.#tag = new SheetTag(part);
    this.#rowName = `<${prefix}row`;
    this.#cellName = `<${prefix}c`;
    this.#rowClose = `</${prefix}row>`;
    this.#obstacles = ['<!', '<?', `<${prefix}f`].map((mark) => ({ mark, at: 0 }));
    this.#prefixLength = prefix.length;
  }

  /**
   * False when the text ends first; the fields are undefined then. `previous`: number of the preceding row, 0 for
   * none. Rows refused by `wantsCells` are skipped with a `count` of 0, unless they have formulas. Throws
   * `unreadable-file`.
   */
  scan(text: string, at: number, previous: number, wantsCells?: (row: number) => boolean): boolean {
    if (text !== this.#text) for (const obstacle of this.#obstacles) obstacle.at = 0;
    this.#text = text;
    this.#scans++;
    this.count = 0;
    this.from = at;
    const open = this.#tag.readRow(text, at + this.#rowName.length);
    if (open < 0) return false;
    this.openEnd = open;
    this.isEmpty = this.#tag.isEmpty;
    this.number = this.#tag.row || previous + 1;
    if (this.number <= previous) {
      throw unreadable(`row ${this.number} stands after row ${previous} in ${this.#part}`);
    }
    if (this.number > MAX_ROWS) throw this.#tag.badReference(String(this.number));
    this.to = ABSENT;
    if (this.isEmpty) this.to = open;
    else if (wantsCells && !wantsCells(this.number)) this.to = this.#plainEnd(open);
    if (this.to === ABSENT) this.to = this.#cells(open);
    return this.to >= 0;
  }

  /** Found by the closing tag alone; ABSENT for a row whose cells are not plain. */
  #plainEnd(from: number): number {
    const text = this.#text;
    const close = text.indexOf(this.#rowClose, from);
    if (close < 0) return ABSENT;
    // A closing tag inside a comment is none; one with white space would be overlooked.
    const next = text.indexOf(this.#rowName, from);
    if (next >= 0 && next < close) return ABSENT;
    for (const obstacle of this.#obstacles) {
      if (obstacle.at <= from) {
        const found = text.indexOf(obstacle.mark, from);
        obstacle.at = found < 0 ? Infinity : found;
      }
      if (obstacle.at < close) return ABSENT;
    }
    return close + this.#rowClose.length;
  }

  isRow(text: string, at: number): boolean {
    return isNamed(text, at, this.#rowName);
  }

  at(column: number): CellSpan | undefined {
    // In most rows the cells stand in order and none is missing.
    const likely = column < this.count ? this.cells[column]! : undefined;
    if (likely?.column === column) return likely;
    for (let index = 0; index < this.count; index++) {
      if (this.cells[index]!.column === column) return this.cells[index];
    }
    return undefined;
  }

  #cells(from: number): number {
    const text = this.#text;
    for (let at = from, previous = -1; ;) {
      at = nextTag(text, at, this.#part);
      if (at < 0) return -1;
      if (text.charCodeAt(at + 1) === SLASH) return this.#close(at, this.#rowName);
      const isCell = isNamed(text, at, this.#cellName);
      at = isCell ? this.#cell(at, previous) : afterElement(text, at, this.#part);
      if (at < 0) return -1;
      if (isCell) previous = this.cells[this.count - 1]!.column;
    }
  }

  /** Adds the cell and returns its end; -1 when the text ends first. */
  #cell(start: number, previous: number): number {
    const tag = this.#tag;
    const open = tag.readCell(this.#text, start + this.#cellName.length, this.number);
    if (open < 0) return -1;
    const column = tag.column === ABSENT ? previous + 1 : tag.column;
    if (column >= MAX_SHEET_COLUMNS) throw tag.badReference(`column ${column + 1}`);
    if (this.#seen[column] === this.#scans) {
      const reference = referenceText({ row: this.number, column });
      throw unreadable(`the cell ${reference} stands twice in ${this.#part}`);
    }
    this.#seen[column] = this.#scans;
    const cell = (this.cells[this.count++] ??= new CellSpan());
    cell.row = this.number;
    cell.column = column;
    cell.start = start;
    cell.style = tag.style;
    cell.type = tag.type;
    cell.valueFrom = cell.formulaFrom = cell.inlineFrom = ABSENT;
    const end = tag.isEmpty ? open : this.#content(open, cell);
    cell.end = end;
    return end;
  }

  #content(from: number, cell: CellSpan): number {
    const text = this.#text;
    for (let at = from; ;) {
      if (text.charCodeAt(at) !== LESS || !isPlainTag(text.charCodeAt(at + 1))) {
        at = nextTag(text, at, this.#part);
        if (at < 0) return -1;
      }
      if (text.charCodeAt(at + 1) === SLASH) return this.#close(at, this.#cellName);
      const name = at + 1 + this.#prefixLength;
      const letter = text.charCodeAt(name);
      const isSingle = isNameEnd(text.charCodeAt(name + 1));
      if (isSingle && letter === LETTER_V) {
        at = this.#value(name + 1, cell);
      } else {
        const end = afterElement(text, at, this.#part);
        if (isSingle && letter === LETTER_F) {
          cell.formulaFrom = at;
          cell.formulaTo = end;
        } else if (text.startsWith('is', name) && isNameEnd(text.charCodeAt(name + 2))) {
          cell.inlineFrom = at;
          cell.inlineTo = end;
        }
        at = end;
      }
      if (at < 0) return -1;
    }
  }

  /** End of the `v` element whose name ends at `at`, or -1. */
  #value(at: number, cell: CellSpan): number {
    const text = this.#text;
    const open = text.charCodeAt(at) === GREATER ? at + 1 : afterTag(text, at);
    if (open < 0) return -1;
    cell.valueFrom = open;
    cell.valueTo = open;
    if (text.charCodeAt(open - 2) === SLASH) return open;
    let close = text.indexOf('<', open);
    while (close >= 0 && text.charCodeAt(close + 1) !== SLASH) {
      const end = nextTag(text, close, this.#part);
      if (end === close) throw this.#malformed();
      close = end;
    }
    if (close < 0) return -1;
    cell.valueTo = close;
    const name = close + 2 + this.#prefixLength;
    if (text.charCodeAt(name) !== LETTER_V) return this.#cutOrMalformed(name);
    const end = text.indexOf('>', close);
    return end < 0 ? -1 : end + 1;
  }

  /** End of the closing tag at `at`, which must match the element (named with its `<`). */
  #close(at: number, opening: string): number {
    const text = this.#text;
    const end = text.indexOf('>', at);
    if (end < 0) return -1;
    // Both names begin one character after their `<` or `</`.
    for (let index = 1; index < opening.length; index++) {
      if (text.charCodeAt(at + 1 + index) !== opening.charCodeAt(index)) throw this.#malformed();
    }
    if (!isNameEnd(text.charCodeAt(at + 1 + opening.length))) throw this.#malformed();
    return end + 1;
  }

  #cutOrMalformed(at: number): number {
    if (at >= this.#text.length) return -1;
    throw this.#malformed();
  }

  #malformed(): Error {
    return unreadable(`row ${this.number} of ${this.#part} is malformed XML`);
  }
}

/** `name` begins with `<`. */
function isNamed(text: string, at: number, name: string): boolean {
  return text.startsWith(name, at) && isNameEnd(text.charCodeAt(at + name.length));
}

/** NaN, the end of the text, counts too. */
function isNameEnd(code: number): boolean {
  return code === GREATER || code === SLASH || !(code > SPACE);
}

/** By the character after `<`: not a comment or instruction. */
function isPlainTag(code: number): boolean {
  return code !== BANG && code !== QUESTION && code === code;
}
