import type { Word } from '../syntax/ast.ts';
import { roundTo } from '../expressions/arithmetic.ts';
import { flagAggregates } from '../expressions/aggregates.ts';
import type { StageContext } from '../command.ts';
import { isNo, keepsNothing, notWhole } from '../syntax/count.ts';
import { compareKeys, Groups, type Group } from '../expressions/grouping.ts';
import type { Compiled } from './operator.ts';
import { Schema, type Column } from './schema.ts';
import { parseNames, printNames } from '../syntax/terse-aggregate.ts';
import type { TerseReader } from '../syntax/terse-reader.ts';
import { keyOfAll, type Row, type Value } from '../expressions/value.ts';

export interface FrequentArguments {
  readonly limit: number;
  readonly showsPercent: boolean;
  readonly fields: readonly Word[];
  readonly by: readonly Word[];
}

const OPTIONS = ['limit', 'showperc'];

/** Options may stand before and after the fields. Throws `syntax`, `bad_value`. */
export function parseFrequent(reader: TerseReader): FrequentArguments {
  const options = reader.options(OPTIONS);
  const number = reader.takeNumber();
  const takeOptions = (): void => {
    for (const [name, value] of reader.options(OPTIONS)) options.set(name, value);
  };
  takeOptions();
  const fields = parseNames(reader, ['BY'], OPTIONS);
  takeOptions();
  const by = reader.takeKeyword('BY') ? parseNames(reader, [], OPTIONS) : [];
  takeOptions();
  const limit = options.get('limit') ?? number;
  if (limit && !/^\d{1,9}$/.test(limit.text)) throw notWhole('limit', limit);
  return {
    limit: limit ? Number(limit.text) : 10,
    showsPercent: !isNo(options.get('showperc')),
    fields,
    by,
  };
}

export function printFrequent({ limit, showsPercent, fields, by }: FrequentArguments): string {
  const group = by.length === 0 ? '' : ` BY ${printNames(by)}`;
  return `limit=${limit} ${showsPercent ? '' : 'showperc=false '}${printNames(fields)}${group}`;
}

/** Columns: group, combination, `count`, `percent`. `direction` is -1 for the most frequent first. */
export function bindFrequent(
  args: FrequentArguments,
  input: Schema,
  direction: 1 | -1,
  { notice }: Pick<StageContext, 'notice'>,
): Compiled {
  if (args.limit === 0) notice(keepsNothing(direction < 0 ? 'top' : 'rare', 'limit=0'));
  const named = [...args.by, ...args.fields].map(({ text, place }) => ({
    name: text,
    ...input.require(text, 'terse', place),
  }));
  const columns: Column[] = named.map(({ name, type }) => ({ name, type }));
  columns.push({ name: 'count', type: 'json' });
  if (args.showsPercent) columns.push({ name: 'percent', type: 'json' });
  const last = new Map(columns.map(({ name }, index) => [name, index]));
  const chosen = columns.flatMap(({ name }, index) => (last.get(name) === index ? [index] : []));
  const groupSize = args.by.length;
  return {
    kind: 'rows',
    schema: new Schema(chosen.map((index) => columns[index]!)),
    takesWeights: true,
    start: (meter, weights) => {
      const count = flagAggregates['count']!({ get: null, time: null });
      const groups = new Groups(
        named.map(({ get }) => get),
        [count],
        meter,
      );
      const isWhole = (row: Row): boolean =>
        named.slice(groupSize).every(({ get }) => get(row) !== null);
      return {
        push: (rows) => {
          for (const row of rows) if (isWhole(row)) groups.add(row, weights?.get(row));
          return [];
        },
        finish: () =>
          ranked(groups, groupSize, args, direction).map((row) =>
            chosen.map((index) => row[index]!),
          ),
      };
    },
  };
}

function ranked(
  groups: Groups,
  groupSize: number,
  { limit, showsPercent }: FrequentArguments,
  direction: 1 | -1,
): Row[] {
  const byGroup = new Map<string, { keys: readonly Value[]; members: Group[]; total: number }>();
  const countOf = ({ accumulators }: Group): number => accumulators[0]!.result() as number;
  for (const group of groups.all()) {
    const keys = group.keys.slice(0, groupSize);
    const text = keyOfAll(keys);
    const known = byGroup.get(text) ?? { keys, members: [], total: 0 };
    known.members.push(group);
    known.total += countOf(group);
    byGroup.set(text, known);
  }
  const outer = [...byGroup.values()].sort((a, b) => compareKeys(a.keys, b.keys));
  return outer.flatMap(({ members, total }) =>
    members
      .sort((a, b) => (countOf(a) - countOf(b)) * direction || compareKeys(a.keys, b.keys))
      .slice(0, limit)
      .map((member) => {
        const count = countOf(member);
        const percent = showsPercent ? [roundTo((count * 100) / total, 6)] : [];
        return [...member.keys, count, ...percent];
      }),
  );
}
