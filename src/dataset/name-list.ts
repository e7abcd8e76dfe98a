/**
 * Comma lists of column names, as `columns` and `sort` write them (DS-42): a name that contains `,` or `"` stands in
 * quotes, with `""` for a quote.
 */

/** The items of a list as written, quotes kept; a quote opens only at the start of an item or after one `-`. */
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

/** The name an item stands for when it is taken as a whole: unquoted, or as it is. */
export function unquoted(item: string): string {
  return /^"(?:[^"]|"")*"$/.test(item) ? item.slice(1, -1).replaceAll('""', '"') : item;
}

/**
 * Index of the column an item names: its unquoted text, the item as written (a name with stray quotes), or the item
 * without outer spaces; undefined when there is none.
 */
export function indexOfName(
  item: string,
  indexes: ReadonlyMap<string, number>,
): number | undefined {
  return indexes.get(unquoted(item)) ?? indexes.get(item) ?? indexes.get(item.trim());
}

const known = new WeakMap<readonly object[], ReadonlyMap<string, number>>();

/** Positions of the names in their list; remembered with the list. */
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
