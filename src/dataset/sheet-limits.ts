/** What spreadsheet programs accept in a worksheet, for those who write one (Excel specifications and limits). */

/** Characters (UTF-16 units) of the text of a cell; Excel calls a file with more of them damaged. */
export const MAX_CELL_TEXT = 32_767;
