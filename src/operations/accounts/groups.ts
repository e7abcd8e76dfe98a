import type { AccountsApp } from '../../app.ts';
import {
  addMember as join,
  checkGroupName,
  createGroup as addGroup,
  deleteGroup as removeGroup,
  findGroup,
  getGroup,
  type Group,
  groupList,
  listMembers,
  removeMember as leave,
  type GroupSize,
  sizesOfGroups,
} from '../../accounts/rights/groups.ts';
import {
  assignPermission,
  getPermission,
  listGroupPermissions,
  type Permission,
  unassignPermission,
} from '../../accounts/rights/permissions.ts';
import { getUser, type User } from '../../accounts/identity/users.ts';
import { AppError } from '../../base/errors.ts';
import { Input, MAX_DESCRIPTION_CHARACTERS } from '../../base/json/input.ts';
import { type Administrator, firstNames, listOf } from '../administration.ts';
import { record } from '../access.ts';
import { describePermission } from './permissions.ts';
import { userView, type UserView } from './users.ts';

export interface GroupWithUsers extends Group {
  readonly users: readonly UserView[];
}

/** In the order they were made. Throws as `listOf`. */
export const listGroups = listOf(groupList);

/** Throws `invalid-request` and `bad-request` (`Group already exists`). */
export async function createGroup(
  services: AccountsApp,
  admin: Administrator,
  body: unknown,
): Promise<Group> {
  const input = new Input(body);
  const text = input.text('name');
  const description = input.optionalText('description', MAX_DESCRIPTION_CHARACTERS);
  input.finish();
  const group = await addGroup(services.db, { name: checkGroupName(text), description });
  const details = `Created group ${group.name}`;
  await record(services, admin, 'create_group', 'group', details);
  return group;
}

/** Throws `not-found`. */
export async function readGroup(
  services: AccountsApp,
  _admin: Administrator,
  groupId: number,
): Promise<GroupWithUsers> {
  const group = await requireGroup(services, groupId);
  const members = await listMembers(services.db, groupId);
  return { ...group, users: members.map(userView) };
}

/** Throws `not-found`. */
export async function deleteGroup(
  services: AccountsApp,
  admin: Administrator,
  groupId: number,
): Promise<void> {
  const group = await removeGroup(services.db, groupId);
  const details = `Deleted group ${group.name}`;
  await record(services, admin, 'delete_group', 'group', details);
}

/** False, without audit entry, when the user is a member already. Throws `not-found`. */
export async function addMember(
  services: AccountsApp,
  admin: Administrator,
  groupId: number,
  userId: number,
): Promise<boolean> {
  const find = () => requireBoth(services, groupId, userId);
  const { user, group } = await find();
  if (!(await stillThere(join(services.db, groupId, userId), find))) return false;
  const details = `Added user ${user.username} to group ${group.name}`;
  await record(services, admin, 'add_user_to_group', 'group', details);
  return true;
}

/** False, without audit entry, when the user is no member. Throws `not-found`. */
export async function removeMember(
  services: AccountsApp,
  admin: Administrator,
  groupId: number,
  userId: number,
): Promise<boolean> {
  const { user, group } = await requireBoth(services, groupId, userId);
  if (!(await leave(services.db, groupId, userId))) return false;
  const details = `Removed user ${user.username} from group ${group.name}`;
  await record(services, admin, 'remove_user_from_group', 'group', details);
  return true;
}

/** By id. Throws `not-found`. */
export async function listPermissionsOfGroup(
  services: AccountsApp,
  _admin: Administrator,
  groupId: number,
): Promise<Permission[]> {
  await requireGroup(services, groupId);
  return listGroupPermissions(services.db, groupId);
}

/** False when the group holds it already. Throws `not-found`. */
export async function grantToGroup(
  services: AccountsApp,
  admin: Administrator,
  groupId: number,
  permissionId: number,
): Promise<boolean> {
  const find = () => requireGrant(services, groupId, permissionId);
  const { group, permission } = await find();
  const isNew = await stillThere(assignPermission(services.db, groupId, permissionId), find);
  if (!isNew) return false;
  const details = `Added permission ${describePermission(permission)} to group ${group.name}`;
  await record(services, admin, 'add_permission_to_group', 'group_permission', details);
  return true;
}

/** Throws `not-found`, also when the group does not hold it. */
export async function revokeFromGroup(
  services: AccountsApp,
  admin: Administrator,
  groupId: number,
  permissionId: number,
): Promise<void> {
  const { group, permission } = await requireGrant(services, groupId, permissionId);
  if (!(await unassignPermission(services.db, groupId, permissionId))) {
    throw new AppError('not-found', 'Permission not assigned to group');
  }
  const details = `Removed permission ${describePermission(permission)} from group ${group.name}`;
  await record(services, admin, 'remove_permission_from_group', 'group_permission', details);
}

/** A change that failed because what it needs was deleted meanwhile fails as `find`. */
async function stillThere(
  change: Promise<boolean>,
  find: () => Promise<unknown>,
): Promise<boolean> {
  return change.catch(async (error: unknown) => {
    await find();
    throw error;
  });
}

/** The first ones; a page asks for more as the reader types. */
export const groupNames = firstNames(listGroups, 'name');

/** Throws `not-found`. */
export async function findGroupByName(
  { db }: AccountsApp,
  _admin: Administrator,
  name: string,
): Promise<Group> {
  const group = await findGroup(db, name);
  if (group === null) throw new AppError('not-found', `There is no group ${name.trim()}`);
  return group;
}

export function sizesOf(
  { db }: AccountsApp,
  _admin: Administrator,
  groupIds: readonly number[],
): Promise<ReadonlyMap<number, GroupSize>> {
  return sizesOfGroups(db, groupIds);
}

async function requireGroup({ db }: AccountsApp, groupId: number): Promise<Group> {
  const group = await getGroup(db, groupId);
  if (group === null) throw new AppError('not-found', 'Group not found');
  return group;
}

async function requireBoth(
  { db }: AccountsApp,
  groupId: number,
  userId: number,
): Promise<{ user: User; group: Group }> {
  const [group, user] = [await getGroup(db, groupId), await getUser(db, userId)];
  if (group !== null && user !== null) return { group, user };
  throw new AppError('not-found', 'User or Group not found');
}

async function requireGrant(
  { db }: AccountsApp,
  groupId: number,
  permissionId: number,
): Promise<{ group: Group; permission: Permission }> {
  const [group, permission] = [await getGroup(db, groupId), await getPermission(db, permissionId)];
  if (group !== null && permission !== null) return { group, permission };
  throw new AppError('not-found', 'Group or Permission not found');
}
