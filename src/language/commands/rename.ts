import type { Word } from '../syntax/ast.ts';
import { defineCommand } from '../command.ts';
import { printName } from '../expressions/expression.ts';
import { Problem } from '../syntax/problem.ts';
import type { Schema } from '../run/schema.ts';
import { allKept, projected, type MadeColumn } from '../run/shape.ts';

interface Pair {
  readonly from: Word;
  readonly to: Word;
}

export const rename = defineCommand<readonly Pair[]>({
  name: 'rename',
  forms: ['flag', 'terse'],
  summary: 'Renames columns, all at once; unknown names are ignored.',
  syntax: { flag: 'rename --mapping=<object>', terse: 'rename <field> AS <name>, …' },
  flags: [{ name: 'mapping', type: 'mapping', isRequired: true, help: 'old name to new name' }],
  isRowWise: true,
  examples: [
    `search --select='["id","host"]' | rename --mapping='{"host":"machine"}'`,
    '* | table id, host | rename host AS machine',
  ],
  parse: (reader) => {
    const pairs: Pair[] = [];
    do {
      const from = reader.name({ inList: true });
      if (!reader.takeKeyword('AS')) throw reader.expected('AS');
      pairs.push({ from, to: reader.name({ inList: true }) });
    } while (reader.take(','));
    return pairs;
  },
  print: (pairs) =>
    pairs.map(({ from, to }) => `${printName(from.text)} AS ${printName(to.text)}`).join(', '),
  bindFlags: (flags, input) => {
    const mapping = flags.mapping('mapping')!;
    const names = new Map<string, string>();
    for (const [from, to] of Object.entries(mapping)) {
      if (typeof to !== 'string') {
        throw new Problem('bad_mapping', '--mapping must be a dictionary', {
          place: flags.placeOf('mapping'),
        });
      }
      names.set(from, to);
    }
    return projected(input!, renamed(input!, names));
  },
  bind: (pairs, input) => {
    const names = new Map<string, string>();
    const made: MadeColumn[] = [];
    for (const { from, to } of pairs) {
      if (input!.has(from.text)) names.set(from.text, to.text);
      else {
        const reference = input!.find(from.text, 'terse');
        if (reference) made.push({ name: to.text, type: reference.type, get: reference.get });
      }
    }
    return projected(input!, [...renamed(input!, names), ...made]);
  },
});

function renamed(input: Schema, names: ReadonlyMap<string, string>): MadeColumn[] {
  return allKept(input).map((column) => {
    const to = names.get(column.name);
    if (to === undefined) return column;
    // Naming a hidden column shows it.
    const { type, get, use } = column;
    return { name: to, type, get, ...(use && { use }) };
  });
}
