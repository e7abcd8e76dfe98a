/**
 * What a query reads: rows of fixed columns in one of two orders, from one snapshot (SL-154).
 *
 * Sources are made per run, for one caller: rights are part of them, so no stage can reach more (SL-45).
 */
import type { Part, Schema } from '../schema.ts';
import type { Row } from '../value.ts';

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
  read(order: SourceOrder, plan?: ReadPlan): Iterable<Row[]>;
  /** Whether `read` leaves out every row that does not meet the condition. */
  decides?(condition: RowCondition): boolean;
  /** Whether `read` can sort by the column exactly as SL-11 says. */
  sortsBy?(column: string): boolean;
  /**
   * The rows that meet all conditions, equal ones as one with how many they are; rows are equal when the wanted parts are,
   * perhaps come several times, and cells of `numbers` may be `PackedIntegers`. Null when this source cannot, for any part
   * or condition. The conditions must be ones it decides.
   */
  readCounted?(
    conditions: readonly RowCondition[],
    wanted: Wanted,
  ): Iterable<readonly [row: Row, times: number]> | null;
}

/** What reading may make use of. */
export interface ReadPlan {
  readonly conditions?: readonly RowCondition[];
  /** What is used of the rows, in place of all that `Column.use` told. */
  readonly wanted?: Wanted;
  /** Goes before the order of the source. */
  readonly sort?: readonly SourceSort[];
  /** More rows are not wanted; only together with conditions that are all decided. */
  readonly limit?: number | null;
}

/** A column to sort by. */
export interface SourceSort {
  readonly column: string;
  readonly isDescending: boolean;
}

/** What is used of columns, by position: all of the cell, or parts of it. */
export type Wanted = ReadonlyMap<number, 'all' | readonly Part[]>;

/** A condition and its column. */
export type RowCondition =
  /** The column equals one of the texts; or none of them. */
  | {
      readonly kind: 'equals';
      readonly column: string;
      readonly values: readonly string[];
      readonly isNot?: boolean;
    }
  /** The column's folded text is one of these folded texts; or none of them. */
  | {
      readonly kind: 'equals-folded';
      readonly column: string;
      readonly values: readonly string[];
      readonly isNot?: boolean;
    }
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
    }
  /** Integers compare so with a number. */
  | {
      readonly kind: 'integer';
      readonly column: string;
      readonly op: CompareOp;
      readonly value: number;
    }
  /** A member is a number that compares so with this one, or no number. */
  | {
      readonly kind: 'member-number';
      readonly column: string;
      readonly member: string;
      readonly op: CompareOp;
      readonly value: number;
    }
  /** A member equals one of these, or is an array or an object. */
  | {
      readonly kind: 'member-equals';
      readonly column: string;
      readonly member: string;
      readonly values: readonly (string | number)[];
    }
  /** A member is one of these numbers, a text that is folded one of these, or an array or an object. */
  | {
      readonly kind: 'member-folded';
      readonly column: string;
      readonly member: string;
      readonly texts: readonly string[];
      readonly numbers: readonly number[];
    };

/** How numbers compare. */
export type CompareOp = '=' | '<' | '<=' | '>' | '>=';
