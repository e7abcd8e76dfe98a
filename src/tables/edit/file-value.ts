/** Cells of columns typed by their file (Parquet), as stored values. */
import { type FileType, wideNumber } from '../infer/file-type.ts';
import type { Cell, StoredValue } from '../types.ts';
import { wideKeyOf } from '../values/wide-number.ts';

/** Cells are stored unchanged. */
export function isStoredAsIs(type: FileType): boolean {
  return type.kind !== 'boolean' && wideNumber(type) === null;
}

/** Unchanged, except booleans as 0 and 1 and wide numbers as keys. */
export function fileStorage(type: FileType): (cell: Cell) => StoredValue {
  const wide = wideNumber(type);
  return (cell) => {
    if (typeof cell === 'boolean') return Number(cell);
    // A reader never gives digits that make no key; they would stay text that fits no number.
    return wide && typeof cell === 'string' ? (wideKeyOf(cell, wide) ?? cell) : cell;
  };
}
