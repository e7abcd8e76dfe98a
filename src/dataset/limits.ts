/**
 * Limits of a table, whatever its file; each is checked by readers and by edits alike, so that nothing can be
 * written that could not be read again.
 */

/** Columns of a table; SQLite holds 2,000 with the row id. */
export const MAX_COLUMNS = 1_999;

/** Characters (UTF-16 units) of one cell; a million-character cell is a broken export, not a value. */
export const MAX_CELL_CHARACTERS = 1_048_576;

/**
 * Rows past which a column that is filtered or sorted on gets an index. Of 1,000 rows, making it takes as long as one
 * filtered and sorted list without it (0.8 ms of processor time), every list with it a third; an edit takes the same.
 */
export const INDEX_FROM_ROWS = 1_000;
