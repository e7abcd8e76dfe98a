/**
 * What an edit does to the formulas of a sheet: which are lost, which have to stand elsewhere from now on, which fill
 * ranges that must not be touched.
 */
import type { CellContent } from './cell-content.ts';
import type { CellPosition, CellRange } from './cell-reference.ts';
import type { ChangedCells } from './covered-cells.ts';
import { type Formula, parseFormula } from './formula-element.ts';
import { SharedFormulas } from './shared-formulas.ts';

/** The formulas of one sheet, told of in the order of the file. */
export class SheetFormulas {
  /** A cell lost its formula. */
  hasLost = false;
  /** Some formula stays. */
  hasAny = false;
  readonly #part: string;
  readonly #content: CellContent;
  readonly #shared = new SharedFormulas();
  readonly #filled: CellRange[] = [];

  /** `content` gives the values of cells, and learns here of formulas that they share. */
  constructor(part: string, content: CellContent) {
    this.#part = part;
    this.#content = content;
  }

  /** Tells that the cell with this `f` element is overwritten. Throws `unreadable-file` where that cannot be made good. */
  lose(element: string, position: CellPosition): void {
    const formula = parseFormula(element, this.#part);
    this.#shared.lose(formula, position);
    this.hasLost = true;
    const fills = formula.kind === 'array' || formula.kind === 'table';
    // A formula that fills nothing but this very cell goes with it.
    if (!fills || (formula.kind === 'array' && isSingle(formula.range))) return;
    this.#filled.push(formula.range ?? { first: position, last: position });
  }

  /** Tells that the cell with this `f` element stays; the element to put in its place, null when there is none. */
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

  /** Throws `unreadable-file` when a change falls into the range of an array formula or data table. */
  check(changed: ChangedCells): void {
    for (const range of this.#filled) changed.refuseFilled(range);
  }
}

function isSingle(range: Formula['range']): boolean {
  return (
    range !== null && range.first.row === range.last.row && range.first.column === range.last.column
  );
}
