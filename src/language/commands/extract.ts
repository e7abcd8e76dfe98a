import type { Word } from '../syntax/ast.ts';
import { defineCommand } from '../command.ts';
import { MAX_MADE_COLUMNS } from '../limits.ts';
import { requireAtMost } from '../run/operator.ts';
import { Schema } from '../run/schema.ts';
import { withColumns } from '../run/shape.ts';
import { quoted } from '../syntax/terse-reader.ts';
import { textOf, type Row, type Value } from '../expressions/value.ts';

interface Args {
  readonly style: 'kv' | 'json';
  readonly field: Word | null;
  readonly prefix: string;
}

export const extract = defineCommand<Args>({
  name: 'extract',
  forms: ['terse'],
  summary: 'Makes columns of the key=value pairs, or of the JSON object, in a text.',
  syntax: { terse: 'extract [kv|json] [field=<field>] [prefix=<text>]' },
  isRowWise: true,
  examples: ['index=app | extract kv prefix=k_ | table id, k_level'],
  parse: (reader) => {
    const isJson = reader.takeKeyword('JSON');
    if (!isJson) reader.takeKeyword('KV');
    const options = reader.options(['field', 'prefix']);
    return {
      style: isJson ? 'json' : 'kv',
      field: options.get('field') ?? null,
      prefix: options.get('prefix')?.text ?? '',
    };
  },
  print: ({ style, field, prefix }) =>
    `${style}${field ? ` field=${quoted(field.text)}` : ''}${prefix === '' ? '' : ` prefix=${quoted(prefix)}`}`,
  bind: ({ style, field, prefix }, input, context, { word }) => {
    const { get } = input!.require(field?.text ?? 'data', 'terse', field?.place ?? word);
    const schema = new Schema(input!.columns, { isOpen: true });
    return {
      kind: 'table',
      schema,
      run: (rows, meter) => {
        const names = new Map<string, number>();
        const found = rows.map((row) => {
          const text = textOf(get(row));
          const members = text === null ? null : context.extract(style, text);
          const values = Object.entries(members ?? {}).map(
            ([name, value]) => [prefix + name, value] as const,
          );
          for (const [name] of values) {
            if (names.has(name)) continue;
            requireAtMost(names.size + 1, MAX_MADE_COLUMNS, 'columns');
            meter.hold(64 + name.length * 2);
            names.set(name, names.size);
          }
          return new Map<string, Value>(values);
        });
        const made = withColumns(
          input!,
          [...names.keys()].map((name) => ({ name, type: 'json' })),
        );
        const list = [...names.keys()];
        return {
          schema: new Schema(made.schema.columns, { isOpen: true }),
          rows: rows.map((row, at) => {
            const next: Row = row.slice();
            while (next.length < made.schema.columns.length) next.push(null);
            list.forEach((name, index) => {
              const value = found[at]!.get(name);
              if (value !== undefined) next[made.positions[index]!] = value;
            });
            return next;
          }),
        };
      },
    };
  },
});
