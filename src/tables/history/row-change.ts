/** What a change did to a row, its form at rest, and several changes of a row taken as one. */
import type { StoredValue } from '../types.ts';

/** By column name, because a column may stand elsewhere in a later version of the file. */
export type CellValues = ReadonlyMap<string, StoredValue>;

export interface RowChange {
  readonly rowId: number;
  /** Null: the row is new. Of a row that stays only the cells that changed. */
  readonly before: CellValues | null;
  /** Null: the row is gone. */
  readonly after: CellValues | null;
}

/** One cell takes a hundred bytes, and compressing it longer than writing it. */
const COMPRESSED_FROM_BYTES = 512;
const OPEN_BRACE = 0x7b;

/** What both did, one after the other; null when nothing is left of it. */
export function mergeChanges(older: RowChange, newer: RowChange): RowChange | null {
  const { rowId } = older;
  const before = older.before && withValues(newer.before, older.before);
  const after = newer.after && withValues(older.after, newer.after);
  if (before === null || after === null) {
    return before === null && after === null ? null : { rowId, before, after };
  }
  const changed = [...after.keys()].filter((name) => before.get(name) !== after.get(name));
  if (changed.length === 0) return null;
  return { rowId, before: only(before, changed), after: only(after, changed) };
}

function withValues(base: CellValues | null, values: CellValues): CellValues {
  return new Map([...(base ?? []), ...values]);
}

function only(values: CellValues, names: readonly string[]): CellValues {
  return new Map(names.map((name) => [name, values.get(name) ?? null]));
}

/** Pairs of the number of a column and a value. */
type StoredCells = readonly (number | string | null | readonly [digits: string])[] | null;

interface StoredChanges {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly [rowId: number, before: StoredCells, after: StoredCells])[];
}

export function encodeChanges(changes: readonly RowChange[]): Uint8Array {
  const columns = new Map<string, number>();
  const cells = (values: CellValues | null): StoredCells =>
    values &&
    [...values].flatMap(([name, value]) => {
      let column = columns.get(name);
      if (column === undefined) columns.set(name, (column = columns.size));
      return [column, typeof value === 'bigint' ? ([String(value)] as const) : value];
    });
  const rows = changes.map(
    ({ rowId, before, after }) => [rowId, cells(before), cells(after)] as const,
  );
  const stored: StoredChanges = { columns: [...columns.keys()], rows };
  const text = Buffer.from(JSON.stringify(stored));
  return text.length < COMPRESSED_FROM_BYTES ? text : Bun.zstdCompressSync(text);
}

export function decodeChanges(bytes: Uint8Array): RowChange[] {
  const isPlain = bytes[0] === OPEN_BRACE;
  const text = isPlain ? bytes : Bun.zstdDecompressSync(bytes as Uint8Array<ArrayBuffer>);
  const { columns, rows } = JSON.parse(Buffer.from(text).toString()) as StoredChanges;
  const values = (cells: StoredCells): CellValues | null => {
    if (cells === null) return null;
    const found = new Map<string, StoredValue>();
    for (let at = 0; at < cells.length; at += 2) {
      const value = cells[at + 1] as string | number | null | readonly [string];
      const isLarge = value !== null && typeof value === 'object';
      found.set(columns[cells[at] as number]!, isLarge ? BigInt(value[0]) : value);
    }
    return found;
  };
  return rows.map(([rowId, before, after]) => ({
    rowId,
    before: values(before),
    after: values(after),
  }));
}
