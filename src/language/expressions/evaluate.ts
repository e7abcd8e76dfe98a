/**
 * Compiled for rows of one schema. Names, functions, argument counts and constant patterns are checked before any row
 * is read.
 */
import type { Expression, Form } from '../syntax/ast.ts';
import { flagAggregate } from './aggregates.ts';
import { calculate, combine, compare, invert } from './arithmetic.ts';
import { conditionTest, readCondition } from './condition.ts';
import { casts, FLAG_FUNCTIONS, type FunctionDefinition, functions } from './functions.ts';
import { likeTest, requirePattern } from './patterns.ts';
import { fillValue, type Parameters } from '../syntax/placeholder.ts';
import { foreignFunction } from '../syntax/foreign-words.ts';
import { Problem, unknownName, type Place } from '../syntax/problem.ts';
import {
  cellTypeOf,
  type CellType,
  isOfDates,
  type Schema,
  timeOfColumn,
  timeReader,
} from '../run/schema.ts';
import { doubleOf, type Evaluate, finite, jsonOf, textOf, type Value } from './value.ts';

export interface ExpressionContext {
  readonly schema: Schema;
  readonly form: Form;
  readonly parameters: Parameters;
  readonly now: string;
}

export function compileExpression(expression: Expression, context: ExpressionContext): Evaluate {
  switch (expression.kind) {
    case 'value': {
      const { value } = expression;
      return () => value;
    }
    case 'text': {
      const value = fillValue(expression.text, context.parameters, expression.place);
      return () => value;
    }
    case 'name':
      return context.schema.require(expression.name, context.form, expression.place).get;
    case 'unary':
      return unary(expression.op, compileExpression(expression.operand, context));
    case 'binary':
      return binary(expression, context);
    case 'in':
      return membership(expression, context);
    case 'null-test': {
      const operand = compileExpression(expression.operand, context);
      return (row) => (operand(row) === null) !== expression.isNegated;
    }
    case 'call':
      return context.form === 'flag'
        ? flagCall(expression, context)
        : terseCall(expression, context);
  }
}

export function compileColumn(
  expression: Expression,
  context: ExpressionContext,
): CellType & { readonly get: Evaluate } {
  const get = compileExpression(expression, context);
  return { get, ...typeOfExpression(expression, context) };
}

/** The type of the column it copies, else json. */
function typeOfExpression(expression: Expression, { schema, form }: ExpressionContext): CellType {
  const isReference = expression.kind === 'call' && expression.name === 'F' && form === 'flag';
  const copied = isReference ? expression.args[0] : expression;
  const found = copied?.kind === 'name' ? schema.find(copied.name, form) : null;
  return cellTypeOf(found ?? { type: 'json' });
}

function unary(op: string, operand: Evaluate): Evaluate {
  if (op === '~') return (row) => invert(operand(row));
  if (op === 'NOT') {
    return (row) => {
      const value = operand(row);
      return typeof value === 'boolean' ? !value : null;
    };
  }
  return (row) => {
    const value = operand(row);
    if (typeof value === 'bigint') return -value;
    const number = typeof value === 'string' || typeof value === 'number' ? doubleOf(value) : null;
    return number === null ? null : finite(-number);
  };
}

function binary(
  { op, left, right }: Extract<Expression, { kind: 'binary' }>,
  context: ExpressionContext,
): Evaluate {
  const a = compileExpression(left, context);
  const b = compileExpression(right, context);
  switch (op) {
    case 'AND':
      return (row) => logic(false, a(row), () => b(row));
    case 'OR':
      return (row) => logic(true, a(row), () => b(row));
    case '&':
    case '|':
      return (row) => combine(op, a(row), b(row));
    case 'LIKE':
      return (row) => {
        const text = textOf(a(row));
        const pattern = textOf(b(row));
        return text === null || pattern === null ? null : likeTest(pattern)(text);
      };
    case '=':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=': {
      const compared = comparing([left, right], context);
      return (row) => compared(op, a(row), b(row));
    }
    default:
      return (row) => calculate(op, a(row), b(row));
  }
}

/** Texts that are dates compare as times with a column of dates among the operands. */
function comparing(
  operands: readonly Expression[],
  { schema, form }: ExpressionContext,
): typeof compare {
  for (const operand of operands) {
    const found = operand.kind === 'name' ? schema.find(operand.name, form) : null;
    const read = found && timeReader(found);
    if (!read) continue;
    const timeIn = (value: Value): string | null =>
      typeof value === 'string' ? read(value) : null;
    return (op, a, b) => {
      const [left, right] = [timeIn(a), timeIn(b)];
      if (left === null && right === null) return compare(op, a, b);
      if (left !== null && right !== null) return compare(op, left, right);
      // A blank cell is neither before nor after a time.
      const isOrder = op !== '=' && op !== '!=';
      return isOrder || a === null || b === null ? null : op === '!=';
    };
  }
  return compare;
}

/** Of three values; `decides` is the one that decides alone: false for AND, true for OR. */
function logic(decides: boolean, left: Value, right: () => Value): Value {
  if (left === decides) return decides;
  const other = right();
  if (other === decides) return decides;
  return typeof left === 'boolean' && typeof other === 'boolean' ? !decides : null;
}

function membership(
  { operand, list, isNegated }: Extract<Expression, { kind: 'in' }>,
  context: ExpressionContext,
): Evaluate {
  const value = compileExpression(operand, context);
  const members = list.map((member) => compileExpression(member, context));
  const compared = comparing([operand], context);
  return (row) => {
    const one = value(row);
    let result: Value = false;
    for (const member of members) {
      result = logic(true, result, () => compared('=', one, member(row)));
      if (result === true) break;
    }
    return result === null ? null : result !== isNegated;
  };
}

type Call = Extract<Expression, { kind: 'call' }>;

function unknownFunction(name: string, names: Iterable<string>, place: Place): Problem {
  const { suggestion, allowed } = unknownName(name, names);
  return new Problem('unknown_function', `Unknown function '${name}'`, {
    place,
    suggestion: suggestion ?? foreignFunction(name),
    allowed,
  });
}

function terseCall(call: Call, context: ExpressionContext): Evaluate {
  const definition = functions.terse.get(call.name);
  if (!definition) throw unknownFunction(call.name, functions.terse.keys(), call.place);
  return applied(definition, call, context);
}

function applied(definition: FunctionDefinition, call: Call, context: ExpressionContext): Evaluate {
  const { least, most } = definition;
  const count = call.args.length;
  if (call.name === 'case' && count % 2 === 1) throw wrongCount(call, 'an even number of');
  if (count < least || count > most || call.named.length > 0) {
    const range = most >= 100 ? `at least ${least}` : `${least} to ${most}`;
    throw wrongCount(call, least === most ? String(least) : range);
  }
  const { step } = definition;
  const names = definition.args.split(/[[\], ]+/);
  const args = call.args.map((arg, at) => {
    if (arg.kind !== 'name') return compileExpression(arg, context);
    const { schema, form } = context;
    const reference = schema.require(arg.name, form, arg.place, step?.() ?? 'value');
    return names[at] === 't' && isOfDates(reference) ? timeOfColumn(reference) : reference.get;
  });
  if (definition.lazy) return definition.lazy(args);
  checkPattern(definition, call, context);
  const site = { now: context.now, place: call.place };
  const run = definition.call!;
  if (definition.takesNull)
    return (row) =>
      run(
        args.map((arg) => arg(row)),
        site,
      );
  return (row) => {
    const values: Value[] = [];
    for (const arg of args) {
      const value = arg(row);
      if (value === null) return null;
      values.push(value);
    }
    return run(values, site);
  };
}

function checkPattern(
  { pattern }: FunctionDefinition,
  call: Call,
  context: ExpressionContext,
): void {
  const arg = pattern === undefined ? undefined : call.args[pattern];
  if (arg?.kind !== 'text') return;
  const value = fillValue(arg.text, context.parameters, arg.place);
  if (value !== null) requirePattern(textOf(value)!, arg.place);
}

function flagCall(call: Call, context: ExpressionContext): Evaluate {
  const { name, place } = call;
  const aggregate = flagAggregate(name);
  if (aggregate !== null) {
    const text = `${aggregate.name} is an aggregate and cannot be used here`;
    throw new Problem('bad_value', text, { place });
  }
  const special = SPECIAL_CALLS[name];
  if (special && Object.hasOwn(SPECIAL_CALLS, name)) return special(call, context);
  const definition = functions.flag.get(name);
  if (definition) return applied(definition, call, context);
  throw unknownFunction(name, FLAG_FUNCTIONS, place);
}

export function requireCount(call: Call, expected: number): void {
  if (call.args.length !== expected) throw wrongCount({ ...call, named: [] }, String(expected));
}

function wrongCount({ name, args, named, place }: Call, expected: string): Problem {
  const text = `Function '${name}' expects ${expected} argument(s), got ${args.length + named.length}`;
  return new Problem('bad_value', text, { place });
}

function only(call: Call, context: ExpressionContext): Evaluate {
  requireCount(call, 1);
  return compileExpression(call.args[0]!, context);
}

const SPECIAL_CALLS: Readonly<
  Record<string, (call: Call, context: ExpressionContext) => Evaluate>
> = {
  F: only,
  Value: only,
  KT: (call, context) => {
    const value = only(call, context);
    return (row) => textOf(value(row));
  },
  Q: (call, context) => {
    const tests = call.named.map(({ name, value }) => {
      const literal =
        value.kind === 'text'
          ? value.text
          : value.kind === 'name'
            ? value.name
            : constantText(value, context);
      const quoted = value.kind === 'text' ? jsonOf(literal) : literal;
      return conditionTest(readCondition(name, quoted, { ...context, place: call.place }));
    });
    return (row) => tests.every((test) => test(row));
  },
  JSONObject: (call, context) => {
    const members = call.named.map(({ name, value }) => ({
      name,
      value: compileExpression(value, context),
    }));
    return (row) => Object.fromEntries(members.map(({ name, value }) => [name, value(row)]));
  },
  ExpressionWrapper: (call, context) => {
    requireCount(call, 1);
    const type = call.named.find(({ name }) => name === 'output_field')?.value;
    const name = type?.kind === 'name' || type?.kind === 'call' ? type.name : '';
    if (!Object.hasOwn(casts, name)) {
      throw new Problem('bad_value', `Unknown output_field '${name}'`, {
        place: call.place,
        ...unknownName(name, Object.keys(casts)),
        listsAllowed: true,
      });
    }
    const cast = casts[name]!;
    const value = compileExpression(call.args[0]!, context);
    return (row) => {
      const given = value(row);
      return given === null ? null : cast(given);
    };
  },
};

function constantText(expression: Expression, context: ExpressionContext): string {
  return jsonOf(compileExpression(expression, context)([]));
}
