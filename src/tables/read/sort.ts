import { AppError } from '../../base/errors.ts';
import { indexNames, indexOfName, splitNames, unquoted } from './name-list.ts';

/** Every term nests a cursor's condition one level deeper, and SQLite refuses more than 1,000. */
const MAX_SORT_TERMS = 64;

/** Ties are ordered by the next term, finally by ascending row id. */
export interface SortTerm {
  /** Index of the columns the text was parsed with. */
  readonly column: number;
  readonly descending: boolean;
}

/**
 * Empty for none. `order` applies to items without `-`. The first mention of a column counts. Throws `invalid-query`
 * for an unknown column, and past MAX_SORT_TERMS.
 */
export function parseSort(
  text: string,
  order: 'asc' | 'desc',
  columns: readonly { readonly name: string }[],
): SortTerm[] {
  if (text === '') return [];
  const indexes = indexNames(columns);
  const terms = new Map<number, SortTerm>();
  for (const item of splitNames(text)) {
    const term = termOf(item, order, indexes);
    if (!terms.has(term.column)) terms.set(term.column, term);
  }
  if (terms.size > MAX_SORT_TERMS) {
    throw new AppError(
      'invalid-query',
      `Invalid sort: too many columns (maximum ${MAX_SORT_TERMS})`,
    );
  }
  return [...terms.values()];
}

function termOf(
  item: string,
  order: 'asc' | 'desc',
  indexes: ReadonlyMap<string, number>,
): SortTerm {
  // A column called `-a` wins over column `a` downwards.
  const plain = indexOfName(item, indexes);
  if (plain !== undefined) return { column: plain, descending: order === 'desc' };
  const name = item.trim().replace(/^-/, '');
  const column = name === item.trim() ? undefined : indexOfName(name, indexes);
  if (column !== undefined) return { column, descending: true };
  throw new AppError('invalid-query', `Invalid sort: unknown column '${unquoted(name)}'`);
}
