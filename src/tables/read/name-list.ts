/** Comma lists of column names in `columns` and `sort`: a name with `,` or `"` is quoted, with `""` for a quote. */

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

/** Unquoted, or unchanged. */
export function unquoted(item: string): string {
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
