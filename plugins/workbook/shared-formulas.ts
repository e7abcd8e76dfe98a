/**
 * A shared formula is spelled out only in its first cell: when that is overwritten, the next cell
 * that shares it must take it over (ECMA-376-1, 18.3.1.40).
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

/** To be called for the cells in file order. */
export class SharedFormulas {
  readonly #orphans = new Map<string, Orphan>();

  /** A formula without its first cell, not yet taken over. */
  get hasOrphans(): boolean {
    return this.#orphans.size > 0;
  }

  /** Throws `unreadable-file` where cells already passed may share the formula. */
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

  /** The `f` element for a cell that takes over a formula; null when its own may stay. */
  takeOver(formula: Formula, position: CellPosition, prefix: string): string | null {
    if (formula.kind !== 'shared') return null;
    const orphan = this.#orphans.get(formula.shared);
    if (!orphan) return null;
    this.#orphans.delete(formula.shared);
    // The index is reused for another formula.
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

function isBefore(a: CellPosition, b: CellPosition): boolean {
  return a.row < b.row || (a.row === b.row && a.column < b.column);
}
