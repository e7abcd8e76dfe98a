/** A call of a function: its arguments, evaluated when they are asked for. */
import { CellError, type Value } from './cell-values.ts';
import type { FormulaCell, Tree } from './formula-cells.ts';
import {
  CellRange,
  FormulaError,
  leave,
  leaveTruth,
  Matrix,
  type Operand,
  toBoolean,
  toNumber,
  toText,
} from './operands.ts';

export interface Frame {
  readonly cell: FormulaCell;
  readonly is1904: boolean;
  operand(tree: Tree): Operand;
  /** Of every cell of its ranges, as in an array formula. */
  array(tree: Tree): Matrix;
  scalar(tree: Tree): Value;
  /** Rows a filter or a person has hidden, and cells with subtotals, count in no subtotal. */
  isSubtotal(sheet: number, row: number, column: number): boolean;
  hasHiddenRows(sheet: number): boolean;
}

export class Call {
  constructor(
    readonly frame: Frame,
    readonly trees: readonly (Tree | null)[],
  ) {}

  get count(): number {
    return this.trees.length;
  }

  /** The argument stands there, if only as a comma. */
  has(index: number): boolean {
    return index < this.trees.length && this.trees[index] !== null;
  }

  operand(index: number): Operand {
    const tree = this.trees[index];
    return tree === null || tree === undefined ? null : this.frame.operand(tree);
  }

  array(index: number): Matrix {
    return this.frame.array(this.trees[index] ?? leave('an argument that is missing'));
  }

  /** An error is thrown. */
  scalar(index: number): Exclude<Value, CellError> {
    const value = this.caught(index);
    if (value instanceof CellError) throw new FormulaError(value);
    return value;
  }

  /** An error is returned. */
  caught(index: number): Value {
    const tree = this.trees[index];
    if (tree === null || tree === undefined) return null;
    try {
      return this.frame.scalar(tree);
    } catch (error) {
      if (error instanceof FormulaError) return error.error;
      throw error;
    }
  }

  number(index: number, otherwise = 0): number {
    return this.has(index) ? toNumber(this.scalar(index)) : otherwise;
  }

  /** Cut, as Excel does where it counts. */
  integer(index: number, otherwise = 0): number {
    return Math.trunc(this.number(index, otherwise));
  }

  text(index: number): string {
    return toText(this.scalar(index));
  }

  boolean(index: number, otherwise = false): boolean {
    return this.has(index) ? toBoolean(this.scalar(index)) : otherwise;
  }

  /** A reference, not a value. */
  range(index: number): CellRange {
    const operand = this.operand(index);
    if (operand instanceof CellRange) return operand;
    return leave('an argument that is no range');
  }

  table(index: number): CellRange | Matrix {
    const operand = this.operand(index);
    if (operand instanceof CellRange || operand instanceof Matrix) return operand;
    if (operand instanceof CellError) throw new FormulaError(operand);
    return new Matrix([[operand]]);
  }

  /**
   * The numbers that SUM and its like take: in ranges only numbers. Errors are thrown.
   */
  *numbers(from = 0, to = this.count): Generator<number> {
    for (let index = from; index < to; index++) {
      const operand = this.operand(index);
      if (operand instanceof CellRange || operand instanceof Matrix) {
        for (const { value } of operand.filled()) {
          if (value instanceof CellError) throw new FormulaError(value);
          if (typeof value === 'number') yield value;
          else if (typeof value === 'boolean') leaveTruth();
        }
      } else if (typeof operand === 'string') leave('a text among numbers');
      else yield toNumber(operand);
    }
  }

  requireDates1900(): void {
    if (this.frame.is1904) leave('dates of 1904');
  }

  /** Too few or too many make a formula that no program would have written. */
  require(least: number, most = least): void {
    if (this.count < least || this.count > most) leave('the number of arguments');
  }
}

export type FormulaFunction = (call: Call) => Operand;
export type Functions = Readonly<Record<string, FormulaFunction>>;
