/** @jsxImportSource @kitajs/html */
/**
 * The list of a page of administration: filters, count, table with sortable columns, paging. Its whole state is in
 * the address.
 */
import type { PropsWithChildren } from '@kitajs/html';
import type { Format } from '../../tables/read/format.ts';
import { PageLinks } from '../parts/page-links.tsx';
import { ExportMenu } from '../parts/export-menu.tsx';
import { Count } from '../parts/count.tsx';

export interface SortLink {
  readonly href: string;
  readonly sorted: 'ascending' | 'descending' | null;
}

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
  /** Prefix that separates several lists of one page; `''` for the only one. */
  readonly part: string;
  /** The other lists' part of the address; the filter form keeps it. */
  readonly kept: readonly (readonly [name: string, value: string])[];
  /** All that match, as downloads. */
  readonly files: Readonly<Record<Format, string>>;
}

/** Without `sort` it cannot be sorted by. */
interface ListColumn {
  readonly label: string;
  readonly sort?: string;
  /** For screen readers only: the column of the buttons. */
  readonly isHidden?: boolean;
  /** Aligned right. */
  readonly isNumber?: boolean;
}

interface FilterProps {
  readonly path: string;
  readonly listing: Pick<Listing<unknown>, 'clearHref' | 'part' | 'kept'>;
}

/** With script it filters while the reader types. */
export function FilterForm(props: PropsWithChildren<FilterProps>) {
  const { path, listing, children } = props;
  return (
    <form class="filter query" method="get" action={path} role="search" data-live={listId(listing)}>
      {listing.kept.map(([name, value]) => (
        <input type="hidden" {...{ name, value }} />
      ))}
      {children}
      <button class="quiet" type="submit">
        Filter
      </button>
      {listing.clearHref === null ? (
        ''
      ) : (
        <a class="button quiet" href={listing.clearHref}>
          Clear
        </a>
      )}
    </form>
  );
}

interface BoxProps {
  readonly name: string;
  readonly label: string;
  readonly listing: Pick<Listing<unknown>, 'filters'>;
  readonly placeholder?: string;
  readonly type?: 'search' | 'datetime-local';
  readonly list?: string;
}

export function FilterBox({ name, label, listing, placeholder, type, list }: BoxProps) {
  const isFirst = type === undefined && name === 'q';
  const isMoment = type === 'datetime-local';
  return (
    <label>
      <span>
        <span safe>{label}</span>
        {isMoment ? <span class="zone"> (UTC)</span> : ''}
      </span>
      <input
        type={type ?? 'search'}
        name={name}
        value={listing.filters[name] ?? ''}
        placeholder={placeholder}
        list={list}
        autocomplete="off"
        spellcheck="false"
        data-key={isFirst ? 'f' : undefined}
      />
    </label>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly listing: Pick<Listing<unknown>, 'filters'>;
  /** The first means no restriction and has the value `''`. */
  readonly choices: readonly (readonly [value: string, text: string])[];
}

export function FilterChoice({ name, label, listing, choices }: ChoiceProps) {
  const chosen = listing.filters[name] ?? '';
  return (
    <label>
      <span safe>{label}</span>
      <select {...{ name }}>
        {choices.map(([value, text]) => (
          <option {...{ value }} selected={value === chosen} safe>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TableProps {
  readonly listing: Omit<Listing<unknown>, 'items'>;
  readonly columns: readonly ListColumn[];
  readonly nouns: readonly [one: string, many: string];
  /** Shown instead of an empty table. */
  readonly empty: string;
  readonly wayOn?: { readonly label: string; readonly href: string };
}

/** The children are the rows. Script replaces the list as a whole. */
export function ListTable(props: PropsWithChildren<TableProps>) {
  const { listing, columns, nouns, empty, wayOn, children } = props;
  const { total, dataHref, files } = listing;
  return (
    <div id={listId(listing)}>
      <div class="counted">
        <p class="fine" role="status">
          <CountText listing={listing} nouns={nouns} />
        </p>
        <ExportMenu json={dataHref ?? files.json} files={files} />
      </div>
      {total === 0 ? (
        <p class="empty">
          {listing.clearHref === null ? (
            <>
              <span safe>{empty}</span>{' '}
              {wayOn === undefined ? (
                ''
              ) : (
                <a href={wayOn.href} safe>
                  {wayOn.label}
                </a>
              )}
            </>
          ) : (
            <>
              Nothing matches. Try fewer filters, or <a href={listing.clearHref}>show all</a>.
            </>
          )}
        </p>
      ) : (
        <Rows columns={columns} sorts={listing.sorts} label={nouns[1]}>
          {children}
        </Rows>
      )}
      <PageLinks previousHref={listing.previousHref} nextHref={listing.nextHref} />
    </div>
  );
}

function listId({ part }: Pick<Listing<unknown>, 'part'>): string {
  return part === '' ? 'list' : `list-${part}`;
}

interface RowsProps {
  readonly columns: readonly ListColumn[];
  readonly sorts?: Readonly<Record<string, SortLink>>;
  readonly label: string;
}

/** The children are the rows. */
export function Rows({ columns, sorts = {}, label, children }: PropsWithChildren<RowsProps>) {
  return (
    <div class="scroll" tabindex="0" role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head column={column} sort={sorts[column.sort ?? '']} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Head({ column, sort }: { column: ListColumn; sort: SortLink | undefined }) {
  if (column.isHidden === true) {
    return (
      <th scope="col">
        <span class="visually-hidden" safe>
          {column.label}
        </span>
      </th>
    );
  }
  const look = column.isNumber === true ? 'number' : undefined;
  if (sort === undefined) {
    return (
      <th scope="col" class={look} safe>
        {column.label}
      </th>
    );
  }
  return (
    <th scope="col" class={look} aria-sort={sort.sorted ?? undefined}>
      <a class="sort" href={sort.href} safe>
        {column.label}
      </a>
    </th>
  );
}

function CountText({ listing, nouns }: Pick<TableProps, 'listing' | 'nouns'>) {
  const { total, first, previousHref, nextHref } = listing;
  const noun = total === 1 ? nouns[0] : nouns[1];
  if (total === 0) return <span safe>{`No ${nouns[1]}`}</span>;
  if (previousHref === null && nextHref === null) {
    return (
      <span>
        <Count value={total} /> <span safe>{noun}</span>
      </span>
    );
  }
  return (
    <span>
      From <Count value={first} /> on, of <Count value={total} /> <span safe>{noun}</span>
    </span>
  );
}
