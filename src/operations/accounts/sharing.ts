/** A right for a person or a group in one step, and what is taken back in one. */
import type { AccountsApp } from '../../app.ts';
import { findGroup, type Group } from '../../accounts/rights/groups.ts';
import { findPermission, type Permission } from '../../accounts/rights/permissions.ts';
import { VERBS } from '../../accounts/rights/principal.ts';
import { checkResource } from '../../accounts/rights/resource-names.ts';
import { MAX_NAME_CHARACTERS } from '../../accounts/identity/names.ts';
import { findUser } from '../../accounts/identity/users.ts';
import { suggestion } from '../../config/nearest-name.ts';
import { AppError } from '../../base/errors.ts';
import { Input } from '../../base/json/input.ts';
import type { Administrator } from '../administration.ts';
import {
  addMember,
  createGroup,
  grantToGroup,
  groupNames,
  listPermissionsOfGroup,
  revokeFromGroup,
} from './groups.ts';
import { ensurePermission } from './permissions.ts';
import { usernames } from './users.ts';

export interface GivenAccess {
  readonly resource: string;
  readonly action: Permission['action'];
  /** Null: the group itself was named. */
  readonly username: string | null;
  /** That holds the right now. */
  readonly group: { readonly id: number; readonly name: string };
}

/**
 * `to` names a user or a group, `user:x` or `group:x` where both are called x. A user gets into a group that holds this right
 * and no other, made if there is none. Throws `not-found` for an unknown name, `bad-request` for one of both,
 * `invalid-request`; then nothing is made.
 */
export async function giveAccess(
  services: AccountsApp,
  admin: Administrator,
  body: unknown,
): Promise<GivenAccess> {
  const input = new Input(body);
  const to = input.text('to');
  const asked = { resource: input.text('resource'), action: input.word('action', VERBS) };
  input.finish();
  checkResource(asked.resource);
  const receiver = await receiverOf(services, admin, to);
  const permission = await ensurePermission(services, admin, asked);
  const { resource, action } = permission;
  if ('group' in receiver) {
    await grantToGroup(services, admin, receiver.group.id, permission.id);
    const { id, name } = receiver.group;
    return { resource, action, username: null, group: { id, name } };
  }
  const { id, name } = await groupHolding(services, admin, permission);
  await addMember(services, admin, id, receiver.user.id);
  return { resource, action, username: receiver.user.username, group: { id, name } };
}

type Receiver =
  { readonly group: Group } | { readonly user: { readonly id: number; readonly username: string } };

async function receiverOf(
  services: AccountsApp,
  admin: Administrator,
  text: string,
): Promise<Receiver> {
  const [, kind, name] = /^(?:(user|group):)?(.*)$/su.exec(text.trim()) ?? [];
  const { db } = services;
  const [user, group] = [
    kind === 'group' ? null : await findUser(db, name ?? ''),
    kind === 'user' ? null : await findGroup(db, name ?? ''),
  ];
  if (user !== null && group !== null) {
    throw new AppError(
      'bad-request',
      `There are a user and a group ${name}; write user:${name} or group:${name}`,
    );
  }
  if (group !== null) return { group };
  if (user !== null) return { user };
  const known = [...(await usernames(services, admin)), ...(await groupNames(services, admin))];
  const what = kind ?? 'user or group';
  throw new AppError('not-found', `There is no ${what} ${name}${suggestion(name ?? '', known)}`);
}

/** Names tried (`name (2)`, `name (3)`, …) when groups of that name hold other rights. */
const MAX_NAMESAKES = 20;

/** Made if there is none, so nobody gets more than was asked for. */
async function groupHolding(
  services: AccountsApp,
  admin: Administrator,
  { id, action, resource }: Permission,
): Promise<Group> {
  const whole = `${action} ${resource === '' ? 'document root' : resource}`;
  for (let attempt = 1; attempt <= MAX_NAMESAKES; attempt++) {
    const end = attempt === 1 ? '' : ` (${attempt})`;
    const name = whole.slice(0, MAX_NAME_CHARACTERS - end.length) + end;
    const known = await findGroup(services.db, name);
    if (known === null) {
      const group = await createGroup(services, admin, { name });
      await grantToGroup(services, admin, group.id, id);
      return group;
    }
    const held = await listPermissionsOfGroup(services, admin, known.id);
    if (held.length === 1 && held[0]!.id === id) return known;
  }
  throw new AppError('bad-request', `Too many groups are called ${whole}; use one of them`);
}

/** Of a group, for all its members. Throws `not-found`, also when the group does not hold it. */
export async function takeAccess(
  services: AccountsApp,
  admin: Administrator,
  {
    groupId,
    resource,
    action,
  }: { groupId: number; resource: string; action: Permission['action'] },
): Promise<void> {
  const permission = await findPermission(services.db, resource, action);
  if (permission === null) throw new AppError('not-found', 'Permission not found');
  await revokeFromGroup(services, admin, groupId, permission.id);
}

/** Suggested names, each with what it is. */
export async function receiverNames(
  services: AccountsApp,
  admin: Administrator,
): Promise<readonly { readonly name: string; readonly isGroup: boolean }[]> {
  const groups = await groupNames(services, admin);
  const users = await usernames(services, admin);
  return [
    ...users.map((name) => ({
      name: groups.includes(name) ? `user:${name}` : name,
      isGroup: false,
    })),
    ...groups.map((name) => ({
      name: users.includes(name) ? `group:${name}` : name,
      isGroup: true,
    })),
  ];
}
