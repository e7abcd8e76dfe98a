/**
 * Limits of a workbook; everything that a file can claim has one.
 */

/** Limits a caller sets. */
export interface WorkbookLimits {
  /** Bytes of all parts together when expanded (`limits.max_workbook_bytes`). */
  readonly maxBytes: number;
}

/** 1 GiB, the default of the setting. */
export const DEFAULT_LIMITS: WorkbookLimits = { maxBytes: 1_073_741_824 };

/** Real workbooks reach 20:1, ones of a single repeated row 100:1; a bomb starts at 1000:1. */
export const MAX_RATIO = 200;

/** Below this a bomb costs less to expand than to argue about. */
export const RATIO_FROM_BYTES = 64 * 1024 * 1024;

/**
 * Parts of a package: catalogues with a picture in every row have some thousands, each of which costs the check of one
 * header.
 */
export const MAX_ENTRIES = 10_000;

/** Sheets of a workbook, each of which becomes a resource; Excel's memory ends long before. */
export const MAX_SHEETS = 2_000;

/** Parts that are held as a whole (workbook, relationships, styles, tables); the largest real ones are some MB. */
export const MAX_PART_BYTES = 64 * 1024 * 1024;

/** One row's or one shared string's XML, which is held as a whole; a cell of Excel has at most 32,767 characters. */
export const MAX_UNIT_BYTES = 16 * 1024 * 1024;

/** Rows and columns of a worksheet (ECMA-376-1, 18.3.1.4). */
export const MAX_ROWS = 1_048_576;
/** See MAX_ROWS. */
export const MAX_SHEET_COLUMNS = 16_384;

/** Cells with content; more are a dump that belongs into another kind of file. */
export const MAX_CELLS = 5_000_000;

/** Rows and columns of a worksheet of the legacy format (MS-XLS, 2.5.1). */
export const MAX_LEGACY_ROWS = 65_536;
/** See MAX_LEGACY_ROWS. */
export const MAX_LEGACY_COLUMNS = 256;

/** A legacy workbook is held as a whole; 65,536 rows of 256 numbers are 240 MB. */
export const MAX_LEGACY_BYTES = 256 * 1024 * 1024;
