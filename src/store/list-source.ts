/**
 * The description every admin list gets its paging, sorting and filtering from. Its SQL is our own text, never a
 * caller's.
 */
import type { SqlValue } from './database.ts';

/** `boolean` is stored as 0 and 1, `date-time` as RFC 3339 text, `nested` as JSON text. */
export interface ListColumn {
  readonly name: string;
  readonly type: 'integer' | 'boolean' | 'string' | 'date-time' | 'nested';
  /** An SQL expression over `from`. */
  readonly sql: string;
  /** Left out of objects in which it is null. */
  readonly isOptional?: boolean;
}

export interface ListSource {
  /** A cursor is valid for the list of this name only. */
  readonly name: string;
  readonly from: string;
  readonly params?: readonly SqlValue[];
  /** An SQL expression: a unique integer that grows with each insertion. */
  readonly id: string;
  readonly columns: readonly ListColumn[];
  readonly sortable: readonly string[];
  readonly order: 'asc' | 'desc';
}

/** Of the columns of one table with an `id`, as they are stored, in ascending order. */
export function tableList(
  name: string,
  columns: Readonly<Record<string, ListColumn['type']>>,
  sortable: readonly string[],
): ListSource {
  return {
    name,
    from: name,
    id: 'id',
    columns: Object.entries(columns).map(([column, type]) => ({ name: column, type, sql: column })),
    sortable,
    order: 'asc',
  };
}

export interface ListPage {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  /** Before paging. */
  readonly total: number;
  readonly nextCursor: string | null;
}
