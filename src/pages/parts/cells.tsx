/** @jsxImportSource @kitajs/html */
/** The kinds of cells. One that is a member of its row is sorted by the member's name. */
import type { Strength } from '../../accounts/identity/sessions.ts';
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

const STRENGTHS: Readonly<Record<Strength, string>> = {
  password: 'a password',
  'two-factors': 'a password and a second factor',
  passkey: 'a passkey',
  provider: 'the identity provider',
};

/** What a session was begun with. */
export function strength<Item extends { readonly strength: Strength }>(): Column<Item> {
  return text('With', (item) => STRENGTHS[item.strength]);
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
