/** Values of the cells that formulas need, by column and in order of rows. */
import { spelledNumber } from '../xlsx/cell-content.ts';
import type { CellSpan, RowScanner } from '../xlsx/row-scanner.ts';
import { stringItem } from '../xlsx/shared-strings.ts';
import { ABSENT } from '../xlsx/sheet-tag.ts';
import { textOf, unescaped } from '../xml/xml-text.ts';
import { serialOf } from '../serial-date.ts';
import type { FormulaCell } from './formula-cells.ts';
import type { Area } from './scope.ts';

/** As Excel names them. */
export class CellError {
  constructor(readonly text: string) {}
}

const errors = new Map<string, CellError>();

export function errorOf(text: string): CellError {
  let error = errors.get(text);
  if (error === undefined) errors.set(text, (error = new CellError(text)));
  return error;
}

/** Null: a blank cell. */
export type Value = number | string | boolean | CellError | null;

/** A text that stands in the shared table, until that is read. */
export class SharedText {
  constructor(readonly index: number) {}
}

/** A formula stands for its result until that is known. */
export type Held = Value | SharedText | FormulaCell;

/** Values held for one calculation; a formula over more cells is left to other programs. */
export const MAX_HELD = 2_000_000;

/** Nothing else that is held has a template. */
export function isFormula(held: Held): held is FormulaCell {
  return typeof held === 'object' && held !== null && 'template' in held;
}

class HeldColumn {
  readonly rows: number[] = [];
  readonly values: Held[] = [];
  /** Where formulas stand among the values, in order. */
  readonly formulas: number[] = [];

  /** Index of the first row from `row` on. */
  from(row: number): number {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.rows[middle]! < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export class CellValues {
  readonly #sheets = new Map<number, Map<number, HeldColumn>>();
  /** Rows that a filter or a person has hidden, by sheet. */
  readonly hiddenRows = new Map<number, Set<number>>();
  count = 0;

  /** Rows of a column must come in order. */
  add(sheet: number, row: number, column: number, value: Held): void {
    let columns = this.#sheets.get(sheet);
    if (columns === undefined) this.#sheets.set(sheet, (columns = new Map()));
    let held = columns.get(column);
    if (held === undefined) columns.set(column, (held = new HeldColumn()));
    if (isFormula(value)) held.formulas.push(held.rows.length);
    held.rows.push(row);
    held.values.push(value);
    this.count++;
  }

  at(sheet: number, row: number, column: number): Held {
    const held = this.#sheets.get(sheet)?.get(column);
    if (held === undefined) return null;
    const index = held.from(row);
    return held.rows[index] === row ? held.values[index]! : null;
  }

  /** Cells that are not blank, column by column. */
  *within({
    sheet,
    top,
    left,
    bottom,
    right,
  }: Area): Generator<{ row: number; column: number; value: Held }> {
    const columns = this.#sheets.get(sheet);
    if (columns === undefined) return;
    const wanted = [...columns.keys()].filter((column) => left <= column && column <= right);
    for (const column of wanted.sort((a, b) => a - b)) {
      const held = columns.get(column)!;
      for (let index = held.from(top); index < held.rows.length; index++) {
        const row = held.rows[index]!;
        if (row > bottom) break;
        yield { row, column, value: held.values[index]! };
      }
    }
  }

  *formulasWithin({ sheet, top, left, bottom, right }: Area): Generator<FormulaCell> {
    for (const [column, { rows, values, formulas }] of this.#sheets.get(sheet) ?? []) {
      if (column < left || column > right || formulas.length === 0) continue;
      let [low, high] = [0, formulas.length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (rows[formulas[middle]!]! < top) low = middle + 1;
        else high = middle;
      }
      for (; low < formulas.length && rows[formulas[low]!]! <= bottom; low++) {
        yield values[formulas[low]!] as FormulaCell;
      }
    }
  }

  /** Replaces what stands there for values to come. */
  resolve(change: (value: Held) => Held): void {
    for (const columns of this.#sheets.values()) {
      for (const { values } of columns.values()) {
        for (let index = 0; index < values.length; index++) values[index] = change(values[index]!);
      }
    }
  }
}

/** Rows and columns of one sheet that are wanted; asked row by row, from the top. */
export class WantedCells {
  readonly #columns = new Map<number, Intervals>();
  /** Of areas so wide that all columns are wanted. */
  readonly #all = new Intervals();
  readonly #rows = new Intervals();

  constructor(areas: Iterable<Area>) {
    for (const { top, left, bottom, right } of areas) {
      this.#rows.add(top, bottom);
      if (right - left >= MAX_SEPARATE_COLUMNS) this.#all.add(top, bottom);
      else
        for (let column = left; column <= right; column++) this.#intervals(column).add(top, bottom);
    }
  }

  #intervals(column: number): Intervals {
    let intervals = this.#columns.get(column);
    if (intervals === undefined) this.#columns.set(column, (intervals = new Intervals()));
    return intervals;
  }

  hasRow(row: number): boolean {
    return this.#rows.has(row);
  }

  has(row: number, column: number): boolean {
    return this.#all.has(row) || this.#columns.get(column)?.has(row) === true;
  }
}

const MAX_SEPARATE_COLUMNS = 256;

class Intervals {
  #list: [first: number, last: number][] = [];
  #isMerged = true;
  #next = 0;

  add(first: number, last: number): void {
    const end = this.#list.at(-1);
    if (end && end[0] === first && end[1] === last) return;
    this.#list.push([first, last]);
    this.#isMerged = false;
  }

  /** `row` never goes back by more than a rescan of a row. */
  has(row: number): boolean {
    if (!this.#isMerged) this.#merge();
    while (this.#next > 0 && this.#list[this.#next - 1]![1] >= row) this.#next--;
    while (this.#next < this.#list.length && this.#list[this.#next]![1] < row) this.#next++;
    return this.#next < this.#list.length && this.#list[this.#next]![0] <= row;
  }

  #merge(): void {
    const merged: [number, number][] = [];
    for (const [first, last] of this.#list.sort((a, b) => a[0] - b[0])) {
      const end = merged.at(-1);
      if (end && first <= end[1] + 1) end[1] = Math.max(end[1], last);
      else merged.push([first, last]);
    }
    this.#list = merged;
    this.#isMerged = true;
  }
}

/** The value of a cell as formulas see it: dates are numbers. Null for a blank one. */
export function rawValue(text: string, cell: CellSpan, part: string): Value | SharedText {
  const { type, valueFrom: from, valueTo: to, inlineFrom, inlineTo } = cell;
  if (type === 'inline') {
    return inlineFrom === ABSENT ? null : stringItem(text, inlineFrom, inlineTo, part);
  }
  if (from === ABSENT || (from === to && type !== 'text')) return null;
  if (type === 'number' || type === 'shared') {
    const value = spelledNumber(text, from, to);
    if (type === 'shared') return new SharedText(value);
    return value === value ? value : unescaped(textOf(text.slice(from, to)));
  }
  const value = textOf(text.slice(from, to));
  if (type === 'boolean') return value === '1' || value === 'true';
  if (type === 'error') return errorOf(value);
  if (type === 'date') return serialOf(value, 'date', false) ?? value;
  return unescaped(value);
}

export function isHidden(text: string, row: RowScanner): boolean {
  return /\shidden\s*=\s*["'](?:1|true|on)["']/.test(text.slice(row.from, row.openEnd));
}
