/**
 * What a query reads: rows of fixed columns in one of two orders, from one snapshot (SL-154).
 *
 * Sources are made per run, for one caller: rights are part of them, so no stage can reach more (SL-45).
 */
import type { Schema } from '../schema.ts';
import type { Row, Value } from '../value.ts';

/** The order rows come in: as stored, or newest first. */
export type SourceOrder = 'forward' | 'newest';

/** A table a query may read. */
export interface Source {
  readonly name: string;
  readonly schema: Schema;
  /** Indexes the caller may read; null for all of them, and for sources that have none. */
  readonly readableIndexes: readonly string[] | null;
  /**
   * Rows in batches: all of them, but for those that cannot meet the conditions. Only the cells of columns somebody
   * uses (`Column.use`) need to be there, so a query is checked before it is run.
   */
  read(order: SourceOrder, conditions?: readonly RowCondition[]): Iterable<Row[]>;
  /**
   * How many rows meet all conditions, by key: exactly, or null when this source cannot. The same key may come more than
   * once, because texts of equal values may differ.
   */
  countBy?(
    conditions: readonly RowCondition[],
    keys: readonly CountKey[],
  ): Iterable<CountedKey> | null;
}

/** What rows are counted by: a column, or a member of the object in one. */
export interface CountKey {
  readonly column: string;
  readonly member: string | null;
}

/** Values of the keys, and how many rows have them. */
export interface CountedKey {
  readonly values: readonly Value[];
  readonly count: number;
}

/** What a wanted row must meet; `read` may ignore any of them, because the stages look again. */
export type RowCondition =
  /** The column equals one of the texts. */
  | { readonly kind: 'equals'; readonly column: string; readonly values: readonly string[] }
  /** The column's folded text is one of these folded texts. */
  | { readonly kind: 'equals-folded'; readonly column: string; readonly values: readonly string[] }
  /** The column's folded text contains this folded text. */
  | { readonly kind: 'contains-folded'; readonly column: string; readonly text: string }
  /** The time lies in the range, in the form of SL-13; both ends included unless `isOpenEnded`. */
  | {
      readonly kind: 'time';
      readonly column: string;
      readonly from: string | null;
      readonly to: string | null;
      /** `to` itself is no part of it. */
      readonly isOpenEnded?: boolean;
    };
