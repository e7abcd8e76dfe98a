/**
 * What a function of expressions is, in both forms of the language, and what their tables are written with.
 */
import type { Place } from './problem.ts';
import { doubleOf, finite, type Row, textOf, type Value } from './value.ts';

/** A compiled expression. */
export type Evaluate = (row: Row) => Value;

/** What is the same for all rows of a run. */
interface CallSite {
  readonly now: string;
  readonly place: Place;
}

/** A function of expressions. */
export interface FunctionDefinition {
  /** Arguments as the reference shows them. */
  readonly args: string;
  readonly least: number;
  readonly most: number;
  readonly summary: string;
  /** Called with null arguments, too. */
  readonly takesNull?: boolean;
  readonly call?: (args: readonly Value[], site: CallSite) => Value;
  /** In place of `call`, for functions that do not need all their arguments. */
  readonly lazy?: (args: readonly Evaluate[]) => Evaluate;
  /** Position of an argument that is a regular expression; checked before rows are read when it is constant. */
  readonly pattern?: number;
  /** For a time as the argument: it may as well be rounded down to a multiple of so many microseconds. */
  readonly step?: { readonly micros: number };
}

/** What a function gives for its arguments. */
export type Call = NonNullable<FunctionDefinition['call']>;

/** A function in one line of a table. */
export function define(
  args: string,
  least: number,
  most: number,
  summary: string,
  call: Call,
  rest: Partial<FunctionDefinition> = {},
): FunctionDefinition {
  return { args, least, most, summary, call, ...rest };
}

/** An argument as text; `''` for null and for one that is missing. */
export function text(value: Value | undefined): string {
  return textOf(value ?? null) ?? '';
}

/** A function of one number; null for what is no number, and where the result is none. */
export function onNumber(calculateOne: (x: number) => number): Call {
  return ([x]) => {
    const number = doubleOf(x!);
    return number === null ? null : finite(calculateOne(number));
  };
}
