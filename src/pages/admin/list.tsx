/** @jsxImportSource @kitajs/html */
/**
 * The lists of administration. The whole state is in the address; several lists of one page have prefixes, their `part`.
 */
import type { PropsWithChildren } from '@kitajs/html';
import { adminOf } from '../../api/admin/handlers.ts';
import { AppError } from '../../base/errors.ts';
import type { Context, ServerServices } from '../../http/context.ts';
import { askedFormat, formatHrefs, requireListRows } from '../../http/reply/list-file.ts';
import type { Administrator, ListRequest } from '../../operations/administration.ts';
import { findUserByName, namesOfUsers } from '../../operations/accounts/users.ts';
import type { ListPage, ListSource } from '../../store/list-source.ts';
import type { ExactValues } from '../../tables/read/list-plan.ts';
import type { Format } from '../../tables/read/format.ts';
import { Count } from '../parts/values.tsx';
import { ExportMenu } from '../parts/export-menu.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import { type Column, Rows, type SortLink } from '../parts/table.tsx';
import { HiddenFields, Select } from '../parts/forms.tsx';
import type { Surroundings } from './page.tsx';

const PAGE_ITEMS = 50;
const MAX_OFFSET = 1_000_000_000;

export interface Listing<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  /** Counts from 1. */
  readonly first: number;
  readonly previousHref: string | null;
  readonly nextHref: string | null;
  /** Keys are column names. */
  readonly sorts: Readonly<Record<string, SortLink>>;
  /** Keys are the names of the filter boxes. */
  readonly filters: Readonly<Record<string, string>>;
  /** The address without a filter; null while there is none. */
  readonly clearHref: string | null;
  /** The same list as JSON; null where there is none. */
  readonly dataHref: string | null;
  /** `''` for the only list of a page. */
  readonly part: string;
  /** Parameters of the other lists, which the filter form keeps. */
  readonly kept: readonly (readonly [name: string, value: string])[];
  /** All that match, as downloads. */
  readonly files: Readonly<Record<Format, string>>;
}

export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly type?: 'datetime-local';
  /** Id of a datalist. */
  readonly list?: string;
  /** The first means no restriction and has the value `''`. */
  readonly choices?: readonly (readonly [value: string, text: string])[];
}

export interface Table<Item> {
  readonly nouns: readonly [one: string, many: string];
  readonly filters?: readonly Filter[];
  /** So few items have no filter boxes. */
  readonly few?: number;
  readonly empty: string;
  readonly wayOn?: { readonly label: string; readonly href: string };
  readonly columns: readonly Column<Item, Surroundings>[];
}

interface DatabaseList {
  readonly source: Pick<ListSource, 'sortable' | 'order'>;
  readonly read: (
    services: ServerServices,
    admin: Administrator,
    request: ListRequest,
  ) => Promise<ListPage>;
  /** The route for programs. */
  readonly dataPath: string;
  /** Columns searched by a box, ignoring case. */
  readonly search: Readonly<Record<string, readonly string[]>>;
  /** Further conditions; undefined entries are left out. */
  readonly parts?: readonly (FilterPart | undefined)[];
  readonly exact?: ExactValues;
  /** Downloads that the route for programs makes. */
  readonly exports?: readonly Format[];
}

export type FilterPart = Readonly<Record<string, unknown>>;

/** Throws as `read`. */
export async function readListing<Item>(
  context: Context,
  { filters = [] }: Pick<Table<Item>, 'filters'>,
  { source, read, dataPath, search, parts = [], exact = {}, exports = [] }: DatabaseList,
): Promise<Listing<Item>> {
  const searched = Object.entries(search).map(([name, columns]) => {
    const $icontains = boxValue(context, name);
    return $icontains === ''
      ? undefined
      : { $or: columns.map((column) => ({ [column]: { $icontains } })) };
  });
  const $and = [...searched, ...parts].filter((part) => part !== undefined);
  const query = new URLSearchParams($and.length === 0 ? {} : { filter: JSON.stringify({ $and }) });
  const sort = sortOf(context, source.sortable, '');
  if (sort !== null) {
    query.set('sort', sort.column);
    query.set('order', sort.isDescending ? 'desc' : 'asc');
  }
  const page = (more: Readonly<Record<string, string>>): Promise<ListPage> => {
    const paged = new URLSearchParams([...query, ...Object.entries(more)]);
    return read(context.services, adminOf(context), { query: paged, exact });
  };
  const isFile = askedFormat(context) !== null;
  const offset = isFile ? 0 : offsetOf(context, '');
  const { items, total } = isFile
    ? await allOf(page)
    : await page({ limit: String(PAGE_ITEMS), offset: String(offset) });
  const place = placeOf(context, { filters, sortable: source.sortable, offset, total, part: '' });
  const dataHref = (format: Readonly<Record<string, string>>): string => {
    const present = Object.entries({ ...exact, ...format }).filter(
      ([, value]) => value !== undefined,
    );
    return addressOf(dataPath, [
      ...query,
      ...present.map(([name, value]): [string, string] => [name, String(value)]),
    ]);
  };
  const exported = exports.map((format) => [format, dataHref({ format })] as const);
  return {
    ...place,
    items: items as readonly unknown[] as readonly Item[],
    dataHref: dataHref({}),
    files: { ...place.files, ...Object.fromEntries(exported) },
  };
}

async function allOf(
  page: (more: Readonly<Record<string, string>>) => Promise<ListPage>,
): Promise<Pick<ListPage, 'items' | 'total'>> {
  const items: ListPage['items'][number][] = [];
  for (let more = {}; ;) {
    const { items: some, total, nextCursor } = await page(more);
    requireListRows(total);
    items.push(...some);
    if (nextCursor === null) return { items, total: items.length };
    more = { cursor: nextCursor };
  }
}

/**
 * A listing of what users own, with their names: null for accounts deleted meanwhile. The box `user` filters; `failure` says
 * when there is no such user.
 */
export async function readOwnedListing<Item extends { readonly user_id: number | null }>(
  context: Context,
  table: Pick<Table<never>, 'filters'>,
  list: DatabaseList,
): Promise<{
  readonly listing: Listing<Item & { readonly username: string | null }>;
  readonly failure: string | null;
}> {
  const { services } = context;
  const admin = adminOf(context);
  const name = boxValue(context, 'user');
  let failure: string | null = null;
  const owner =
    name === ''
      ? undefined
      : await findUserByName(services, admin, name).catch((error: unknown) => {
          if (!(error instanceof AppError) || error.code !== 'not-found') throw error;
          failure = error.message;
          // Nobody has this id.
          return { id: 0 };
        });
  const exact = { user_id: owner?.id, ...list.exact };
  const listing = await readListing<Item>(context, table, { ...list, exact });
  const ids = listing.items.map((item) => item.user_id).filter((id) => id !== null);
  const names = await namesOfUsers(services, admin, ids);
  const named = mapItems(listing, (item) => ({
    ...item,
    username: item.user_id === null ? null : (names.get(item.user_id) ?? null),
  }));
  return { listing: named, failure };
}

export function mapItems<From, To>(listing: Listing<From>, map: (item: From) => To): Listing<To> {
  return { ...listing, items: listing.items.map(map) };
}

interface SliceRequest<Item> {
  readonly part?: string;
  readonly sortBy?: Readonly<Record<string, (item: Item) => string | number>>;
}

/** A listing of what is in memory, already filtered. */
export function sliceListing<Item>(
  context: Context,
  { filters = [] }: Pick<Table<Item>, 'filters'>,
  all: readonly Item[],
  { part = '', sortBy = {} }: SliceRequest<Item> = {},
): Listing<Item> {
  const sortable = Object.keys(sortBy);
  const sort = sortOf(context, sortable, part);
  const items = [...all];
  if (sort !== null) {
    const keyOf = sortBy[sort.column]!;
    items.sort((a, b) => {
      const [left, right] = [keyOf(a), keyOf(b)];
      return left < right ? -1 : left > right ? 1 : 0;
    });
    if (sort.isDescending) items.reverse();
  }
  const isFile = askedFormat(context) !== null;
  const offset = isFile ? 0 : Math.min(offsetOf(context, part), items.length);
  return {
    ...placeOf(context, { filters, sortable, offset, total: items.length, part }),
    items: isFile ? items : items.slice(offset, offset + PAGE_ITEMS),
    dataHref: null,
  };
}

interface Place {
  readonly filters: readonly Filter[];
  readonly sortable: readonly string[];
  readonly offset: number;
  readonly total: number;
  readonly part: string;
}

function placeOf(
  context: Context,
  { filters, sortable, offset, total, part }: Place,
): Omit<Listing<never>, 'items' | 'dataHref'> {
  const { path, linkQuery } = context;
  const values = filters.map(({ name }) => [name, boxValue(context, name)] as const);
  const own = new Set([...filters.map(({ name }) => name), 'done', named('offset', part)]);
  const kept = [...linkQuery].filter(([name]) => !own.has(name));
  /** A new order begins at its first page. */
  const hrefOf = (change: Readonly<Record<string, string>>): string => {
    const rest = [...linkQuery].filter(
      ([name]) => name !== 'done' && name !== named('offset', part),
    );
    const query = new URLSearchParams(rest);
    for (const [name, value] of Object.entries(change)) query.set(name, value);
    return addressOf(path, query);
  };
  const hrefAt = (at: number): string =>
    hrefOf(at > 0 ? { [named('offset', part)]: String(at) } : {});
  const sort = sortOf(context, sortable, part);
  const file = new URLSearchParams(
    [...linkQuery].filter(([name]) => !['done', 'format', named('offset', part)].includes(name)),
  );
  if (part !== '') file.set('list', part);
  return {
    total,
    first: offset + 1,
    filters: Object.fromEntries(values),
    previousHref: offset === 0 ? null : hrefAt(offset - PAGE_ITEMS),
    nextHref: offset + PAGE_ITEMS < total ? hrefAt(offset + PAGE_ITEMS) : null,
    sorts: Object.fromEntries(
      sortable.map((column): [string, SortLink] => {
        const sorted =
          sort?.column !== column ? null : sort.isDescending ? 'descending' : 'ascending';
        const next = sorted === 'ascending' ? `-${column}` : column;
        return [column, { href: hrefOf({ [named('sort', part)]: next }), sorted }];
      }),
    ),
    clearHref: values.some(([, value]) => value !== '') ? addressOf(path, kept) : null,
    part,
    kept,
    files: formatHrefs(path, file),
  };
}

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

/** Ignoring case. */
export function boxHolds(context: Context, name: string): (...texts: readonly string[]) => boolean {
  const wanted = boxValue(context, name).toLowerCase();
  return (...texts) => texts.some((text) => text.toLowerCase().includes(wanted));
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

interface ListProps<Item> {
  readonly table: Table<Item>;
  readonly listing: Listing<Item>;
  readonly around: Surroundings;
}

/** The children are between the filter boxes and the table. Script replaces the list as a whole. */
export function List<Item>(props: PropsWithChildren<ListProps<Item>>) {
  const { table, listing, around, children } = props;
  const { nouns, filters = [], few = -1, empty, wayOn, columns } = table;
  const { total, items, dataHref, files, clearHref, part, previousHref, nextHref } = listing;
  const id = part === '' ? 'list' : `list-${part}`;
  return (
    <>
      {filters.length > 0 && (total > few || clearHref !== null) && (
        <FilterForm path={around.frame.path} {...{ filters, listing, id }} />
      )}
      {children}
      <div id={id}>
        <div class="counted">
          <p class="fine" role="status">
            <CountText {...{ listing, nouns }} />
          </p>
          <ExportMenu json={dataHref ?? files.json} files={files} />
        </div>
        {total > 0 ? (
          <Rows label={nouns[1]} sorts={listing.sorts} {...{ columns, items, around }} />
        ) : clearHref === null ? (
          <p class="empty">
            <span safe>{empty}</span>{' '}
            {wayOn !== undefined && (
              <a href={wayOn.href} safe>
                {wayOn.label}
              </a>
            )}
          </p>
        ) : (
          <p class="empty">
            Nothing matches. Try fewer filters, or <a href={clearHref}>show all</a>.
          </p>
        )}
        <PageLinks {...{ previousHref, nextHref }} />
      </div>
    </>
  );
}

interface FilterFormProps {
  readonly path: string;
  readonly filters: readonly Filter[];
  readonly listing: Pick<Listing<unknown>, 'clearHref' | 'kept' | 'filters'>;
  readonly id: string;
}

/** With script it filters while the reader types. */
function FilterForm({ path, filters, listing, id }: FilterFormProps) {
  return (
    <form class="filter query" method="get" action={path} role="search" data-live={id}>
      <HiddenFields fields={listing.kept} />
      {filters.map((filter) => (
        <FilterBox filter={filter} value={listing.filters[filter.name] ?? ''} />
      ))}
      <button class="quiet" type="submit">
        Filter
      </button>
      {listing.clearHref !== null && (
        <a class="button quiet" href={listing.clearHref}>
          Clear
        </a>
      )}
    </form>
  );
}

function FilterBox({ filter, value: chosen }: { filter: Filter; value: string }) {
  const { name, label, type, list, choices } = filter;
  return (
    <label>
      <span>
        <span safe>{label}</span>
        {type === 'datetime-local' && <span class="zone"> (UTC)</span>}
      </span>
      {choices === undefined ? (
        <input
          type={type ?? 'search'}
          {...{ name, list }}
          value={chosen}
          autocomplete="off"
          spellcheck="false"
          data-key={name === 'q' ? 'f' : undefined}
        />
      ) : (
        <Select {...{ name, choices, chosen }} />
      )}
    </label>
  );
}

function CountText({
  listing,
  nouns,
}: Pick<Table<never>, 'nouns'> & { listing: Omit<Listing<unknown>, 'items'> }) {
  const { total, first, previousHref, nextHref } = listing;
  if (total === 0) return <span safe>{`No ${nouns[1]}`}</span>;
  const isPart = previousHref !== null || nextHref !== null;
  return (
    <span>
      {isPart && 'From '}
      {isPart && <Count value={first} />}
      {isPart && ' on, of '}
      <Count value={total} /> <span safe>{total === 1 ? nouns[0] : nouns[1]}</span>
    </span>
  );
}
