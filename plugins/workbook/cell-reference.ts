/**
 * Cell references in A1 notation (ECMA-376-1, 18.18.62) as numbers: rows from 1 as in the file, columns from 0 as in a
 * table.
 */
import { MAX_ROWS, MAX_SHEET_COLUMNS } from './limits.ts';

/** A cell of a worksheet: row from 1, column from 0. */
export interface CellPosition {
  readonly row: number;
  readonly column: number;
}

/** A rectangle of cells, its corners included. */
export interface CellRange {
  readonly first: CellPosition;
  readonly last: CellPosition;
}

const REFERENCE = /^\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})$/;

/** The letters of a column. */
export function columnLetters(column: number): string {
  let letters = '';
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  }
  return letters;
}

/** The column of letters, NaN when no worksheet has it. */
export function columnOf(letters: string): number {
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return column <= MAX_SHEET_COLUMNS ? column - 1 : NaN;
}

/** `B7`. */
export function referenceText({ row, column }: CellPosition): string {
  return columnLetters(column) + row;
}

/** `A1:B7`, or `A1` for a single cell. */
export function rangeText({ first, last }: CellRange): string {
  const from = referenceText(first);
  const to = referenceText(last);
  return from === to ? from : `${from}:${to}`;
}

/** The cell of a reference, null when it names none that a worksheet has. */
function parseReference(text: string): CellPosition | null {
  const match = REFERENCE.exec(text);
  if (match === null) return null;
  const column = columnOf(match[1]!);
  const row = Number(match[2]);
  return column === column && row <= MAX_ROWS ? { row, column } : null;
}

/** The rectangle of a range or a single reference, null when it is none. */
export function parseRange(text: string): CellRange | null {
  const [from, to, ...more] = text.split(':').map(parseReference);
  if (!from || to === null || more.length > 0) return null;
  const last = to ?? from;
  return {
    first: { row: Math.min(from.row, last.row), column: Math.min(from.column, last.column) },
    last: { row: Math.max(from.row, last.row), column: Math.max(from.column, last.column) },
  };
}

/** Whether the cell stands in the rectangle. */
export function isInside({ row, column }: CellPosition, { first, last }: CellRange): boolean {
  return first.row <= row && row <= last.row && first.column <= column && column <= last.column;
}

/** The smallest rectangle around both. */
export function united(a: CellRange, b: CellRange): CellRange {
  return {
    first: {
      row: Math.min(a.first.row, b.first.row),
      column: Math.min(a.first.column, b.first.column),
    },
    last: { row: Math.max(a.last.row, b.last.row), column: Math.max(a.last.column, b.last.column) },
  };
}
