import type { AccountsApp } from '../../app.ts';
import { hasFactor } from '../../accounts/factors/factors.ts';
import { type ApiKey, listApiKeys } from '../../accounts/identity/api-keys.ts';
import { type Group, groupsOfUsers, listGroupsOf } from '../../accounts/rights/groups.ts';
import { checkPasswordLength, hashPassword } from '../../accounts/identity/passwords.ts';
import { listSessions, type Session } from '../../accounts/identity/sessions.ts';
import { hasToken } from '../../accounts/identity/tokens.ts';
import {
  checkUsername,
  createUser as addUser,
  deleteUser as removeUser,
  findUser,
  getUser,
  namesOfUsers as findNames,
  setActive,
  setPasswordHash,
  type User,
  userList,
} from '../../accounts/identity/users.ts';
import { AppError } from '../../base/errors.ts';
import { Input } from '../../base/json/input.ts';
import { requireStrength } from './sessions.ts';
import { type Administrator, firstNames, listOf } from '../administration.ts';
import { record } from '../access.ts';

export interface UserView {
  readonly id: number;
  readonly username: string;
  readonly is_active: boolean;
  readonly is_superuser: boolean;
  readonly created_at: string;
}

interface PasswordPolicy {
  /** Somebody at a terminal has accepted a weak one. */
  readonly acceptsWeak?: boolean;
}

export function userView(user: User): UserView {
  return {
    id: user.id,
    username: user.username,
    is_active: user.isActive,
    is_superuser: user.isSuperuser,
    created_at: user.createdAt,
  };
}

/** In the order they were made. Throws as `listOf`. */
export const listUsers = listOf(userList);

export interface UserWithBelongings {
  readonly user: UserView;
  readonly groups: readonly Group[];
  /** Live ones, oldest first. */
  readonly sessions: readonly Session[];
  /** Revoked ones included, by id. */
  readonly keys: readonly ApiKey[];
  readonly hasToken: boolean;
  readonly hasFactor: boolean;
}

/** Throws `not-found`. */
export async function readUser(
  services: AccountsApp,
  _admin: Administrator,
  userId: number,
): Promise<UserWithBelongings> {
  const { db, clock } = services;
  const user = await requireUser(services, userId);
  return {
    user: userView(user),
    groups: await listGroupsOf(db, userId),
    sessions: await listSessions(db, userId, clock.now()),
    keys: await listApiKeys(db, { userId }),
    hasToken: await hasToken(db, userId),
    hasFactor: await hasFactor(db, userId),
  };
}

/** By id; deleted accounts are missing. */
export function namesOfUsers(
  { db }: AccountsApp,
  _admin: Administrator,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  return findNames(db, [...new Set(userIds)]);
}

/** Accounts without a group are missing. */
export function groupsOf(
  { db }: AccountsApp,
  _admin: Administrator,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, readonly Group[]>> {
  return groupsOfUsers(db, userIds);
}

/** The first ones; a page asks for more as the reader types. */
export const usernames = firstNames(listUsers, 'username');

/** Compares as `findUser`. Throws `not-found`. */
export async function findUserByName(
  { db }: AccountsApp,
  _admin: Administrator,
  username: string,
): Promise<UserView> {
  const user = await findUser(db, username);
  if (user === null) throw new AppError('not-found', `There is no user ${username.trim()}`);
  return userView(user);
}

/**
 * Makes an active account. Throws `invalid-request`, `bad-request` (`User already exists`) and `weak-password`, in
 * this order.
 */
export async function createUser(
  services: AccountsApp,
  admin: Administrator,
  body: unknown,
  policy: PasswordPolicy = {},
): Promise<UserView> {
  const input = new Input(body);
  const name = input.text('username');
  const password = input.text('password');
  const isSuperuser = input.flag('is_superuser', false);
  input.finish();
  const username = checkUsername(name);
  checkPasswordLength(password, 'password');
  if ((await findUser(services.db, username)) !== null) {
    throw new AppError('bad-request', 'User already exists');
  }
  if (policy.acceptsWeak !== true) await requireStrength(services, password, username);
  const passwordHash = await hashPassword(password);
  const now = services.clock.now();
  const user = await addUser(services.db, { username, passwordHash, isSuperuser, now });
  await record(services, admin, 'create_user', 'user', `Created user ${user.username}`);
  return userView(user);
}

/** Throws `not-found`, and `bad-request` for oneself and for the last active superuser. */
export async function deleteUser(
  services: AccountsApp,
  admin: Administrator,
  userId: number,
): Promise<void> {
  if (admin.user?.userId === userId) {
    throw new AppError('bad-request', 'Cannot delete yourself');
  }
  const user = await removeUser(services.db, userId);
  await record(services, admin, 'delete_user', 'user', `Deleted user ${user.username}`);
}

/**
 * Ends the account's sessions and returns how many; API keys stay valid. `readBody` is called once the account is
 * known to exist. Throws `not-found`, `invalid-request`, `weak-password`.
 */
export async function resetPassword(
  services: AccountsApp,
  admin: Administrator,
  userId: number,
  readBody: () => Promise<unknown>,
  policy: PasswordPolicy = {},
): Promise<number> {
  const user = await requireUser(services, userId);
  const input = new Input(await readBody());
  const password = input.text('new_password');
  input.finish();
  checkPasswordLength(password, 'new_password');
  if (policy.acceptsWeak !== true) await requireStrength(services, password, user.username);
  const ended = await setPasswordHash(services.db, userId, await hashPassword(password));
  await record(
    services,
    admin,
    'reset_password',
    'user',
    `Reset password for user ${user.username}`,
  );
  return ended;
}

/**
 * Deactivation ends the sessions at once. `readBody` as for `resetPassword`. Throws `not-found`, `invalid-request`,
 * and `bad-request` for oneself and for the last active superuser.
 */
export async function setUserStatus(
  services: AccountsApp,
  admin: Administrator,
  userId: number,
  readBody: () => Promise<unknown>,
): Promise<{ readonly is_active: boolean; readonly sessions_revoked: number }> {
  await requireUser(services, userId);
  const input = new Input(await readBody());
  const isActive = input.flag('is_active');
  input.finish();
  if (!isActive && admin.user?.userId === userId) {
    throw new AppError('bad-request', 'Cannot deactivate yourself');
  }
  const { user, sessionsRevoked } = await setActive(services.db, userId, isActive);
  const [action, done] = isActive
    ? ['activate_user', 'Activated']
    : ['deactivate_user', 'Deactivated'];
  await record(services, admin, action, 'user', `${done} user ${user.username}`);
  return { is_active: isActive, sessions_revoked: sessionsRevoked };
}

/** Throws `not-found`. */
export async function requireUser({ db }: Pick<AccountsApp, 'db'>, userId: number): Promise<User> {
  const user = await getUser(db, userId);
  if (user === null) throw new AppError('not-found', 'User not found');
  return user;
}
