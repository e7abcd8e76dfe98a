import { defineCommand } from '../command.ts';
import { countRows } from '../expressions/aggregates.ts';
import { roundTo } from '../expressions/arithmetic.ts';
import { compareKeys, Groups, type Group } from '../expressions/grouping.ts';
import { keyOfAll, type Row, type Value } from '../expressions/value.ts';
import type { Rows } from '../run/operator.ts';
import { cellTypeOf, Schema, type Column } from '../run/schema.ts';
import type { Word } from '../syntax/ast.ts';
import { isNo, keepsNothing, limitOf } from '../syntax/count.ts';
import { parseNames, printNames } from '../syntax/terse-aggregate.ts';
import type { TerseReader } from '../syntax/terse-reader.ts';

interface Args {
  readonly limit: number;
  readonly showsPercent: boolean;
  readonly fields: readonly Word[];
  readonly by: readonly Word[];
}

const OPTIONS = ['limit', 'showperc'] as const;

export const top = counting('top', 'most', -1);
export const rare = counting('rare', 'least', 1);

function counting(name: 'top' | 'rare', which: string, direction: 1 | -1) {
  return defineCommand<Args>({
    name,
    summary: `Counts combinations of values and shows the ${which} frequent, with their share.`,
    syntax: { terse: `${name} [<n>] [limit=<n>] [showperc=false] <field>, … [BY <field>, …]` },
    examples: [`* | ${name} limit=2 host`, `* | ${name} 1 host BY index`],
    parse,
    print: ({ limit, showsPercent, fields, by }) => {
      const group = by.length === 0 ? '' : ` BY ${printNames(by)}`;
      return `limit=${limit} ${showsPercent ? '' : 'showperc=false '}${printNames(fields)}${group}`;
    },
    bind: (args, input, context) => {
      if (args.limit === 0) context.notice(keepsNothing(name, 'limit=0'));
      return bindFrequent(args, input, direction);
    },
  });
}

/** Options may stand before and after the fields. */
function parse(reader: TerseReader): Args {
  const first = reader.options(OPTIONS);
  const number = reader.takeNumber();
  const second = reader.options(OPTIONS);
  const fields = parseNames(reader, ['BY'], OPTIONS);
  const third = reader.options(OPTIONS);
  const by = reader.takeKeyword('BY') ? parseNames(reader, [], OPTIONS) : [];
  const options = { ...first, ...second, ...third, ...reader.options(OPTIONS) };
  return {
    limit: limitOf(options.limit ?? number),
    showsPercent: !isNo(options.showperc),
    fields,
    by,
  };
}

/** Columns: group, combination, `count`, `percent`. `direction` is -1 for the most frequent first. */
function bindFrequent(args: Args, input: Schema, direction: 1 | -1): Rows {
  const named = input.requireAll([...args.by, ...args.fields]);
  const columns: Column[] = named.map(({ name, ...type }) => ({ name, ...cellTypeOf(type) }));
  columns.push({ name: 'count', type: 'json' });
  if (args.showsPercent) columns.push({ name: 'percent', type: 'json' });
  const last = new Map(columns.map(({ name }, index) => [name, index]));
  const chosen = columns.flatMap(({ name }, index) => (last.get(name) === index ? [index] : []));
  const keys = named.map(({ get }) => get);
  const fields = keys.slice(args.by.length);
  return {
    kind: 'rows',
    schema: new Schema(chosen.map((index) => columns[index]!)),
    takesWeights: true,
    start: (meter, weights) => {
      const groups = new Groups(keys, [countRows], meter);
      return {
        push: (rows) => {
          for (const row of rows)
            if (fields.every((get) => get(row) !== null)) groups.add(row, weights?.get(row));
          return [];
        },
        finish: () =>
          ranked(groups, args, direction).map((row) => chosen.map((index) => row[index]!)),
      };
    },
  };
}

/** Positions of those that can be among the first `limit`; sorting all by their keys would take longest. */
function frequent(counts: readonly number[], limit: number, direction: 1 | -1): number[] {
  const sorted = Float64Array.from(counts, (count) => count * direction).sort();
  const last = sorted[Math.min(limit, sorted.length) - 1] ?? -Infinity;
  return [...counts.keys()].filter((at) => counts[at]! * direction <= last);
}

function ranked(groups: Groups, { by, limit, showsPercent }: Args, direction: 1 | -1): Row[] {
  const countOf = ({ accumulators }: Group): number => accumulators[0]!.result() as number;
  const keysOf = ({ keys }: Group): readonly Value[] => keys.slice(0, by.length);
  const outer = Map.groupBy(groups.all(), (group) => keyOfAll(keysOf(group)));
  return [...outer.values()]
    .sort(([a], [b]) => compareKeys(keysOf(a!), keysOf(b!)))
    .flatMap((members) => {
      const total = members.reduce((sum, member) => sum + countOf(member), 0);
      return frequent(members.map(countOf), limit, direction)
        .map((at) => members[at]!)
        .sort((a, b) => (countOf(a) - countOf(b)) * direction || compareKeys(a.keys, b.keys))
        .slice(0, limit)
        .map((member) => {
          const count = countOf(member);
          const percent = showsPercent ? [roundTo((count * 100) / total, 6)] : [];
          return [...member.keys, count, ...percent];
        });
    });
}
