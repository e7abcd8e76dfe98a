/** Comma lists of column names in `columns` and `sort`: a name with `,` or `"` is quoted, with `""` for a quote. */
import { AppError } from '../../base/errors.ts';

/** Keeps quotes; a quote opens only at the start of an item or after one `-`. */
export function splitNames(text: string): string[] {
  const items: string[] = [];
  const item = /(-?"(?:[^"]|"")*"(?=,|$)|[^,]*)(?:,|$)/gy;
  while (item.lastIndex <= text.length) {
    const match = item.exec(text);
    if (!match) break;
    const [whole, written = ''] = match;
    items.push(written);
    if (whole.length === written.length) break;
  }
  return items;
}

/** Quoted also where only outer spaces would be lost. */
export function quoted(name: string): string {
  return /[",]|^\s|\s$|^-/.test(name) || name === '' ? `"${name.replaceAll('"', '""')}"` : name;
}

export function joinNames(names: readonly string[]): string {
  return names.map(quoted).join(',');
}

/** Unquoted, or unchanged. */
function unquoted(item: string): string {
  return /^"(?:[^"]|"")*"$/.test(item) ? item.slice(1, -1).replaceAll('""', '"') : item;
}

/** Tries the unquoted text, the item as written (a name with stray quotes), then the item without outer spaces. */
export function indexOfName(
  item: string,
  indexes: ReadonlyMap<string, number>,
): number | undefined {
  return indexes.get(unquoted(item)) ?? indexes.get(item) ?? indexes.get(item.trim());
}

const known = new WeakMap<readonly object[], ReadonlyMap<string, number>>();

/** Remembered with the list. */
export function indexNames(
  columns: readonly { readonly name: string }[],
): ReadonlyMap<string, number> {
  let indexes = known.get(columns);
  if (!indexes) {
    indexes = new Map(columns.map(({ name }, index) => [name, index]));
    known.set(columns, indexes);
  }
  return indexes;
}

/**
 * In the order given, each once; null for all (no value, or only empty ones). Throws `invalid-query` for an unknown
 * name.
 */
export function parseColumns(
  values: readonly string[],
  columns: readonly { readonly name: string }[],
): number[] | null {
  const items = values.filter((value) => value !== '').flatMap(splitNames);
  if (items.length === 0) return null;
  const indexes = indexNames(columns);
  const found = items.map((item) => {
    const index = indexOfName(item, indexes);
    if (index !== undefined) return index;
    throw new AppError('invalid-query', `Invalid columns: unknown column '${unquoted(item)}'`);
  });
  return [...new Set(found)];
}

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
