import { defineCommand } from '../command.ts';
import { numberOf } from '../expressions/value.ts';
import { mapped } from '../run/operator.ts';
import { withColumns } from '../run/shape.ts';
import type { Word } from '../syntax/ast.ts';
import { fillValue, unmarkPlaceholders } from '../syntax/placeholder.ts';
import { parseNames, printNames } from '../syntax/terse-aggregate.ts';
import { quoted } from '../syntax/terse-reader.ts';

interface Args {
  readonly value: Word | undefined;
  readonly fields: readonly Word[];
}

export const fillnull = defineCommand<Args>({
  name: 'fillnull',
  summary: 'Replaces null in these columns, or in all.',
  syntax: { terse: 'fillnull [value=<value>] [<field>, …]' },
  isRowWise: true,
  examples: ['index=app | table id, took | fillnull value=0 took'],
  parse: (reader) => {
    const { value } = reader.options(['value']);
    return { value, fields: reader.isAtEnd() ? [] : parseNames(reader) };
  },
  print: ({ value, fields }) =>
    `${value ? `value=${quoted(unmarkPlaceholders(value.text))} ` : ''}${printNames(fields)}`.trim(),
  bind: ({ value, fields }, input, { parameters }) => {
    const given = value === undefined ? 0 : fillValue(value.text, parameters, value.place);
    const filling = numberOf(given) ?? given;
    const named = input.requireAll(fields);
    const all =
      named.length > 0
        ? named
        : input.shown.map(({ column: { name } }) => ({ name, ...input.find(name, 'terse')! }));
    const { schema, set } = withColumns(
      input,
      all.map(({ name }) => ({ name })),
    );
    return mapped(schema, (row) =>
      set(
        row,
        all.map(({ get }) => get(row) ?? filling),
      ),
    );
  },
});
