import type { Evaluate } from '../expressions/value.ts';
import { flagAggregates, type AccumulatorFactory } from '../expressions/aggregates.ts';
import { defineCommand } from '../command.ts';
import { parseFlagAggregate } from '../syntax/flag-aggregate.ts';
import { grouped } from '../expressions/grouping.ts';
import { Problem } from '../syntax/problem.ts';
import { type Column, Schema } from '../run/schema.ts';

export const groupby = defineCommand({
  name: 'groupby',
  forms: ['flag'],
  summary: 'Counts rows per combination of keys, or computes one aggregate.',
  syntax: { flag: 'groupby --keys=<list> [--out=<name>]' },
  flags: [
    {
      name: 'keys',
      type: 'list',
      isRequired: true,
      help: 'columns, and at most one aggregate such as "Avg(size)"',
    },
    { name: 'out', type: 'text', default: 'count', help: 'name of the result column' },
  ],
  isRowWise: false,
  examples: [
    `search | groupby --keys='["host"]'`,
    `search | groupby --keys='["index","Max(id)"]' --out=newest`,
  ],
  bindFlags: (flags, input, context) => {
    const place = flags.placeOf('keys')!;
    const out = flags.text('out') ?? 'count';
    const keys: Evaluate[] = [];
    const columns: Column[] = [];
    let aggregate: AccumulatorFactory | null = null;
    for (const item of flags.names('keys')!) {
      const reference = input!.find(item, 'flag');
      if (reference && (input!.has(item) || !item.includes('('))) {
        if (columns.some(({ name }) => name === item)) continue;
        keys.push(reference.get);
        columns.push({ name: item, type: reference.type });
        continue;
      }
      const isCall = /^\s*(?:[A-Za-z_]\w*\s*=\s*)?[A-Za-z_]\w*\s*\(/.test(item);
      if (!isCall && !/[-+*/%=]/.test(item)) input!.require(item, 'flag', place);
      const parsed = isCall ? parseFlagAggregate(item, input!, context, place) : null;
      if (parsed === null) {
        const text = `groupby key '${item}' is not an aggregate; compute it first with annotate`;
        throw new Problem('bad_value', text, { place });
      }
      if (aggregate !== null) context.notice(`groupby uses only its last aggregate, ${item}`);
      aggregate = parsed.factory;
    }
    if (columns.some(({ name }) => name === out)) {
      throw new Problem('bad_value', `--out '${out}' is also a key`, {
        place: flags.placeOf('out') ?? place,
      });
    }
    const count = flagAggregates['count']!({ get: null, time: null });
    const schema = new Schema([...columns, { name: out, type: 'json' }]);
    return grouped(schema, keys, [aggregate ?? count]);
  },
});
