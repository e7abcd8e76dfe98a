/** Places count from 0 in the view as sorted and filtered, not in the file. */

/** Row −1 is the head, column −1 the row number. */
export interface Place {
  readonly row: number;
  readonly column: number;
}

export interface CellBlock {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

export function blockBetween(one: Place, other: Place): CellBlock {
  return {
    top: Math.min(one.row, other.row),
    bottom: Math.max(one.row, other.row),
    left: Math.min(one.column, other.column),
    right: Math.max(one.column, other.column),
  };
}

export function sizeOf({ top, bottom, left, right }: CellBlock): { rows: number; cells: number } {
  const rows = bottom - top + 1;
  return { rows, cells: rows * (right - left + 1) };
}
