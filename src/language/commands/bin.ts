import type { Word } from '../syntax/ast.ts';
import { defineCommand } from '../command.ts';
import { printName } from '../expressions/expression.ts';
import { unmarkPlaceholders, fillText } from '../syntax/placeholder.ts';
import { Problem } from '../syntax/problem.ts';
import { floorTo, requireSpan } from '../syntax/span.ts';
import { stepOf } from '../expressions/time.ts';
import { setting } from './annotate.ts';

interface Args {
  readonly span: Word | null;
  readonly field: Word;
  readonly alias: string | null;
}

export const bin = defineCommand<Args>({
  name: 'bin',
  forms: ['terse'],
  summary: 'Rounds numbers or times down to a multiple of the span.',
  syntax: { terse: 'bin span=<n>[s|m|h|d|w|mon|q|y] <field> [AS <name>]' },
  isRowWise: true,
  examples: [
    'index=web | bin span=100 bytes AS b | stats count BY b',
    '* | bin span=5m _time | stats count BY _time',
  ],
  parse: (reader) => {
    let span = reader.options(['span']).get('span') ?? null;
    const field = reader.name();
    span = reader.options(['span']).get('span') ?? span;
    const alias = reader.takeKeyword('AS') ? reader.name({ inList: true }).text : null;
    return { span, field, alias };
  },
  print: ({ span, field, alias }) =>
    `${span ? `span=${unmarkPlaceholders(span.text)} ` : ''}${printName(field.text)}${alias === null ? '' : ` AS ${printName(alias)}`}`,
  bind: ({ span, field, alias }, input, context, { word }) => {
    if (span === null) throw new Problem('bad_value', 'bin needs span=', { place: word });
    const size = requireSpan({
      ...span,
      text: fillText(span.text, context.parameters, span.place),
    });
    const use = size.kind === 'time' ? stepOf(size) : 'value';
    const { get } = input!.require(field.text, 'terse', field.place, use);
    return setting(input!, alias ?? field.text, 'json', (row) => floorTo(get(row), size));
  },
});
