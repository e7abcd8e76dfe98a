/** @jsxImportSource @kitajs/html */

export interface SortLink {
  readonly href: string;
  readonly sorted: 'ascending' | 'descending' | null;
}

/** `cell` gives the whole `td`. Sortable where there is a link for `sort`. */
export interface Column<Item, Around = unknown> {
  readonly label: string;
  readonly sort?: string;
  /** Hidden: for screen readers only, the column of the buttons. */
  readonly look?: 'hidden' | 'number';
  readonly cell: (item: Item, around: Around) => JSX.Element;
}

interface RowsProps<Item, Around> {
  readonly columns: readonly Column<Item, Around>[];
  readonly items: readonly Item[];
  readonly sorts?: Readonly<Record<string, SortLink>>;
  readonly label: string;
  readonly around: Around;
  readonly lookOf?: (item: Item) => string | undefined;
}

export function Rows<Item, Around>(props: RowsProps<Item, Around>) {
  const { columns, items, sorts = {}, label, around, lookOf } = props;
  return (
    <div class="scroll" tabindex="0" role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head {...column} link={sorts[column.sort ?? '']} />
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr class={lookOf?.(item)}>{columns.map(({ cell }) => cell(item, around))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type HeadProps = Pick<Column<never>, 'label' | 'look'> & { readonly link: SortLink | undefined };

function Head({ label, look, link }: HeadProps) {
  return (
    <th
      scope="col"
      class={look === 'number' ? 'number' : undefined}
      aria-sort={link?.sorted ?? undefined}
    >
      {link === undefined ? (
        <span class={look === 'hidden' ? 'visually-hidden' : undefined} safe>
          {label}
        </span>
      ) : (
        <a class="sort" href={link.href} safe>
          {label}
        </a>
      )}
    </th>
  );
}

/** A member of the item, or what is worked out of it. */
export type Of<Item, Value> = (keyof Item & string) | ((item: Item) => Value);

export function valueOf<Item, Value>(item: Item, of: Of<Item, Value>): Value {
  return typeof of === 'string' ? (item[of] as Value) : of(item);
}
