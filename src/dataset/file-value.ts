/**
 * Cells of columns whose type the file declares (Parquet), as stored values.
 */
import { type FileType, wideNumber } from './file-type.ts';
import type { StoredValue } from './infer.ts';
import type { Cell } from './types.ts';
import { wideKeyOf } from './wide-number.ts';

/** Whether cells of a type are stored as they are. */
export function isStoredAsIs(type: FileType): boolean {
  return type.kind !== 'boolean' && wideNumber(type) === null;
}

/** How cells of a type are stored: as they are, booleans as 0 and 1, wide numbers as their keys. */
export function fileStorage(type: FileType): (cell: Cell) => StoredValue {
  const wide = wideNumber(type);
  return (cell) => {
    if (typeof cell === 'boolean') return Number(cell);
    // Digits that make no key cannot come from a reader; they would stay text that fits no number.
    return wide && typeof cell === 'string' ? (wideKeyOf(cell, wide) ?? cell) : cell;
  };
}
