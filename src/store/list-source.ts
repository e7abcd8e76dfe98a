/**
 * What a list of accounts, rights, locks or audit entries is made of: the one description from which every admin list
 * gets its paging, sorting and filtering (DS-133).
 *
 * The owner of a table states its SQL here as data; only texts of ours stand in it, never a caller's.
 */
import type { SqlValue } from './database.ts';

/** A member of the listed objects. `boolean` is stored as 0 and 1, `date-time` as DS-16 text, `nested` as JSON text. */
export interface ListColumn {
  readonly name: string;
  readonly type: 'integer' | 'boolean' | 'string' | 'date-time' | 'nested';
  /** An SQL expression over `from`. */
  readonly sql: string;
  /** Left out of objects in which it is null. */
  readonly isOptional?: boolean;
}

/** A list that can be asked for. */
export interface ListSource {
  /** Tells lists apart, so that a cursor of one is none of another's. */
  readonly name: string;
  /** Tables with their joins. */
  readonly from: string;
  /** Values of the placeholders in `from`. */
  readonly params?: readonly SqlValue[];
  /** An SQL expression: a unique integer that grows with each insertion. */
  readonly id: string;
  readonly columns: readonly ListColumn[];
  /** Names of the columns a caller may sort by (DS-135). */
  readonly sortable: readonly string[];
  /** Direction of a list that nobody sorted; ties follow it too. */
  readonly order: 'asc' | 'desc';
}

/** One page of a list. */
export interface ListPage {
  /** Objects with the members of the source's columns, in their order. */
  readonly items: readonly Readonly<Record<string, unknown>>[];
  /** How many there are before the list is cut to a page (DS-40). */
  readonly total: number;
  /** Null on the last page (DS-41). */
  readonly nextCursor: string | null;
}
