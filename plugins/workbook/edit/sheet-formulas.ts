/**
 * Which formulas are lost, which move to another cell, which fill ranges that must not be touched.
 *
 * A shared formula is spelled out only in its first cell: when that is overwritten, the next cell that shares it
 * takes it over (ECMA-376-1, 18.3.1.40).
 */
import { unreadable } from '../../../src/base/errors.ts';
import { sheetText } from '../../../src/tables/encode/sheet-text.ts';
import { type CellPosition, type CellRange, rangeText, referenceText } from '../cell-reference.ts';
import type { CellContent } from '../xlsx/cell-content.ts';
import { type Formula, parseFormula, shiftFormula } from '../xlsx/formula.ts';
import type { ChangedCells } from './changed-cells.ts';

/** To be called in file order. */
export class SheetFormulas {
  hasLost = false;
  hasAny = false;
  readonly #part: string;
  readonly #content: CellContent;
  /** Shared formulas without their first cell, not yet taken over. */
  readonly #orphans = new Map<string, { text: string; range: CellRange; position: CellPosition }>();
  readonly #filled: CellRange[] = [];

  constructor(part: string, content: CellContent) {
    this.#part = part;
    this.#content = content;
  }

  /** Throws `unreadable-file` where the formula cannot be moved, because cells already passed may share it. */
  lose(element: string, position: CellPosition): void {
    const { kind, text, range, shared } = parseFormula(element, this.#part);
    this.hasLost = true;
    if (kind === 'shared' && text !== '') {
      if (range === null || isBefore(range.first, position)) {
        throw unreadable(
          `the cell ${referenceText(position)} holds a formula that other cells share and cannot be overwritten`,
        );
      }
      this.#orphans.set(shared, { text, range, position });
    }
    // An array formula that fills only this cell goes with it.
    const isSingle = range !== null && rangeText(range) === referenceText(range.first);
    if (kind === 'table' || (kind === 'array' && !isSingle)) {
      this.#filled.push(range ?? { first: position, last: position });
    }
  }

  /** The cell stays; returns the element to replace its own, or null. */
  keep(element: string, position: CellPosition, prefix: string): string | null {
    this.hasAny = true;
    const isSpelledOut = element.includes('ref=');
    if (isSpelledOut) this.#content.remember(element, position);
    const mayTakeOver = this.#orphans.size > 0 && element.includes('si=');
    if (!isSpelledOut && !mayTakeOver) return null;
    const formula = parseFormula(element, this.#part);
    const { kind, range } = formula;
    if ((kind === 'array' || kind === 'table') && range) this.#filled.push(range);
    return kind === 'shared' ? this.#takeOver(formula, position, prefix) : null;
  }

  #takeOver({ shared, text }: Formula, position: CellPosition, prefix: string): string | null {
    const orphan = this.#orphans.get(shared);
    if (!orphan) return null;
    this.#orphans.delete(shared);
    // The index is reused for another formula.
    if (text !== '') return null;
    const rows = position.row - orphan.position.row;
    const columns = position.column - orphan.position.column;
    const moved = sheetText(shiftFormula(orphan.text, rows, columns));
    const ref = rangeText(remainingRange(orphan.range, position));
    return `<${prefix}f t="shared" ref="${ref}" si="${shared}">${moved}</${prefix}f>`;
  }

  /** Throws `unreadable-file` when a change falls into an array formula or data table. */
  check(changed: ChangedCells): void {
    for (const range of this.#filled) changed.refuseFilled(range);
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
