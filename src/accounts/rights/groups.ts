import { AppError } from '../../base/errors.ts';
import type { Database } from '../../store/database.ts';
import { type ListSource, tableList } from '../../store/list-source.ts';
import { checkName, normalName } from '../identity/names.ts';
import type { User, UserRow } from '../identity/users.ts';
import { userColumns, userOf } from '../identity/users.ts';

export interface Group {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
}

/** The stored form; throws `invalid-request`. */
export function checkGroupName(text: string): string {
  return checkName(text, 'name');
}

/** Throws `bad-request` when the name is taken. */
export async function createGroup(
  db: Database,
  group: { readonly name: string; readonly description: string | null },
): Promise<Group> {
  const { changes, lastId } = await db.run(
    'INSERT INTO groups (name, description) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
    [group.name, group.description],
  );
  if (changes === 0) throw new AppError('bad-request', 'Group already exists');
  return { id: lastId, name: group.name, description: group.description };
}

export async function findGroup(db: Database, name: string): Promise<Group | null> {
  return db.get<Group>('SELECT id, name, description FROM groups WHERE name = ?', [
    normalName(name),
  ]);
}

export async function getGroup(db: Database, id: number): Promise<Group | null> {
  return db.get<Group>('SELECT id, name, description FROM groups WHERE id = ?', [id]);
}

export async function listGroups(db: Database): Promise<Group[]> {
  return db.all<Group>('SELECT id, name, description FROM groups ORDER BY id');
}

/** Throws `not-found`. */
export async function deleteGroup(db: Database, id: number): Promise<Group> {
  return db.transaction(async (tx) => {
    const group = await getGroup(tx, id);
    if (group === null) throw new AppError('not-found', 'Group not found');
    await tx.run('DELETE FROM groups WHERE id = ?', [id]);
    return group;
  });
}

/**
 * False when the user was a member. Takes a membership over from OIDC, so that it stays when the issuer's groups
 * change.
 */
export async function addMember(db: Database, groupId: number, userId: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { changes } = await tx.run(
      `INSERT INTO group_members (group_id, user_id) VALUES (?, ?)
       ON CONFLICT (user_id, group_id) DO NOTHING`,
      [groupId, userId],
    );
    if (changes > 0) return true;
    await tx.run(
      'UPDATE group_members SET oidc_managed = 0 WHERE group_id = ? AND user_id = ? AND oidc_managed = 1',
      [groupId, userId],
    );
    return false;
  });
}

export async function removeMember(
  db: Database,
  groupId: number,
  userId: number,
): Promise<boolean> {
  const { changes } = await db.run('DELETE FROM group_members WHERE group_id = ? AND user_id = ?', [
    groupId,
    userId,
  ]);
  return changes > 0;
}

/** For a left-over upload group. */
export async function removeAllMembers(db: Database, groupId: number): Promise<number> {
  return (await db.run('DELETE FROM group_members WHERE group_id = ?', [groupId])).changes;
}

export async function listMembers(db: Database, groupId: number): Promise<User[]> {
  const rows = await db.all<UserRow>(
    `SELECT ${userColumns} FROM group_members JOIN users ON users.id = group_members.user_id
     WHERE group_id = ? ORDER BY users.id`,
    [groupId],
  );
  return rows.map(userOf);
}

export async function listGroupsOf(db: Database, userId: number): Promise<Group[]> {
  return db.all<Group>(
    `SELECT id, name, description FROM groups
     JOIN group_members ON group_members.group_id = groups.id
     WHERE user_id = ? ORDER BY id`,
    [userId],
  );
}

export interface GroupSize {
  readonly members: number;
  readonly permissions: number;
}

/** Groups that do not exist are missing. */
export async function sizesOfGroups(
  db: Database,
  groupIds: readonly number[],
): Promise<ReadonlyMap<number, GroupSize>> {
  if (groupIds.length === 0) return new Map();
  const rows = await db.all<GroupSize & { readonly id: number }>(
    `SELECT id, (SELECT count(*) FROM group_members WHERE group_id = groups.id) AS members,
       (SELECT count(*) FROM group_permissions WHERE group_id = groups.id) AS permissions
     FROM groups WHERE id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(groupIds)],
  );
  return new Map(rows.map(({ id, members, permissions }) => [id, { members, permissions }]));
}

/** Users without a group are missing. */
export async function groupsOfUsers(
  db: Database,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, readonly Group[]>> {
  if (userIds.length === 0) return new Map();
  const rows = await db.all<Group & { readonly user_id: number }>(
    `SELECT user_id, id, name, description FROM group_members JOIN groups ON groups.id = group_id
     WHERE user_id IN (SELECT value FROM json_each(?)) ORDER BY user_id, id`,
    [JSON.stringify(userIds)],
  );
  const entries = Map.groupBy(rows, ({ user_id: userId }) => userId);
  return new Map(
    [...entries].map(([userId, groups]) => [
      userId,
      groups.map(({ id, name, description }) => ({ id, name, description })),
    ]),
  );
}

export const groupList: ListSource = tableList(
  'groups',
  { id: 'integer', name: 'string', description: 'string' },
  ['name', 'description'],
);
