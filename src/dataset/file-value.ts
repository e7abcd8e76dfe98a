/**
 * Cells of columns whose type the file declares (Parquet), as stored values.
 */
import { type FileType, wideNumber } from './file-type.ts';
import type { StoredValue } from './infer.ts';
import type { Cell } from './types.ts';
import { unscaledOf, wideKey } from './wide-number.ts';

/** A value that needs no more than storing, and a wide number's digits as its key. */
export function storedFileValue(cell: Cell, type: FileType): StoredValue {
  if (cell === null) return null;
  if (typeof cell === 'boolean') return Number(cell);
  if (typeof cell !== 'string') return cell;
  const wide = wideNumber(type);
  const unscaled = wide && unscaledOf(cell, wide.scale);
  return wide && unscaled !== null ? wideKey(unscaled, wide) : cell;
}
