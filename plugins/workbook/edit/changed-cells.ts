/** Ranges whose cells cannot be changed one by one: merged cells, array formulas, data tables. */
import { unreadable } from '../../../src/base/errors.ts';
import {
  type CellPosition,
  type CellRange,
  isInside,
  rangeText,
  referenceText,
} from '../cell-reference.ts';

/** Changed cells, to be checked against ranges that become known later. */
export class ChangedCells {
  readonly #rows = new Map<number, { column: number; isWritten: boolean }[]>();

  /** `isWritten`: the cell has content afterwards. */
  add({ row, column }: CellPosition, isWritten: boolean): void {
    const cells = this.#rows.get(row);
    if (cells) cells.push({ column, isWritten });
    else this.#rows.set(row, [{ column, isWritten }]);
  }

  *all(): Generator<CellPosition> {
    for (const [row, cells] of this.#rows) for (const { column } of cells) yield { row, column };
  }

  /** Throws `unreadable-file` for content in a hidden cell of a merged range. */
  refuseMerged(range: CellRange): void {
    for (const { cell, isWritten } of this.#within(range)) {
      const { first } = range;
      const isFirst = cell.row === first.row && cell.column === first.column;
      if (!isWritten || isFirst) continue;
      throw unreadable(
        `the cell ${referenceText(cell)} is merged into ${rangeText(range)} and cannot be written`,
      );
    }
  }

  /** Throws `unreadable-file` for a change within an array formula or a data table. */
  refuseFilled(range: CellRange): void {
    for (const { cell } of this.#within(range)) {
      throw unreadable(
        `the cell ${referenceText(cell)} belongs to the formula of ${rangeText(range)} and cannot be changed`,
      );
    }
  }

  *#within(range: CellRange): Generator<{ cell: CellPosition; isWritten: boolean }> {
    for (const row of this.#rowsWithin(range)) {
      for (const { column, isWritten } of this.#rows.get(row) ?? []) {
        const cell = { row, column };
        if (isInside(cell, range)) yield { cell, isWritten };
      }
    }
  }

  /** Iterates over the smaller set: rows of the range, or rows with changes. */
  *#rowsWithin({ first, last }: CellRange): Generator<number> {
    if (last.row - first.row >= this.#rows.size) yield* this.#rows.keys();
    else for (let row = first.row; row <= last.row; row++) yield row;
  }
}
