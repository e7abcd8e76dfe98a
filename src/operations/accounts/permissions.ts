/** Permissions may name resources that do not exist. */
import type { AccountsApp } from '../../app.ts';
import {
  createPermission as addPermission,
  deletePermission as removePermission,
  findPermission,
  getPermission,
  groupsHolding,
  type Permission,
  permissionList,
} from '../../accounts/rights/permissions.ts';
import { VERBS } from '../../accounts/rights/principal.ts';
import { checkResource } from '../../accounts/rights/resource-names.ts';
import { AppError } from '../../base/errors.ts';
import { Input, MAX_DESCRIPTION_CHARACTERS } from '../../base/json/input.ts';
import { type Administrator, listOf } from '../administration.ts';
import { record } from '../access.ts';

/** In the order they were made. Throws as `listOf`. */
export const listPermissions = listOf(permissionList);

/** Throws `invalid-request` and `bad-request` (`Permission already exists`). */
export async function createPermission(
  services: AccountsApp,
  admin: Administrator,
  body: unknown,
): Promise<Permission> {
  const input = new Input(body);
  const text = input.text('resource');
  const action = input.word('action', VERBS);
  const description = input.optionalText('description', MAX_DESCRIPTION_CHARACTERS);
  input.finish();
  const resource = checkResource(text);
  const permission = await addPermission(services.db, { resource, action, description });
  await record(
    services,
    admin,
    'create_permission',
    'permission',
    `Created permission ${describePermission(permission)}`,
  );
  return permission;
}

/** Takes it from all groups too. Throws `not-found`. */
export async function deletePermission(
  services: AccountsApp,
  admin: Administrator,
  permissionId: number,
): Promise<void> {
  const permission = await removePermission(services.db, permissionId);
  await record(
    services,
    admin,
    'delete_permission',
    'permission',
    `Deleted permission ${describePermission(permission)}`,
  );
}

/** Throws `not-found`. */
export async function readPermission(
  { db }: AccountsApp,
  _admin: Administrator,
  permissionId: number,
): Promise<Permission> {
  const permission = await getPermission(db, permissionId);
  if (permission === null) throw new AppError('not-found', 'Permission not found');
  return permission;
}

/** Makes the permission if there is none. Throws as `createPermission` for an invalid resource or action. */
export async function ensurePermission(
  services: AccountsApp,
  admin: Administrator,
  body: { readonly resource: string; readonly action: string },
): Promise<Permission> {
  const input = new Input(body);
  const text = input.text('resource');
  const action = input.word('action', VERBS);
  input.finish();
  const known = await findPermission(services.db, checkResource(text), action);
  return known ?? createPermission(services, admin, body);
}

export function groupsThatHold(
  { db }: AccountsApp,
  _admin: Administrator,
  permissionIds: readonly number[],
): Promise<ReadonlyMap<number, readonly { readonly id: number; readonly name: string }[]>> {
  return groupsHolding(db, permissionIds);
}

export function describePermission({
  action,
  resource,
}: Pick<Permission, 'action' | 'resource'>): string {
  return `${action} on ${resource}`;
}
