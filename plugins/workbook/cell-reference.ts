/**
 * A1 notation (ECMA-376-1, 18.18.62): rows from 1 as in the file, columns from 0 as in a table; ranges include both
 * corners.
 */
import { columnLetters } from '../../src/tables/encode/sheet-text.ts';
import { MAX_ROWS, MAX_SHEET_COLUMNS } from './limits.ts';

export interface CellPosition {
  readonly row: number;
  readonly column: number;
}

export interface CellRange {
  readonly first: CellPosition;
  readonly last: CellPosition;
}

const REFERENCE = /^\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})$/;

export function columnOf(letters: string): number {
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return column <= MAX_SHEET_COLUMNS ? column - 1 : NaN;
}

export function referenceText({ row, column }: CellPosition): string {
  return columnLetters(column) + row;
}

export function rangeText({ first, last }: CellRange): string {
  const from = referenceText(first);
  const to = referenceText(last);
  return from === to ? from : `${from}:${to}`;
}

function parseReference(text: string): CellPosition | null {
  const match = REFERENCE.exec(text);
  if (match === null) return null;
  const column = columnOf(match[1]!);
  const row = Number(match[2]);
  return column === column && row <= MAX_ROWS ? { row, column } : null;
}

export function parseRange(text: string): CellRange | null {
  const [from, to, ...more] = text.split(':').map(parseReference);
  if (!from || to === null || more.length > 0) return null;
  const last = to ?? from;
  return {
    first: { row: Math.min(from.row, last.row), column: Math.min(from.column, last.column) },
    last: { row: Math.max(from.row, last.row), column: Math.max(from.column, last.column) },
  };
}

export function isInside({ row, column }: CellPosition, { first, last }: CellRange): boolean {
  return first.row <= row && row <= last.row && first.column <= column && column <= last.column;
}

export function united(a: CellRange, b: CellRange): CellRange {
  return {
    first: {
      row: Math.min(a.first.row, b.first.row),
      column: Math.min(a.first.column, b.first.column),
    },
    last: { row: Math.max(a.last.row, b.last.row), column: Math.max(a.last.column, b.last.column) },
  };
}
