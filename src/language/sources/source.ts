/**
 * Rows of fixed columns in one of two orders, from one snapshot. Sources are made per run for one caller and limited
 * to their rights, so no stage can reach more.
 */
import type { Column, Part, Schema } from '../run/schema.ts';
import type { Row } from '../expressions/value.ts';

export type SourceOrder = 'forward' | 'newest';

export interface Source {
  readonly name: string;
  readonly schema: Schema;
  /** Null for all of them, and for sources that have none. */
  readonly readableIndexes: readonly string[] | null;
  /**
   * In batches, without the rows that cannot meet the conditions. Only cells of used columns (`Column.use`) are
   * filled, so a query is checked before it is run.
   */
  read(order: SourceOrder, plan?: ReadPlan): Iterable<Row[]>;
  /** `read` leaves out every row that does not meet the condition. */
  decides?(condition: RowCondition): boolean;
  /** Sorts exactly in the order of values. */
  sortsBy?(column: string): boolean;
  /**
   * Equal rows as one with their number. Rows are equal when the wanted parts are; one may still come several times,
   * and cells of `numbers` may be `PackedNumbers`. Null when the source cannot do it for some part or condition. The
   * conditions must be ones it decides.
   */
  readCounted?(
    conditions: readonly RowCondition[],
    wanted: Wanted,
  ): Iterable<readonly [row: Row, times: number]> | null;
  /**
   * As `readCounted`, from columns, where there are many rows. A test is asked once about equal cells.
   */
  readColumns?(read: ColumnRead): Iterable<readonly [row: Row, times: number]> | null;
}

/** A filter that looks at one column only. */
export interface RowTest {
  readonly column: number;
  /** What it looks at of the cell. */
  readonly parts: 'all' | readonly Part[];
  /** Of a row of which only that cell is filled. */
  readonly passes: (row: Row) => boolean;
}

export interface ColumnRead {
  readonly conditions: readonly RowCondition[];
  /** The columns of tests are not among these unless wanted besides. */
  readonly wanted: Wanted;
  readonly tests: readonly RowTest[];
  /** Called for every batch; may throw. */
  readonly tick: () => void;
  /** Told how many rows were read, also those that a test leaves out. */
  readonly onRead: (rows: number) => void;
}

export interface ReadPlan {
  readonly conditions?: readonly RowCondition[];
  /** Replaces what `Column.use` noted. */
  readonly wanted?: Wanted;
  /** Takes precedence over the order of the source. */
  readonly sort?: readonly SourceSort[];
  /** Only together with conditions that are all decided. */
  readonly limit?: number | null;
}

export interface SourceSort {
  readonly column: string;
  readonly isDescending: boolean;
}

/** By position: all of the cell, or parts of it. */
export type Wanted = ReadonlyMap<number, 'all' | readonly Part[]>;

export type RowCondition =
  /** Equals one of the texts; or none of them. */
  | {
      readonly kind: 'equals';
      readonly column: string;
      readonly values: readonly string[];
      readonly isNot?: boolean;
    }
  /** The folded text is one of these folded texts; or none of them. */
  | {
      readonly kind: 'equals-folded';
      readonly column: string;
      readonly values: readonly string[];
      readonly isNot?: boolean;
    }
  | { readonly kind: 'contains-folded'; readonly column: string; readonly text: string }
  | {
      readonly kind: 'time';
      readonly column: string;
      readonly from: string | null;
      readonly to: string | null;
      /** `to` is exclusive. */
      readonly isOpenEnded?: boolean;
    }
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

export type CompareOp = '=' | '<' | '<=' | '>' | '>=';

/** In the order shown; hidden ones are returned only when named. */
export const EVENT_COLUMNS = [
  { name: 'id', type: 'int' },
  { name: 'index', type: 'text' },
  { name: 'sourcetype', type: 'text' },
  { name: 'source', type: 'text' },
  { name: 'host', type: 'text' },
  { name: 'data', type: 'text' },
  { name: 'created', type: 'time' },
  { name: 'updated', type: 'time' },
  { name: 'extracted_fields', type: 'json' },
  { name: '_time', type: 'time', isHidden: true },
  { name: 'event_time', type: 'time', isHidden: true },
] as const satisfies readonly Column[];

export type EventColumnName = (typeof EVENT_COLUMNS)[number]['name'];
