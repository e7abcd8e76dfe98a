/** Worksheet limits for writers (Excel specifications and limits). */

/** UTF-16 units; Excel calls a file with more damaged. */
export const MAX_CELL_TEXT = 32_767;
