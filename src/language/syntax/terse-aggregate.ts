/** `count`, `avg(bytes) AS mean`, `sum(qty*price)`, `count(eval(code>=400))`. */
import {
  countTrue,
  terseAggregate,
  terseAggregates,
  useOfAggregate,
  type AccumulatorFactory,
} from '../expressions/aggregates.ts';
import type { AggregateCall, Word } from './ast.ts';
import { expressionContext, type StageContext } from '../command.ts';
import { compileExpression } from '../expressions/evaluate.ts';
import { parseExpression, printExpression, printName } from '../expressions/expression.ts';
import { Problem, unknownName } from './problem.ts';
import { isSpelledFreely, type Schema } from '../run/schema.ts';
import type { TerseReader } from './terse-reader.ts';
import type { Evaluate } from '../expressions/value.ts';

export interface AggregateArguments {
  readonly aggregates: readonly AggregateCall[];
  readonly by: readonly Word[];
}

/** Up to BY, one of the options or the end, then the fields after BY. Throws `syntax`. */
export function parseAggregates(
  reader: TerseReader,
  options: readonly string[] = [],
): AggregateArguments {
  const aggregates: AggregateCall[] = [];
  do {
    aggregates.push(parseAggregate(reader));
    reader.take(',');
  } while (!reader.isAtEnd() && !reader.isKeyword('BY') && !reader.isOption(options));
  const by = reader.takeKeyword('BY') ? parseNames(reader, [], options) : [];
  return { aggregates, by };
}

/** Up to the end, a keyword or one of the options, separated by commas or space. Throws `syntax`. */
export function parseNames(
  reader: TerseReader,
  until: readonly string[] = [],
  options: readonly string[] = [],
): Word[] {
  const names: Word[] = [];
  do {
    names.push(reader.name({ inList: true }));
    reader.take(',');
  } while (
    !reader.isAtEnd() &&
    !until.some((word) => reader.isKeyword(word)) &&
    !reader.isOption(options) &&
    !'[='.includes(reader.peek())
  );
  return names;
}

function parseAggregate(reader: TerseReader): AggregateCall {
  const name = reader.takeIdent();
  if (name === null) throw reader.expected('an aggregate');
  let argument: AggregateCall['argument'] = { kind: 'none' };
  const hasParentheses = reader.text[reader.at] === '(' && reader.take('(');
  if (hasParentheses && !reader.take(')')) {
    argument = parseArgument(reader);
    if (!reader.take(')')) throw reader.expected("')'");
  }
  return { name, argument, alias: reader.alias(), hasParentheses };
}

function parseArgument(reader: TerseReader): AggregateCall['argument'] {
  reader.skip();
  const { at } = reader;
  const field = reader.takeName({ inList: true });
  if (field !== null && reader.peek() === ')') return { kind: 'field', field };
  reader.at = at;
  const isEval = reader.takeKeyword('EVAL') && reader.take('(');
  const from = isEval ? reader.at : (reader.at = at);
  const expression = parseExpression(reader);
  const source = withoutSpaces(reader.text.slice(from, reader.at));
  if (isEval && !reader.take(')')) throw reader.expected("')'");
  // In parentheses of its own it is a name all the same.
  if (!isEval && expression.kind === 'name')
    return { kind: 'field', field: { text: expression.name, place: expression.place } };
  return { kind: 'expression', expression, source, isEval };
}

function withoutSpaces(source: string): string {
  return source.replace(/("(?:\\.|[^"\\])*"|'[^']*')|\s+/g, (_whole, text?: string) => text ?? '');
}

export function printAggregates({ aggregates, by }: AggregateArguments): string {
  const calls = aggregates.map(({ name, argument, alias, hasParentheses }) => {
    const call = hasParentheses ? `${name.text}(${printArgument(argument)})` : name.text;
    return alias === null ? call : `${call} AS ${printName(alias)}`;
  });
  return calls.join(', ') + (by.length === 0 ? '' : ` BY ${printNames(by)}`);
}

function printArgument(argument: AggregateCall['argument']): string {
  if (argument.kind === 'none') return '';
  if (argument.kind === 'field') return printName(argument.field.text);
  const inner = printExpression(argument.expression);
  return argument.isEval ? `eval(${inner})` : inner;
}

export function printNames(names: readonly Word[]): string {
  return names.map(({ text }) => printName(text)).join(', ');
}

export interface BoundAggregate {
  readonly name: string;
  readonly label: string;
  readonly factory: AccumulatorFactory;
  /** In lower case, without percentile numbers. */
  readonly kind: string;
}

/** Throws `unknown_aggregate`, `unknown_column`. */
export function bindAggregate(
  call: AggregateCall,
  input: Schema,
  context: StageContext,
): BoundAggregate {
  const { argument } = call;
  const kind = call.name.text.toLowerCase();
  const { place } = call.name;
  const definition = terseAggregate(kind);
  if (definition === null) {
    const names = [...terseAggregates.keys()];
    throw new Problem('unknown_aggregate', `Unknown aggregate '${call.name.text}'`, {
      place,
      suggestion: unknownName(kind, names).suggestion,
      allowed: names,
    });
  }
  if (argument.kind === 'none' && kind !== 'count') {
    const text = `Aggregate '${call.name.text}' needs a field in parentheses`;
    throw new Problem('unknown_aggregate', text, { place });
  }
  const label = defaultName(kind, argument);
  const name = call.alias ?? label;
  let get: Evaluate | null = null;
  if (argument.kind === 'field') {
    const { text, place: at } = argument.field;
    const reference = input.require(text, 'terse', at, useOfAggregate(kind));
    ({ get } = reference);
    if ((kind === 'min' || kind === 'max') && isSpelledFreely(reference))
      context.notice(
        `${label} compares texts, not times; bin span=1s ${printName(text)} AS t makes times`,
      );
  } else if (argument.kind === 'expression') {
    get = compileExpression(argument.expression, expressionContext(input, 'terse', context));
    if (kind === 'count') return { name, label, kind, factory: countTrue(get, argument.isEval) };
  }
  const time = definition.needsTime ? input.require('_time', 'terse', place).get : null;
  return { name, label, kind, factory: definition.make({ get, time }) };
}

function defaultName(kind: string, argument: AggregateCall['argument']): string {
  if (argument.kind === 'none') return kind;
  const inner =
    argument.kind === 'field'
      ? argument.field.text
      : argument.isEval
        ? `eval(${argument.source})`
        : argument.source;
  return `${kind}(${inner})`;
}
