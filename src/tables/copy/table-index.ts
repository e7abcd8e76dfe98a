/**
 * Indexes of a typed copy: one column each, ascending or descending, because ties stay in ascending row id, which
 * reading the other index backwards would reverse. The name says everything.
 */
import type { Condition } from '../filter/conditions.ts';
import type { OrderTerm } from '../read/rows-after-cursor.ts';
import { STRATEGY } from '../limits.ts';
import {
  type ComparedBy,
  comparedSql,
  type QueryTable,
  type TableColumn,
} from '../read/query-table.ts';

export function indexName(position: number, descending: boolean): string {
  return `rows_c${position}${descending ? '_desc' : ''}`;
}

/** Null for row ids. */
export function orderIndexName({ column, descending }: OrderTerm): string | null {
  if (column.position === null) return null;
  const name = indexName(column.position, descending);
  return column.compared === undefined ? name : `${name}_${column.compared}`;
}

/** Indexes that a filter on the column can use; null for row ids. */
function filterIndexNames({ position, compared }: TableColumn): readonly string[] {
  if (position === null) return [];
  const end = compared === 'key' ? '_key' : '';
  return [indexName(position, false) + end, indexName(position, true) + end];
}

/** Both directions serve a filter. */
export function isIndexed(indexes: ReadonlySet<string>, column: TableColumn): boolean {
  return filterIndexNames(column).some((name) => indexes.has(name));
}

/** Costs about 0.6 s a million rows. */
export function createIndexSql(name: string): string {
  const [, position, descending, by] = /^rows_c(\d+)(_desc)?(?:_(utc|key))?$/.exec(name) ?? [];
  if (position === undefined) throw new RangeError(`no name of an index: ${name}`);
  const key = comparedSql(`c${position}`, by as ComparedBy | undefined);
  return `CREATE INDEX IF NOT EXISTS ${name} ON rows (${key}${descending ? ' DESC' : ''})`;
}

/** Missing indexes for the sort column and each compared column. Empty for tables of up to `indexFromRows` rows. */
export function usefulIndexes(
  { rowCount, indexes }: QueryTable,
  conditions: readonly Condition[],
  terms: readonly OrderTerm[],
): string[] {
  if (rowCount <= STRATEGY.indexFromRows) return [];
  const names = new Set<string>();
  const [term] = terms;
  const ordering = term && terms.length === 1 ? orderIndexName(term) : null;
  if (ordering !== null) names.add(ordering);
  for (const { lookup } of conditions) {
    const [name] = lookup ? filterIndexNames(lookup.column) : [];
    if (name === undefined || isIndexed(names, lookup!.column)) continue;
    if (!isIndexed(indexes, lookup!.column)) names.add(name);
  }
  return [...names].filter((name) => !indexes.has(name));
}
