/** @jsxImportSource @kitajs/html */
/** The kinds of cells. One that is a member of its row is sorted by the member's name. */
import { browserName } from '../browser-name.ts';
import { type Column, type Of, valueOf } from './table.tsx';

export function sortOf(of: unknown, sort: string | undefined): { readonly sort?: string } {
  const name = sort ?? (typeof of === 'string' ? of : undefined);
  return name === undefined ? {} : { sort: name };
}

export function text<Item>(
  label: string,
  of: Of<Item, string | null>,
  { sort, isLong = false }: { readonly sort?: string; readonly isLong?: boolean } = {},
): Column<Item> {
  return {
    label,
    ...sortOf(of, sort),
    cell: (item) => (
      <td class={isLong ? 'text' : undefined} safe>
        {valueOf(item, of) ?? ''}
      </td>
    ),
  };
}

export function browser<Item>(of: Of<Item, string | null>): Column<Item> {
  return {
    label: 'Browser',
    cell: (item) => (
      <td title={valueOf(item, of) ?? ''} safe>
        {browserName(valueOf(item, of))}
      </td>
    ),
  };
}

export function cell<Item, Around = unknown>(
  label: string,
  render: (item: Item, around: Around) => JSX.Element,
  sort?: string,
): Column<Item, Around> {
  return {
    label,
    ...sortOf(null, sort),
    cell: (item, around) => <td>{render(item, around)}</td>,
  };
}
