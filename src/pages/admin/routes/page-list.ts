/**
 * The mechanism of the routes for programs, with filter boxes instead of a filter, and links for sorting and paging.
 */
import type { ExactValues } from '../../../tables/read/list-plan.ts';
import type { ListRequest } from '../../../operations/administration.ts';
import type { ListPage, ListSource } from '../../../store/list-source.ts';
import { askedFormat } from '../../../http/reply/asked-format.ts';
import type { Context } from '../../../http/context.ts';
import { formatHrefs, requireListRows } from '../../../http/reply/list-file.ts';
import type { Listing, SortLink } from '../listing.tsx';

const PAGE_ITEMS = 50;
const MAX_OFFSET = 1_000_000_000;

export type FilterPart = Readonly<Record<string, unknown>>;

interface PageRequest {
  readonly boxes: readonly string[];
  /** Further conditions; undefined entries are left out. */
  readonly parts?: readonly (FilterPart | undefined)[];
  readonly exact?: ExactValues;
  readonly source: Pick<ListSource, 'sortable' | 'order'>;
  readonly dataPath: string;
}

/** Throws as `read`. */
export async function readListing<Item>(
  context: Context,
  { boxes, parts = [], exact = {}, source, dataPath }: PageRequest,
  read: (request: ListRequest) => Promise<ListPage>,
): Promise<Listing<Item>> {
  const query = listQuery(context, parts, source);
  if (askedFormat(context) !== null) {
    const items = await allOf(query, exact, read);
    return {
      items: items as readonly unknown[] as readonly Item[],
      ...placeOf(context, { boxes, source, offset: 0, total: items.length, part: '' }),
      dataHref: dataAddress(dataPath, query, exact),
    };
  }
  const offset = offsetOf(context, '');
  const paged = new URLSearchParams(query);
  paged.set('limit', String(PAGE_ITEMS));
  paged.set('offset', String(offset));
  const { items, total } = await read({ query: paged, exact });
  return {
    items: items as readonly unknown[] as readonly Item[],
    ...placeOf(context, { boxes, source, offset, total, part: '' }),
    dataHref: dataAddress(dataPath, query, exact),
  };
}

/** Throws as `read`, and `invalid-query` for too many rows. */
async function allOf(
  query: URLSearchParams,
  exact: ExactValues,
  read: (request: ListRequest) => Promise<ListPage>,
): Promise<ListPage['items']> {
  const items: ListPage['items'][number][] = [];
  const paged = new URLSearchParams(query);
  for (;;) {
    const page = await read({ query: paged, exact });
    requireListRows(page.total);
    items.push(...page.items);
    if (page.nextCursor === null) return items;
    paged.set('cursor', page.nextCursor);
  }
}

interface Place {
  readonly boxes: readonly string[];
  readonly source: Pick<ListSource, 'sortable'>;
  readonly offset: number;
  readonly total: number;
  readonly part: string;
}

function placeOf(
  context: Context,
  { boxes, source, offset, total, part }: Place,
): Omit<Listing<never>, 'items' | 'dataHref'> {
  const filters = Object.fromEntries(boxes.map((name) => [name, boxValue(context, name)]));
  const next = offset + PAGE_ITEMS;
  const own = new Set([...boxes, 'done', named('offset', part)]);
  const kept = [...context.linkQuery].filter(([name]) => !own.has(name));
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return {
    total,
    first: offset + 1,
    filters,
    previousHref: offset === 0 ? null : hrefOf(context, part, { offset: offset - PAGE_ITEMS }),
    nextHref: next < total ? hrefOf(context, part, { offset: next }) : null,
    sorts: sortsOf(context, source, part),
    clearHref: isFiltered ? addressOf(context.path, kept) : null,
    part,
    kept,
    files: formatHrefs(context.path, fileQuery(context, part)),
  };
}

/** A parameter of one of several lists: `members-offset`. */
function named(parameter: 'offset' | 'sort', part: string): string {
  return part === '' ? parameter : `${part}-${parameter}`;
}

function addressOf(path: string, parameters: Iterable<readonly [string, string]>): string {
  const query = new URLSearchParams();
  for (const [name, value] of parameters) query.append(name, value);
  return query.size === 0 ? path : `${path}?${query}`;
}

export function boxValue(context: Context, name: string): string {
  return (context.queryValue(name) ?? '').trim();
}

/** Ignores case; undefined for an empty text. */
export function containing(text: string, ...columns: readonly string[]): FilterPart | undefined {
  if (text === '') return undefined;
  return { $or: columns.map((column) => ({ [column]: { $icontains: text } })) };
}

export function listQuery(
  context: Context,
  parts: readonly (FilterPart | undefined)[],
  { sortable }: Pick<ListSource, 'sortable'>,
): URLSearchParams {
  const query = new URLSearchParams();
  const asked = parts.filter((part) => part !== undefined);
  if (asked.length > 0) query.set('filter', JSON.stringify({ $and: asked }));
  const sort = sortOf(context, sortable, '');
  if (sort !== null) {
    query.set('sort', sort.column);
    query.set('order', sort.isDescending ? 'desc' : 'asc');
  }
  return query;
}

export function dataAddress(
  path: string,
  query: URLSearchParams,
  exact: ExactValues,
  more: Readonly<Record<string, string>> = {},
): string {
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries({ ...exact, ...more })) {
    if (value !== undefined) all.set(name, String(value));
  }
  return all.size === 0 ? path : `${path}?${all}`;
}

function offsetOf(context: Context, part: string): number {
  const text = context.queryValue(named('offset', part)) ?? '';
  return /^[0-9]{1,10}$/.test(text) ? Math.min(Number(text), MAX_OFFSET) : 0;
}

function sortOf(
  context: Context,
  sortable: readonly string[],
  part: string,
): { column: string; isDescending: boolean } | null {
  const text = context.queryValue(named('sort', part)) ?? '';
  const isDescending = text.startsWith('-');
  const column = isDescending ? text.slice(1) : text;
  return sortable.includes(column) ? { column, isDescending } : null;
}

function sortsOf(
  context: Context,
  { sortable }: Pick<ListSource, 'sortable'>,
  part: string,
): Record<string, SortLink> {
  const present = sortOf(context, sortable, part);
  return Object.fromEntries(
    sortable.map((column): [string, SortLink] => {
      const isSorted = present?.column === column;
      const turns = isSorted && !present.isDescending;
      const sorted = isSorted ? (present.isDescending ? 'descending' : 'ascending') : null;
      return [
        column,
        { href: hrefOf(context, part, { sort: turns ? `-${column}` : column }), sorted },
      ];
    }),
  );
}

function fileQuery({ linkQuery }: Context, part: string): URLSearchParams {
  const kept = new URLSearchParams(linkQuery);
  for (const name of ['done', 'format', named('offset', part)]) kept.delete(name);
  if (part !== '') kept.set('list', part);
  return kept;
}

/** A new sort begins at the first page. */
function hrefOf(
  { path, linkQuery }: Context,
  part: string,
  change: { readonly sort: string } | { readonly offset: number },
): string {
  const changed = new URLSearchParams(linkQuery);
  changed.delete('done');
  changed.delete(named('offset', part));
  if ('sort' in change) changed.set(named('sort', part), change.sort);
  else if (change.offset > 0) changed.set(named('offset', part), String(change.offset));
  return addressOf(path, changed);
}

interface SliceRequest<Item> {
  readonly boxes?: readonly string[];
  readonly sortBy?: Readonly<Record<string, (item: Item) => string | number>>;
  /** Prefix that separates several lists of one page. */
  readonly part?: string;
}

export function sliceListing<Item>(
  context: Context,
  all: readonly Item[],
  { boxes = [], sortBy = {}, part = '' }: SliceRequest<Item> = {},
): Listing<Item> {
  const source = { sortable: Object.keys(sortBy) };
  const sort = sortOf(context, source.sortable, part);
  const items = sort === null ? all : sorted(all, sortBy[sort.column]!, sort.isDescending);
  const isFile = askedFormat(context) !== null;
  const offset = isFile ? 0 : Math.min(offsetOf(context, part), items.length);
  return {
    items: isFile ? items : items.slice(offset, offset + PAGE_ITEMS),
    ...placeOf(context, { boxes, source, offset, total: items.length, part }),
    dataHref: null,
  };
}

/** Ignores case. */
export function boxHolds(context: Context, name: string): (...texts: readonly string[]) => boolean {
  const wanted = boxValue(context, name).toLowerCase();
  return (...texts) => texts.some((text) => text.toLowerCase().includes(wanted));
}

function sorted<Item>(
  all: readonly Item[],
  keyOf: (item: Item) => string | number,
  isDescending: boolean,
): readonly Item[] {
  const ordered = [...all].sort((a, b) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    return left < right ? -1 : left > right ? 1 : 0;
  });
  return isDescending ? ordered.reverse() : ordered;
}
