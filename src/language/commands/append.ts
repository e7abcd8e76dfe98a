import { defineCommand } from '../command.ts';
import { parseRightSide, printRightSide, rightSide, type RightSide } from '../run/right-side.ts';
import { Schema, type Column } from '../run/schema.ts';
import type { Row } from '../expressions/value.ts';

export const append = defineCommand<RightSide>({
  name: 'append',
  forms: ['terse'],
  summary: 'Adds the rows of a dataset or of a query of its own after the present ones.',
  syntax: { terse: 'append FROM <dataset> | append [ <query> ]' },
  isRowWise: false,
  examples: ['index=web | stats count | append [ index=auth | stats count ]'],
  parse: parseRightSide,
  print: printRightSide,
  bind: (args, input, context) => {
    const right = rightSide(args, context);
    const united = (schema: Schema): Schema => {
      const columns: Column[] = input!.columns.map((column) => {
        const other = schema.indexOf(column.name);
        return other < 0 ? column : usedWith(column, schema.columns[other]!);
      });
      for (const column of schema.columns)
        if (!columns.some(({ name }) => name === column.name)) columns.push(column);
      return new Schema(columns, { isOpen: input!.isOpen || schema.isOpen });
    };
    if (right.schema.isOpen) {
      return {
        kind: 'table',
        schema: united(right.schema),
        run: (rows, meter) => {
          const read = right.read(meter, Infinity);
          const schema = united(read.schema);
          return {
            schema,
            rows: [...moved(rows, input!, schema), ...moved(read.rows, read.schema, schema)],
          };
        },
      };
    }
    const schema = united(right.schema);
    return {
      kind: 'rows',
      schema,
      start: (meter) => ({
        push: (rows) => rows,
        finish: () => moved(right.read(meter, Infinity).rows, right.schema, schema),
      }),
    };
  },
});

/** What is used of the result's column is used of both sides, also where it is hidden. */
function usedWith(column: Column, other: Column): Column {
  const use: Column['use'] = (part) => {
    column.use?.(part);
    other.use?.(part);
  };
  return { ...column, use };
}

function moved(rows: readonly Row[], from: Schema, to: Schema): Row[] {
  const positions = to.columns.map(({ name }) => from.indexOf(name));
  return rows.map((row) => positions.map((index) => (index < 0 ? null : (row[index] ?? null))));
}
