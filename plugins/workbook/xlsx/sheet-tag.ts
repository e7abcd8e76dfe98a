/**
 * The attributes `r`, `s` and `t` of row and cell tags (ECMA-376-1, 18.3.1.73, 18.3.1.4), parsed by hand because
 * every cell has one.
 */
import { unreadable } from '../../../src/base/errors.ts';
import { MAX_ROWS, MAX_SHEET_COLUMNS } from '../limits.ts';

const SPACE = 0x20;
const DOUBLE_QUOTE = 34;
const SINGLE_QUOTE = 39;
const SLASH = 47;
const LESS = 60;
const EQUALS = 61;
const GREATER = 62;
const DOLLAR = 36;
const ZERO = 48;
const NINE = 57;
/** Makes a letter lower case. */
const CASE_BIT = 0x20;
const LETTER_A = 0x61;
const LETTER_R = 0x72;
const LETTER_S = 0x73;
const LETTER_T = 0x74;
const LETTER_Z = 0x7a;

export type CellType = 'number' | 'shared' | 'text' | 'inline' | 'boolean' | 'error' | 'date';

/** By attribute `t`. */
const TYPES: ReadonlyMap<string, CellType> = new Map([
  ['n', 'number'],
  ['s', 'shared'],
  ['str', 'text'],
  ['inlineStr', 'inline'],
  ['b', 'boolean'],
  ['e', 'error'],
  ['d', 'date'],
]);

export const ABSENT = -1;

export class SheetTag {
  /** 0 without one. */
  row = 0;
  /** From 0; ABSENT without a reference. */
  column = ABSENT;
  /** Index of the cell format, 0 or less for none. */
  style = 0;
  type: CellType = 'number';
  isEmpty = false;
  readonly #part: string;
  #text = '';

  constructor(part: string) {
    this.#part = part;
  }

  /** Returns the end of the tag, -1 when the text ends first. Throws `unreadable-file`. */
  readRow(text: string, from: number): number {
    this.row = 0;
    return this.#read(text, from, 0);
  }

  readCell(text: string, from: number, row: number): number {
    this.column = ABSENT;
    this.style = 0;
    this.type = 'number';
    return this.#read(text, from, row);
  }

  #read(text: string, from: number, row: number): number {
    this.#text = text;
    for (let at = from; ;) {
      let code = text.charCodeAt(at);
      while (code <= SPACE) code = text.charCodeAt(++at);
      if (code === GREATER || code === SLASH) {
        this.isEmpty = code === SLASH;
        if (this.isEmpty && text.charCodeAt(++at) !== GREATER) return this.#cutOrMalformed(at);
        return at + 1;
      }
      const name = at;
      while (code > SPACE && code !== EQUALS && code !== GREATER && code !== LESS) {
        code = text.charCodeAt(++at);
      }
      const nameEnd = at;
      while (code <= SPACE) code = text.charCodeAt(++at);
      if (code !== EQUALS) return this.#cutOrMalformed(at);
      do code = text.charCodeAt(++at);
      while (code <= SPACE);
      if (code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE) return this.#cutOrMalformed(at);
      const quote = code;
      const value = ++at;
      code = text.charCodeAt(at);
      while (code !== quote && code === code && code !== LESS) code = text.charCodeAt(++at);
      if (code !== quote) return this.#cutOrMalformed(at);
      if (nameEnd === name + 1) this.#take(text.charCodeAt(name), value, at, row);
      at++;
    }
  }

  #take(letter: number, from: number, to: number, row: number): void {
    if (row === 0) {
      if (letter === LETTER_R) this.row = this.#rowNumber(from, to);
    } else if (letter === LETTER_R) this.column = this.#columnOf(from, to, row);
    else if (letter === LETTER_S) this.style = this.#digits(from, to);
    else if (letter === LETTER_T) this.type = this.#typeOf(this.#text.slice(from, to));
  }

  #rowNumber(from: number, to: number): number {
    const number = this.#digits(from, to);
    if (number < 1 || number > MAX_ROWS) throw this.badReference(this.#text.slice(from, to));
    return number;
  }

  #columnOf(from: number, to: number, row: number): number {
    const text = this.#text;
    let column = 0;
    let at = text.charCodeAt(from) === DOLLAR ? from + 1 : from;
    for (; at < to; at++) {
      const letter = text.charCodeAt(at) | CASE_BIT;
      if (letter < LETTER_A || letter > LETTER_Z) break;
      column = column * 26 + (letter - LETTER_A + 1);
      if (column > MAX_SHEET_COLUMNS) throw this.badReference(text.slice(from, to));
    }
    if (text.charCodeAt(at) === DOLLAR) at++;
    const named = this.#digits(at, to);
    if (column === 0 || named < 1 || named > MAX_ROWS) {
      throw this.badReference(text.slice(from, to));
    }
    if (named === row) return column - 1;
    throw unreadable(`the cell ${text.slice(from, to)} stands in row ${row} of ${this.#part}`);
  }

  #typeOf(name: string): CellType {
    const type = TYPES.get(name);
    if (type !== undefined) return type;
    throw unreadable(`a cell in ${this.#part} has the unknown type '${name.slice(0, 32)}'`);
  }

  #digits(from: number, to: number): number {
    if (to === from || to - from > 8) return -1;
    let value = 0;
    for (let at = from; at < to; at++) {
      const code = this.#text.charCodeAt(at);
      if (code < ZERO || code > NINE) return -1;
      value = value * 10 + (code - ZERO);
    }
    return value;
  }

  #cutOrMalformed(at: number): number {
    if (at >= this.#text.length) return -1;
    throw unreadable(`a row of ${this.#part} is malformed XML`);
  }

  badReference(reference: string): Error {
    return unreadable(
      `${this.#part} has a cell at ${reference.slice(0, 32)}, which no worksheet has`,
    );
  }
}
