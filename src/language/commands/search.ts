import type { Terms } from '../syntax/ast.ts';
import {
  defineCommand,
  expressionContext,
  type BoundStage,
  type SourceName,
  type StageContext,
} from '../command.ts';
import { conditionTest, readCondition, splitCondition } from '../expressions/condition.ts';
import { noteIndexes, noteTermIndexes } from '../plan/index-notices.ts';
import type { Flag } from '../syntax/flag-arguments.ts';
import type { FlagValues } from '../syntax/flag-values.ts';
import { selectedColumns, sortKeys } from '../syntax/flag-columns.ts';
import { MODEL_FLAGS, modelSource } from '../syntax/model-flags.ts';
import { filtered, head, sorted, type Compiled } from '../run/operator.ts';
import { chained } from '../run/chain.ts';
import { Problem } from '../syntax/problem.ts';
import type { Schema } from '../run/schema.ts';
import { projected } from '../run/shape.ts';
import { parseTerms, printTerms } from '../syntax/terms.ts';
import { termsTest, timeRangeOf } from '../expressions/term-match.ts';

const FLAGS: readonly Flag[] = [
  ...MODEL_FLAGS,
  { name: 'order-by', type: 'list', help: 'columns to sort by; a leading - sorts downwards' },
];

export function searchStages(flags: FlagValues, input: Schema, context: StageContext): Compiled {
  const steps: Compiled[] = [];
  for (const flag of ['filter', 'exclude'] as const) {
    for (const { text, place } of flags.words(flag)) {
      const cut = splitCondition(text);
      if (cut === null) {
        const message = `Invalid filter '${text}': expected field__lookup=value`;
        throw new Problem('bad_condition', message, { place });
      }
      const condition = readCondition(cut.path, cut.value, {
        schema: input,
        parameters: context.parameters,
        place,
      });
      if (flag === 'filter') noteIndexes(condition, input, context);
      const test = conditionTest(condition);
      steps.push(filtered(input, flag === 'filter' ? test : (row) => !test(row)));
    }
  }
  const order = flags.names('order-by');
  if (order && order.length > 0) {
    steps.push(sorted(input, sortKeys(order, input, flags.placeOf('order-by')!), null));
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

export const search = defineCommand<Terms>({
  name: 'search',
  forms: ['flag', 'terse'],
  summary: 'Finds rows: the first stage reads a source, later ones keep what matches.',
  syntax: {
    flag: 'search [--model=<source>] [--filter=<condition>]… [--exclude=<condition>]… [--select=<list>] [--order-by=<list>] [--limit=<n>]',
    terse:
      'search <word> | "<phrase>" | <field><op><value> | <field> IN (<value>, …) … with AND, OR, NOT, ( )',
  },
  flags: FLAGS,
  isRowWise: true,
  isSource: true,
  examples: [
    `search --filter='host=alpha' --select='["id","host"]' --order-by='["-id"]'`,
    'search index=web code>=400 | table id, code',
    'earliest=-1h latest=now "Failed login" OR code=500 | table id',
  ],
  parse: (reader) => parseTerms(reader.text, reader.at, reader.to).terms,
  print: printTerms,
  bindFlags: (flags, input, context): BoundStage => {
    const using = flags.choice('using', ['default']);
    if (using === null && flags.word('using')) throw new Problem('bad_value', 'Unknown database');
    if (input === null) {
      const source = context.source(
        modelSource(flags) ?? { kind: 'events' },
        flags.placeOf('model') ?? { at: 0, length: 0 },
      );
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
    const events: SourceName = { kind: 'events' };
    const source = context.source(events, { at: 0, length: 0 });
    const then = matching(terms, source.schema, context);
    Object.assign(context.range, timeRangeOf(terms, { schema: source.schema, ...context }));
    const { earliest, latest } = context.range;
    if (earliest !== null && latest !== null && earliest >= latest) {
      context.notice('earliest is not before latest');
    }
    return { kind: 'source', source, order: 'newest', then };
  },
});

function matching(terms: Terms, input: Schema, context: StageContext): Compiled {
  noteTermIndexes(terms, input, context);
  const test = termsTest(terms, { schema: input, ...context });
  return filtered(input, test);
}
