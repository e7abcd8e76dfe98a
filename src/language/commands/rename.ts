import { defineCommand } from '../command.ts';
import { printName } from '../expressions/expression.ts';
import type { Schema } from '../run/schema.ts';
import { allKept, projected, type MadeColumn } from '../run/shape.ts';
import { Problem } from '../syntax/problem.ts';

interface Pair {
  readonly from: string;
  readonly to: string;
}

export const rename = defineCommand<readonly Pair[]>({
  name: 'rename',
  summary: 'Renames columns, all at once; unknown names are ignored.',
  syntax: { flag: 'rename --mapping=<object>', terse: 'rename <field> AS <name>, …' },
  flags: [{ name: 'mapping', type: 'mapping', isRequired: true, help: 'old name to new name' }],
  isRowWise: true,
  examples: [
    `search --select='["id","host"]' | rename --mapping='{"host":"machine"}'`,
    '* | table id, host | rename host AS machine',
  ],
  parse: (reader) =>
    reader.list(() => {
      const from = reader.name({ inList: true }).text;
      const to = reader.alias();
      if (to === null) throw reader.expected('AS');
      return { from, to };
    }),
  print: (pairs) =>
    pairs.map(({ from, to }) => `${printName(from)} AS ${printName(to)}`).join(', '),
  bindFlags: (flags, input) => {
    const names = Object.entries(flags.mapping('mapping')!).map(([from, to]) => {
      if (typeof to === 'string') return [from, to] as const;
      throw new Problem('bad_mapping', '--mapping must be a dictionary', {
        place: flags.placeOf('mapping'),
      });
    });
    return projected(input, renamed(input, new Map(names)));
  },
  bind: (pairs, input) => {
    const names = new Map<string, string>();
    const made: MadeColumn[] = [];
    for (const { from, to } of pairs) {
      if (input.has(from)) names.set(from, to);
      else {
        const reference = input.find(from, 'terse');
        if (reference) made.push({ ...reference, name: to });
      }
    }
    return projected(input, [...renamed(input, names), ...made]);
  },
});

function renamed(input: Schema, names: ReadonlyMap<string, string>): MadeColumn[] {
  return allKept(input).map((column) => {
    const to = names.get(column.name);
    if (to === undefined) return column;
    // Naming a hidden column shows it.
    const { isHidden: _hidden, ...shown } = column;
    return { ...shown, name: to };
  });
}
