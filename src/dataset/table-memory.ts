/**
 * What is remembered of one version of a table: numbers of matches, plans, rows and small pages as they went out (DS-142).
 *
 * A dashboard asks the same few questions again and again; the second time costs nothing but the check that the file is
 * still the same. An edit forgets everything. Bounded in entries and in bytes.
 */
import { Lru } from '../base/lru.ts';
import type { Format } from './format.ts';
import type { LookupPattern } from './lookup-plan.ts';
import type { QueryPlan } from './query-plan.ts';
import { RangeCounts } from './range-count.ts';
import type { RowTexts } from './row-texts.ts';

const MAX_COUNTS = 256;
const MAX_READS = 128;
const MAX_LOOKUPS = 64;
/** Larger pages are rare and cost more to keep than to make. */
const MAX_PAGE_BYTES = 64 * 1024;
const MAX_PAGES = 32;

/** A list that fits its table; nothing has been read. */
export interface PreparedRead {
  readonly plan: QueryPlan;
  readonly format: Format;
  /** The `<r>` of DS-46: equal for equal queries and formats. */
  readonly representation: string;
}

/** The rows of one answer and the figures beside them. */
export interface RowsPage {
  readonly format: Format;
  readonly mediaType: string;
  /** Rows that match filter and words, whatever the page (DS-40). */
  readonly total: number;
  /** Null on the last page, and without a limit (DS-41). */
  readonly nextCursor: string | null;
  /** Version tag of the rows that are really in the body. */
  readonly version: string;
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null;
  /** The page answers again and again as the same object, until the table changes. */
  readonly isKept?: boolean;
}

/** The memory of one table; forgotten with every change. */
export class TableMemory {
  /** Matching rows by `QueryPlan.countKey`. */
  readonly counts = new Lru<string, number>(MAX_COUNTS);
  /** The same for ranges, where one number tells others. */
  readonly ranges = new RangeCounts();
  /** Plans of look-ups, by everything but the number that is looked up. */
  readonly lookups = new Lru<string, LookupPattern>(MAX_LOOKUPS);
  /** Prepared reads by their parameters. */
  readonly reads = new Lru<string, PreparedRead>(MAX_READS);
  /** Whole answers by the read that made them; at most 2 MiB. */
  readonly pages = new Lru<PreparedRead, RowsPage>(MAX_PAGES);
  /** Rows as they are in lists; null when they are not kept (`row-memory.ts`). */
  rowTexts: RowTexts | null = null;
  /** Pages that might have been put together from kept rows. */
  pagesRead = 0;

  /** Keeps a page unless it is a large one. */
  keepPage(read: PreparedRead, page: RowsPage): void {
    if (page.body instanceof Uint8Array && page.body.length <= MAX_PAGE_BYTES) {
      this.pages.set(read, { ...page, isKept: true });
    }
  }

  /** Keeps the number of matches of a list. */
  keepCount({ count, countKey, range }: QueryPlan, matches: number): void {
    if (count === null) return;
    this.counts.set(countKey, matches);
    if (range !== null) this.ranges.note(range, matches);
  }

  /** For the next version, and when the table got other indexes. */
  forget(): void {
    this.counts.clear();
    this.ranges.clear();
    this.lookups.clear();
    this.reads.clear();
    this.pages.clear();
    this.rowTexts = null;
    this.pagesRead = 0;
  }
}
