import { defineCommand } from '../command.ts';
import { chained } from '../run/chain.ts';
import type { Compiled } from '../run/operator.ts';
import { projected } from '../run/shape.ts';
import { keyOfAll } from '../expressions/value.ts';

export const unique = defineCommand({
  name: 'unique',
  forms: ['flag'],
  summary: 'Shows only these columns, each combination once.',
  syntax: { flag: 'unique --fields=<list>' },
  flags: [{ name: 'fields', type: 'list', isRequired: true, help: 'columns' }],
  isRowWise: false,
  examples: [`search | unique --fields='["host"]'`],
  bindFlags: (flags, input) => {
    const place = flags.placeOf('fields');
    const columns = flags.names('fields')!.map((name) => {
      const { get, type } = input!.require(name, 'flag', place);
      return { name, type, get };
    });
    const shape = projected(input!, columns);
    return chained(input!, [shape, firstOfEach(shape)]);
  },
});

function firstOfEach({ schema }: Compiled): Compiled {
  return {
    kind: 'rows',
    schema,
    start: (meter) => {
      const seen = new Set<string>();
      return {
        push: (rows) =>
          rows.filter((row) => {
            const key = keyOfAll(row);
            if (seen.has(key)) return false;
            meter.hold(key.length * 2 + 32);
            seen.add(key);
            return true;
          }),
        finish: () => [],
      };
    },
  };
}
