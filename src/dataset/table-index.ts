/**
 * The indexes a typed copy may have: one column each, upwards or downwards.
 *
 * Downwards is an index of its own because ties stay in ascending row id (DS-57), which reading the other one backwards
 * would reverse. The name says everything, so that a table's list of names is all a plan needs.
 */
import type { Condition } from './conditions.ts';
import type { OrderTerm } from './keyset.ts';
import { INDEX_FROM_ROWS } from './limits.ts';
import type { QueryTable } from './query-table.ts';

/** The name of the index on SQL column `c<position>`. */
export function indexName(position: number, descending: boolean): string {
  return `rows_c${position}${descending ? '_desc' : ''}`;
}

/** Whether any index on the column exists; both directions serve a filter. */
export function isIndexed(indexes: ReadonlySet<string>, position: number): boolean {
  return indexes.has(indexName(position, false)) || indexes.has(indexName(position, true));
}

/** The statement that makes the index of this name. Costs about 0.6 s a million rows. */
export function createIndexSql(name: string): string {
  const [, position, descending] = /^rows_c(\d+)(_desc)?$/.exec(name) ?? [];
  if (position === undefined) throw new RangeError(`no name of an index: ${name}`);
  return `CREATE INDEX IF NOT EXISTS ${name} ON rows (c${position}${descending ? ' DESC' : ''})`;
}

/**
 * Names of indexes that would serve such a list and do not exist: for the sort column, and for every column that is
 * compared with values. Empty for tables of up to INDEX_FROM_ROWS rows.
 */
export function usefulIndexes(
  { rowCount, indexes }: QueryTable,
  conditions: readonly Condition[],
  terms: readonly OrderTerm[],
): string[] {
  if (rowCount <= INDEX_FROM_ROWS) return [];
  const names = new Set<string>();
  const [term] = terms;
  if (term && terms.length === 1 && term.column.position !== null) {
    names.add(indexName(term.column.position, term.descending));
  }
  for (const { lookup } of conditions) {
    const position = lookup?.column.position ?? null;
    if (position === null || isIndexed(names, position)) continue;
    if (!isIndexed(indexes, position)) names.add(indexName(position, false));
  }
  return [...names].filter((name) => !indexes.has(name));
}
