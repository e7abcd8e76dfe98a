import { basePathOf, underBase } from '../../base/paths.ts';
import type { App } from '../../app.ts';
import { type Grants, loadGrants } from '../../accounts/rights/permissions.ts';
import type { Caller } from '../../accounts/rights/principal.ts';
import { invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import { compareBytes, encodePath } from '../../base/paths.ts';
import { integerParameter } from '../../tables/read/list-parameters.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { SnippetPart } from '../../fulltext/snippet.ts';
import { mayAccess } from '../access.ts';

export interface DocrootQuery {
  readonly q: string;
  /** 1 to MAX_RESULTS. */
  readonly limit: number;
  readonly offset: number;
  /** Resource types; an unknown one matches nothing. Null: all. */
  readonly types: readonly string[] | null;
}

/** `snippet` is in parts, which each caller marks up in its own way. */
export interface DocrootResult {
  readonly resource: string;
  readonly type: Resource['type'];
  readonly rel: string;
  readonly title: string;
  readonly snippet: readonly SnippetPart[];
  readonly score: number;
  readonly uiUrl: string;
  /** For a dataset row: its id, and the path that returns exactly it. Null for everything else. */
  readonly row: { readonly id: number; readonly apiUrl: string } | null;
}

export interface DocrootResults {
  readonly query: string;
  readonly results: readonly DocrootResult[];
  readonly hasMore: boolean;
  /** Datasets the caller may read whose rows are not all searched. */
  readonly leftOut: readonly { readonly resource: string; readonly rows: number }[];
}

export const MAX_RESULTS = 100;
const DEFAULT_RESULTS = 20;
/** Ranks equal results by resource; cached, since resources seldom change. */
const sortedOnce = new WeakMap<readonly Resource[], readonly Resource[]>();
let lastReadable: {
  readonly resources: readonly Resource[];
  readonly patterns: Grants['patterns'];
  readonly readable: readonly Resource[];
} | null = null;

/** Throws `invalid-request`. */
export function parseDocrootQuery(query: URLSearchParams): DocrootQuery {
  const issues: ValidationIssue[] = [];
  const limit = integerParameter(query, 'limit', { min: 1, max: MAX_RESULTS }, issues);
  const offset = integerParameter(query, 'offset', { min: 0 }, issues);
  if (issues.length > 0) throw invalidRequest(...issues);
  const types = query.getAll('type').at(-1) ?? '';
  return {
    q: query.getAll('q').at(-1) ?? '',
    limit: limit ?? DEFAULT_RESULTS,
    offset: offset ?? 0,
    types: types.trim() === '' ? null : types.split(',').map((type) => type.trim()),
  };
}

/**
 * Resources that the caller may not read influence nothing, not even ranks and counts. Throws `unavailable` and
 * `timed-out`, never because of the query.
 */
export async function searchDocroot(
  { db, registry, search }: App,
  caller: Caller,
  { q, limit, offset, types }: DocrootQuery,
): Promise<DocrootResults> {
  const grants = await loadGrants(db, caller);
  const readable = readableOf(inOrder(registry.list()), grants);
  const resources = types === null ? readable : readable.filter(({ type }) => types.includes(type));
  const { hits, hasMore } = await search.find({ q, limit, offset, resources });
  const results = hits.map(({ resource, rowId, title, anchor, snippet, score }) => ({
    resource: resource.canonical,
    type: resource.type,
    rel: resource.rel,
    title,
    snippet,
    score,
    uiUrl: uiUrlOf(resource, anchor),
    row: rowId === null ? null : { id: rowId, apiUrl: rowUrl(resource.canonical, rowId) },
  }));
  const leftOut = search
    .leftOut(resources)
    .map(({ resource, rows }) => ({ resource: resource.canonical, rows }));
  return { query: q, results, hasMore, leftOut };
}

/** Snippets are HTML: escaped, with marks. Addresses are those of `publicUrl`, where it has a path. */
export function docrootAnswer({ query, results, hasMore }: DocrootResults, publicUrl: string) {
  const base = basePathOf(publicUrl);
  return {
    query,
    count: results.length,
    has_more: hasMore,
    results: results.map(({ resource, type, title, snippet, score, uiUrl, row }) => ({
      resource,
      type,
      title,
      snippet: snippet.map(markup).join(''),
      score,
      ui_url: underBase(base, uiUrl),
      ...(row !== null && { api_url: underBase(base, row.apiUrl), row_id: row.id }),
    })),
  };
}

function markup({ text, isHit }: SnippetPart): string {
  const escaped = Bun.escapeHTML(text);
  return isHit ? `<mark>${escaped}</mark>` : escaped;
}

function inOrder(resources: readonly Resource[]): readonly Resource[] {
  let sorted = sortedOnce.get(resources);
  if (!sorted) {
    sorted = resources.toSorted((a, b) => compareBytes(a.canonical, b.canonical));
    sortedOnce.set(resources, sorted);
  }
  return sorted;
}

/** The last result is cached for rights without scopes: searches of one user follow each other. */
function readableOf(resources: readonly Resource[], grants: Grants): readonly Resource[] {
  const { isSuperuser, patterns, scopes } = grants;
  if (isSuperuser && scopes === null) return resources;
  const isLast = lastReadable?.resources === resources && lastReadable.patterns === patterns;
  if (isLast && scopes === null) return lastReadable!.readable;
  const readable = resources.filter((resource) => mayAccess(grants, resource, 'read'));
  if (scopes === null) lastReadable = { resources, patterns, readable };
  return readable;
}

function uiUrlOf({ canonical, type, family }: Resource, anchor: string | null): string {
  const path = encodePath(canonical);
  if (type === 'handler') return `/api/${path}/`;
  if (family !== 'content' || type === 'dashboard') return `/ui/${path}`;
  return anchor === null ? `/${path}` : `/${path}#${encodeURIComponent(anchor)}`;
}

function rowUrl(canonical: string, rowId: number): string {
  const filter = encodeURIComponent(JSON.stringify({ _row_id: rowId }));
  return `/api/${encodePath(canonical)}/?filter=${filter}`;
}
