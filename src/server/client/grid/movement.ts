/**
 * Which cell a key leads to, as in a spreadsheet: Ctrl (or Cmd) goes to the end, Page Up and Page Down by what is in sight.
 */
import type { Place } from './places.ts';

/** How far one can go. */
interface Extent {
  readonly rows: number;
  readonly columns: number;
  /** Rows that Page Up and Page Down go by. */
  readonly page: number;
}

/**
 * The place that a key leads to from another; null when it leads nowhere. It may be past the first or the last cell: whoever
 * goes there stops at it.
 */
export function movement(
  { key, altKey, ctrlKey, metaKey }: Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey'>,
  { row, column }: Place,
  { rows, columns, page }: Extent,
): Place | null {
  if (altKey) return null;
  const isFar = ctrlKey || metaKey;
  switch (key) {
    case 'ArrowUp':
      return { row: isFar ? 0 : row - 1, column };
    case 'ArrowDown':
      return { row: isFar ? rows - 1 : row + 1, column };
    case 'ArrowLeft':
      return { row, column: isFar ? 0 : column - 1 };
    case 'ArrowRight':
      return { row, column: isFar ? columns - 1 : column + 1 };
    case 'PageUp':
      return { row: Math.max(0, row - page), column };
    case 'PageDown':
      return { row: row + page, column };
    case 'Home':
      return { row: isFar ? 0 : row, column: 0 };
    case 'End':
      return { row: isFar ? rows - 1 : row, column: columns - 1 };
    default:
      return null;
  }
}
