/**
 * What is remembered of one version of a table, because a dashboard repeats the same few questions. An edit forgets
 * everything. Bounded in entries and bytes.
 */
import { Lru } from '../../base/lru.ts';
import type { Format } from '../read/format.ts';
import type { LookupPattern } from '../read/lookup-plan.ts';
import type { QueryPlan } from '../read/query-plan.ts';
import { RangeCounts } from '../read/range-count.ts';
import type { RowJson } from './row-json.ts';

const MAX_COUNTS = 256;
const MAX_READS = 128;
const MAX_LOOKUPS = 64;
/** Larger pages are rare and cost more to keep than to make. */
const MAX_PAGE_BYTES = 64 * 1024;
const MAX_PAGES = 32;

export interface PreparedRead {
  readonly plan: QueryPlan;
  readonly format: Format;
  /** Equal for equal queries and formats; part of the ETag. */
  readonly representation: string;
}

export interface RowsPage {
  readonly format: Format;
  readonly mediaType: string;
  /** Matches of filter and words, whatever the page. */
  readonly total: number;
  /** Null on the last page, and without a limit. */
  readonly nextCursor: string | null;
  /** Of the rows in the body. */
  readonly version: string;
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null;
  /** The same object is returned until the table changes. */
  readonly isKept?: boolean;
}

export class TableCache {
  /** By `QueryPlan.countKey`. */
  readonly counts = new Lru<string, number>(MAX_COUNTS);
  /** For ranges, where one count gives others. */
  readonly ranges = new RangeCounts();
  /** By everything but the number that is looked up. */
  readonly lookups = new Lru<string, LookupPattern>(MAX_LOOKUPS);
  readonly reads = new Lru<string, PreparedRead>(MAX_READS);
  /** At most 2 MiB. */
  readonly pages = new Lru<PreparedRead, RowsPage>(MAX_PAGES);
  /** Null when rows are not kept (`row-json-caches.ts`). */
  rowJson: RowJson | null = null;
  /** Pages that kept rows could have served. */
  pagesRead = 0;

  /** Skips large pages. */
  keepPage(read: PreparedRead, page: RowsPage): void {
    if (page.body instanceof Uint8Array && page.body.length <= MAX_PAGE_BYTES) {
      this.pages.set(read, { ...page, isKept: true });
    }
  }

  keepCount({ count, countKey, range }: QueryPlan, matches: number): void {
    if (count === null) return;
    this.counts.set(countKey, matches);
    if (range !== null) this.ranges.note(range, matches);
  }

  /** For the next version, and when the indexes change. */
  forget(): void {
    this.counts.clear();
    this.ranges.clear();
    this.lookups.clear();
    this.reads.clear();
    this.pages.clear();
    this.rowJson = null;
    this.pagesRead = 0;
  }
}
