/**
 * Which row of the sheet each row of the table stands in.
 *
 * Blank rows of the sheet are no rows of the table, so an edit needs to know. Kept with the typed copy as pairs of
 * numbers: sheet rows passed over, table rows that follow each other.
 */

interface Run {
  /** First sheet row, from 1. */
  first: number;
  count: number;
}

/** Table rows to sheet rows; both grow together. */
export class RowMap {
  readonly #runs: Run[] = [];

  /** The map of pairs that `toJSON` has made. */
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

  /** Rows of the table. */
  get count(): number {
    return this.#runs.reduce((sum, run) => sum + run.count, 0);
  }

  /** The sheet row of the table's last row; null without rows. */
  get last(): number | null {
    const run = this.#runs.at(-1);
    return run ? run.first + run.count - 1 : null;
  }

  /** Adds the table's next row, which stands below all others. */
  add(sheetRow: number): void {
    const run = this.#runs.at(-1);
    if (run && run.first + run.count === sheetRow) run.count++;
    else this.#runs.push({ first: sheetRow, count: 1 });
  }

  /** Sheet rows of the table rows `positions` (from 0, growing); shorter than these when the table is. */
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

  /** The map without these sheet rows, all of which are in it. */
  without(sheetRows: ReadonlySet<number>): RowMap {
    if (sheetRows.size === 0) return RowMap.of(this.toJSON());
    const left = new RowMap();
    for (const { first, count } of this.#runs) {
      for (let row = first; row < first + count; row++) if (!sheetRows.has(row)) left.add(row);
    }
    return left;
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
