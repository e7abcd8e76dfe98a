/** NULL (blank numbers, Parquet nulls) comes last in both directions; ties by ascending row id. */
import type { Cursor, CursorKey } from './cursor-token.ts';
import { prefixSql } from '../filter/filter-sql.ts';
import { joinParts, type SqlPart } from './sql-part.ts';
import type { TableColumn } from './query-table.ts';

export interface OrderTerm {
  readonly column: TableColumn;
  readonly descending: boolean;
}

const ROW_ID = 'rows._row_id';

/** ORDER BY and its exact reverse. `gather` keeps SQLite from using an index for it. */
export function orderSql(
  terms: readonly OrderTerm[],
  gather = false,
): { order: string; reversed: string } {
  const sign = gather ? '+' : '';
  const order: string[] = [];
  const reversed: string[] = [];
  for (const { column, descending } of terms) {
    const { sql } = column;
    if (isRowId(column)) {
      order.push(`${sign}${sql}${descending ? ' DESC' : ''}`);
      reversed.push(`${sign}${sql}${descending ? '' : ' DESC'}`);
      return { order: order.join(', '), reversed: reversed.join(', ') };
    }
    order.push(`${sign}${sql}${descending ? ' DESC' : ''} NULLS LAST`);
    reversed.push(`${sign}${sql}${descending ? '' : ' DESC'} NULLS FIRST`);
  }
  const id = terms.length === 0 ? `${sign}${ROW_ID}` : ROW_ID;
  return { order: [...order, id].join(', '), reversed: [...reversed, `${id} DESC`].join(', ') };
}

export function afterCursor(terms: readonly OrderTerm[], { keys, rowId }: Cursor): SqlPart {
  const after = (index: number): SqlPart => {
    const term = terms[index];
    if (!term) return { sql: `${ROW_ID} > ?`, params: [rowId] };
    if (isRowId(term.column)) {
      return { sql: `${ROW_ID} ${term.descending ? '<' : '>'} ?`, params: [rowId] };
    }
    const key = keySql(keys[index]!, term.column, rowId);
    const tied = joinParts([tiedWith(term, key), after(index + 1)], 'AND', '1');
    return joinParts([...beyond(term, key), tied], 'OR', '0');
  };
  return after(0);
}

/**
 * For a single term, as index ranges in reading order: the rest of the tied rows, the values beyond and, unless
 * `hasNulls` is false, the rows without a value.
 */
export function rangesAfterCursor(
  term: OrderTerm,
  { keys, rowId }: Cursor,
  hasNulls: boolean,
): SqlPart[] {
  const key = keySql(keys[0]!, term.column, rowId);
  const rest = { sql: `${ROW_ID} > ?`, params: [rowId] };
  const tied = joinParts([tiedWith(term, key), rest], 'AND', '1');
  return [tied, ...beyond(term, key).slice(0, hasNulls ? 2 : 1)];
}

function tiedWith({ column: { sql } }: OrderTerm, key: SqlPart | null): SqlPart {
  return key
    ? { sql: `${sql} = ${key.sql}`, params: key.params }
    : { sql: `${sql} IS NULL`, params: [] };
}

/** Values after the key, then NULL; nothing follows NULL. */
function beyond({ column: { sql }, descending }: OrderTerm, key: SqlPart | null): SqlPart[] {
  if (!key) return [];
  return [
    { sql: `${sql} ${descending ? '<' : '>'} ${key.sql}`, params: key.params },
    { sql: `${sql} IS NULL`, params: [] },
  ];
}

/** As an operand; null for NULL. A cut text is taken from its row while that still begins so. */
function keySql(key: CursorKey, { sql }: TableColumn, rowId: number): SqlPart | null {
  if (key === null) return null;
  if (typeof key !== 'object' || 'int' in key) return { sql: '?', params: [key] };
  const own = sql.replace('rows.', 'marked.');
  const begins = prefixSql(own, key.prefix);
  return {
    sql: `ifnull((SELECT ${own} FROM rows AS marked WHERE marked._row_id = ? AND ${begins.sql}), ?)`,
    params: [rowId, ...begins.params, key.prefix],
  };
}

function isRowId({ position }: TableColumn): boolean {
  return position === null;
}
