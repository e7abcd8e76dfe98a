/** Keys are equal when their texts are: a number equals the text of its digits. */
import type { Form, Word } from '../syntax/ast.ts';
import type { LazyTable } from '../command.ts';
import { collected, holdRows, type Compiled, type Meter } from './operator.ts';
import { Schema, type Column } from './schema.ts';
import { textOf, type Evaluate, type Row } from '../expressions/value.ts';

export const JOIN_TYPES = ['left', 'right', 'inner', 'outer'] as const;

type JoinType = (typeof JOIN_TYPES)[number];

interface JoinOptions {
  readonly how: JoinType;
  readonly keys: readonly Word[];
  readonly form: Form;
  readonly nullsMeet: boolean;
  readonly maxRows: number;
}

/** The right side is read when the first row is wanted. */
export function bindJoin(options: JoinOptions, input: Schema, right: LazyTable): Compiled {
  const layout = layoutOf(options, input, right.schema);
  if (!right.schema.isOpen) {
    return collected(layout.schema, (rows, meter) =>
      joinRows(options, layout, rows, right.read(options.maxRows).rows, meter),
    );
  }
  return {
    kind: 'table',
    schema: new Schema(layout.schema.columns, { isOpen: true }),
    run: (rows, meter) => {
      const read = right.read(options.maxRows);
      const known = layoutOf(options, input, read.schema);
      return { schema: known.schema, rows: joinRows(options, known, rows, read.rows, meter) };
    },
  };
}

interface Layout {
  readonly schema: Schema;
  readonly leftKeys: readonly Evaluate[];
  readonly rightKeys: readonly Evaluate[];
  /** From the left row, or, for a key of a row without one, from the right row. */
  readonly left: readonly { readonly get: Evaluate; readonly key: number | null }[];
  readonly right: readonly Evaluate[];
}

function layoutOf({ keys, form }: JoinOptions, input: Schema, right: Schema): Layout {
  const leftKeys = keys.map(({ text, place }) => input.require(text, form, place));
  const rightKeys = keys.map(({ text, place }) => right.require(text, form, place).get);
  const names = keys.map(({ text }) => text);
  const shown = right.shown.filter(({ column }) => !names.includes(column.name));
  const rightNames = new Set(shown.map(({ column }) => column.name));
  const columns: Column[] = [];
  const left: { get: Evaluate; key: number | null }[] = [];
  input.columns.forEach((column, index) => {
    const isMet = rightNames.has(column.name);
    if (isMet && column.isHidden) return;
    const key = names.indexOf(column.name);
    columns.push(isMet ? { ...column, name: `${column.name}_x` } : column);
    left.push({ get: (row) => row[index] ?? null, key: key < 0 ? null : key });
  });
  leftKeys.forEach((reference, key) => {
    if (reference.column !== null) return;
    columns.push({ name: names[key]!, type: 'json' });
    left.push({ get: reference.get, key });
  });
  for (const { column } of shown) {
    const isMet = input.columns.some(({ name, isHidden }) => name === column.name && !isHidden);
    columns.push(isMet ? { ...column, name: `${column.name}_y` } : column);
  }
  return {
    schema: new Schema(columns, { isOpen: input.isOpen }),
    leftKeys: leftKeys.map(({ get }) => get),
    rightKeys,
    left,
    right: shown.map(
      ({ index }) =>
        (row: Row) =>
          row[index] ?? null,
    ),
  };
}

function joinRows(
  { how, nullsMeet }: JoinOptions,
  layout: Layout,
  left: Row[],
  right: Row[],
  meter: Meter,
): Row[] {
  const made: Row[] = [];
  const add = (a: Row | null, b: Row | null): void => {
    const row = combined(layout, a, b);
    made.push(row);
    if ((made.length & 0x3ff) === 0) meter.tick();
    holdRows(meter, [row]);
  };
  const sides = [
    { rows: left, keys: layout.leftKeys },
    { rows: right, keys: layout.rightKeys },
  ] as const;
  const isRightFirst = how === 'right';
  const [outer, inner] = isRightFirst ? [sides[1], sides[0]] : sides;
  const pair = (one: Row, other: Row | null): void =>
    isRightFirst ? add(other, one) : add(one, other);
  const index = Map.groupBy(inner.rows, (row) => joinKey(row, inner.keys, nullsMeet));
  const met = new Set<Row>();
  for (const row of outer.rows) {
    const key = joinKey(row, outer.keys, nullsMeet);
    const partners = key === null ? undefined : index.get(key);
    for (const partner of partners ?? []) {
      met.add(partner);
      pair(row, partner);
    }
    if (!partners && how !== 'inner') pair(row, null);
  }
  if (how === 'outer') for (const row of right) if (!met.has(row)) add(null, row);
  return made;
}

function combined({ left, right, rightKeys }: Layout, a: Row | null, b: Row | null): Row {
  const cells: Row = left.map(({ get, key }) => {
    if (a !== null) return get(a);
    return key === null || b === null ? null : rightKeys[key]!(b);
  });
  for (const get of right) cells.push(b === null ? null : get(b));
  return cells;
}

/** Null for a row that meets none. */
export function joinKey(row: Row, keys: readonly Evaluate[], nullsMeet = false): string | null {
  let text = '';
  for (const key of keys) {
    const part = textOf(key(row));
    if (part === null && !nullsMeet) return null;
    text += part === null ? '-' : `${part.length}:${part}`;
  }
  return text;
}
