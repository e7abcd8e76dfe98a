/** What a part of a formula is worth, and how Excel converts it. */
import { MAX_CELL_TEXT } from '../../../src/tables/encode/sheet-text.ts';
import { CellError, type CellValues, errorOf, type Held, type Value } from './cell-values.ts';
import type { Area, Place } from './scope.ts';

/** The formula is left to other programs; no error of Excel, so no function may catch it. */
export class NotCalculated extends Error {}

/** An error of Excel on its way out. */
export class FormulaError extends Error {
  constructor(readonly error: CellError) {
    super(error.text);
  }
}

export function fail(text: string): never {
  throw new FormulaError(errorOf(text));
}

export function leave(reason: string): never {
  throw new NotCalculated(reason);
}

/** Rows of values, all of one length. */
export class Matrix {
  constructor(readonly rows: readonly (readonly Value[])[]) {}

  get height(): number {
    return this.rows.length;
  }

  get width(): number {
    return this.rows[0]?.length ?? 0;
  }

  at(row: number, column: number): Value {
    return this.rows[row]![column]!;
  }

  *filled(): Generator<Cell> {
    for (const [row, values] of this.rows.entries()) {
      for (const [column, value] of values.entries()) {
        if (value !== null) yield { row, column, value };
      }
    }
  }
}

interface Cell {
  /** From the first row and column. */
  readonly row: number;
  readonly column: number;
  readonly value: Exclude<Value, null>;
}

/** Steps over cells; some two seconds. */
const MAX_STEPS = 30_000_000;
/** Of all formulas; steps over long texts take longer. */
const MAX_MS = 10_000;
const STEPS_PER_LOOK = 256;

export class Steps {
  readonly #until = performance.now() + MAX_MS;
  #left = MAX_STEPS;
  #look = MAX_STEPS;

  take(count = 1): void {
    this.#left -= count;
    if (this.#left < 0) leave('too much to calculate');
    if (this.#left > this.#look) return;
    this.#look = this.#left - STEPS_PER_LOOK;
    if (performance.now() > this.#until) this.#left = -1;
  }
}

export interface Grid {
  readonly values: CellValues;
  readonly steps: Steps;
  /** The result of a formula held in the grid. */
  readonly valueOf: (held: Held) => Value;
}

export class CellRange {
  constructor(
    readonly area: Area,
    readonly grid: Grid,
  ) {}

  get height(): number {
    return this.area.bottom - this.area.top + 1;
  }

  get width(): number {
    return this.area.right - this.area.left + 1;
  }

  at(row: number, column: number): Value {
    const { sheet, top, left } = this.area;
    this.grid.steps.take();
    return this.grid.valueOf(this.grid.values.at(sheet, top + row, left + column));
  }

  *filled(): Generator<Cell> {
    const { area, grid } = this;
    for (const { row, column, value } of grid.values.within(area)) {
      grid.steps.take();
      const known = grid.valueOf(value);
      if (known !== null) yield { row: row - area.top, column: column - area.left, value: known };
    }
  }

  part(top: number, left: number, height: number, width: number): CellRange {
    const { sheet } = this.area;
    const first = { top: this.area.top + top, left: this.area.left + left };
    const area = { sheet, ...first, bottom: first.top + height - 1, right: first.left + width - 1 };
    return new CellRange(area, this.grid);
  }

  /** The cell of a row or column that stands beside the formula, as in formulas that are no array formulas. */
  beside({ row, column }: Place): Value {
    const { top, left, bottom, right } = this.area;
    if (top === bottom && left === right) return this.at(0, 0);
    if (left === right && top <= row && row <= bottom) return this.at(row - top, 0);
    if (top === bottom && left <= column && column <= right) return this.at(0, column - left);
    return fail('#VALUE!');
  }
}

export type Operand = Value | CellRange | Matrix;

/** A range with all its cells; larger ones are left to other programs. */
const MAX_MATRIX = 200_000;

export function matrixOf(operand: Operand): Matrix {
  if (operand instanceof Matrix) return operand;
  if (!(operand instanceof CellRange)) return new Matrix([[operand]]);
  const { height, width } = operand;
  if (height * width > MAX_MATRIX) leave('a range with too many cells');
  const rows = Array.from({ length: height }, () => Array<Value>(width).fill(null));
  for (const { row, column, value } of operand.filled()) rows[row]![column] = value;
  return new Matrix(rows);
}

/** Texts of more digits, or other forms of numbers, mean what the language of the user says. */
const PLAIN_INTEGER = /^[+-]?\d{1,15}$/;

export function toNumber(value: Value): number {
  if (typeof value === 'number') return value;
  if (value === null) return 0;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof CellError) throw new FormulaError(value);
  if (PLAIN_INTEGER.test(value.trim())) return Number(value);
  if (/\d/.test(value)) return leave('a text that may be a number');
  return fail('#VALUE!');
}

export function toText(value: Value): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (typeof value === 'boolean') return leaveTruth();
  if (value instanceof CellError) throw new FormulaError(value);
  return numberText(value);
}

/** A cell holds no longer text. */
export function fitting(text: string): string {
  return text.length > MAX_CELL_TEXT ? fail('#VALUE!') : text;
}

/** As the format General without a width; very large and very small numbers differ between programs. */
function numberText(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-4)) leave('a number as text');
  return String(Number(value.toPrecision(15)));
}

/** Truth values of cells are numbers to LibreOffice wherever that makes a difference. */
export function leaveTruth(): never {
  return leave('a truth value');
}

export function toBoolean(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (value === null) return false;
  if (typeof value === 'number') return value !== 0;
  if (value instanceof CellError) throw new FormulaError(value);
  if (/^(?:true|false)$/i.test(value)) return value.length === 4;
  return fail('#VALUE!');
}

/** Relative difference below which numbers count as equal, and sums as nothing. */
const NEARLY = 2 ** -48;

export function nearlyEqual(a: number, b: number): boolean {
  return a === b || Math.abs(a - b) < Math.abs(a) * NEARLY;
}

/** Nothing is left of `0.1 + 0.2 - 0.3`. */
export function sum(a: number, b: number): number {
  const result = a + b;
  return Math.abs(result) < Math.abs(a) * NEARLY && a !== 0 && b !== 0 ? 0 : result;
}

const ORDERED = /^[A-Za-z0-9 ]*$/;

/** As Excel orders: numbers, texts, truth values. A blank cell is 0, an empty text or FALSE. */
export function compare(a: Value, b: Value, isOrder: boolean): number {
  if (a instanceof CellError) throw new FormulaError(a);
  if (b instanceof CellError) throw new FormulaError(b);
  const left = a ?? blankLike(b);
  const right = b ?? blankLike(a);
  const types = new Set([typeof left, typeof right]);
  if (types.has('boolean') && types.has('number')) leaveTruth();
  const ranks = rankOf(left) - rankOf(right);
  if (ranks !== 0) return ranks;
  if (typeof left === 'string' && typeof right === 'string') {
    const [x, y] = [left.toLowerCase(), right.toLowerCase()];
    if (x === y) return 0;
    // Other characters are ordered by the language of the user.
    if (isOrder && !(ORDERED.test(x) && ORDERED.test(y))) leave('the order of texts');
    return x < y ? -1 : 1;
  }
  const [x, y] = [Number(left), Number(right)];
  return nearlyEqual(x, y) ? 0 : x - y;
}

function blankLike(other: Value): Exclude<Value, null | CellError> {
  if (typeof other === 'string') return '';
  return typeof other === 'boolean' ? false : 0;
}

function rankOf(value: Value): number {
  return typeof value === 'number' ? 0 : typeof value === 'string' ? 1 : 2;
}

/** Results must be numbers that a workbook can hold. */
export function checked(value: number): number {
  return Number.isFinite(value) ? value : fail('#NUM!');
}
