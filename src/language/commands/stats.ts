import { flagAggregates, type AccumulatorFactory } from '../expressions/aggregates.ts';
import { defineCommand } from '../command.ts';
import { parseFlagAggregate } from '../syntax/flag-aggregate.ts';
import { grouped } from '../expressions/grouping.ts';
import { Problem, unknownName } from '../syntax/problem.ts';
import { Schema, type Column } from '../run/schema.ts';
import {
  bindAggregate,
  parseAggregates,
  printAggregates,
  type AggregateArguments,
} from '../syntax/terse-aggregate.ts';

const NAMES = ['count', 'Sum', 'Avg', 'Count', 'Max', 'Min', 'StdDev', 'Variance'];

export const stats = defineCommand<AggregateArguments>({
  name: 'stats',
  forms: ['flag', 'terse'],
  summary: 'Computes aggregates, one row per combination of the by-columns.',
  syntax: {
    flag: 'stats --aggregations=<list> [--by=<list>]',
    terse: 'stats <aggregate>[(<field>)] [AS <name>], … [BY <field>, …]',
  },
  flags: [
    {
      name: 'aggregations',
      type: 'list',
      isRequired: true,
      help: '"count" or calls such as "Sum(size)"',
    },
    { name: 'by', type: 'list', help: 'columns to group by' },
  ],
  isRowWise: false,
  examples: [
    `search | stats --aggregations='["count","Max(id)"]' --by='["host"]'`,
    '* | stats count, avg(bytes) AS mean, dc(user) BY index',
    '* | stats count(eval(code>=400)) AS failed BY host',
  ],
  parse: (reader) => parseAggregates(reader),
  print: printAggregates,
  bindFlags: (flags, input, context) => {
    const byPlace = flags.placeOf('by');
    const by = (flags.names('by') ?? []).map((name) => ({
      name,
      ...input!.require(name, 'flag', byPlace),
    }));
    const place = flags.placeOf('aggregations')!;
    const columns: Column[] = by.map(({ name, type }) => ({ name, type }));
    const factories: AccumulatorFactory[] = flags.list('aggregations')!.map((item, index) => {
      const text = typeof item === 'string' ? item : String(item);
      if (text.toLowerCase() === 'count') {
        columns.push({ name: `count_${index}`, type: 'json' });
        return flagAggregates['count']!({ get: null, time: null });
      }
      const called = /^\s*([A-Za-z_]\w*)\s*\(/.exec(text)?.[1];
      const isAggregate =
        called !== undefined &&
        Object.hasOwn(flagAggregates, called.toLowerCase()) &&
        called.toLowerCase() !== 'distinct';
      const parsed = isAggregate ? parseFlagAggregate(text, input!, context, place) : null;
      if (parsed === null) {
        throw new Problem('unknown_aggregate', `Unsupported aggregation: ${text}`, {
          place,
          suggestion: unknownName(called ?? text, NAMES).suggestion,
          allowed: NAMES,
          listsAllowed: true,
        });
      }
      const field = parsed.field === '' ? '' : `_${parsed.field}`;
      columns.push({ name: `${parsed.name}${field}_${index}`, type: 'json' });
      return parsed.factory;
    });
    return grouped(
      new Schema(columns),
      by.map(({ get }) => get),
      factories,
    );
  },
  bind: ({ aggregates, by }, input, context) => {
    const keys = by.map(({ text, place }) => ({
      name: text,
      ...input!.require(text, 'terse', place),
    }));
    const bound = aggregates.map((call) => bindAggregate(call, input!, context));
    const taken = new Set(bound.map(({ name }) => name));
    const uniqueBound = bound.filter(
      ({ name }, index) => bound.findLastIndex((one) => one.name === name) === index,
    );
    const shown = keys.filter(
      ({ name }, index) => keys.findIndex((one) => one.name === name) === index,
    );
    for (const { name } of shown) {
      if (taken.has(name)) {
        throw new Problem('bad_value', `'${name}' is both a by-field and an aggregate`);
      }
    }
    const columns: Column[] = [
      ...shown.map(({ name, type }) => ({ name, type })),
      ...uniqueBound.map(({ name }) => ({ name, type: 'json' as const })),
    ];
    return grouped(
      new Schema(columns),
      shown.map(({ get }) => get),
      uniqueBound.map(({ factory }) => factory),
    );
  },
});
