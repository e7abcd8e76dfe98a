/**
 * Shared formulas whose first cell is overwritten: the formula is spelled out only there, so the next cell that shares it
 * has to take it over (ECMA-376-1, 18.3.1.40).
 */
import { AppError } from '../../src/base/errors.ts';
import { type CellPosition, type CellRange, rangeText, referenceText } from './cell-reference.ts';
import type { Formula } from './formula-element.ts';
import { shiftFormula } from './formula-shift.ts';
import { escaped, xmlText } from './xml-text.ts';

interface Orphan {
  readonly text: string;
  readonly range: CellRange;
  readonly position: CellPosition;
}

/** Follows the cells of a sheet in the order of the file. */
export class SharedFormulas {
  readonly #orphans = new Map<string, Orphan>();

  /** Some formula has lost its first cell and no other one has taken it over yet. */
  get hasOrphans(): boolean {
    return this.#orphans.size > 0;
  }

  /**
   * Notes that the cell with this formula loses it. Throws `unreadable-file` where cells before it may share it: those have
   * been passed already.
   */
  lose(formula: Formula, position: CellPosition): void {
    if (formula.kind !== 'shared' || formula.text === '') return;
    const { range, text } = formula;
    if (range === null || isBefore(range.first, position)) {
      throw new AppError(
        'unreadable-file',
        `the cell ${referenceText(position)} holds a formula that other cells share and cannot be overwritten`,
      );
    }
    this.#orphans.set(formula.shared, { text, range, position });
  }

  /** The `f` element with which a cell takes over an orphan; null when its own may stay. */
  takeOver(formula: Formula, position: CellPosition, prefix: string): string | null {
    if (formula.kind !== 'shared') return null;
    const orphan = this.#orphans.get(formula.shared);
    if (!orphan) return null;
    this.#orphans.delete(formula.shared);
    // The same index used anew, for another formula.
    if (formula.text !== '') return null;
    const { text } = orphan;
    const moved = shiftFormula(
      text,
      position.row - orphan.position.row,
      position.column - orphan.position.column,
    );
    const ref = rangeText(remainingRange(orphan.range, position));
    const markup = xmlText(escaped(moved));
    return `<${prefix}f t="shared" ref="${ref}" si="${formula.shared}">${markup}</${prefix}f>`;
  }
}

/** The range without the rows and columns whose cells all stand before `first`. */
function remainingRange(range: CellRange, first: CellPosition): CellRange {
  const isSingleRow = range.first.row === range.last.row;
  return {
    first: { row: first.row, column: isSingleRow ? first.column : range.first.column },
    last: {
      row: Math.max(range.last.row, first.row),
      column: Math.max(range.last.column, first.column),
    },
  };
}

/** Whether cell `a` comes before `b` in the file. */
function isBefore(a: CellPosition, b: CellPosition): boolean {
  return a.row < b.row || (a.row === b.row && a.column < b.column);
}
