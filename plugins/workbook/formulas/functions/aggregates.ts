/** Functions over the cells of ranges. */
import type { Call, Functions } from '../call.ts';
import { CellError, type Value } from '../cell-values.ts';
import {
  CellRange,
  checked,
  fail,
  FormulaError,
  leave,
  leaveTruth,
  Matrix,
  sum,
  toNumber,
} from '../operands.ts';
import { criterionOf } from './criteria.ts';

function total(numbers: Iterable<number>): number {
  let result = 0;
  for (const number of numbers) result = sum(result, number);
  return checked(result);
}

function average(numbers: readonly number[]): number {
  return numbers.length === 0 ? fail('#DIV/0!') : total(numbers) / numbers.length;
}

function extreme(numbers: Iterable<number>, isBetter: (a: number, b: number) => boolean): number {
  let best: number | null = null;
  for (const number of numbers) if (best === null || isBetter(number, best)) best = number;
  return best ?? 0;
}

const most = (numbers: Iterable<number>): number => extreme(numbers, (a, b) => a > b);
const least = (numbers: Iterable<number>): number => extreme(numbers, (a, b) => a < b);

/** Values of which a function counts, in all arguments. */
function counted(call: Call, isCounted: (value: Value, isDirect: boolean) => boolean): number {
  let count = 0;
  for (let index = 0; index < call.count; index++) {
    const operand = safely(call, index);
    if (operand instanceof CellRange || operand instanceof Matrix) {
      for (const { value } of operand.filled()) if (isCounted(value, false)) count++;
    } else if (isCounted(operand, true)) count++;
  }
  return count;
}

function safely(call: Call, index: number): ReturnType<Call['operand']> {
  try {
    return call.operand(index);
  } catch (error) {
    if (error instanceof FormulaError) return error.error;
    throw error;
  }
}

function isNumberLike(value: Value, isDirect: boolean): boolean {
  if (typeof value === 'number') return true;
  if (typeof value === 'boolean') leaveTruth();
  if (!isDirect || value instanceof CellError) return false;
  return typeof value === 'string' ? leave('a text that may be a number') : true;
}

interface Match {
  /** The range of the first condition; all have its size. */
  readonly like: CellRange;
  readonly isMatch: (row: number, column: number) => boolean;
}

/** The cells for which all conditions hold: pairs of a range and a criterion. */
function matching(call: Call, first: number, last = call.count): Match {
  const like = call.range(first);
  const conditions: { readonly onBlank: boolean; readonly differing: ReadonlySet<number> }[] = [];
  for (let index = first; index + 1 < last; index += 2) {
    const range = call.range(index);
    if (range.height !== like.height || range.width !== like.width) fail('#VALUE!');
    const criterion = criterionOf(call.caught(index + 1));
    const onBlank = criterion(null);
    const differing = new Set<number>();
    for (const { row, column, value } of range.filled()) {
      if (criterion(value) !== onBlank) differing.add(row * range.width + column);
    }
    conditions.push({ onBlank, differing });
  }
  const isMatch = (row: number, column: number): boolean =>
    conditions.every(
      ({ onBlank, differing }) => differing.has(row * like.width + column) !== onBlank,
    );
  return { like, isMatch };
}

/** The numbers of `values` in the places of a match. */
function* selected(values: CellRange, { isMatch }: Match): Generator<number> {
  for (const { row, column, value } of values.filled()) {
    if (!isMatch(row, column)) continue;
    if (value instanceof CellError) throw new FormulaError(value);
    if (typeof value === 'number') yield value;
    else if (typeof value === 'boolean') leaveTruth();
  }
}

function countMatching(call: Call): number {
  const { isMatch, like } = matching(call, 0);
  const { height, width } = like;
  // Blank cells count too where the conditions hold for them.
  if (height * width > 1_100_000) leave('a range with too many cells');
  let count = 0;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) if (isMatch(row, column)) count++;
  }
  like.grid.steps.take(height * width);
  return count;
}

/** What is summed comes last, and is taken in the size of the range of the condition. */
const single =
  (combine: (numbers: number[]) => number) =>
  (call: Call): number => {
    call.require(2, 3);
    const match = matching(call, 0, 2);
    const { height, width } = match.like;
    const values = call.has(2) ? call.range(2).part(0, 0, height, width) : match.like;
    // A part beyond the range of the formula was not followed.
    const isWithin =
      !call.has(2) || (call.range(2).height >= height && call.range(2).width >= width);
    return isWithin ? combine([...selected(values, match)]) : leave('ranges of different sizes');
  };

const several =
  (combine: (numbers: number[]) => number) =>
  (call: Call): number => {
    if (call.count < 3 || call.count % 2 === 0) leave('the number of arguments');
    const values = call.range(0);
    const match = matching(call, 1);
    const { height, width } = match.like;
    if (values.height !== height || values.width !== width) fail('#VALUE!');
    return combine([...selected(values, match)]);
  };

function products(call: Call): number {
  const factors = call.trees.map((_, index) => call.array(index));
  const { height, width } = factors[0] ?? leave('the number of arguments');
  if (factors.some((one) => one.height !== height || one.width !== width)) fail('#VALUE!');
  let result = 0;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      let product = 1;
      for (const factor of factors) {
        const value = factor.at(row, column);
        if (value instanceof CellError) throw new FormulaError(value);
        // Texts are 0.
        if (typeof value === 'boolean') leaveTruth();
        product *= typeof value === 'number' ? value : 0;
      }
      result = sum(result, product);
    }
  }
  return checked(result);
}

const SUBTOTALS: Readonly<Record<number, (numbers: number[]) => number>> = {
  1: average,
  2: (numbers) => numbers.length,
  4: most,
  5: least,
  6: (numbers) => (numbers.length === 0 ? 0 : checked(numbers.reduce((a, b) => a * b, 1))),
  9: total,
};

/** A sheet with hidden rows is left to programs that know why they are hidden. */
function subtotal(call: Call): number {
  const kind = call.integer(0);
  const isCountOfAll = kind % 100 === 3;
  const combine = isCountOfAll
    ? null
    : (SUBTOTALS[kind > 100 ? kind - 100 : kind] ?? leave(`SUBTOTAL of the kind ${kind}`));
  let filled = 0;
  const numbers: number[] = [];
  for (let index = 1; index < call.count; index++) {
    const range = call.range(index);
    const { sheet, top, left } = range.area;
    if (call.frame.hasHiddenRows(sheet)) leave('hidden rows');
    for (const { row, column, value } of range.filled()) {
      if (call.frame.isSubtotal(sheet, top + row, left + column)) continue;
      filled++;
      if (isCountOfAll) continue;
      if (value instanceof CellError) throw new FormulaError(value);
      if (typeof value === 'number') numbers.push(value);
      else if (typeof value === 'boolean') leaveTruth();
    }
  }
  return combine === null ? filled : combine(numbers);
}

export const aggregates: Functions = {
  SUM: (call) => total(call.numbers()),
  AVERAGE: (call) => average([...call.numbers()]),
  MIN: (call) => least(call.numbers()),
  MAX: (call) => most(call.numbers()),
  PRODUCT: (call) => {
    const numbers = [...call.numbers()];
    return numbers.length === 0 ? 0 : checked(numbers.reduce((a, b) => a * b, 1));
  },
  SUMSQ: (call) => total([...call.numbers()].map((number) => number * number)),
  COUNT: (call) => counted(call, isNumberLike),
  COUNTA: (call) => counted(call, (value) => value !== null),
  COUNTBLANK: (call) => {
    call.require(1);
    const range = call.range(0);
    let filled = 0;
    for (const { value } of range.filled()) if (value !== '') filled++;
    return range.height * range.width - filled;
  },
  COUNTIF: (call) => {
    call.require(2);
    return countMatching(call);
  },
  COUNTIFS: (call) => {
    if (call.count < 2 || call.count % 2 !== 0) leave('the number of arguments');
    return countMatching(call);
  },
  SUMIF: single(total),
  AVERAGEIF: single(average),
  SUMIFS: several(total),
  AVERAGEIFS: several(average),
  MAXIFS: several(most),
  MINIFS: several(least),
  SUMPRODUCT: products,
  SUBTOTAL: subtotal,
  ROWS: (call) => call.table(0).height,
  COLUMNS: (call) => call.table(0).width,
  LARGE: (call) => ranked(call, (a, b) => b - a),
  SMALL: (call) => ranked(call, (a, b) => a - b),
  RANK: (call) => rank(call),
  'RANK.EQ': (call) => rank(call),
};

function ranked(call: Call, order: (a: number, b: number) => number): number {
  call.require(2);
  const numbers = [...call.numbers(0, 1)].sort(order);
  const place = call.number(1);
  if (place !== Math.trunc(place)) leave('a place between two');
  return numbers[place - 1] ?? fail('#NUM!');
}

function rank(call: Call): number {
  call.require(2, 3);
  const wanted = call.number(0);
  const numbers = [...call.numbers(1, 2)];
  if (!numbers.includes(wanted)) fail('#N/A');
  const isAscending = toNumber(call.has(2) ? call.scalar(2) : 0) !== 0;
  return numbers.filter((one) => (isAscending ? one < wanted : one > wanted)).length + 1;
}
