import { defineCommand } from '../command.ts';
import { Groups, type Group } from '../expressions/grouping.ts';
import { collected } from '../run/operator.ts';
import { withColumns } from '../run/shape.ts';
import {
  bindAggregate,
  parseAggregates,
  printAggregates,
  type AggregateArguments,
} from '../syntax/terse-aggregate.ts';
import type { Value } from '../expressions/value.ts';

export const eventstats = defineCommand<AggregateArguments>({
  name: 'eventstats',
  forms: ['terse'],
  summary: 'Adds aggregates over all rows, or over the group of each row, to every row.',
  syntax: { terse: 'eventstats <aggregate>[(<field>)] [AS <name>], … [BY <field>, …]' },
  isRowWise: false,
  examples: ['index=web | eventstats max(bytes) AS most BY host | table id, most'],
  parse: (reader) => parseAggregates(reader),
  print: printAggregates,
  bind: ({ aggregates, by }, input, context) => {
    const keys = by.map(({ text, place }) => input!.require(text, 'terse', place).get);
    const bound = aggregates.map((call) => bindAggregate(call, input!, context));
    const { schema, positions } = withColumns(
      input!,
      bound.map(({ name }) => ({ name, type: 'json' })),
    );
    return collected(schema, (rows, meter) => {
      const groups = new Groups(
        keys,
        bound.map(({ factory }) => factory),
        meter,
      );
      const own = rows.map((row) => {
        const group = groups.of(row);
        for (const accumulator of group.accumulators) accumulator.add(row, 1);
        return group;
      });
      const results = new Map<Group, readonly Value[]>();
      for (const group of groups.all()) {
        results.set(
          group,
          group.accumulators.map((accumulator) => accumulator.result()),
        );
      }
      return rows.map((row, index) => {
        const next = row.slice();
        while (next.length < schema.columns.length) next.push(null);
        const values = results.get(own[index]!)!;
        positions.forEach((position, at) => {
          next[position] = values[at]!;
        });
        return next;
      });
    });
  },
});
