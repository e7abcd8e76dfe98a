import type { Word } from '../syntax/ast.ts';
import { defineCommand } from '../command.ts';
import { parseSourceName, printSourceName, sourceNamed } from '../syntax/source-name.ts';
import { unchanged } from '../run/operator.ts';
import { Problem } from '../syntax/problem.ts';

export const from = defineCommand<Word>({
  name: 'from',
  forms: ['terse'],
  summary: 'Reads events, audit or a dataset.',
  syntax: { terse: 'from events | audit | <dataset>' },
  isRowWise: true,
  isSource: true,
  examples: ['from assets | where tier>=2', 'from events | head 1 | table id'],
  parse: parseSourceName,
  print: printSourceName,
  bind: (name, input, context, { word }) => {
    if (input !== null) {
      const text = 'from is only allowed in the first stage; use join or append';
      throw new Problem('bad_value', text, { place: word });
    }
    const named = sourceNamed(name, context.parameters);
    const source = context.source(named, name.place);
    const order = named.kind === 'dataset' ? 'forward' : 'newest';
    return { kind: 'source', source, order, then: unchanged(source.schema) };
  },
});
