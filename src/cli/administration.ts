/**
 * What the commands of `svc admin` share: where the accounts are, how names are found, and how lists are printed (DS-200,
 * DS-201). They go through the same operations as the server, as the operator, whether a server runs or not.
 */
import type { Command as Parser } from 'commander';
import type { AccountsApp } from '../app.ts';
import type { Group } from '../auth/groups.ts';
import type { Permission } from '../auth/permissions.ts';
import type { User } from '../auth/users.ts';
import { AppError } from '../base/errors.ts';
import type { Config } from '../config/schema.ts';
import { suggestion } from '../config/nearest-name.ts';
import type { Administrator } from '../operations/administration.ts';
import type { ListPage } from '../store/list-source.ts';
import type { Invocation } from './command.ts';
import { commandLog, describeConfiguration, loadInvocation } from './configuration.ts';

/** Declares `[root]`, `--root` and the common flags. */
export function describeAdmin(parser: Parser): void {
  describeConfiguration(parser);
  describeRootFlag(parser);
}

/** Declares `--root`. */
export function describeRootFlag(parser: Parser): void {
  parser.option('--root <path>', 'The same as [root].');
}

/** The configuration of an invocation whose root may also be a flag. Throws `usage` for two different roots. */
export async function loadAdmin(invocation: Invocation): Promise<Config> {
  const { positionals, options } = invocation;
  const root = options['root'];
  if (typeof root !== 'string') return (await loadInvocation(invocation)).config;
  if (positionals[0] !== undefined && positionals[0] !== root) {
    throw new AppError('usage', '--root: the root is given twice, and differently');
  }
  return (await loadInvocation({ ...invocation, positionals: [root] })).config;
}

/** Runs `work` with the accounts open, as the operator, and closes them however it ends. */
export async function withAccounts<T>(
  invocation: Invocation,
  work: (accounts: AccountsApp, operator: Administrator) => Promise<T>,
): Promise<T> {
  const config = await loadAdmin(invocation);
  const { openAccounts } = await import('../app.ts');
  const { OPERATOR } = await import('../operations/administration.ts');
  const accounts = await openAccounts(config, commandLog(config, invocation.outside));
  try {
    return await work(accounts, OPERATOR);
  } finally {
    await accounts.close();
  }
}

/** A flag that commander made sure of. */
export function required({ options }: Invocation, name: string): string {
  return String(options[name]);
}

/** The result of `check`, with what it refuses reported as a wrong flag. */
export async function checkedFlag<T>(flag: string, check: () => T | Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid-request') throw error;
    throw new AppError('usage', `${flag}: ${error.message}`);
  }
}

/** The user of that name. Throws `not-found` with the nearest name. */
export async function requireUserNamed({ db }: AccountsApp, username: string): Promise<User> {
  const { findUser, listUsers } = await import('../auth/users.ts');
  const user = await findUser(db, username);
  if (user !== null) return user;
  const names = (await listUsers(db)).map((known) => known.username);
  throw new AppError('not-found', `User '${username}' not found${suggestion(username, names)}`);
}

/** The group of that name. Throws `not-found` with the nearest name. */
export async function requireGroupNamed({ db }: AccountsApp, name: string): Promise<Group> {
  const { findGroup, listGroups } = await import('../auth/groups.ts');
  const group = await findGroup(db, name);
  if (group !== null) return group;
  const names = (await listGroups(db)).map((known) => known.name);
  throw new AppError('not-found', `Group '${name}' not found${suggestion(name, names)}`);
}

/** All objects of a list, page by page; `Item` names the members the list has (DS-134). */
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

/** `read on a`, with a name for the docroot boundary, which has none. */
export function permissionText({
  action,
  resource,
}: Pick<Permission, 'action' | 'resource'>): string {
  return `${action} on ${resource === '' ? '<root>' : resource}`;
}
