/**
 * Asking a running service to search.
 */
import type { Client } from '../support/service.ts';

/** One result as programs get it. */
interface FoundResult {
  readonly resource: string;
  readonly type: string;
  readonly title: string;
  readonly snippet: string;
  readonly score: number;
  readonly ui_url: string;
  readonly api_url?: string;
  readonly row_id?: number;
}

/** The answer of `/search`. */
interface FoundAnswer {
  readonly query: string;
  readonly count: number;
  readonly has_more: boolean;
  readonly results: readonly FoundResult[];
}

/** The answer to a query; throws when it is not 200. */
export async function searched(
  client: Client,
  q: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<FoundAnswer> {
  const query = new URLSearchParams({ q, ...parameters });
  const response = await client.fetch(`/search?${query}`);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as FoundAnswer;
}

/** `resource` or `resource#row` of every result, in order. */
export async function found(
  client: Client,
  q: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const { results } = await searched(client, q, parameters);
  return results.map(({ resource, row_id: row }) =>
    row === undefined ? resource : `${resource}#${row}`,
  );
}

/** Every result of a query, page by page. */
export async function foundOnPages(client: Client, q: string, limit: number): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    const page = await searched(client, q, { limit: String(limit), offset: String(all.length) });
    if (page.count !== page.results.length) throw new Error('count is not that of the page');
    if (page.has_more && page.count < limit) throw new Error('a page is not full');
    all.push(...page.results.map((hit) => `${hit.resource}#${hit.row_id ?? ''}`));
    if (!page.has_more) return all;
  }
}
