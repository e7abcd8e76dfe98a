/**
 * The list of a page of administration: filter boxes, count, table with sortable columns, paging; all in the address.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { PropsWithChildren } from '@kitajs/html';
import type { Format } from '../../../dataset/format.ts';
import { PageLinks } from '../../page-parts/page-links.tsx';
import { ExportMenu } from '../../page-parts/export-menu.tsx';
import { Count } from '../../page-parts/count.tsx';

/** How a list is sorted by a column, and the way to sort it otherwise. */
export interface SortLink {
  readonly href: string;
  readonly sorted: 'ascending' | 'descending' | null;
}

/** One page of a list. */
export interface Listing<Item> {
  readonly items: readonly Item[];
  /** All that match. */
  readonly total: number;
  /** Number of the first item, from 1. */
  readonly first: number;
  readonly previousHref: string | null;
  readonly nextHref: string | null;
  /** By the name of the column. */
  readonly sorts: Readonly<Record<string, SortLink>>;
  /** What stands in the filter boxes, by their names. */
  readonly filters: Readonly<Record<string, string>>;
  /** Address without a filter; null while there is none. */
  readonly clearHref: string | null;
  /** The same list as JSON, for programs; null where there is none. */
  readonly dataHref: string | null;
  /** Tells lists of one page apart; `''` for the only one. */
  readonly part: string;
  /** What the address says of the other lists of the page; the filter form keeps it. */
  readonly kept: readonly (readonly [name: string, value: string])[];
  /** All of it that matches, as files. */
  readonly files: Readonly<Record<Format, string>>;
}

/** A column of the table. `sort` names the column of the list; without, it cannot be sorted by. */
interface ListColumn {
  readonly label: string;
  readonly sort?: string;
  /** Read out, not shown: what the buttons of the row are for. */
  readonly isHidden?: boolean;
  /** Figures: to the right, like the cells below. */
  readonly isNumber?: boolean;
}

interface FilterProps {
  readonly path: string;
  readonly listing: Pick<Listing<unknown>, 'clearHref' | 'part' | 'kept'>;
}

/** The form of the filter boxes; with script it filters while somebody types. */
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
  /** Id of a `<datalist>`. */
  readonly list?: string;
}

/** A box to filter by text. */
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
  /** Value and text; the first is no restriction, with the value `''`. */
  readonly choices: readonly (readonly [value: string, text: string])[];
}

/** A choice to filter by. */
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
  /** What is listed: one, several. */
  readonly nouns: readonly [one: string, many: string];
  /** Instead of an empty table. */
  readonly empty: string;
  /** Behind it: where something can be done about that. */
  readonly wayOn?: { readonly label: string; readonly href: string };
}

/** The list; its children are the rows. Script exchanges it as a whole. */
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

/** A table that scrolls in its box; its children are the rows. */
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
