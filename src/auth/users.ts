/**
 * Accounts. Names are unique and ids are never reused.
 *
 * There is always an active superuser once there was one (DS-138): the check and the change are one transaction, so two
 * administrators cannot remove each other.
 */
import { timestamp } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Database } from '../store/database.ts';
import type { ListSource } from '../store/list-source.ts';
import { checkName, normalName } from './names.ts';

/** An account as anyone allowed to may see it. */
export interface User {
  readonly id: number;
  readonly username: string;
  readonly isActive: boolean;
  readonly isSuperuser: boolean;
  /** DS-16 text. */
  readonly createdAt: string;
}

/** What a local login is checked against; `passwordHash` null: the account has no password. */
export interface UserWithHash {
  readonly user: User;
  readonly passwordHash: string | null;
}

/** The members of `User` in a row of any statement that selects `userColumns`. */
export interface UserRow {
  readonly user_id: number;
  readonly username: string;
  readonly user_is_active: number;
  readonly is_superuser: number;
  readonly user_created_at: string;
}

/** Select list for `userOf`; the statement must have the table `users` in it. */
export const userColumns = `users.id AS user_id, users.username AS username, users.is_active AS user_is_active,
  users.is_superuser AS is_superuser, users.created_at AS user_created_at`;

/** The account in a row selected with `userColumns`. */
export function userOf(row: UserRow): User {
  return {
    id: row.user_id,
    username: row.username,
    isActive: row.user_is_active === 1,
    isSuperuser: row.is_superuser === 1,
    createdAt: row.user_created_at,
  };
}

/** The username as it will be stored; throws `invalid-request` (DS-136). */
export function checkUsername(text: string): string {
  return checkName(text, 'username');
}

/** The account of that name, which is trimmed and brought to NFC first; null when there is none. */
export async function findUser(db: Database, username: string): Promise<User | null> {
  return (await findUserWithHash(db, username))?.user ?? null;
}

/** As `findUser`, with the password hash. */
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

/** As `getUser`, with the password hash. */
export async function getUserWithHash(db: Database, userId: number): Promise<UserWithHash | null> {
  return withHash(
    await db.get(`SELECT ${userColumns}, password_hash FROM users WHERE id = ?`, [userId]),
  );
}

function withHash(row: (UserRow & { password_hash: string | null }) | null): UserWithHash | null {
  return row === null ? null : { user: userOf(row), passwordHash: row.password_hash };
}

/** The account with that id; null when there is none. */
export async function getUser(db: Database, userId: number): Promise<User | null> {
  const row = await db.get<UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`, [userId]);
  return row === null ? null : userOf(row);
}

/** Names of accounts by id; what does not exist (any more) is missing. */
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

/** All accounts in the order they were made. */
export async function listUsers(db: Database): Promise<User[]> {
  const rows = await db.all<UserRow>(`SELECT ${userColumns} FROM users ORDER BY id`);
  return rows.map(userOf);
}

interface NewUser {
  /** As `checkUsername` gave it. */
  readonly username: string;
  /** Null: no local login. */
  readonly passwordHash: string | null;
  readonly isSuperuser: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Makes an active account. Throws `bad-request` (`User already exists`). */
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

/** How many active superusers there are. */
export async function countActiveSuperusers(db: Database): Promise<number> {
  const row = await db.get<{ n: number }>(
    'SELECT count(*) AS n FROM users WHERE is_superuser = 1 AND is_active = 1',
  );
  return row?.n ?? 0;
}

/**
 * Gives the account a new password and ends all its sessions (DS-108, DS-139); answers how many. API keys stay valid.
 * Throws `not-found` (`User not found`).
 */
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

/**
 * As `setPasswordHash` for a user who has proved to know the old one: false when that was replaced or the account deactivated
 * in between, and then nothing is changed.
 */
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

/** Stores the same password under newer parameters (DS-109); false when it was changed in between. Sessions stay. */
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

/** What `setActive` did. */
interface StatusChange {
  /** The account as it is now. */
  readonly user: User;
  /** False when it had that status already. */
  readonly changed: boolean;
  /** Sessions ended by deactivation. */
  readonly sessionsRevoked: number;
}

/**
 * Activates or deactivates the account; deactivation ends its sessions, keys stay stored (DS-139). Throws `not-found`
 * (`User not found`) and `bad-request` for the last active superuser.
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
 * Deletes the account with its sessions, keys and memberships; its audit rows stay without a user (DS-139). Answers what
 * was deleted. Throws `not-found` (`User not found`) and `bad-request` for the last active superuser.
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

/** Accounts as administrators list them (DS-134); never a password or its hash. */
export const userList: ListSource = {
  name: 'users',
  from: 'users',
  id: 'id',
  columns: [
    { name: 'id', type: 'integer', sql: 'id' },
    { name: 'username', type: 'string', sql: 'username' },
    { name: 'is_active', type: 'boolean', sql: 'is_active' },
    { name: 'is_superuser', type: 'boolean', sql: 'is_superuser' },
    { name: 'created_at', type: 'date-time', sql: 'created_at' },
  ],
  sortable: ['username', 'created_at', 'is_active', 'is_superuser'],
  order: 'asc',
};
