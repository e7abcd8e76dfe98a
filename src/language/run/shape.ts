import { mapped, type Rows } from './operator.ts';
import { cellTypeOf, Schema, type CellType, type Column } from './schema.ts';
import type { Evaluate, Row, Value } from '../expressions/value.ts';

export interface MadeColumn extends Column {
  readonly get: Evaluate;
}

export function kept(schema: Schema, index: number): MadeColumn {
  return { ...schema.columns[index]!, get: (row) => row[index] ?? null };
}

export function allKept(schema: Schema): MadeColumn[] {
  return schema.columns.map((_column, index) => kept(schema, index));
}

/** Of two columns with one name the later stays, at its place. */
export function projected(input: Schema, columns: readonly MadeColumn[]): Rows {
  const last = new Map(columns.map((column, index) => [column.name, index]));
  const chosen = columns.filter(({ name }, index) => last.get(name) === index);
  const schema = new Schema(
    chosen.map(({ name, isHidden, use, ...type }) => ({
      name,
      ...cellTypeOf(type),
      ...(isHidden && { isHidden }),
      ...(use && { use }),
    })),
    { isOpen: input.isOpen },
  );
  const getters = chosen.map(({ get }) => get);
  return mapped(schema, (row) => getters.map((get) => get(row)));
}

interface SetColumn extends Partial<CellType> {
  readonly name: string;
}

/**
 * Overwrites columns in place, or adds them after the others; a hidden column that is set is shown from then on. `set`
 * copies a row with the values; what is undefined stays.
 */
export function withColumns(input: Schema, made: readonly SetColumn[]) {
  const columns: Column[] = [...input.columns];
  const positions = made.map(({ name, type = 'json', native }) => {
    const index = columns.findIndex((column) => column.name === name);
    const column = { name, ...cellTypeOf({ type, native }) };
    if (index < 0) return columns.push(column) - 1;
    columns[index] = column;
    return index;
  });
  const width = columns.length;
  const set = (row: Row, values: readonly (Value | undefined)[]): Row => {
    const next = row.slice();
    while (next.length < width) next.push(null);
    for (let at = 0; at < positions.length; at++) {
      const value = values[at];
      if (value !== undefined) next[positions[at]!] = value;
    }
    return next;
  };
  return { schema: new Schema(columns, { isOpen: input.isOpen }), positions, set };
}
