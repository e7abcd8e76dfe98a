/** Everything a file can claim has a limit. */

/** Of all parts together when expanded, unless `limits.max_workbook_bytes` says otherwise. */
export const DEFAULT_LIMITS = { maxBytes: 1_073_741_824 };

/** Real workbooks reach 20:1, ones of a single repeated row 100:1; a bomb starts at 1000:1. */
export const MAX_RATIO = 200;

/** Below this a bomb is cheap to expand. */
export const RATIO_FROM_BYTES = 64 * 1024 * 1024;

/**
 * Catalogues with a picture in every row have some thousands of parts; each costs the check of one
 * header.
 */
export const MAX_ENTRIES = 10_000;

/** Each sheet becomes a resource; Excel's memory ends long before. */
export const MAX_SHEETS = 2_000;

/**
 * Parts held in memory (workbook, relationships, styles, tables); the largest real ones are some
 * MB.
 */
export const MAX_PART_BYTES = 64 * 1024 * 1024;

/**
 * The XML of one row or shared string, held in memory; a cell of Excel has at most 32,767
 * characters.
 */
export const MAX_UNIT_BYTES = 16 * 1024 * 1024;

/** ECMA-376-1, 18.3.1.4. */
export const MAX_ROWS = 1_048_576;
export const MAX_SHEET_COLUMNS = 16_384;

export const MAX_CELLS = 5_000_000;

/** Whose references an edit follows; each takes some hundred bytes. */
export const MAX_FORMULAS = 1_000_000;

/** MS-XLS, 2.5.1. */
export const MAX_LEGACY_ROWS = 65_536;
export const MAX_LEGACY_COLUMNS = 256;

/** Held in memory; 65,536 rows of 256 numbers are 240 MB. */
export const MAX_LEGACY_BYTES = 256 * 1024 * 1024;
