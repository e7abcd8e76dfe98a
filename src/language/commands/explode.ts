import { defineCommand } from '../command.ts';
import {
  isArray,
  isObject,
  textOf,
  valueOfJson,
  type Row,
  type Value,
} from '../expressions/value.ts';
import { MAX_MADE_COLUMNS } from '../limits.ts';
import { requireAtMost, streamed, unchanged, type Meter } from '../run/operator.ts';
import { Schema } from '../run/schema.ts';
import { withColumns } from '../run/shape.ts';
import type { Word } from '../syntax/ast.ts';
import { quoted } from '../syntax/terse-reader.ts';

type Members = Readonly<Record<string, Value>>;

/** A column of every member, in order of first appearance over all rows. */
function spread(
  input: Schema,
  rows: readonly { readonly row: Row; readonly members: Members | null }[],
  prefix: string,
  meter: Meter,
) {
  const names = new Set<string>();
  for (const { members } of rows) {
    for (const name of Object.keys(members ?? {})) {
      if (names.has(name)) continue;
      requireAtMost(names.size + 1, MAX_MADE_COLUMNS, 'columns');
      meter.hold(64 + name.length * 2);
      names.add(name);
    }
  }
  const members = [...names];
  const { schema, set } = withColumns(
    input,
    members.map((name) => ({ name: prefix + name })),
  );
  return {
    schema: new Schema(schema.columns, { isOpen: true }),
    rows: rows.map(({ row, members: own }) =>
      set(
        row,
        members.map((name) => (own && Object.hasOwn(own, name) ? own[name] : undefined)),
      ),
    ),
  };
}

export const explode = defineCommand({
  name: 'explode',
  summary: 'Makes a column of every member of an object; the field disappears.',
  syntax: { flag: 'explode --field=<field>' },
  flags: [{ name: 'field', type: 'text', isRequired: true, help: 'column or path' }],
  examples: [
    `search --filter='id=1' --select='["id","extracted_fields__nested"]' | explode --field=extracted_fields__nested`,
  ],
  bindFlags: (flags, input) => {
    const name = flags.text('field')!;
    const { get, column } = input.require(name, 'flag', flags.placeOf('field'));
    const remaining = [...input.columns.keys()].filter((index) => index !== column);
    const schema = new Schema(
      remaining.map((index) => input.columns[index]!),
      { isOpen: true },
    );
    return {
      kind: 'table',
      schema,
      run: (rows, meter) => {
        const given = rows.map((row) => {
          const value = get(row);
          const object = typeof value === 'string' ? valueOfJson(value) : value;
          return {
            row: remaining.map((index) => row[index] ?? null),
            members: isObject(object) ? object : null,
          };
        });
        return spread(schema, given, `${name}_`, meter);
      },
    };
  },
});

export const eventSplit = defineCommand({
  name: 'event_split',
  summary: 'Makes one row of every element of an array; rows with an empty one disappear.',
  syntax: { flag: 'event_split --field=<field>' },
  flags: [{ name: 'field', type: 'text', isRequired: true, help: 'column or path' }],
  examples: [
    `search --select='["id","extracted_fields__tags"]' | event_split --field=extracted_fields__tags`,
  ],
  bindFlags: (flags, input) => {
    const name = flags.text('field')!;
    const reference = input.find(name, 'flag');
    if (reference === null) return unchanged(input);
    const { schema, set } = withColumns(input, [{ name }]);
    return streamed(
      schema,
      (meter) => (rows) =>
        rows.flatMap((row) => {
          const value = reference.get(row);
          if (!isArray(value)) return [set(row, [value])];
          meter.tick();
          return value.map((element) => set(row, [element]));
        }),
    );
  },
});

interface ExtractArgs {
  readonly style: 'kv' | 'json';
  readonly field: Word | undefined;
  readonly prefix: string;
}

export const extract = defineCommand<ExtractArgs>({
  name: 'extract',
  summary: 'Makes columns of the key=value pairs, or of the JSON object, in a text.',
  syntax: { terse: 'extract [kv|json] [field=<field>] [prefix=<text>]' },
  isRowWise: true,
  examples: ['index=app | extract kv prefix=k_ | table id, k_level'],
  parse: (reader) => {
    const isJson = reader.takeKeyword('JSON');
    if (!isJson) reader.takeKeyword('KV');
    const { field, prefix } = reader.options(['field', 'prefix']);
    return { style: isJson ? 'json' : 'kv', field, prefix: prefix?.text ?? '' };
  },
  print: ({ style, field, prefix }) =>
    `${style}${field ? ` field=${quoted(field.text)}` : ''}${prefix === '' ? '' : ` prefix=${quoted(prefix)}`}`,
  bind: ({ style, field, prefix }, input, context, place) => {
    const { get } = input.require(field?.text ?? 'data', 'terse', field?.place ?? place);
    return {
      kind: 'table',
      schema: new Schema(input.columns, { isOpen: true }),
      run: (rows, meter) => {
        const given = rows.map((row) => {
          const text = textOf(get(row));
          return { row, members: text === null ? null : context.extract(style, text) };
        });
        return spread(input, given, prefix, meter);
      },
    };
  },
});
