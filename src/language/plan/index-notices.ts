/** Notices for indexes a query names and the caller may not read. */
import type { Terms } from '../syntax/ast.ts';
import type { StageContext } from '../command.ts';
import type { Condition } from '../expressions/condition.ts';
import { fillText } from '../syntax/placeholder.ts';
import type { Schema } from '../run/schema.ts';
import { isArray, type Value } from '../expressions/value.ts';

const INDEX = 'index';

export function noteIndexes(condition: Condition, schema: Schema, context: StageContext): void {
  const { reference, lookup, operand } = condition;
  const isOnIndex = reference.column !== null && schema.columns[reference.column]!.name === INDEX;
  if (!isOnIndex || (lookup !== 'exact' && lookup !== 'in')) return;
  const values: readonly Value[] = isArray(operand) ? operand : [operand];
  for (const value of values) if (typeof value === 'string') noteIndex(value, context);
}

export function noteTermIndexes(terms: Terms, schema: Schema, context: StageContext): void {
  if (schema.indexOf(INDEX) < 0) return;
  const visit = (item: Terms): void => {
    if ('items' in item) item.items.forEach(visit);
    if (item.kind !== 'compare' || item.op !== '=' || item.field.text !== INDEX) return;
    for (const value of item.values) {
      const text = fillText(value.text, context.parameters, value.place);
      if (value.isQuoted || !text.includes('*')) noteIndex(text, context);
    }
  };
  visit(terms);
}

function noteIndex(name: string, context: StageContext): void {
  if (context.readableIndexes() === null || context.readableIndexes()!.includes(name)) return;
  context.notice(`index '${name}' is not readable or does not exist`);
}
