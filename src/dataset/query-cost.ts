/**
 * What a query will cost, good enough to keep it off the event loop or to let it run there.
 *
 * Microseconds on one slow core, measured on 1M rows of 8 columns; a guess within a factor of two is all the answer
 * needs, because a request may hold the loop for 50 ms and cheap means 20.
 */
import type { Access } from './scan.ts';
import type { RowShape } from './encode.ts';
import type { QueryTable } from './query-table.ts';

/** Pages of at most so many rows skip to their offset from the nearer end, and skip ids, not rows. */
export const MAX_ROWS_BY_ID = 1_000;

const CHEAP_MICROSECONDS = 25_000;
/** Preparing grows with the square of the conditions: 0.2 s at 3,000. */
const MAX_CHEAP_COMPARISONS = 500;

const SCAN_ROW = 0.06;
const SCAN_COLUMN = 0.008;
const SCAN_COMPARISON = 0.08;
const SCAN_BYTE = 0.0005;
const INDEX_ENTRY = 0.035;
const INDEX_LOOKUP = 1;
const NEW_INDEX_ENTRY = 0.8;
const NEW_INDEX_BYTE = 0.007;
const SORT_ROW = 0.15;
const SORT_WHOLE_ROW = 1;
const READ_ROW = 0.6;
const READ_CELL = 0.07;
const READ_BYTE = 0.004;

/** The figures of a list that decide about its cost. */
export interface Work {
  readonly limit: number | null;
  readonly offset: number;
  readonly comparisons: number;
  readonly shape: RowShape;
}

/**
 * Whether the page alone, and the page with the count of matches, are cheap. Regular expressions and words never are:
 * their cost depends on the text.
 */
export function estimate(
  table: QueryTable,
  access: Access,
  work: Work,
): { isPageCheap: boolean; isCheap: boolean } {
  const sql = access.count?.sql ?? '';
  const isHeavy = /svc_(?:regex|words)/.test(sql) || work.comparisons > MAX_CHEAP_COMPARISONS;
  const page = pageCost(table, access, work);
  return {
    isPageCheap: !isHeavy && page <= CHEAP_MICROSECONDS,
    isCheap: !isHeavy && page + countCost(table, access, work) <= CHEAP_MICROSECONDS,
  };
}

/** Whether counting so many entries of an index is cheap. */
export function isCountCheap(entries: number): boolean {
  return entries * INDEX_ENTRY <= CHEAP_MICROSECONDS;
}

/** Whether making so many indexes is cheap, of a table whose typed copy has so many rows and bytes. */
export function isIndexingCheap(indexes: number, rows: number, copyBytes: number): boolean {
  return indexes * rows * NEW_INDEX_ENTRY + copyBytes * NEW_INDEX_BYTE <= CHEAP_MICROSECONDS;
}

function countCost(table: QueryTable, access: Access, work: Work): number {
  if (!access.count) return 0;
  return access.isCountIndexed ? access.maxMatches * INDEX_ENTRY : scanCost(table, work);
}

function pageCost(table: QueryTable, access: Access, work: Work): number {
  const { walk, maxMatches, offset } = access;
  const rows = Math.min(work.limit ?? maxMatches, maxMatches);
  const bytesPerRow = table.bytes / Math.max(1, table.rowCount);
  const read = rows * (READ_ROW + READ_CELL * work.shape.columns.length + READ_BYTE * bytesPerRow);
  if (walk?.isExact) {
    const isNearest = work.limit !== null && work.limit <= MAX_ROWS_BY_ID;
    const skipped = isNearest ? Math.min(offset, Math.max(0, maxMatches - offset)) : offset;
    return read + skipped * INDEX_ENTRY + (walk.isByIndex ? rows * INDEX_LOOKUP : 0);
  }
  const isWhole = rows + offset > table.rowCount / 10;
  const sort = walk && !walk.isByIndex ? 0 : table.rowCount * (isWhole ? SORT_WHOLE_ROW : SORT_ROW);
  return read + scanCost(table, work) + sort;
}

function scanCost({ rowCount, columns, bytes }: QueryTable, { comparisons }: Work): number {
  return (
    rowCount * (SCAN_ROW + SCAN_COLUMN * columns.length + SCAN_COMPARISON * comparisons) +
    bytes * SCAN_BYTE
  );
}
