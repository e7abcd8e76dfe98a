import { defineCommand } from '../command.ts';
import { MAX_MADE_COLUMNS } from '../limits.ts';
import { requireAtMost } from '../run/operator.ts';
import { Schema, type Column } from '../run/schema.ts';
import { isObject, valueOfJson, type Row } from '../expressions/value.ts';

export const explode = defineCommand({
  name: 'explode',
  forms: ['flag'],
  summary: 'Makes a column of every member of an object; the field disappears.',
  syntax: { flag: 'explode --field=<field>' },
  flags: [{ name: 'field', type: 'text', isRequired: true, help: 'column or path' }],
  isRowWise: false,
  examples: [
    `search --filter='id=1' --select='["id","extracted_fields__nested"]' | explode --field=extracted_fields__nested`,
  ],
  bindFlags: (flags, input) => {
    const name = flags.text('field')!;
    const { get, column } = input!.require(name, 'flag', flags.placeOf('field'));
    const remaining = input!.columns.flatMap((_column, index) => (index === column ? [] : [index]));
    const base = remaining.map((index) => input!.columns[index]!);
    return {
      kind: 'table',
      schema: new Schema(base, { isOpen: true }),
      run: (rows) => {
        const positions = new Map<string, number>(base.map((one, index) => [one.name, index]));
        const columns: Column[] = [...base];
        const objects = rows.map((row) => {
          const value = get(row);
          const object = typeof value === 'string' ? valueOfJson(value) : value;
          return isObject(object) ? object : null;
        });
        for (const object of objects) {
          for (const member of Object.keys(object ?? {})) {
            const made = `${name}_${member}`;
            if (positions.has(made)) continue;
            requireAtMost(columns.length - base.length + 1, MAX_MADE_COLUMNS, 'columns');
            positions.set(made, columns.push({ name: made, type: 'json' }) - 1);
          }
        }
        const made = rows.map((row, at) => {
          const next: Row = remaining.map((index) => row[index] ?? null);
          while (next.length < columns.length) next.push(null);
          for (const [member, value] of Object.entries(objects[at] ?? {})) {
            next[positions.get(`${name}_${member}`)!] = value;
          }
          return next;
        });
        return { schema: new Schema(columns, { isOpen: true }), rows: made };
      },
    };
  },
});
