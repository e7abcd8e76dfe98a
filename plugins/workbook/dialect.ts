/** Stored with the typed copy. */

import type { Cell, SourceNote } from '../../src/tables/types.ts';
import { rangeText } from './cell-reference.ts';

export interface Dialect {
  /** Only `xlsx` is written. */
  readonly format: 'xlsx' | 'xls' | 'foreign';
  readonly readOnlyReason?: string;
  readonly sheet: string;
  /** Name of a table or range on it; null: the sheet's own. */
  readonly table: string | null;
  /** Rows may be added past `lastRow`, where nothing is in their way. */
  readonly grows: boolean;
  /** Sheet row, from 1. */
  readonly headerRow: number;
  /** Sheet column of the table's first, from 0. */
  readonly firstColumn: number;
  /** Sheet row that no row of the table goes past; null: the sheet's end. */
  readonly lastRow: number | null;
  /** Not declared: an edit must leave a sheet where they are found again. */
  readonly isFound: boolean;
  /** Columns from the first up to the last header cell that is not empty. */
  readonly width: number;
  /** The row of totals, which is none of the table; values by column. */
  readonly total: { readonly row: number; readonly values: Readonly<Record<string, Cell>> } | null;
  /** A `RowMap`. */
  readonly rows: readonly number[];
  /** Cells of the table that read as their formula, because the file holds no result. */
  readonly uncalculated?: number;
  /** Those whose result was calculated while reading. */
  readonly calculated?: number;
  /** In any sheet of the workbook; null until an edit has checked. */
  readonly hasFormulas: boolean | null;
}

/** Null for a table that begins in the first row at A with everything calculated. */
export function guessedSource(dialect: Dialect): SourceNote | null {
  const { headerRow, firstColumn, width, isFound, total } = dialect;
  const { uncalculated, calculated } = dialect;
  const isMoved = isFound && (headerRow > 1 || firstColumn > 0);
  const isUsual = width === 0 || (!isMoved && total === null);
  const counts = {
    ...(uncalculated !== undefined && { uncalculated }),
    ...(calculated !== undefined && { calculated }),
  };
  if (isUsual && Object.keys(counts).length === 0) return null;
  return { ...(isUsual ? { guessed: [] } : placeOf(dialect)), ...counts };
}

export function placeOf(dialect: Dialect): SourceNote {
  const { headerRow, firstColumn, width, isFound } = dialect;
  const first = { row: headerRow, column: firstColumn };
  const last = {
    row: RowMap.of(dialect.rows).last ?? headerRow,
    column: firstColumn + Math.max(0, width - 1),
  };
  const guessed = [
    ...(isFound ? ['header_row', 'range'] : []),
    ...(dialect.total === null ? [] : ['total_row']),
  ];
  const total = dialect.total && { total_row: dialect.total };
  return { header_row: headerRow, range: rangeText({ first, last }), ...total, guessed };
}

interface Run {
  /** Sheet row, from 1. */
  first: number;
  count: number;
}

/**
 * Table rows to sheet rows, because blank sheet rows are no table rows. Stored as pairs: sheet rows skipped,
 * consecutive table rows.
 */
export class RowMap {
  readonly #runs: Run[] = [];

  static of(pairs: readonly number[]): RowMap {
    const map = new RowMap();
    let next = 1;
    for (let index = 0; index + 1 < pairs.length; index += 2) {
      const first = next + pairs[index]!;
      const count = pairs[index + 1]!;
      map.#runs.push({ first, count });
      next = first + count;
    }
    return map;
  }

  get last(): number | null {
    const run = this.#runs.at(-1);
    return run ? run.first + run.count - 1 : null;
  }

  /** Must be below all others. */
  add(sheetRow: number): void {
    const run = this.#runs.at(-1);
    if (run && run.first + run.count === sheetRow) run.count++;
    else this.#runs.push({ first: sheetRow, count: 1 });
  }

  /** For ascending table rows from 0; shorter when the table is. */
  sheetRows(positions: readonly number[]): number[] {
    const found: number[] = [];
    let before = 0;
    let next = 0;
    for (const { first, count } of this.#runs) {
      while (next < positions.length && positions[next]! < before + count) {
        found.push(first + positions[next++]! - before);
      }
      before += count;
    }
    return found;
  }

  /** By sheet row, the positions of those among `sheetRows` that are table rows. */
  positions(sheetRows: ReadonlySet<number>): Map<number, number> {
    const found = new Map<number, number>();
    let before = 0;
    const ascending = [...sheetRows].sort((a, b) => a - b);
    let next = 0;
    for (const { first, count } of this.#runs) {
      while (next < ascending.length && ascending[next]! < first + count) {
        const row = ascending[next++]!;
        if (row >= first) found.set(row, before + row - first);
      }
      before += count;
    }
    return found;
  }

  /** All `sheetRows` must be in the map. */
  without(sheetRows: ReadonlySet<number>): RowMap {
    if (sheetRows.size === 0) return RowMap.of(this.toJSON());
    const left = new RowMap();
    for (const { first, count } of this.#runs) {
      for (let row = first; row < first + count; row++) if (!sheetRows.has(row)) left.add(row);
    }
    return left;
  }

  /** When rows that are not in the map are taken out of the sheet. */
  shifted(rowAt: (sheetRow: number) => number | null): RowMap {
    const moved = new RowMap();
    for (const { first, count } of this.#runs) {
      for (let row = first; row < first + count; row++) moved.add(rowAt(row) ?? row);
    }
    return moved;
  }

  toJSON(): number[] {
    let next = 1;
    return this.#runs.flatMap(({ first, count }) => {
      const skipped = first - next;
      next = first + count;
      return [skipped, count];
    });
  }
}
