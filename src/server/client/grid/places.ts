/**
 * Where cells of the grid are: places count from 0 in the view as it is sorted and filtered, not in the file.
 */

/** The place of a cell: row −1 is the head, column −1 the row number. */
export interface Place {
  readonly row: number;
  readonly column: number;
}

/** A block of cells by the places of its edges, both ends included. */
export interface CellBlock {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** The block with two cells in opposite corners. */
export function blockBetween(one: Place, other: Place): CellBlock {
  return {
    top: Math.min(one.row, other.row),
    bottom: Math.max(one.row, other.row),
    left: Math.min(one.column, other.column),
    right: Math.max(one.column, other.column),
  };
}

/** How many rows and cells a block has. */
export function sizeOf({ top, bottom, left, right }: CellBlock): { rows: number; cells: number } {
  const rows = bottom - top + 1;
  return { rows, cells: rows * (right - left + 1) };
}
