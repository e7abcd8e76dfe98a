/**
 * Lists of rows as a client asks for them and takes them apart.
 */
import type { Client } from '../support/service.ts';
import { eventually } from './eventually.ts';

/** Query parameters; objects (filters) travel as JSON, arrays as repeated parameters, undefined not at all. */
export type Query = Readonly<
  Record<string, string | number | readonly string[] | object | undefined>
>;

/** A row as JSON gives it. */
export type JsonRow = Readonly<Record<string, unknown>>;

/** An answer to a list request. */
export interface Listing {
  readonly status: number;
  readonly text: string;
  /** The parsed body. */
  readonly body: unknown;
  /** The body when it is an array; empty otherwise. */
  readonly rows: readonly JsonRow[];
  /** `detail` of an error. */
  readonly detail: unknown;
  readonly headers: Headers;
  /** `X-Total-Count`; null when absent. */
  readonly total: number | null;
  /** Path and query of the next page; null on the last one. */
  readonly next: string | null;
  readonly etag: string;
}

/** The address of a dataset with a query: `/api/<name>/?...`. */
export function address(name: string, query: Query = {}, family = 'api'): string {
  const path = `/${family}/${name.split('/').map(encodeURIComponent).join('/')}/`;
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (Array.isArray(value)) for (const one of value) parameters.append(key, String(one));
    else parameters.set(key, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

/** Asks for rows of a dataset. */
export function list(client: Client, name: string, query: Query = {}): Promise<Listing> {
  return get(client, address(name, query));
}

/** As `list`, of a file that was written a moment ago: waits until it has an address. */
export function listNoticed(client: Client, name: string, query: Query = {}): Promise<Listing> {
  return eventually(async () => {
    const answer = await list(client, name, query);
    if (answer.status === 404) throw new Error(`${name} is not noticed`);
    return answer;
  });
}

/** Asks for a path as it is. */
export async function get(client: Client, path: string, init?: RequestInit): Promise<Listing> {
  const response = await client.fetch(path, init);
  const text = await response.text();
  const body = parsed(text);
  const total = response.headers.get('X-Total-Count');
  return {
    status: response.status,
    text,
    body,
    rows: Array.isArray(body) ? body : [],
    detail: (body as { detail?: unknown } | null)?.detail,
    headers: response.headers,
    total: total === null ? null : Number(total),
    next: nextOf(response.headers.get('Link')),
    etag: response.headers.get('ETag') ?? '',
  };
}

/** All pages from `path` on, by following the links. Throws when one is refused or there is no end. */
export async function walk(
  client: Client,
  path: string,
  beforeNext: (pages: readonly Listing[]) => unknown = () => {},
): Promise<Listing[]> {
  const pages: Listing[] = [];
  for (let next: string | null = path; next !== null; next = pages.at(-1)!.next) {
    if (pages.length > 0) await beforeNext(pages);
    if (pages.length > 1_000) throw new Error('The pages have no end');
    const page = await get(client, next);
    if (page.status !== 200) throw new Error(`${page.status} for ${next}: ${page.text}`);
    pages.push(page);
  }
  return pages;
}

/** The `_row_id` of each row. */
export function idsOf(rows: readonly JsonRow[]): unknown[] {
  return rows.map(({ _row_id }) => _row_id);
}

/** One column of the rows. */
export function columnOf(rows: readonly JsonRow[], name: string): unknown[] {
  return rows.map((row) => row[name]);
}

function nextOf(link: string | null): string | null {
  if (link === null) return null;
  const match = /^<([^<>]+)>; rel="next"$/.exec(link);
  if (match === null) throw new Error(`Malformed Link: ${link}`);
  return match[1]!;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Another format; the test looks at the text.
    return null;
  }
}
