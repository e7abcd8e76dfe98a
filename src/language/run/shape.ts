import { mapped, type Compiled } from './operator.ts';
import { Schema, type Column, type ColumnType } from './schema.ts';
import type { Row, Value } from '../expressions/value.ts';

export interface MadeColumn extends Column {
  readonly get: (row: Row) => Value;
}

export function kept(schema: Schema, index: number): MadeColumn {
  return { ...schema.columns[index]!, get: (row) => row[index] ?? null };
}

export function allKept(schema: Schema): MadeColumn[] {
  return schema.columns.map((_column, index) => kept(schema, index));
}

/** Of two columns with one name the later stays, at its place. */
export function projected(input: Schema, columns: readonly MadeColumn[]): Compiled {
  const last = new Map(columns.map((column, index) => [column.name, index]));
  const chosen = columns.filter(({ name }, index) => last.get(name) === index);
  const schema = new Schema(
    chosen.map(({ name, type, isHidden, use }) => ({
      name,
      type,
      ...(isHidden && { isHidden }),
      ...(use && { use }),
    })),
    { isOpen: input.isOpen },
  );
  const getters = chosen.map(({ get }) => get);
  return mapped(schema, (row) => getters.map((get) => get(row)));
}

/** Overwrites in place, or comes after the shown ones. */
interface SetColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** A hidden column that is set is shown from then on. */
export function withColumns(
  input: Schema,
  set: readonly SetColumn[],
): { readonly schema: Schema; readonly positions: readonly number[] } {
  const columns: Column[] = [...input.columns];
  const positions = set.map(({ name, type }) => {
    const index = columns.findIndex((column) => column.name === name);
    if (index < 0) return columns.push({ name, type }) - 1;
    columns[index] = { name, type };
    return index;
  });
  return { schema: new Schema(columns, { isOpen: input.isOpen }), positions };
}
