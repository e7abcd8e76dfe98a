import { defineCommand } from '../command.ts';
import { unchanged } from '../run/operator.ts';
import { withColumns } from '../run/shape.ts';
import { isArray, type Row, type Value } from '../expressions/value.ts';

export const eventSplit = defineCommand({
  name: 'event_split',
  forms: ['flag'],
  summary: 'Makes one row of every element of an array; rows with an empty one disappear.',
  syntax: { flag: 'event_split --field=<field>' },
  flags: [{ name: 'field', type: 'text', isRequired: true, help: 'column or path' }],
  isRowWise: false,
  examples: [
    `search --select='["id","extracted_fields__tags"]' | event_split --field=extracted_fields__tags`,
  ],
  bindFlags: (flags, input) => {
    const name = flags.text('field')!;
    const reference = input!.find(name, 'flag');
    if (reference === null) return unchanged(input!);
    const { schema, positions } = withColumns(input!, [{ name, type: 'json' }]);
    const [position] = positions;
    const withValue = (row: Row, value: Value): Row => {
      const next = row.slice();
      while (next.length < schema.columns.length) next.push(null);
      next[position!] = value;
      return next;
    };
    return {
      kind: 'rows',
      schema,
      start: (meter) => ({
        push: (rows) => {
          const made: Row[] = [];
          for (const row of rows) {
            const value = reference.get(row);
            if (!isArray(value)) made.push(withValue(row, value));
            else {
              meter.tick();
              for (const element of value) made.push(withValue(row, element));
            }
          }
          return made;
        },
        finish: () => [],
      }),
    };
  },
});
