/**
 * What `search` and `join` share: which source `--model` means, and lists of columns and sort keys.
 */
import type { SourceName } from './command.ts';
import { compileExpression, typeOfExpression, type ExpressionContext } from './evaluate.ts';
import { parseFlagExpression } from './flag-expression.ts';
import type { Flag } from './flag-arguments.ts';
import type { FlagValues } from './flag-values.ts';
import type { SortKey } from './operator.ts';
import { Problem, unknownName, type Place } from './problem.ts';
import type { Schema } from './schema.ts';
import type { MadeColumn } from './shape.ts';
import { textOf, type Value } from './value.ts';

/** Flags of a search that both commands have. */
export const MODEL_FLAGS: readonly Flag[] = [
  {
    name: 'model',
    type: 'text',
    default: 'events.Event',
    help: 'events.Event, audit.Entry or dataset.<name>',
  },
  { name: 'using', type: 'text', choices: ['default'], default: 'default', help: 'only default' },
  {
    name: 'filter',
    type: 'condition',
    isRepeatable: true,
    help: 'keep rows where path__lookup=value holds',
  },
  {
    name: 'exclude',
    type: 'condition',
    isRepeatable: true,
    help: 'drop rows where path__lookup=value holds',
  },
  { name: 'select', type: 'list', help: 'columns to show, or name=expression' },
  { name: 'limit', type: 'int', help: 'at most so many rows' },
];

const MODELS = ['events.Event', 'audit.Entry', 'dataset.<name>'] as const;

/** The source `--model` names; null when it was not given. Throws `unknown_source`, `bad_value`. */
export function modelSource(flags: FlagValues): SourceName | null {
  const model = flags.text('model');
  if (model === null) return null;
  const place = flags.placeOf('model');
  const dot = model.indexOf('.');
  if (dot < 0) throw new Problem('bad_value', "--model must be 'app_label.ModelName'", { place });
  const family = model.slice(0, dot);
  const name = model.slice(dot + 1);
  if (family === 'dataset' && name !== '') return { kind: 'dataset', name };
  if (family === 'events' && name.toLowerCase() === 'event') return { kind: 'events' };
  if (family === 'audit' && name.toLowerCase() === 'entry') return { kind: 'audit' };
  throw new Problem('unknown_source', `Unknown model '${model}'`, {
    place,
    suggestion: unknownName(model, MODELS.slice(0, 2)).suggestion,
    allowed: MODELS,
    listsAllowed: true,
  });
}

/** Columns of `--select`: names and `alias=expr`, in order. */
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
      throw new Problem(
        'bad_value',
        `Expression '${text}' needs an alias (name=<${'x'}>)`.replace('<x>', text),
        { place },
      );
    }
    return {
      name: alias,
      type: typeOfExpression(expression, schema, 'flag'),
      get: compileExpression(expression, context),
    };
  });
}

/** Sort keys of a list: a column by its full name, else a leading minus means downwards. */
export function sortKeys(names: readonly string[], schema: Schema, place: Place): SortKey[] {
  return names.map((name) => {
    const isDescending = !schema.has(name) && name.startsWith('-');
    const { get } = schema.require(isDescending ? name.slice(1) : name, 'flag', place);
    return { get, isDescending };
  });
}
