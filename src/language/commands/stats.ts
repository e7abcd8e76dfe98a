import { defineCommand } from '../command.ts';
import {
  countRows,
  flagAggregateNames,
  type AccumulatorFactory,
} from '../expressions/aggregates.ts';
import { grouped, Groups } from '../expressions/grouping.ts';
import { collected } from '../run/operator.ts';
import type { Reference } from '../run/schema.ts';
import { withColumns } from '../run/shape.ts';
import { parseFlagAggregate } from '../syntax/flag-aggregate.ts';
import { Problem, unknownName } from '../syntax/problem.ts';
import {
  bindAggregate,
  parseAggregates,
  printAggregates,
  type AggregateArguments,
} from '../syntax/terse-aggregate.ts';

const NAMES = ['count', ...flagAggregateNames];

export const stats = defineCommand<AggregateArguments>({
  name: 'stats',
  summary: 'Computes aggregates, one row per combination of the by-columns.',
  syntax: {
    flag: 'stats --aggregations=<list> [--by=<list>]',
    terse: 'stats <aggregate>[(<field or expression>)] [AS <name>], … [BY <field>, …]',
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
  examples: [
    `search | stats --aggregations='["count","Max(id)"]' --by='["host"]'`,
    '* | stats count, avg(bytes) AS mean, dc(user) BY index',
    '* | stats count(code>=400) AS failed, sum(bytes/1024) BY host',
  ],
  parse: (reader) => parseAggregates(reader),
  print: printAggregates,
  bindFlags: (flags, input, context) => {
    const byPlace = flags.placeOf('by');
    const by = (flags.names('by') ?? []).map((name) => ({
      name,
      ...input.require(name, 'flag', byPlace),
    }));
    const place = flags.placeOf('aggregations')!;
    const made = flags.list('aggregations')!.map((item, index) => {
      const text = typeof item === 'string' ? item : String(item);
      if (text.toLowerCase() === 'count')
        return { name: `count_${index}`, label: text, factory: countRows };
      const called = /^\s*([A-Za-z_]\w*)\s*\(/.exec(text)?.[1] ?? text;
      const isAggregate = flagAggregateNames.some(
        (name) => name.toLowerCase() === called.toLowerCase(),
      );
      const parsed = isAggregate ? parseFlagAggregate(text, input, context, place) : null;
      if (parsed === null) {
        throw new Problem('unknown_aggregate', `Unsupported aggregation: ${text}`, {
          place,
          suggestion: unknownName(called, NAMES).suggestion,
          allowed: NAMES,
          listsAllowed: true,
        });
      }
      const field = parsed.field === '' ? '' : `_${parsed.field}`;
      return { name: `${parsed.name}${field}_${index}`, label: text, factory: parsed.factory };
    });
    return grouped(by, made, context.notice);
  },
  bind: ({ aggregates, by }, input, context) => {
    const keys = input.requireAll(by);
    const bound = aggregates.map((call) => bindAggregate(call, input, context));
    const shown = keys.filter(
      ({ name }, index) => keys.findIndex((one) => one.name === name) === index,
    );
    for (const { name } of shown) {
      if (bound.some((one) => one.name === name)) {
        throw new Problem('bad_value', `'${name}' is both a by-field and an aggregate`);
      }
    }
    const last = bound.filter(
      ({ name }, index) => bound.findLastIndex((one) => one.name === name) === index,
    );
    return grouped(shown, last, context.notice);
  },
});

export const eventstats = defineCommand<AggregateArguments>({
  name: 'eventstats',
  summary: 'Adds aggregates over all rows, or over the group of each row, to every row.',
  syntax: {
    terse: 'eventstats <aggregate>[(<field or expression>)] [AS <name>], … [BY <field>, …]',
  },
  examples: ['index=web | eventstats max(bytes) AS most BY host | table id, most'],
  parse: (reader) => parseAggregates(reader),
  print: printAggregates,
  bind: ({ aggregates, by }, input, context) => {
    const keys = input.requireAll(by).map(({ get }) => get);
    const bound = aggregates.map((call) => bindAggregate(call, input, context));
    const factories = bound.map(({ factory }) => factory);
    const { schema, set } = withColumns(
      input,
      bound.map(({ name }) => ({ name })),
    );
    return collected(schema, (rows, meter) => {
      const groups = new Groups(keys, factories, meter);
      const own = rows.map((row) => groups.add(row));
      groups.noteLeftOut(bound, context.notice);
      const results = new Map(
        groups.all().map((group) => [group, group.accumulators.map((one) => one.result())]),
      );
      return rows.map((row, index) => set(row, results.get(own[index]!)!));
    });
  },
});

export const groupby = defineCommand({
  name: 'groupby',
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
  examples: [
    `search | groupby --keys='["host"]'`,
    `search | groupby --keys='["index","Max(id)"]' --out=newest`,
  ],
  bindFlags: (flags, input, context) => {
    const place = flags.placeOf('keys')!;
    const out = flags.text('out') ?? 'count';
    const keys = new Map<string, Reference>();
    let aggregate: { readonly label: string; readonly factory: AccumulatorFactory } | null = null;
    for (const item of flags.names('keys')!) {
      const reference = input.find(item, 'flag');
      if (reference && (input.has(item) || !item.includes('('))) {
        keys.set(item, reference);
        continue;
      }
      const isCall = /^\s*(?:[A-Za-z_]\w*\s*=\s*)?[A-Za-z_]\w*\s*\(/.test(item);
      if (!isCall && !/[-+*/%=]/.test(item)) input.require(item, 'flag', place);
      const parsed = isCall ? parseFlagAggregate(item, input, context, place) : null;
      if (parsed === null) {
        const text = `groupby key '${item}' is not an aggregate; compute it first with annotate`;
        throw new Problem('bad_value', text, { place });
      }
      if (aggregate !== null) context.notice(`groupby uses only its last aggregate, ${item}`);
      aggregate = { label: item, factory: parsed.factory };
    }
    if (keys.has(out)) {
      throw new Problem('bad_value', `--out '${out}' is also a key`, {
        place: flags.placeOf('out') ?? place,
      });
    }
    const named = [...keys].map(([name, reference]) => ({ name, ...reference }));
    return grouped(
      named,
      [{ name: out, ...(aggregate ?? { label: 'count', factory: countRows }) }],
      context.notice,
    );
  },
});
