/** Checked by readers and edits alike, so that nothing is written that could not be read again. */

/** SQLite holds 2,000 with the row id. */
export const MAX_COLUMNS = 1_999;

/** UTF-16 units; a cell of a million characters is a broken export. */
export const MAX_CELL_CHARACTERS = 1_048_576;

/** Where one strategy takes over from another; tests lower them to cover both sides with few rows. */
export const STRATEGY = {
  /**
   * Rows past which a filtered or sorted column gets an index. At 1,000 rows, making it takes as long as one list
   * without it (0.8 ms); a list with it takes a third.
   */
  indexFromRows: 1_000,
  /** Pages of up to so many rows skip to their offset from the nearer end, and skip ids, not rows. */
  rowsById: 1_000,
  /** Skipped rows past which only ids are skipped. */
  longSkip: 1_000,
  /** Cost of a row id look-up in a large table, in rows read in sequence. */
  lookupRows: 8,
  /** Up to so many rows are read and counted in one statement, its own snapshot. */
  fewRows: 64,
  /** A page is held in memory up to this many cells plus characters; about 10 MB. */
  heldSize: 4_000_000,
  /** A page of a copy up to this size can be held whatever its rows hold. */
  smallCopyBytes: 64 << 20,
  /** SQLite takes quadratic time to plan more conditions, and past 900 may refuse them. */
  plannedComparisons: 64,
  /** SQLite allows 1,000. */
  functionArguments: 900,
  /** Questions about all rows of larger tables are answered from columns beside the copy; smaller take some 20 ms. */
  columnsFromRows: 50_000,
  /** Rows of a batch of columns. */
  columnBatchRows: 65_536,
  /** To make one for a facet or chart takes no longer than to read so many rows. */
  columnsForSummaryRows: 1_500_000,
  /** The columns of a copy may take so much of its size. */
  columnShare: 0.5,
  /** Ranges remembered per column and direction; half are dropped beyond. */
  rangeCuts: 2_048,
};
