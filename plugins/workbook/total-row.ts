/**
 * The row of totals below a table: it says so, and sums up every row above it.
 *
 * Nothing else may stand in the row: what is left out of a table by mistake is worse than a total among its rows.
 */
import { isTotalLabel } from '../../src/tables/infer/total-label.ts';
import type { Cell } from '../../src/tables/types.ts';
import { parseRange } from './cell-reference.ts';

/** A formula that begins with SUM or SUBTOTAL, without `=`. */
export interface SumFormula {
  /** In the sheet, from 0. */
  readonly column: number;
  readonly text: string;
}

export interface TotalCandidate {
  readonly row: number;
  /** The row of the table before it; null for its first. */
  readonly previous: number | null;
  readonly cells: readonly Cell[];
  readonly sums: readonly SumFormula[];
}

export function isTotal(
  { row, previous, cells, sums }: TotalCandidate,
  { firstRow, firstColumn }: { readonly firstRow: number; readonly firstColumn: number },
): boolean {
  if (previous === null || sums.length === 0) return false;
  const summed = new Set(sums.map(({ column }) => column - firstColumn));
  const others = cells.filter((cell, index) => !isEmpty(cell) && !summed.has(index));
  const isLabelled =
    others.length === 1 && typeof others[0] === 'string' && isTotalLabel(others[0]);
  return isLabelled && sums.every((sum) => sumsUp(sum, firstRow, previous, row));
}

function isEmpty(cell: Cell): boolean {
  return cell === null || (typeof cell === 'string' && cell.trim() === '');
}

function sumsUp({ column, text }: SumFormula, first: number, last: number, own: number): boolean {
  const argument = /^(?:SUM|SUBTOTAL)\((?:\d{1,3},)?([^()]*)\)$/i.exec(text.trim())?.[1];
  if (argument === undefined) return false;
  if (/^\w*\[[^[\]]+\]$/.test(argument)) return true;
  const range = parseRange(argument);
  return (
    range !== null &&
    range.first.column === column &&
    range.last.column === column &&
    range.first.row <= first &&
    range.last.row >= last &&
    range.last.row < own
  );
}
