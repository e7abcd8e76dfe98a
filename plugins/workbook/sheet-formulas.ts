/**
 * What an edit does to a sheet's formulas: which are lost, which move to another cell, which fill
 * ranges that must not be touched.
 */
import type { CellContent } from './cell-content.ts';
import type { CellPosition, CellRange } from './cell-reference.ts';
import type { ChangedCells } from './covered-cells.ts';
import { type Formula, parseFormula } from './formula-element.ts';
import { SharedFormulas } from './shared-formulas.ts';

/** To be called in file order. */
export class SheetFormulas {
  hasLost = false;
  hasAny = false;
  readonly #part: string;
  readonly #content: CellContent;
  readonly #shared = new SharedFormulas();
  readonly #filled: CellRange[] = [];

  constructor(part: string, content: CellContent) {
    this.#part = part;
    this.#content = content;
  }

  /** The cell is overwritten. Throws `unreadable-file` where its formula cannot be moved. */
  lose(element: string, position: CellPosition): void {
    const formula = parseFormula(element, this.#part);
    this.#shared.lose(formula, position);
    this.hasLost = true;
    const fills = formula.kind === 'array' || formula.kind === 'table';
    // A formula that fills only this cell goes with it.
    if (!fills || (formula.kind === 'array' && isSingle(formula.range))) return;
    this.#filled.push(formula.range ?? { first: position, last: position });
  }

  /** The cell stays; returns the element to replace its own, or null. */
  keep(element: string, position: CellPosition, prefix: string): string | null {
    this.hasAny = true;
    const isSpelledOut = element.includes('ref=');
    if (isSpelledOut) this.#content.remember(element, position);
    const mayTakeOver = this.#shared.hasOrphans && element.includes('si=');
    if (!isSpelledOut && !mayTakeOver) return null;
    const formula = parseFormula(element, this.#part);
    const { kind, range } = formula;
    if ((kind === 'array' || kind === 'table') && range) this.#filled.push(range);
    return this.#shared.takeOver(formula, position, prefix);
  }

  /** Throws `unreadable-file` when a change falls into an array formula or data table. */
  check(changed: ChangedCells): void {
    for (const range of this.#filled) changed.refuseFilled(range);
  }
}

function isSingle(range: Formula['range']): boolean {
  return (
    range !== null && range.first.row === range.last.row && range.first.column === range.last.column
  );
}
