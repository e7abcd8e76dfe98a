import { defineCommand } from '../command.ts';
import { unchanged } from '../run/operator.ts';
import type { Schema } from '../run/schema.ts';
import type { Word } from '../syntax/ast.ts';
import { Problem } from '../syntax/problem.ts';
import { parseSourceName, printSourceName, sourceNamed } from '../syntax/source-name.ts';

export const from = defineCommand<Word, Schema | null>({
  name: 'from',
  summary: 'Reads events, audit or a dataset.',
  syntax: { terse: 'from events | audit | <dataset>' },
  isRowWise: true,
  isSource: true,
  examples: ['from assets | where tier>=2', 'from events | head 1 | table id'],
  parse: parseSourceName,
  print: printSourceName,
  bind: (name, input, context, place) => {
    if (input !== null) {
      const text = 'from is only allowed in the first stage; use join or append';
      throw new Problem('bad_value', text, { place });
    }
    const named = sourceNamed(name, context.parameters);
    const source = context.source(named, name.place);
    const order = named.kind === 'dataset' ? 'forward' : 'newest';
    return { kind: 'source', source, order, then: unchanged(source.schema) };
  },
});
