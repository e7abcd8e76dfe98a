import type { Call, Functions } from '../call.ts';
import { CellError, type Value } from '../cell-values.ts';
import { CellRange, compare, fail, leave, type Matrix, type Operand } from '../operands.ts';
import { wildcard } from './criteria.ts';

type List = (index: number) => Value;

/** The row or column a value is looked up in. */
interface Line {
  readonly length: number;
  readonly at: List;
  /** Places that are not blank, with their values, in order. */
  filled(): Generator<readonly [index: number, value: Exclude<Value, null>]>;
}

function lineOf(table: CellRange | Matrix, isRow = table.width > 1 && table.height === 1): Line {
  const at: List = (index) => (isRow ? table.at(0, index) : table.at(index, 0));
  return {
    length: isRow ? table.width : table.height,
    at,
    *filled() {
      const line =
        table instanceof CellRange
          ? table.part(0, 0, isRow ? 1 : table.height, isRow ? table.width : 1)
          : table;
      for (const { row, column, value } of line.filled()) {
        if (isRow ? row > 0 : column > 0) continue;
        yield [isRow ? column : row, value];
      }
    },
  };
}

function sameKind(a: Value, b: Value): boolean {
  return typeof a === typeof b && !(a instanceof CellError);
}

/** First place of an equal value; texts may have wildcards where `isPattern`. -1 without one. */
function placeOf(wanted: Value, line: Line, isPattern: boolean): number {
  const hasWildcard = isPattern && typeof wanted === 'string' && /[*?~]/.test(wanted);
  const pattern = hasWildcard ? wildcard(wanted as string) : null;
  for (const [index, value] of line.filled()) {
    if (pattern ? typeof value === 'string' && pattern.test(value) : isSame(wanted, value))
      return index;
  }
  return -1;
}

function isSame(wanted: Value, value: Value): boolean {
  return sameKind(wanted, value) && compare(wanted, value, false) === 0;
}

/** Unsorted lines are left to other programs. */
function sortedPlace(wanted: Value, line: Line): number {
  let place = -1;
  let before: Value = null;
  for (const [index, value] of line.filled()) {
    if (!sameKind(wanted, value)) leave('a list of values of several types');
    if (before !== null && compare(before, value, true) > 0) leave('a list that is not sorted');
    if (compare(value, wanted, true) <= 0) place = index;
    before = value;
  }
  return place;
}

function wantedValue(call: Call): Value {
  const value = call.scalar(0);
  // Excel looks for 0, LibreOffice for a blank cell.
  return value ?? leave('a blank value to look up');
}

/** VLOOKUP and HLOOKUP. */
function lookup(call: Call, isRow: boolean): Operand {
  call.require(3, 4);
  const wanted = wantedValue(call);
  const table = call.table(1);
  const offset = call.integer(2);
  if (offset < 1) fail('#VALUE!');
  if (offset > (isRow ? table.height : table.width)) fail('#REF!');
  const line = lineOf(table, isRow);
  const isNear = call.count < 4 || call.boolean(3);
  const place = isNear ? sortedPlace(wanted, line) : placeOf(wanted, line, true);
  if (place < 0) fail('#N/A');
  return (isRow ? table.at(offset - 1, place) : table.at(place, offset - 1)) ?? 0;
}

function match(call: Call): number {
  call.require(2, 3);
  const wanted = wantedValue(call);
  const table = call.table(1);
  if (table.width > 1 && table.height > 1) fail('#N/A');
  const kind = call.has(2) ? call.number(2) : call.count > 2 ? 0 : 1;
  if (kind < 0) leave('a list in descending order');
  const line = lineOf(table);
  const place = kind === 0 ? placeOf(wanted, line, true) : sortedPlace(wanted, line);
  return place < 0 ? fail('#N/A') : place + 1;
}

function index(call: Call): Operand {
  call.require(2, 3);
  const table = call.table(0);
  const isRow = table.height === 1 && call.count === 2;
  const [row, column] = isRow
    ? [1, call.integer(1)]
    : [call.integer(1), call.integer(2, table.width === 1 ? 1 : 0)];
  if (row < 0 || column < 0) fail('#VALUE!');
  if (row > table.height || column > table.width) fail('#REF!');
  if (row > 0 && column > 0) {
    return table instanceof CellRange
      ? table.part(row - 1, column - 1, 1, 1)
      : table.at(row - 1, column - 1);
  }
  if (!(table instanceof CellRange)) return leave('a list of values');
  if (row === 0 && column === 0) return table;
  return row === 0
    ? table.part(0, column - 1, table.height, 1)
    : table.part(row - 1, 0, 1, table.width);
}

function extendedLookup(call: Call): Operand {
  call.require(3, 5);
  if (call.count > 4 && call.integer(4) !== 0) leave('a search for the nearest value');
  const wanted = wantedValue(call);
  const [from, to] = [call.table(1), call.table(2)];
  const isRow = from.width > 1 && from.height === 1;
  if (
    isRow ? from.width !== to.width || to.height > 1 : from.height !== to.height || to.width > 1
  ) {
    leave('a list of values');
  }
  const place = placeOf(wanted, lineOf(from, isRow), false);
  if (place < 0) return call.has(3) ? (call.operand(3) ?? 0) : fail('#N/A');
  return (isRow ? to.at(0, place) : to.at(place, 0)) ?? 0;
}

export const lookups: Functions = {
  VLOOKUP: (call) => lookup(call, false),
  HLOOKUP: (call) => lookup(call, true),
  MATCH: match,
  INDEX: index,
  XLOOKUP: extendedLookup,
  ROW: (call) => (call.has(0) ? call.range(0).area.top : call.frame.cell.row),
  COLUMN: (call) => (call.has(0) ? call.range(0).area.left : call.frame.cell.column) + 1,
};
