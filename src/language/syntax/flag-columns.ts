import {
  compileExpression,
  typeOfExpression,
  type ExpressionContext,
} from '../expressions/evaluate.ts';
import { parseFlagExpression } from './flag-expression.ts';
import type { SortKey } from '../run/operator.ts';
import { Problem, type Place } from './problem.ts';
import type { Schema } from '../run/schema.ts';
import type { MadeColumn } from '../run/shape.ts';
import { textOf, type Value } from '../expressions/value.ts';

export function selectedColumns(
  items: readonly Value[],
  context: ExpressionContext,
  place: Place,
): MadeColumn[] {
  return items.map((item) => {
    const text = textOf(item) ?? 'None';
    const { schema } = context;
    const reference = typeof item === 'string' ? schema.find(text, 'flag') : null;
    if (reference && (schema.has(text) || !(schema.isOpen && /[=(]/.test(text)))) {
      return { name: text, type: reference.type, get: reference.get };
    }
    if (!/[=(]/.test(text)) schema.require(text, 'flag', place);
    const { alias, expression } = parseFlagExpression(text, place);
    if (alias === null) {
      throw new Problem('bad_value', `Expression '${text}' needs an alias (name=${text})`, {
        place,
      });
    }
    return {
      name: alias,
      type: typeOfExpression(expression, schema, 'flag'),
      get: compileExpression(expression, context),
    };
  });
}

/** A name with a leading minus that is itself a column is that column; else the minus means descending. */
export function sortKeys(names: readonly string[], schema: Schema, place: Place): SortKey[] {
  return names.map((name) => {
    const isDescending = !schema.has(name) && name.startsWith('-');
    const { get } = schema.require(isDescending ? name.slice(1) : name, 'flag', place);
    return { get, isDescending };
  });
}
