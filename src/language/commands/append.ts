import { defineCommand } from '../command.ts';
import type { Row } from '../expressions/value.ts';
import { Schema, type Column } from '../run/schema.ts';
import { parseRightSide, printRightSide, rightSide, type RightSide } from '../run/right-side.ts';

export const append = defineCommand<RightSide>({
  name: 'append',
  summary: 'Adds the rows of a dataset or of a query of its own after the present ones.',
  syntax: { terse: 'append FROM <dataset> | append [ <query> ]' },
  examples: ['index=web | stats count | append [ index=auth | stats count ]'],
  parse: parseRightSide,
  print: printRightSide,
  bind: (args, input, context) => {
    const right = rightSide(args, context);
    const schema = united(input, right.schema);
    if (!right.schema.isOpen) {
      return {
        kind: 'rows',
        schema,
        start: () => ({
          push: (rows) => rows,
          finish: () => moved(right.read(Infinity).rows, right.schema, schema),
        }),
      };
    }
    return {
      kind: 'table',
      schema,
      run: (rows) => {
        const read = right.read(Infinity);
        const all = united(input, read.schema);
        return {
          schema: all,
          rows: [...moved(rows, input, all), ...moved(read.rows, read.schema, all)],
        };
      },
    };
  },
});

function united(left: Schema, right: Schema): Schema {
  const columns = left.columns.map((column) => {
    const other = right.indexOf(column.name);
    return other < 0 ? column : usedWith(column, right.columns[other]!);
  });
  const added = right.columns.filter(({ name }) => !left.has(name));
  return new Schema([...columns, ...added], { isOpen: left.isOpen || right.isOpen });
}

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
