import type { Word } from '../syntax/ast.ts';
import { defineCommand } from '../command.ts';
import { mapped } from '../run/operator.ts';
import { fillValue, unmarkPlaceholders } from '../syntax/placeholder.ts';
import { withColumns } from '../run/shape.ts';
import { parseNames, printNames } from '../syntax/terse-aggregate.ts';
import { quoted } from '../syntax/terse-reader.ts';
import { numberOf, type Row } from '../expressions/value.ts';

interface Args {
  readonly value: Word | null;
  readonly fields: readonly Word[];
}

export const fillnull = defineCommand<Args>({
  name: 'fillnull',
  forms: ['terse'],
  summary: 'Replaces null in these columns, or in all.',
  syntax: { terse: 'fillnull [value=<value>] [<field>, …]' },
  isRowWise: true,
  examples: ['index=app | table id, took | fillnull value=0 took'],
  parse: (reader) => {
    const value = reader.options(['value']).get('value') ?? null;
    return { value, fields: reader.isAtEnd() ? [] : parseNames(reader) };
  },
  print: ({ value, fields }) =>
    `${value ? `value=${quoted(unmarkPlaceholders(value.text))} ` : ''}${printNames(fields)}`.trim(),
  bind: ({ value, fields }, input, context) => {
    const given = value === null ? 0 : fillValue(value.text, context.parameters, value.place);
    const filling = numberOf(given) ?? given;
    const set = fields.map(({ text, place }) => ({
      name: text,
      ...input!.require(text, 'terse', place),
    }));
    const all =
      set.length > 0
        ? set
        : input!.shown.map(({ column }) => ({
            name: column.name,
            ...input!.find(column.name, 'terse')!,
          }));
    const { schema, positions } = withColumns(
      input!,
      all.map(({ name }) => ({ name, type: 'json' })),
    );
    return mapped(schema, (row: Row) => {
      const next = row.slice();
      while (next.length < schema.columns.length) next.push(null);
      positions.forEach((position, index) => {
        next[position] = all[index]!.get(row) ?? filling;
      });
      return next;
    });
  },
});
