/**
 * Ids are never reused. Once there was an active superuser, there always is one: the check and the change are one
 * transaction, so two administrators cannot remove each other.
 */
import { timestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Database } from '../../store/database.ts';
import { type ListSource, tableList } from '../../store/list-source.ts';
import type { Principal } from '../rights/principal.ts';
import { checkName, normalName } from './names.ts';

export interface User {
  readonly id: number;
  readonly username: string;
  readonly isActive: boolean;
  readonly isSuperuser: boolean;
  readonly createdAt: string;
}

/** `passwordHash` null: the account has no password. */
export interface UserWithHash {
  readonly user: User;
  readonly passwordHash: string | null;
}

export interface UserRow {
  readonly user_id: number;
  readonly username: string;
  readonly user_is_active: number;
  readonly is_superuser: number;
  readonly user_created_at: string;
}

/** The statement must include the table `users`. */
export const userColumns = `users.id AS user_id, users.username AS username, users.is_active AS user_is_active,
  users.is_superuser AS is_superuser, users.created_at AS user_created_at`;

export function userOf(row: UserRow): User {
  return withUser(row).user;
}

/** The user of a joined row, and the other columns. */
export function withUser<Row extends UserRow>(row: Row) {
  const { user_id: id, username, user_is_active, is_superuser, user_created_at, ...rest } = row;
  const flags = { isActive: user_is_active === 1, isSuperuser: is_superuser === 1 };
  return { user: { id, username, ...flags, createdAt: user_created_at }, rest };
}

/** For what runs in the name of a user who is not asking at the moment; without the limits of any credential. */
export function principalOf({ id: userId, username, isSuperuser }: User): Principal {
  return {
    userId,
    username,
    isSuperuser,
    credential: 'token',
    sessionId: null,
    apiKeyId: null,
    scopes: null,
  };
}

export function checkUsername(text: string): string {
  return checkName(text, 'username');
}

export async function findUser(db: Database, username: string): Promise<User | null> {
  return (await findUserWithHash(db, username))?.user ?? null;
}

export async function findUserWithHash(
  db: Database,
  username: string,
): Promise<UserWithHash | null> {
  return withHash(
    await db.get(`SELECT ${userColumns}, password_hash FROM users WHERE username = ?`, [
      normalName(username),
    ]),
  );
}

export async function getUserWithHash(db: Database, userId: number): Promise<UserWithHash | null> {
  return withHash(
    await db.get(`SELECT ${userColumns}, password_hash FROM users WHERE id = ?`, [userId]),
  );
}

function withHash(row: (UserRow & { password_hash: string | null }) | null): UserWithHash | null {
  return row === null ? null : { user: userOf(row), passwordHash: row.password_hash };
}

export async function getUser(db: Database, userId: number): Promise<User | null> {
  const row = await db.get<UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`, [userId]);
  return row === null ? null : userOf(row);
}

/** Deleted accounts are missing. */
export async function namesOfUsers(
  db: Database,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (userIds.length === 0) return new Map();
  const rows = await db.all<{ id: number; username: string }>(
    'SELECT id, username FROM users WHERE id IN (SELECT value FROM json_each(?))',
    [JSON.stringify(userIds)],
  );
  return new Map(rows.map(({ id, username }) => [id, username]));
}

export async function listUsers(db: Database): Promise<User[]> {
  const rows = await db.all<UserRow>(`SELECT ${userColumns} FROM users ORDER BY id`);
  return rows.map(userOf);
}

interface NewUser {
  readonly username: string;
  /** Null: no local login. */
  readonly passwordHash: string | null;
  readonly isSuperuser: boolean;
  readonly now: number;
}

/** Throws `bad-request` when the name is taken. */
export async function createUser(db: Database, user: NewUser): Promise<User> {
  const createdAt = timestamp(user.now);
  const { changes, lastId } = await db.run(
    `INSERT INTO users (username, password_hash, is_superuser, created_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (username) DO NOTHING`,
    [user.username, user.passwordHash, user.isSuperuser ? 1 : 0, createdAt],
  );
  if (changes === 0) throw new AppError('bad-request', 'User already exists');
  return {
    id: lastId,
    username: user.username,
    isActive: true,
    isSuperuser: user.isSuperuser,
    createdAt,
  };
}

export async function countActiveSuperusers(db: Database): Promise<number> {
  const row = await db.get<{ n: number }>(
    'SELECT count(*) AS n FROM users WHERE is_superuser = 1 AND is_active = 1',
  );
  return row?.n ?? 0;
}

/** Ends all sessions of the account; API keys stay valid. Throws `not-found`. */
export async function setPasswordHash(
  db: Database,
  userId: number,
  passwordHash: string,
): Promise<number> {
  return db.transaction(async (tx) => {
    const { changes } = await tx.run('UPDATE users SET password_hash = ? WHERE id = ?', [
      passwordHash,
      userId,
    ]);
    if (changes === 0) throw userNotFound();
    return (await tx.run('DELETE FROM sessions WHERE user_id = ?', [userId])).changes;
  });
}

/** For a user who proved the old password: false when that was replaced or the account deactivated in between. */
export async function replacePasswordHash(
  db: Database,
  userId: number,
  from: string,
  to: string,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { changes } = await tx.run(
      'UPDATE users SET password_hash = ? WHERE id = ? AND password_hash = ? AND is_active = 1',
      [to, userId, from],
    );
    if (changes > 0) await tx.run('DELETE FROM sessions WHERE user_id = ?', [userId]);
    return changes > 0;
  });
}

/** False when the password was changed in between. Sessions stay. */
export async function upgradePasswordHash(
  db: Database,
  userId: number,
  from: string,
  to: string,
): Promise<boolean> {
  const { changes } = await db.run(
    'UPDATE users SET password_hash = ? WHERE id = ? AND password_hash = ?',
    [to, userId, from],
  );
  return changes > 0;
}

interface StatusChange {
  readonly user: User;
  readonly changed: boolean;
  readonly sessionsRevoked: number;
}

/**
 * Deactivation ends the sessions; keys stay stored. Throws `not-found`, and `bad-request` for the last active
 * superuser.
 */
export async function setActive(
  db: Database,
  userId: number,
  isActive: boolean,
): Promise<StatusChange> {
  return db.transaction(async (tx) => {
    const user = await requireUser(tx, userId);
    if (!isActive) await refuseLastSuperuser(tx, user);
    await tx.run('UPDATE users SET is_active = ? WHERE id = ?', [isActive ? 1 : 0, userId]);
    const sessionsRevoked = isActive
      ? 0
      : (await tx.run('DELETE FROM sessions WHERE user_id = ?', [userId])).changes;
    return { user: { ...user, isActive }, changed: user.isActive !== isActive, sessionsRevoked };
  });
}

/**
 * With its sessions, keys and memberships; audit entries stay without a user. Throws `not-found`, and `bad-request`
 * for the last active superuser.
 */
export async function deleteUser(db: Database, userId: number): Promise<User> {
  return db.transaction(async (tx) => {
    const user = await requireUser(tx, userId);
    await refuseLastSuperuser(tx, user);
    await tx.run('DELETE FROM users WHERE id = ?', [userId]);
    return user;
  });
}

async function requireUser(db: Database, userId: number): Promise<User> {
  const user = await getUser(db, userId);
  if (user === null) throw userNotFound();
  return user;
}

async function refuseLastSuperuser(db: Database, user: User): Promise<void> {
  if (!user.isSuperuser || !user.isActive) return;
  if ((await countActiveSuperusers(db)) > 1) return;
  throw new AppError('bad-request', 'Cannot remove the last active superuser');
}

function userNotFound(): AppError {
  return new AppError('not-found', 'User not found');
}

export const userList: ListSource = tableList(
  'users',
  {
    id: 'integer',
    username: 'string',
    is_active: 'boolean',
    is_superuser: 'boolean',
    created_at: 'date-time',
  },
  ['username', 'created_at', 'is_active', 'is_superuser'],
);
