import { expressionContext, type StageContext } from '../command.ts';
import {
  countRows,
  flagAggregate,
  flagAggregateNames,
  terseAggregate,
  useOfAggregate,
  type AccumulatorFactory,
} from '../expressions/aggregates.ts';
import { compileExpression, requireCount } from '../expressions/evaluate.ts';
import { FLAG_FUNCTIONS } from '../expressions/functions.ts';
import type { Schema } from '../run/schema.ts';
import { parseFlagExpression } from './flag-expression.ts';
import { Problem, unknownName, type Place } from './problem.ts';

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
  const { expression: call } = parseFlagExpression(text, place);
  if (call.kind !== 'call') return null;
  const name = call.name.toLowerCase();
  const known = flagAggregate(name);
  if (known === null) {
    const names = [...FLAG_FUNCTIONS, ...flagAggregateNames];
    if (names.includes(call.name)) return null;
    throw new Problem('unknown_function', `Unknown function '${call.name}'`, {
      place,
      ...unknownName(call.name, names),
    });
  }
  if (name === 'count' && call.args.length === 0) return { factory: countRows, name, field: '' };
  requireCount(call, 1);
  const argument = call.args[0]!;
  const distinct = call.named.find((one) => one.name === 'distinct')?.value;
  const isDistinct = name === 'count' && distinct?.kind === 'value' && distinct.value === true;
  const terse = isDistinct ? 'dc' : known.terse;
  const get =
    argument.kind === 'name'
      ? input.require(argument.name, 'flag', argument.place, useOfAggregate(terse)).get
      : compileExpression(argument, expressionContext(input, 'flag', context));
  return {
    factory: terseAggregate(terse)!.make({ get, time: null }),
    name,
    field: fieldText(text),
  };
}

function fieldText(text: string): string {
  const inner = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
  const first = inner.split(',')[0]!.trim();
  return /^(["']).*\1$/.test(first) ? first.slice(1, -1) : first;
}
