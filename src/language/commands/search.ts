import type { Terms, Word } from '../syntax/ast.ts';
import {
  defineCommand,
  expressionContext,
  type BoundStage,
  type SourceName,
  type StageContext,
} from '../command.ts';
import {
  type Condition,
  conditionTest,
  readCondition,
  splitCondition,
} from '../expressions/condition.ts';
import type { Flag } from '../syntax/flag-arguments.ts';
import type { FlagValues } from '../syntax/flag-values.ts';
import { chained, filtered, head, type Rows } from '../run/operator.ts';
import { type Place, Problem, unknownName } from '../syntax/problem.ts';
import type { Schema } from '../run/schema.ts';
import { projected, type MadeColumn } from '../run/shape.ts';
import { parseFlagExpression } from '../syntax/flag-expression.ts';
import { fillText } from '../syntax/placeholder.ts';
import { compileColumn, type ExpressionContext } from '../expressions/evaluate.ts';
import { isArray, textOf, type Value } from '../expressions/value.ts';
import { sortedBy } from './sort.ts';
import { parseTerms, printTerms } from '../syntax/terms.ts';
import { termsTest, timeRangeOf } from '../expressions/term-match.ts';

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

/** Events when none is given. */
export function modelSource(flags: FlagValues): SourceName {
  const model = flags.text('model');
  if (model === null) return { kind: 'events' };
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

export function searchStages(flags: FlagValues, input: Schema, context: StageContext): Rows {
  const steps: Rows[] = [];
  for (const flag of ['filter', 'exclude'] as const) {
    for (const word of flags.words(flag)) {
      const condition = conditionIn(word, input, context, `Invalid filter '${word.text}'`);
      if (flag === 'filter') noteIndexes(condition, input, context);
      const test = conditionTest(condition);
      steps.push(filtered(input, flag === 'filter' ? test : (row) => !test(row)));
    }
  }
  const order = flags.names('order-by');
  if (order && order.length > 0) {
    steps.push(sortedBy(order, input, flags.placeOf('order-by')!));
  }
  const limit = flags.count('limit');
  if (limit !== null) steps.push(head(input, limit));
  const select = flags.list('select');
  if (select && select.length > 0) {
    const place = flags.placeOf('select')!;
    steps.push(
      projected(input, selectedColumns(select, expressionContext(input, 'flag', context), place)),
    );
  }
  return chained(input, steps);
}

function conditionIn(
  { text, place }: Word,
  schema: Schema,
  { parameters }: StageContext,
  refusal: string,
  texts: { readonly unknownText?: (column: string) => string } = {},
): Condition {
  const cut = splitCondition(text);
  if (cut !== null) {
    return readCondition(cut.path, cut.value, { schema, parameters, place, ...texts });
  }
  throw new Problem('bad_condition', `${refusal}: expected field__lookup=value`, { place });
}

const NOWHERE = { at: 0, length: 0 };

export const search = defineCommand<Terms, Schema | null>({
  name: 'search',
  summary: 'Finds rows: the first stage reads a source, later ones keep what matches.',
  syntax: {
    flag: 'search [--model=<source>] [--filter=<condition>]… [--exclude=<condition>]… [--select=<list>] [--order-by=<list>] [--limit=<n>]',
    terse:
      'search <word> | "<phrase>" | <field><op><value> | <field> IN (<value>, …) … with AND, OR, NOT, ( )',
  },
  flags: [
    ...MODEL_FLAGS,
    { name: 'order-by', type: 'list', help: 'columns to sort by; a leading - sorts downwards' },
  ],
  isRowWise: true,
  isSource: true,
  examples: [
    `search --filter='host=alpha' --select='["id","host"]' --order-by='["-id"]'`,
    'search index=web code>=400 | table id, code',
    'earliest=-1h latest=now "Failed login" OR code=500 | table id',
  ],
  parse: (reader, { notice }) => parseTerms(reader, notice),
  print: printTerms,
  bindFlags: (flags, input, context): BoundStage => {
    flags.choice('using', ['default']);
    if (input === null) {
      const source = context.source(modelSource(flags), flags.placeOf('model') ?? NOWHERE);
      return {
        kind: 'source',
        source,
        order: 'forward',
        then: searchStages(flags, source.schema, context),
      };
    }
    const model = flags.word('model');
    if (model) {
      const text = '--model is only allowed in the first stage; use join or append';
      throw new Problem('bad_value', text, { place: model.place });
    }
    return searchStages(flags, input, context);
  },
  bind: (terms, input, context): BoundStage => {
    if (input !== null) return matching(terms, input, context);
    const source = context.source({ kind: 'events' }, NOWHERE);
    const then = matching(terms, source.schema, context);
    Object.assign(context.range, timeRangeOf(terms, { schema: source.schema, ...context }));
    const { earliest, latest } = context.range;
    if (earliest !== null && latest !== null && earliest >= latest) {
      context.notice('earliest is not before latest');
    }
    return { kind: 'source', source, order: 'newest', then };
  },
});

function matching(terms: Terms, input: Schema, context: StageContext): Rows {
  noteTermIndexes(terms, input, context);
  const test = termsTest(terms, { schema: input, ...context });
  return filtered(input, test);
}

export const filter = defineCommand({
  name: 'filter',
  summary: 'Keeps the rows for which path__lookup=value holds.',
  syntax: { flag: 'filter --condition=<condition>' },
  flags: [{ name: 'condition', type: 'condition', isRequired: true, help: 'path__lookup=value' }],
  isRowWise: true,
  examples: [`search | filter --condition='extracted_fields__code__gte=400' | fields id`],
  bindFlags: (flags, input, context) => {
    const word = flags.word('condition')!;
    const refusal = `Invalid filter condition: ${word.text}`;
    const condition = conditionIn(word, input, context, refusal, {
      unknownText: (column) => `${refusal}: unknown column '${column}'`,
    });
    noteIndexes(condition, input, context);
    return filtered(input, conditionTest(condition));
  },
});

function selectedColumns(
  items: readonly Value[],
  context: ExpressionContext,
  place: Place,
): MadeColumn[] {
  return items.map((item) => {
    const text = textOf(item) ?? 'None';
    const { schema } = context;
    const reference = typeof item === 'string' ? schema.find(text, 'flag') : null;
    if (reference && (schema.has(text) || !(schema.isOpen && /[=(]/.test(text)))) {
      return { ...reference, name: text };
    }
    if (!/[=(]/.test(text)) schema.require(text, 'flag', place);
    const { alias, expression } = parseFlagExpression(text, place);
    if (alias === null) {
      throw new Problem('bad_value', `Expression '${text}' needs an alias (name=${text})`, {
        place,
      });
    }
    return { name: alias, ...compileColumn(expression, context) };
  });
}

/** Notices for indexes a query names and the caller may not read. */
function noteIndexes(condition: Condition, schema: Schema, context: StageContext): void {
  const { reference, lookup, operand } = condition;
  const isOnIndex = reference.column !== null && schema.columns[reference.column]!.name === 'index';
  if (!isOnIndex || (lookup !== 'exact' && lookup !== 'in')) return;
  const values: readonly Value[] = isArray(operand) ? operand : [operand];
  for (const value of values) if (typeof value === 'string') noteIndex(value, context);
}

function noteTermIndexes(terms: Terms, schema: Schema, context: StageContext): void {
  if (schema.indexOf('index') < 0) return;
  const visit = (item: Terms): void => {
    if ('items' in item) item.items.forEach(visit);
    if (item.kind !== 'compare' || item.op !== '=' || item.field.text !== 'index') return;
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
