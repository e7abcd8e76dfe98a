/**
 * What a query may ask for at most (SL-7), beside the length of a pattern (`dataset/regex.ts`). Each limit is named in the
 * error that reports it.
 */

/** UTF-8 bytes of a query. */
export const MAX_QUERY_BYTES = 65_536;
/** Stages of one query, those in brackets not counted. */
export const MAX_STAGES = 100;
/** Brackets inside brackets. */
export const MAX_BRACKETS = 5;
/** Saved searches inside saved searches. */
export const MAX_SAVED_SEARCHES = 10;
/** Nesting of an expression or of a literal. */
export const MAX_EXPRESSION_DEPTH = 100;
/** Words, phrases and comparisons of one search. */
export const MAX_TERMS = 1_000;
/** Values of one list. */
export const MAX_LIST_VALUES = 10_000;
/** Columns one stage may make. */
export const MAX_MADE_COLUMNS = 500;
/** Buckets of a timechart. */
export const MAX_BUCKETS = 10_000;
/** Groups of one stage. */
export const MAX_GROUPS = 1_000_000;
/** Members of `list`. */
export const MAX_LISTED = 100;
