import type { Evaluate } from '../expressions/value.ts';
import {
  flagAggregates,
  useOfAggregate,
  type AccumulatorFactory,
} from '../expressions/aggregates.ts';
import type { Expression } from './ast.ts';
import { expressionContext, type StageContext } from '../command.ts';
import { compileExpression, FLAG_AGGREGATES } from '../expressions/evaluate.ts';
import { parseFlagExpression } from './flag-expression.ts';
import { FLAG_FUNCTIONS } from '../expressions/functions.ts';
import { Problem, unknownName, type Place } from './problem.ts';
import type { Schema } from '../run/schema.ts';

interface FlagAggregate {
  readonly factory: AccumulatorFactory;
  readonly name: string;
  /** As written; empty for a bare count. */
  readonly field: string;
}

/** Null for a call of another known function; throws for everything else. */
export function parseFlagAggregate(
  text: string,
  input: Schema,
  context: StageContext,
  place: Place,
): FlagAggregate | null {
  const { expression } = parseFlagExpression(text, place);
  if (expression.kind !== 'call') return null;
  const name = expression.name.toLowerCase();
  if (!FLAG_AGGREGATES.has(name)) {
    const names = [...FLAG_FUNCTIONS, ...FLAG_AGGREGATES.values()];
    if (names.includes(expression.name)) return null;
    throw new Problem('unknown_function', `Unknown function '${expression.name}'`, {
      place,
      ...unknownName(expression.name, names),
    });
  }
  const [argument] = expression.args;
  if (argument === undefined ? name !== 'count' : expression.args.length > 1) {
    const message = `Function '${expression.name}' expects 1 argument(s), got ${expression.args.length}`;
    throw new Problem('bad_value', message, { place });
  }
  const isDistinct = name === 'count' && argument !== undefined && isTrue(expression, 'distinct');
  const get =
    argument === undefined
      ? null
      : getter(argument, input, context, isDistinct ? 'distinct' : name);
  const make = flagAggregates[isDistinct ? 'distinct' : name]!;
  return { factory: make({ get, time: null }), name, field: argument ? fieldText(text) : '' };
}

function getter(
  argument: Expression,
  input: Schema,
  context: StageContext,
  aggregate: string,
): Evaluate {
  if (argument.kind === 'name')
    return input.require(argument.name, 'flag', argument.place, useOfAggregate(aggregate)).get;
  return compileExpression(argument, expressionContext(input, 'flag', context));
}

function isTrue(call: Extract<Expression, { kind: 'call' }>, name: string): boolean {
  const value = call.named.find((one) => one.name === name)?.value;
  return value?.kind === 'value' && value.value === true;
}

function fieldText(text: string): string {
  const inner = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
  const first = inner.split(',')[0]!.trim();
  return /^(["']).*\1$/.test(first) ? first.slice(1, -1) : first;
}
