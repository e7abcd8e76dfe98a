/** Functions of `@formulajs/formulajs` whose arguments are numbers, or lists of numbers. */
import * as formulajs from '@formulajs/formulajs';
import type { Call, FormulaFunction, Functions } from '../call.ts';
import { errorOf } from '../cell-values.ts';
import { checked, fail, FormulaError, leave } from '../operands.ts';

type Numbers = (...values: readonly (number | readonly number[])[]) => unknown;

function result(value: unknown): number {
  if (typeof value === 'number') return checked(value);
  if (value instanceof Error && /^#[A-Z0-9/]+[!?]?$/.test(value.message)) {
    throw new FormulaError(errorOf(value.message));
  }
  return leave('a result that is no number');
}

/** Beyond, the library loses digits or goes on for ever. */
const LARGEST = 1e15;

function run(name: string, values: readonly (number | readonly number[])[]): number {
  for (const value of values.flat()) if (Math.abs(value) > LARGEST) leave('a very large number');
  const call = (formulajs as unknown as Readonly<Record<string, Numbers>>)[name]!;
  return result(call(...values));
}

/** So many numbers; those that are not given are left to the library. */
function ofNumbers(name: string, least: number, most: number): FormulaFunction {
  return (call: Call) => {
    call.require(least, most);
    return run(
      name,
      call.trees.map((_, index) => call.number(index)),
    );
  };
}

/**
 * Rounds what a workbook shows of a number, its first 15 digits: 18.724999999999998 is 18.725 there. `round`: of a
 * number that is not negative.
 */
function ofRounding(round: (value: number) => number, least = 2): FormulaFunction {
  return (call: Call) => {
    call.require(least, 2);
    const [value, digits] = [call.number(0), call.integer(1)];
    if (Math.abs(value) > LARGEST || Math.abs(digits) > 15) leave('many digits');
    const [mantissa, exponent = '0'] = Math.abs(value).toPrecision(15).split('e');
    const scaled = Number(`${mantissa}e${Number(exponent) + digits}`);
    // There are no digits to round.
    if (scaled > LARGEST) return value;
    return checked(Math.sign(value) * Number(`${round(scaled)}e${-digits}`));
  };
}

/** Where a number is whole but for its last digits, programs differ. */
function ofWhole(name: string, count: number): FormulaFunction {
  const calculate = ofNumbers(name, count, count);
  return (call: Call) => {
    const value = count === 1 ? call.number(0) : call.number(0) / call.number(1);
    const distance = Math.abs(value - Math.round(value));
    if (distance > 0 && distance < 1e-9 * Math.max(1, Math.abs(value)))
      leave('a nearly whole number');
    return calculate(call);
  };
}

/** The numbers of all arguments as one list, at least so many. */
function ofList(name: string, least: number, error: string): FormulaFunction {
  return (call: Call) => {
    const numbers = [...call.numbers()];
    return numbers.length < least ? fail(error) : run(name, [numbers]);
  };
}

/** Where a quotient is whole but for the last digits, programs differ. */
function modulo(call: Call): number {
  call.require(2);
  const [value, divisor] = [call.number(0), call.number(1)];
  if (divisor === 0) fail('#DIV/0!');
  const quotient = value / divisor;
  if (Math.abs(quotient) > 1e9) leave('a large quotient');
  const whole = Math.round(quotient);
  if (quotient !== whole && Math.abs(quotient - whole) < 1e-9)
    leave('a quotient that is nearly whole');
  return quotient === whole ? 0 : value - divisor * Math.floor(quotient);
}

/** A list and a number. */
function ofListAndNumber(name: string): FormulaFunction {
  return (call: Call) => {
    call.require(2);
    return run(name, [[...call.numbers(0, 1)], call.number(1)]);
  };
}

const ONE_NUMBER =
  'ABS ACOS ASIN ATAN COS COSH DEGREES EXP FACT LN LOG10 RADIANS SIGN SIN SINH SQRT TAN TANH';
const TWO_NUMBERS = 'COMBIN POWER';
/** With the least count of numbers, and the error of fewer. */
const LISTS: Readonly<Record<string, readonly [name: string, least: number, error: string]>> = {
  MEDIAN: ['MEDIAN', 1, '#NUM!'],
  GEOMEAN: ['GEOMEAN', 1, '#NUM!'],
  DEVSQ: ['DEVSQ', 1, '#NUM!'],
  AVEDEV: ['AVEDEV', 1, '#NUM!'],
  GCD: ['GCD', 1, '#VALUE!'],
  LCM: ['LCM', 1, '#VALUE!'],
  STDEV: ['STDEVS', 2, '#DIV/0!'],
  'STDEV.S': ['STDEVS', 2, '#DIV/0!'],
  STDEVP: ['STDEVP', 1, '#DIV/0!'],
  'STDEV.P': ['STDEVP', 1, '#DIV/0!'],
  VAR: ['VARS', 2, '#DIV/0!'],
  'VAR.S': ['VARS', 2, '#DIV/0!'],
  VARP: ['VARP', 1, '#DIV/0!'],
  'VAR.P': ['VARP', 1, '#DIV/0!'],
};
const LISTS_AND_NUMBERS: Readonly<Record<string, string>> = {
  PERCENTILE: 'PERCENTILEINC',
  'PERCENTILE.INC': 'PERCENTILEINC',
  QUARTILE: 'QUARTILEINC',
  'QUARTILE.INC': 'QUARTILEINC',
};

function arcTangent(x: number, y: number): number {
  return x === 0 && y === 0 ? fail('#DIV/0!') : Math.atan2(y, x);
}

const named = (
  names: string,
  make: (name: string) => FormulaFunction,
): [string, FormulaFunction][] => names.split(' ').map((name) => [name, make(name)]);

export const libraryFunctions: Functions = Object.fromEntries([
  ...named(ONE_NUMBER, (name) => ofNumbers(name, 1, 1)),
  ...named(TWO_NUMBERS, (name) => ofNumbers(name, 2, 2)),
  ...Object.entries(LISTS).map(
    ([name, [own, least, error]]) => [name, ofList(own, least, error)] as const,
  ),
  ['ROUND', ofRounding((value) => Math.floor(value + 0.5))],
  ['ROUNDUP', ofRounding(Math.ceil)],
  ['ROUNDDOWN', ofRounding(Math.floor)],
  ['TRUNC', ofRounding(Math.floor, 1)],
  ...named('INT EVEN ODD', (name) => ofWhole(name, 1)),
  ['QUOTIENT', ofWhole('QUOTIENT', 2)],
  ['MOD', modulo],
  ['ATAN2', (call: Call) => arcTangent(call.number(0), call.number(1))],
  ...Object.entries(LISTS_AND_NUMBERS).map(([name, own]) => [name, ofListAndNumber(own)] as const),
  ['PI', ofNumbers('PI', 0, 0)],
  ['LOG', ofNumbers('LOG', 1, 2)],
  ['PMT', ofNumbers('PMT', 3, 5)],
  ['PV', ofNumbers('PV', 3, 5)],
  ['FV', ofNumbers('FV', 3, 5)],
  ['NPER', ofNumbers('NPER', 3, 5)],
  ['IPMT', ofNumbers('IPMT', 4, 6)],
  ['PPMT', ofNumbers('PPMT', 4, 6)],
  ['SLN', ofNumbers('SLN', 3, 3)],
  ['NPV', (call: Call) => run('NPV', [call.number(0), [...call.numbers(1)]])],
]);
