import { defineCommand } from '../command.ts';
import { printName } from '../expressions/expression.ts';
import { stepOf } from '../expressions/time.ts';
import { timeOfColumn } from '../run/schema.ts';
import type { Word } from '../syntax/ast.ts';
import { unmarkPlaceholders } from '../syntax/placeholder.ts';
import { Problem } from '../syntax/problem.ts';
import { floorTo, requireSpan } from '../syntax/span.ts';
import { setting } from './eval.ts';

interface Args {
  readonly span: Word | undefined;
  readonly field: Word;
  readonly alias: string | null;
}

export const bin = defineCommand<Args>({
  name: 'bin',
  summary: 'Rounds numbers or times down to a multiple of the span.',
  syntax: { terse: 'bin span=<n>[s|m|h|d|w|mon|q|y] <field> [AS <name>]' },
  isRowWise: true,
  examples: [
    'index=web | bin span=100 bytes AS b | stats count BY b',
    '* | bin span=5m _time | stats count BY _time',
  ],
  parse: (reader) => {
    const before = reader.options(['span']);
    const field = reader.name();
    const { span } = { ...before, ...reader.options(['span']) };
    return { span, field, alias: reader.alias() };
  },
  print: ({ span, field, alias }) =>
    `${span ? `span=${unmarkPlaceholders(span.text)} ` : ''}${printName(field.text)}${alias === null ? '' : ` AS ${printName(alias)}`}`,
  bind: ({ span, field, alias }, input, { parameters }, place) => {
    if (span === undefined) throw new Problem('bad_value', 'bin needs span=', { place });
    const size = requireSpan(span, parameters);
    const use = size.kind === 'time' ? stepOf(size) : 'value';
    const reference = input.require(field.text, 'terse', field.place, use);
    const get = size.kind === 'time' ? timeOfColumn(reference) : reference.get;
    return setting(input, alias ?? field.text, {
      type: 'json',
      get: (row) => floorTo(get(row), size),
    });
  },
});
