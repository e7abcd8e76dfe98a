/**
 * Indexes of a typed copy: one column each, ascending or descending.
 *
 * Both exist because ties stay in ascending row id, which reading the other index backwards would reverse. The name
 * says everything, so a plan needs only the list of names.
 */
import type { Condition } from '../filter/conditions.ts';
import type { OrderTerm } from '../read/rows-after-cursor.ts';
import { STRATEGY } from '../limits.ts';
import type { QueryTable } from '../read/query-table.ts';

export function indexName(position: number, descending: boolean): string {
  return `rows_c${position}${descending ? '_desc' : ''}`;
}

/** Null for row ids. */
export function orderIndexName({ column, descending }: OrderTerm): string | null {
  if (column.position === null) return null;
  const name = indexName(column.position, descending);
  return column.sortSql === undefined ? name : `${name}_utc`;
}

/** Both directions serve a filter. */
export function isIndexed(indexes: ReadonlySet<string>, position: number): boolean {
  return indexes.has(indexName(position, false)) || indexes.has(indexName(position, true));
}

/** Costs about 0.6 s a million rows. */
export function createIndexSql(name: string): string {
  const [, position, descending, utc] = /^rows_c(\d+)(_desc)?(_utc)?$/.exec(name) ?? [];
  if (position === undefined) throw new RangeError(`no name of an index: ${name}`);
  const key = utc ? `rtrim(c${position}, 'Z')` : `c${position}`;
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
    const position = lookup?.column.position ?? null;
    if (position === null || isIndexed(names, position)) continue;
    if (!isIndexed(indexes, position)) names.add(indexName(position, false));
  }
  return [...names].filter((name) => !indexes.has(name));
}
