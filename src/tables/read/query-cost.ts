/**
 * Estimates a query's cost to decide whether it may run on the event loop.
 *
 * Microseconds on one slow core, measured on 1M rows of 8 columns. A factor of two is close enough: a request may hold
 * the loop for 50 ms, and cheap means 20.
 */
import { STRATEGY } from '../limits.ts';
import type { Access } from './scan.ts';
import type { RowShape } from '../encode/encode.ts';
import type { QueryTable } from './query-table.ts';

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

export interface Work {
  readonly limit: number | null;
  readonly offset: number;
  readonly comparisons: number;
  readonly shape: RowShape;
}

/**
 * For the page alone, and with its count. Regular expressions and words are never cheap: their cost depends on the
 * text.
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

/** `entries` of an index. */
export function isCountCheap(entries: number): boolean {
  return entries * INDEX_ENTRY <= CHEAP_MICROSECONDS;
}

/** `rows` and `copyBytes` of the table's typed copy. */
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
    const isNearest = work.limit !== null && work.limit <= STRATEGY.rowsById;
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
