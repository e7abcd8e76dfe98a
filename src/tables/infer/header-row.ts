/**
 * The header of a table that has titles above it.
 *
 * The first row with content, unless it cannot well be: it and all rows down to the header fill less than half of the
 * columns, the header is full of different names, and below it some column holds numbers or dates, or a blank row
 * parts it from the titles.
 */
import type { Cell } from '../types.ts';

/** Titles take fewer rows. */
const MAX_ROWS_ABOVE = 30;
/** A name is shorter, a remark above a table maybe not. */
const MAX_NAME_CHARACTERS = 200;
/** Rows below the header whose cells are looked at. */
const MAX_ROWS_BELOW = 50;
/** More are of no use. */
export const MAX_ROWS_LOOKED_AT = MAX_ROWS_ABOVE + 1 + MAX_ROWS_BELOW;
/** Share of the rows below that must end within the header; from FEW_ROWS on one may be odd anyhow. */
const MIN_FITTING = 0.9;
const FEW_ROWS = 5;

/** `rows`: the first of a file or sheet, blank ones as lists without cells; -1 when all are blank. */
export function headerIndex(rows: readonly (readonly Cell[])[]): number {
  const first = rows.findIndex((row) => filled(row) > 0);
  let widest = 0;
  for (
    let index = first;
    index >= 0 && index <= Math.min(MAX_ROWS_ABOVE, rows.length - 1);
    index++
  ) {
    const row = rows[index]!;
    const names = namesOf(row);
    if (
      names !== null &&
      isTitle(widest, names.length) &&
      isHeader(rows, first, index, names.length)
    ) {
      return index;
    }
    widest = Math.max(widest, filled(row));
  }
  return first;
}

function leadingBlanks(row: readonly Cell[]): number {
  return Math.max(
    0,
    row.findIndex((cell) => !isBlank(cell)),
  );
}

function isTitle(widest: number, width: number): boolean {
  return widest <= Math.max(1, Math.floor((width - 1) / 2));
}

/** From the first to the last name; null when a cell between is blank or is no name. */
function namesOf(row: readonly Cell[]): string[] | null {
  const end = row.findLastIndex((cell) => !isBlank(cell)) + 1;
  const cells = row.slice(leadingBlanks(row), end);
  const names = cells.map((cell) => String(cell).trim());
  const isNamed = cells.every((cell) => !isValue(cell) || isYear(cell)) && !cells.every(isYear);
  const isDistinct = new Set(names.map((name) => name.toLowerCase())).size === names.length;
  const isShort = names.every((name) => name !== '' && name.length <= MAX_NAME_CHARACTERS);
  return names.length > 1 && isNamed && isDistinct && isShort ? names : null;
}

function isHeader(
  rows: readonly (readonly Cell[])[],
  first: number,
  index: number,
  width: number,
): boolean {
  if (index === first) return true;
  const header = rows[index]!;
  const start = leadingBlanks(header);
  const end = start + width;
  const below = rowsBelow(rows.slice(index + 1, index + 1 + MAX_ROWS_BELOW));
  if (below.length < 2) return false;
  const odd = below.filter(
    (row) => filled(row.slice(end)) > 0 || leadingBlanks(row) < start || filled(row) * 2 < width,
  );
  const allowed = Math.max(below.length >= FEW_ROWS ? 1 : 0, below.length * (1 - MIN_FITTING));
  if (odd.length > allowed) return false;
  const isParted = rows.slice(first, index).some((row) => filled(row) === 0);
  const hasValues = header.some(
    (_, column) =>
      column >= start && column < end && isColumnOfValues(below.map((row) => row[column])),
  );
  return hasValues
    ? width > 2 || isParted || /\s/.test(titleOf(rows[first]!))
    : isParted && width > 2;
}

/** Those with content, up to a blank row, behind which notes or other tables may stand. */
function rowsBelow(rows: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
  const first = rows.findIndex((row) => filled(row) > 0);
  if (first < 0) return [];
  const end = rows.findIndex((row, index) => index > first && filled(row) === 0);
  return rows.slice(first, end < 0 ? rows.length : end);
}

function titleOf(row: readonly Cell[]): string {
  return String(row[leadingBlanks(row)] ?? '').trim();
}

function isColumnOfValues(cells: readonly (Cell | undefined)[]): boolean {
  const present = cells.filter((cell) => cell !== undefined && !isBlank(cell)) as Cell[];
  return present.length > 0 && present.filter(isValue).length >= present.length * MIN_FITTING;
}

function filled(row: readonly Cell[]): number {
  return row.reduce<number>((sum, cell) => (isBlank(cell) ? sum : sum + 1), 0);
}

function isBlank(cell: Cell): boolean {
  return cell === null || (typeof cell === 'string' && cell.trim() === '');
}

const NUMBER =
  /^[-+(]?[€$£¥]? ?\d[\d.,'’\u00a0\u202f ]*(?:e[-+]?\d+)?\)? ?-?(?:%|€|\$|£|¥|[A-Z]{3})?$/i;
const MOMENT = /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ]|$)|^\d{1,2}:\d{2}(?::\d{2})?$/;

/** A number, a date, a time or a truth value, in any usual spelling. */
function isValue(cell: Cell): boolean {
  if (typeof cell !== 'string') return cell !== null;
  const text = cell.trim();
  return NUMBER.test(text) || MOMENT.test(text) || /^(?:true|false)$/i.test(text);
}

function isYear(cell: Cell): boolean {
  return /^(?:19|20)\d\d$/.test(String(cell).trim());
}
