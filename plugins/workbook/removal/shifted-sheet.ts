/** A worksheet without some rows, or with formulas that follow those of another one. */
import { TimeSlice } from '../../../src/base/scheduling/time-slice.ts';
import { sheetText } from '../../../src/tables/encode/sheet-text.ts';
import type { EditedArchive } from '../archive/edited-archive.ts';
import { type PackedPart, PartSplice } from '../archive/part-writer.ts';
import { rangeText } from '../cell-reference.ts';
import { parseFormula, shiftFormula } from '../xlsx/formula.ts';
import type { Worksheet } from '../xlsx/package.ts';
import type { CellSpan, RowScanner } from '../xlsx/row-scanner.ts';
import { ABSENT } from '../xlsx/sheet-tag.ts';
import { SheetWindow } from '../xlsx/sheet-window.ts';
import { afterTag } from '../xml/xml-cursor.ts';
import { CannotShift, type Removal, shiftedFormula } from './row-shift.ts';
import { shiftedMarkup } from './shifted-markup.ts';

interface SharedFormula {
  readonly text: string;
  readonly shifted: string;
  readonly row: number;
  readonly column: number;
  /** It refers to its own row and to fixed ones, so that those who share it go on to mean what they did. */
  readonly isOfRow: boolean;
}

/** Null when nothing changed. Throws `CannotShift` and `unreadable-file`. */
export async function shiftedSheet(
  parts: EditedArchive,
  { name, entry }: Worksheet,
  removal: Removal,
): Promise<PackedPart | null> {
  const own = name.toLowerCase();
  const { shift } = removal;
  const isTarget = own === removal.target;
  const splice = new PartSplice(entry.method);
  const window = new SheetWindow(entry.name, splice.watched(parts.expand(entry)));
  const formulas = new ShiftedFormulas(own, entry.name, removal);
  const place = { own, part: entry.name };
  const slice = new TimeSlice();
  let isChanged = false;
  const replace = (from: number, to: number, now: string): void => {
    if (window.text.slice(from, to) === now) return;
    isChanged = true;
    splice.replace(window.offsetOf(from), window.offsetOf(to), Buffer.from(now, 'latin1'));
  };
  // Rows that move come in long runs; each by itself would cost as much again.
  let moved: { readonly from: number; to: number; markup: string } | null = null;
  const putMoved = (): void => {
    if (moved === null) return;
    splice.replace(moved.from, moved.to, Buffer.from(moved.markup, 'latin1'));
    moved = null;
  };
  const move = (row: RowScanner, now: string): void => {
    isChanged = true;
    const from = window.offsetOf(row.from);
    if (moved !== null && moved.to !== from) putMoved();
    moved ??= { from, to: from, markup: '' };
    moved.markup += now;
    moved.to = window.offsetOf(row.to);
  };
  const rest = async (offset: number): Promise<void> => {
    if (splice.isFull(offset)) await splice.settle(offset);
    if (slice.isOver) await slice.rest();
  };
  const visit = (row: RowScanner): Promise<void> | void => {
    const { text } = window;
    if (isTarget && row.count === 0 && !shift.has(row.number)) {
      if (row.number > shift.first) move(row, movedRow(text, row, shift.at(row.number)!));
    } else {
      putMoved();
      if (isTarget && shift.has(row.number)) {
        requireBlank(row);
        replace(row.from, row.to, '');
      } else if (row.count > 0) {
        replace(row.from, row.to, formulas.row(text, row, isTarget));
      }
    }
    const offset = window.offsetOf(row.to);
    if (!splice.isFull(offset) && !slice.isOver) return;
    putMoved();
    return rest(offset);
  };
  try {
    const { data } = await window.start();
    if (data === null || data.isEmpty) return null;
    replace(0, data.from, shiftedMarkup(window.text.slice(0, data.from), place, removal));
    window.position = data.to;
    await window.eachRow(visit, (row) => isTarget && shift.has(row));
    putMoved();
    await window.passTag();
    await window.eachElement(async (from, to) => {
      replace(from, to, shiftedMarkup(window.text.slice(from, to), place, removal));
      await rest(window.offsetOf(to));
    });
    await window.drain();
    return isChanged ? await splice.finish() : null;
  } finally {
    await window.close();
    splice.close();
  }
}

/** Whatever stands beside the table would go with the row. */
function requireBlank(row: RowScanner): void {
  for (let index = 0; index < row.count; index++) {
    const { valueFrom, valueTo, formulaFrom, inlineFrom } = row.cells[index]!;
    const hasValue = valueFrom !== ABSENT && valueFrom < valueTo;
    if (hasValue || formulaFrom !== ABSENT || inlineFrom !== ABSENT) {
      throw new CannotShift('cells beside the table');
    }
  }
}

class ShiftedFormulas {
  readonly #own: string;
  readonly #part: string;
  readonly #removal: Removal;
  readonly #shared = new Map<string, SharedFormula>();

  constructor(own: string, part: string, removal: Removal) {
    this.#own = own;
    this.#part = part;
    this.#removal = removal;
  }

  /** The element of a row with its new number. */
  row(text: string, row: RowScanner, isTarget: boolean): string {
    const number = isTarget ? (this.#removal.shift.at(row.number) ?? row.number) : row.number;
    const isMoved = number !== row.number;
    const tag = text.slice(row.from, row.openEnd);
    const pieces = [isMoved ? withRow(tag, number) : tag];
    let at = row.openEnd;
    for (const cell of row.cells.slice(0, row.count).sort((a, b) => a.start - b.start)) {
      const open = afterTag(text, cell.start);
      pieces.push(text.slice(at, cell.start));
      const own = text.slice(cell.start, open);
      pieces.push(isMoved ? own.replace(/(\sr\s*=\s*["']\$?[A-Za-z]+\$?)\d+/, `$1${number}`) : own);
      at = open;
      if (cell.formulaFrom === ABSENT) continue;
      pieces.push(text.slice(at, cell.formulaFrom));
      pieces.push(
        this.#formula(text.slice(cell.formulaFrom, cell.formulaTo), cell, number, isTarget),
      );
      at = cell.formulaTo;
    }
    pieces.push(text.slice(at, row.to));
    return pieces.join('');
  }

  #formula(element: string, { row, column }: CellSpan, number: number, isTarget: boolean): string {
    const { kind, text, range, shared } = parseFormula(element, this.#part);
    if (kind === 'table') throw new CannotShift('a data table');
    if (kind === 'shared' && text === '') {
      return this.#follower(element, shared, { row, column, number });
    }
    const shifted = shiftedFormula(text, this.#own, this.#removal);
    if (kind === 'shared') {
      const isOfRow = isTarget && refersToRow(text, row);
      this.#shared.set(shared, { text, shifted, row, column, isOfRow });
    }
    let open = element.slice(0, afterTag(element, 0));
    if (isTarget && range !== null) {
      const left = this.#removal.shift.span(range.first.row, range.last.row);
      const rows = range.last.row - range.first.row;
      if (left === null || (kind === 'array' && left.last - left.first !== rows)) {
        throw new CannotShift('an array formula');
      }
      const now = rangeText({
        first: { ...range.first, row: left.first },
        last: { ...range.last, row: left.last },
      });
      open = open.replace(/(\sref\s*=\s*["'])[^"']*/, `$1${now}`);
    }
    return withFormula(element, open, shifted === text ? null : shifted);
  }

  /** It is spelled by another cell, unless that would mean other cells now. */
  #follower(
    element: string,
    id: string,
    { row, column, number }: { row: number; column: number; number: number },
  ): string {
    const master = this.#shared.get(id);
    if (master === undefined) throw new CannotShift('a shared formula without its first cell');
    if (master.isOfRow) return element;
    const columns = column - master.column;
    const meant = shiftFormula(master.text, row - master.row, columns);
    const shifted = shiftedFormula(meant, this.#own, this.#removal);
    const masterRow =
      this.#own === this.#removal.target
        ? (this.#removal.shift.at(master.row) ?? master.row)
        : master.row;
    if (shiftFormula(master.shifted, number - masterRow, columns) === shifted) return element;
    const name = /^<([^\s/>]+)/.exec(element)![1]!;
    return `<${name}>${encoded(shifted)}</${name}>`;
  }
}

function refersToRow(text: string, row: number): boolean {
  if (/["'!:[]/.test(text)) return false;
  return [
    ...text.matchAll(/(\$?)(?<![\w.])([1-9]\d*)(?![\w.(])|[A-Za-z](\$?)([1-9]\d*)(?![\w.(])/g),
  ].every(
    ([, , number, fixed, digits]) =>
      number !== undefined || fixed === '$' || Number(digits) === row,
  );
}

/**
 * A row whose cells were not scanned has no formulas, comments or other sections, so that what looks like the tag of
 * a cell is one. Several times as fast as cell by cell.
 */
function movedRow(text: string, row: RowScanner, number: number): string {
  return movedPlainRow(text, row, String(number)) ?? movedAnyRow(text, row, number);
}

const SPACE = 0x20;
const QUOTE = 34;

/** A row spelled as all programs spell them, the reference of each cell in front; null for any other. */
function movedPlainRow(text: string, row: RowScanner, number: string): string | null {
  const old = String(row.number);
  const nameEnd = text.indexOf(' ', row.from);
  let at = nameEnd + ' r="'.length;
  if (nameEnd >= row.openEnd || !text.startsWith(` r="${old}"`, nameEnd)) return null;
  let moved = text.slice(row.from, at) + number;
  let from = at + old.length;
  const cell = `${text.slice(row.from, nameEnd - 'row'.length)}c`;
  for (at = text.indexOf(cell, row.openEnd); at >= 0 && at < row.to; at = text.indexOf(cell, at)) {
    at += cell.length;
    // Another element whose name begins so, or a cell without a reference.
    if (text.charCodeAt(at) > SPACE) continue;
    if (!text.startsWith(' r="', at)) return null;
    at += ' r="'.length;
    while (isCapital(text.charCodeAt(at))) at++;
    if (!text.startsWith(old, at) || text.charCodeAt(at + old.length) !== QUOTE) return null;
    moved += text.slice(from, at) + number;
    from = at + old.length;
  }
  return moved + text.slice(from, row.to);
}

function isCapital(code: number): boolean {
  return code >= 65 && code <= 90;
}

function movedAnyRow(text: string, row: RowScanner, number: number): string {
  const tag = withRow(text.slice(row.from, row.openEnd), number);
  const cells = text.slice(row.openEnd, row.to);
  return tag + cells.replaceAll(CELL_NUMBER, `$1${number}`);
}

const CELL_NUMBER = /(<(?:[\w.-]+:)?c(?:\s[^>]*?)?\sr\s*=\s*["']\$?[A-Za-z]+\$?)\d+/g;

function withRow(tag: string, number: number): string {
  const found = tag.replace(/(\sr\s*=\s*["'])\d+/, `$1${number}`);
  if (/\sr\s*=/.test(tag)) return found;
  return tag.replace(/^(<[^\s/>]+)/, `$1 r="${number}"`);
}

/** Null: the formula stays. */
function withFormula(element: string, open: string, formula: string | null): string {
  const rest = element.slice(afterTag(element, 0));
  if (formula === null) return open + rest;
  return open + encoded(formula) + rest.slice(rest.lastIndexOf('</'));
}

function encoded(formula: string): string {
  return Buffer.from(sheetText(formula)).toString('latin1');
}
