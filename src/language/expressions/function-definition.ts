import type { Place } from '../syntax/problem.ts';
import { doubleOf, finite, type Row, textOf, type Value } from './value.ts';

export type Evaluate = (row: Row) => Value;

interface CallSite {
  readonly now: string;
  readonly place: Place;
}

export interface FunctionDefinition {
  readonly args: string;
  readonly least: number;
  readonly most: number;
  readonly summary: string;
  /** Without it a null argument makes the result null. */
  readonly takesNull?: boolean;
  readonly call?: (args: readonly Value[], site: CallSite) => Value;
  /** For functions that do not evaluate all their arguments. */
  readonly lazy?: (args: readonly Evaluate[]) => Evaluate;
  /** Position of the argument that is a regular expression; a constant one is checked before rows are read. */
  readonly pattern?: number;
  /** For a time argument: rounding it down to a multiple of so many microseconds does not change the result. */
  readonly step?: () => { readonly micros: number };
}

export type Call = NonNullable<FunctionDefinition['call']>;

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

/** `''` for null and for a missing argument. */
export function text(value: Value | undefined): string {
  return textOf(value ?? null) ?? '';
}

/** Null for what is no number, and where the result is none. */
export function onNumber(calculateOne: (x: number) => number): Call {
  return ([x]) => {
    const number = doubleOf(x!);
    return number === null ? null : finite(calculateOne(number));
  };
}
