import type { AccountsApp } from '../../../app.ts';
import { findGroup, type Group, listGroups } from '../../../accounts/rights/groups.ts';
import type { Permission } from '../../../accounts/rights/permissions.ts';
import type { Verb } from '../../../accounts/rights/principal.ts';
import { findUser, listUsers, type User } from '../../../accounts/identity/users.ts';
import { AppError } from '../../../base/errors.ts';
import { suggestion } from '../../../config/nearest-name.ts';
import type { ListPage } from '../../../store/list-source.ts';

/** Reports what `check` refuses as a wrong flag. */
export async function checkedFlag<T>(flag: string, check: () => T | Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid-request') throw error;
    throw new AppError('usage', `${flag}: ${error.message}`);
  }
}

/** Throws `not-found` with the nearest name. */
export async function requireUserNamed({ db }: AccountsApp, username: string): Promise<User> {
  const user = await findUser(db, username);
  if (user !== null) return user;
  const names = (await listUsers(db)).map((known) => known.username);
  throw new AppError('not-found', `User '${username}' not found${suggestion(username, names)}`);
}

/** Throws `not-found` with the nearest name. */
export async function requireGroupNamed({ db }: AccountsApp, name: string): Promise<Group> {
  const group = await findGroup(db, name);
  if (group !== null) return group;
  const names = (await listGroups(db)).map((known) => known.name);
  throw new AppError('not-found', `Group '${name}' not found${suggestion(name, names)}`);
}

/** Throws `usage`. */
export function verbOf(action: string): Verb {
  if (action === 'read' || action === 'write') return action;
  throw new AppError('usage', `--action: is read or write, not '${action}'`);
}

/** Throws `usage`. */
export function keyNumber(flag: string, text: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text);
  throw new AppError('usage', `${flag}: is a number as lists show it, not '${text}'`);
}

export async function everything<Item>(
  readPage: (query: URLSearchParams) => Promise<ListPage>,
): Promise<Item[]> {
  const items: unknown[] = [];
  const query = new URLSearchParams();
  for (;;) {
    const page = await readPage(query);
    items.push(...page.items);
    if (page.nextCursor === null) return items as Item[];
    query.set('cursor', page.nextCursor);
  }
}

export function permissionText({
  action,
  resource,
}: Pick<Permission, 'action' | 'resource'>): string {
  return `${action} on ${resource === '' ? '<root>' : resource}`;
}
