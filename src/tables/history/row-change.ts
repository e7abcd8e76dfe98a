/** What a change did to a row, its form at rest, and several changes of a row taken as one. */
import { sha256Hex } from '../../base/ids.ts';
import type { Column, StoredValue } from '../types.ts';

/** By column name, because a column may stand elsewhere in a later version of the file. */
export type CellValues = ReadonlyMap<string, StoredValue>;

export interface RowChange {
  readonly rowId: number;
  /** Null: the row is new. Of a row that stays only the cells that changed. */
  readonly before: CellValues | null;
  /** Null: the row is gone. */
  readonly after: CellValues | null;
  /** `rowDigest` of the whole row as it was left; absent for one that is gone. */
  readonly digest?: string;
  /** Values of `before` whose text in the file says more: `7.50`. */
  readonly spelled?: ReadonlyMap<string, string>;
}

/** One cell takes a hundred bytes, and compressing it longer than writing it. */
const COMPRESSED_FROM_BYTES = 512;
const OPEN_BRACE = 0x7b;
/** Hexadecimal digits; an accident among 200,000 rows is one in ten million. */
const DIGEST_LENGTH = 16;

/** Tells a row again where others have numbered the rows anew: equal for equal rows. */
export function rowDigest(
  columns: readonly Pick<Column, 'name'>[],
  values: readonly StoredValue[],
): string {
  const cells = columns.map(({ name }, index) => {
    const value = values[index] ?? null;
    return [name, typeof value === 'bigint' ? String(value) : value];
  });
  return sha256Hex(JSON.stringify(cells)).slice(0, DIGEST_LENGTH);
}

/** What both did, one after the other; null when nothing is left of it. */
export function mergeChanges(older: RowChange, newer: RowChange): RowChange | null {
  const { rowId } = older;
  const before = older.before && withValues(newer.before, older.before);
  const after = newer.after && withValues(older.after, newer.after);
  // What the older one changed was spelled by svc when the newer one came.
  const spelled = new Map(
    [...(newer.spelled ?? [])].filter(([name]) => older.before?.has(name) === false),
  );
  for (const [name, text] of older.spelled ?? []) spelled.set(name, text);
  const rest = { spelled, ...(newer.digest !== undefined && { digest: newer.digest }) };
  if (before === null || after === null) {
    return before === null && after === null ? null : { rowId, before, after, ...rest };
  }
  const changed = [...after.keys()].filter((name) => before.get(name) !== after.get(name));
  if (changed.length === 0) return null;
  return { rowId, before: only(before, changed), after: only(after, changed), ...rest };
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
  readonly rows: readonly (readonly [
    rowId: number,
    before: StoredCells,
    after: StoredCells,
    digest?: string | null,
    spelled?: StoredCells,
  ])[];
}

export function encodeChanges(changes: readonly RowChange[]): Uint8Array {
  const columns = new Map<string, number>();
  const cells = (values: CellValues | null | undefined): StoredCells =>
    (values ?? null) &&
    [...values!].flatMap(([name, value]) => {
      let column = columns.get(name);
      if (column === undefined) columns.set(name, (column = columns.size));
      return [column, typeof value === 'bigint' ? ([String(value)] as const) : value];
    });
  const rows = changes.map(({ rowId, before, after, digest = null, spelled }) => {
    const row = [rowId, cells(before), cells(after), digest] as const;
    return spelled === undefined || spelled.size === 0 ? row : ([...row, cells(spelled)] as const);
  });
  const stored: StoredChanges = { columns: [...columns.keys()], rows };
  const text = Buffer.from(JSON.stringify(stored));
  return text.length < COMPRESSED_FROM_BYTES ? text : Bun.zstdCompressSync(text);
}

export function decodeChanges(bytes: Uint8Array): RowChange[] {
  const isPlain = bytes[0] === OPEN_BRACE;
  const text = isPlain ? bytes : Bun.zstdDecompressSync(bytes as Uint8Array<ArrayBuffer>);
  const { columns, rows } = JSON.parse(Buffer.from(text).toString()) as StoredChanges;
  const values = (cells: StoredCells): Map<string, StoredValue> | null => {
    if (cells === null) return null;
    const found = new Map<string, StoredValue>();
    for (let at = 0; at < cells.length; at += 2) {
      const value = cells[at + 1] as string | number | null | readonly [string];
      const isLarge = value !== null && typeof value === 'object';
      found.set(columns[cells[at] as number]!, isLarge ? BigInt(value[0]) : value);
    }
    return found;
  };
  return rows.map(([rowId, before, after, digest, spelled = []]) => ({
    rowId,
    ...(digest != null && { digest }),
    before: values(before),
    after: values(after),
    spelled: values(spelled) as Map<string, string>,
  }));
}
