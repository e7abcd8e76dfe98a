/** The length of a pattern is limited in `tables/filter/regex.ts`. */

export const MAX_QUERY_BYTES = 65_536;
/** Of one query; those in brackets not counted. */
export const MAX_STAGES = 100;
export const MAX_BRACKETS = 5;
export const MAX_SAVED_SEARCHES = 10;
/** Also of a literal. */
export const MAX_EXPRESSION_DEPTH = 100;
export const MAX_TERMS = 1_000;
/** Of one expression: a chain of them is as deep as it is long, and twice as many pass the stack. */
export const MAX_OPERATORS = 10_000;
export const MAX_LIST_VALUES = 10_000;
export const MAX_MADE_COLUMNS = 500;
export const MAX_BUCKETS = 10_000;
export const MAX_GROUPS = 1_000_000;
/** Members of `list`. */
export const MAX_LISTED = 100;

/** Thresholds between two ways to an answer; tests lower them to reach both sides with few rows. */
export const STRATEGY = {
  /** Smaller stores are scanned fast enough without a search for rare events. */
  rareFromEvents: 20_000,
  /** Newest events sampled to estimate how many meet a condition. */
  rareProbedEvents: 2_000,
  /** From so many hits in the sample on, scanning newest first is quick enough. */
  rareProbedHits: 3,
  /** More ids would cost more than they save. */
  rareMostIds: 20_000,
  /** Of all events; when an index leaves fewer, that index is faster. */
  rareShare: 0.45,
  /** Conditions of one stage passed to SQL, which refuses expressions of a thousand parts. */
  searchConditions: 100,
  planConditions: 400,
  groupedParts: 8,
  /** When more of the first batch of columns differ, SQL groups them as quickly, and sorted. */
  diverseShare: 0.9,
  /** Members read one by one; SQLite gives 2,000 cells of a row. */
  memberCells: 200,
  /** A caller who wants few rows does not wait for many. */
  firstBatchRows: 16,
  batchRows: 512,
  /** Cells may have a megabyte each, and several copies of a batch are in memory at a time. */
  batchCharacters: 1024 * 1024,
  tailSlackRows: 512,
  /** Longest pattern the runtime's own engine matches: at each place of a text it may compare all items. */
  nativeItems: 100,
};
