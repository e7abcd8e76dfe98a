import { defineCommand } from '../command.ts';
import { keyOfAll, type Row } from '../expressions/value.ts';
import { chained, firstOfEach } from '../run/operator.ts';
import { projected } from '../run/shape.ts';
import type { Word } from '../syntax/ast.ts';
import { requireWhole } from '../syntax/count.ts';
import { Problem } from '../syntax/problem.ts';
import { parseNames, printNames } from '../syntax/terse-aggregate.ts';

interface Args {
  readonly count: number;
  readonly fields: readonly Word[];
  readonly keepsEmpty: boolean;
}

export const dedup = defineCommand<Args>({
  name: 'dedup',
  summary: 'Keeps the first row, or the first n, of each combination of fields.',
  syntax: { terse: 'dedup [<n>] <field>, … [keepempty=true]' },
  examples: ['index=web | dedup host | table id, host'],
  parse: (reader) => {
    const number = reader.takeNumber();
    const before = reader.options(['keepempty']);
    const fields = parseNames(reader, ['SORTBY'], ['keepempty']);
    const next = reader.next();
    if (next && reader.isKeyword('SORTBY'))
      throw new Problem('syntax', `Unexpected text, found '${next.text}'; use sort before dedup`, {
        place: next.place,
      });
    const { keepempty } = { ...before, ...reader.options(['keepempty']) };
    const keepsEmpty = keepempty?.text.toLowerCase() === 'true';
    return { count: number === null ? 1 : requireWhole('dedup', number), fields, keepsEmpty };
  },
  print: ({ count, fields, keepsEmpty }) =>
    `${count === 1 ? '' : `${count} `}${printNames(fields)}${keepsEmpty ? ' keepempty=true' : ''}`,
  bind: ({ count, fields, keepsEmpty }, input) => {
    const keys = input.requireAll(fields);
    const keyOf = (row: Row): string | null => {
      const values = keys.map(({ get }) => get(row));
      return !keepsEmpty && values.includes(null) ? null : keyOfAll(values);
    };
    return firstOfEach(input, keyOf, count);
  },
});

export const unique = defineCommand({
  name: 'unique',
  summary: 'Shows only these columns, each combination once.',
  syntax: { flag: 'unique --fields=<list>' },
  flags: [{ name: 'fields', type: 'list', isRequired: true, help: 'columns' }],
  examples: [`search | unique --fields='["host"]'`],
  bindFlags: (flags, input) => {
    const place = flags.placeOf('fields');
    const columns = flags
      .names('fields')!
      .map((name) => ({ ...input.require(name, 'flag', place), name }));
    const shape = projected(input, columns);
    return chained(input, [shape, firstOfEach(shape.schema, keyOfAll, 1)]);
  },
});
