/**
 * Shared by the `svc admin` commands. They run the server's operations as the operator, whether a
 * server runs or not.
 */
import type { Command as Parser } from 'commander';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AccountsApp } from '../app.ts';
import type { Group } from '../accounts/rights/groups.ts';
import type { Permission } from '../accounts/rights/permissions.ts';
import type { User } from '../accounts/identity/users.ts';
import { AppError } from '../base/errors.ts';
import type { Config } from '../config/schema.ts';
import { suggestion } from '../config/nearest-name.ts';
import type { Administrator } from '../operations/administration.ts';
import type { ListPage } from '../store/list-source.ts';
import type { Invocation } from './command.ts';
import { commandLog, describeConfiguration, loadInvocation } from './configuration.ts';

export function describeAdmin(parser: Parser): void {
  describeConfiguration(parser);
  describeRootFlag(parser);
}

export function describeRootFlag(parser: Parser): void {
  parser.option('--root <path>', 'The same as [root].');
}

/** Throws `usage` when `[root]` and `--root` differ. */
export async function loadAdmin(invocation: Invocation): Promise<Config> {
  const { positionals, options } = invocation;
  const root = options['root'];
  if (typeof root !== 'string') return (await loadInvocation(invocation)).config;
  if (positionals[0] !== undefined && positionals[0] !== root) {
    throw new AppError('usage', '--root: the root is given twice, and differently');
  }
  return (await loadInvocation({ ...invocation, positionals: [root] })).config;
}

/** The first argument is the root only if it names an existing directory. */
export function rootAndNames({ positionals, outside }: Invocation): {
  root: readonly string[];
  names: readonly string[];
} {
  const [first] = positionals;
  const isRoot = first !== undefined && existsSync(`${resolve(outside.cwd, first)}/.`);
  return { root: positionals.slice(0, isRoot ? 1 : 0), names: positionals.slice(isRoot ? 1 : 0) };
}

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

export function required({ options }: Invocation, name: string): string {
  return String(options[name]);
}

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
  const { findUser, listUsers } = await import('../accounts/identity/users.ts');
  const user = await findUser(db, username);
  if (user !== null) return user;
  const names = (await listUsers(db)).map((known) => known.username);
  throw new AppError('not-found', `User '${username}' not found${suggestion(username, names)}`);
}

/** Throws `not-found` with the nearest name. */
export async function requireGroupNamed({ db }: AccountsApp, name: string): Promise<Group> {
  const { findGroup, listGroups } = await import('../accounts/rights/groups.ts');
  const group = await findGroup(db, name);
  if (group !== null) return group;
  const names = (await listGroups(db)).map((known) => known.name);
  throw new AppError('not-found', `Group '${name}' not found${suggestion(name, names)}`);
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
