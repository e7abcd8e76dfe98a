import { AppError } from '../../../base/errors.ts';
import type { Administrator } from '../../../operations/administration.ts';
import { findUserByName, namesOfUsers } from '../../../operations/users.ts';
import type { Context } from '../../../http/context.ts';
import type { Listing } from '../listing.tsx';
import { boxValue } from './page-list.ts';

const NOBODY = 0;

interface UserFilter {
  /** Undefined: the box is empty. */
  readonly id: number | undefined;
  /** Set when there is no such user; then `id` is NOBODY. */
  readonly failure: string | null;
}

export async function userFilter(context: Context, admin: Administrator): Promise<UserFilter> {
  const name = boxValue(context, 'user');
  if (name === '') return { id: undefined, failure: null };
  try {
    return { id: (await findUserByName(context.services, admin, name)).id, failure: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not-found') throw error;
    return { id: NOBODY, failure: error.message };
  }
}

/** Adds names; null for accounts deleted meanwhile. */
export async function withNames<Item extends { readonly user_id: number | null }>(
  { services }: Context,
  admin: Administrator,
  listing: Listing<Item>,
): Promise<Listing<Item & { readonly username: string | null }>> {
  const ids = listing.items.map((item) => item.user_id).filter((id) => id !== null);
  const names = await namesOfUsers(services, admin, ids);
  const items = listing.items.map((item) => ({
    ...item,
    username: item.user_id === null ? null : (names.get(item.user_id) ?? null),
  }));
  return { ...listing, items };
}
