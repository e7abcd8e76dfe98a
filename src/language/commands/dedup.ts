import type { Word } from '../syntax/ast.ts';
import { defineCommand } from '../command.ts';
import { requireWhole } from '../syntax/count.ts';
import { Problem } from '../syntax/problem.ts';
import { parseNames, printNames } from '../syntax/terse-aggregate.ts';
import { keyOfAll } from '../expressions/value.ts';

interface Args {
  readonly count: number;
  readonly fields: readonly Word[];
  readonly keepsEmpty: boolean;
}

export const dedup = defineCommand<Args>({
  name: 'dedup',
  forms: ['terse'],
  summary: 'Keeps the first row, or the first n, of each combination of fields.',
  syntax: { terse: 'dedup [<n>] <field>, … [keepempty=true]' },
  isRowWise: false,
  examples: ['index=web | dedup host | table id, host'],
  parse: (reader) => {
    const number = reader.takeNumber();
    const before = reader.options(['keepempty']);
    const fields = parseNames(reader, ['SORTBY'], ['keepempty']);
    const next = reader.next();
    if (next && reader.isKeyword('SORTBY'))
      throw new Problem('syntax', `Unexpected text, found '${next.text}'; use sort before dedup`, {
        place: next.place,
      });
    const after = reader.options(['keepempty']);
    const keepsEmpty =
      (after.get('keepempty') ?? before.get('keepempty'))?.text.toLowerCase() === 'true';
    return { count: number === null ? 1 : requireWhole('dedup', number), fields, keepsEmpty };
  },
  print: ({ count, fields, keepsEmpty }) =>
    `${count === 1 ? '' : `${count} `}${printNames(fields)}${keepsEmpty ? ' keepempty=true' : ''}`,
  bind: ({ count, fields, keepsEmpty }, input) => {
    const keys = fields.map(({ text, place }) => input!.require(text, 'terse', place).get);
    return {
      kind: 'rows',
      schema: input!,
      start: (meter) => {
        const seen = new Map<string, number>();
        return {
          push: (rows) =>
            rows.filter((row) => {
              const values = keys.map((key) => key(row));
              if (!keepsEmpty && values.includes(null)) return false;
              const key = keyOfAll(values);
              const times = seen.get(key) ?? 0;
              if (times === 0) meter.hold(key.length * 2 + 48);
              seen.set(key, times + 1);
              return times < count;
            }),
          finish: () => [],
        };
      },
    };
  },
});
