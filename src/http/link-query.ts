/**
 * The part of the query that the links of a page carry on. A page has dozens of links and a request head may hold 256 KiB,
 * so parameters that do not fit are left out, and the frame says so.
 */

/** Links in a table of rows carry less. */
export const MAX_LINK_CHARACTERS = 4 * 1024;
const MAX_PARAMETERS = 256;

/** In their order. */
export function linkQuery(
  parameters: Iterable<readonly [name: string, value: string]>,
  maxCharacters = MAX_LINK_CHARACTERS,
): URLSearchParams {
  const query = new URLSearchParams();
  let left = maxCharacters;
  for (const [name, value] of parameters) {
    if (query.size >= MAX_PARAMETERS) break;
    if (name.length + value.length > left) continue;
    const length = new URLSearchParams([[name, value]]).toString().length + 1;
    if (length > left) continue;
    left -= length;
    query.append(name, value);
  }
  return query;
}

/** `Link` to the next page; empty on the last. */
export function nextLink(
  page: { readonly path: string; readonly search: string },
  cursor: string | null,
): Record<string, string> {
  if (cursor === null) return {};
  const query = new URLSearchParams(page.search);
  query.delete('offset');
  query.set('cursor', cursor);
  return { Link: `<${page.path}?${query}>; rel="next"` };
}
