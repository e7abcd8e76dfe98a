/**
 * The `Link` header of a page of a list.
 */
import type { Context } from '../context.ts';

/** The header that names the next page: the same address with the same parameters; empty on the last page. */
export function nextLink(context: Context, cursor: string | null): Record<string, string> {
  if (cursor === null) return {};
  const query = new URLSearchParams(context.search);
  query.delete('offset');
  query.set('cursor', cursor);
  return { Link: `<${context.path}?${query}>; rel="next"` };
}
