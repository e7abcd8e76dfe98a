/**
 * Accounts of OIDC users: keyed by (issuer, sub), created at the first sign-in, kept in step with the provider's
 * roles.
 *
 * An existing account is never taken over because a token carries its name, unless the operator allows linking. One
 * transaction, so two concurrent first sign-ins create one account.
 */
import { timestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Database } from '../../store/database.ts';
import { listGroups } from '../rights/groups.ts';
import { normalName } from '../identity/names.ts';
import type { User, UserRow } from '../identity/users.ts';
import {
  checkUsername,
  countActiveSuperusers,
  getUser,
  userColumns,
  userOf,
} from '../identity/users.ts';
import type { Identity } from './claims.ts';

interface Admitted {
  readonly user: User;
  readonly isNew: boolean;
}

export async function findIdentity(
  db: Database,
  { issuer, sub }: Pick<Identity, 'issuer' | 'sub'>,
): Promise<User | null> {
  const row = await db.get<UserRow>(
    `SELECT ${userColumns} FROM users WHERE oidc_issuer = ? AND oidc_sub = ?`,
    [issuer, sub],
  );
  return row === null ? null : userOf(row);
}

/** Null when it is unknown and has no usable name. Throws `permission-denied` for a name that is taken or linked. */
export async function admitIdentity(
  db: Database,
  identity: Identity,
  rules: { readonly linksExisting: boolean; readonly now: number },
): Promise<Admitted | null> {
  return db.transaction(async (tx) => {
    const known = await findIdentity(tx, identity);
    if (known !== null) return { user: known, isNew: false };
    const username = usableName(identity.username);
    if (username === null) return null;
    const holder = await tx.get<UserRow & { oidc_sub: string | null }>(
      `SELECT ${userColumns}, oidc_sub FROM users WHERE username = ?`,
      [username],
    );
    if (holder === null) {
      return { user: await createAccount(tx, identity, username, rules.now), isNew: true };
    }
    if (holder.oidc_sub !== null) throw denied('Account already linked');
    if (!rules.linksExisting) throw denied('Account exists locally');
    await tx.run('UPDATE users SET oidc_issuer = ?, oidc_sub = ? WHERE id = ?', [
      identity.issuer,
      identity.sub,
      holder.user_id,
    ]);
    return { user: userOf(holder), isNew: false };
  });
}

interface Followed {
  readonly user: User;
  readonly joined: readonly string[];
  readonly left: readonly string[];
  /** The superuser right should have been removed, but nobody else has it. */
  readonly isLastSuperuser: boolean;
}

/** Never creates groups or removes memberships added by hand. */
export async function followRoles(
  db: Database,
  userId: number,
  roles: readonly string[],
  superuserRoles: readonly string[],
): Promise<Followed | null> {
  return db.transaction(async (tx) => {
    const isLastSuperuser = await followSuperuser(
      tx,
      userId,
      roles.some((role) => superuserRoles.includes(role)),
    );
    const names = new Set(roles.map(normalName));
    const groups = await listGroups(tx);
    const members = await tx.all<{ group_id: number; oidc_managed: number }>(
      'SELECT group_id, oidc_managed FROM group_members WHERE user_id = ?',
      [userId],
    );
    const managed = new Map(members.map((row) => [row.group_id, row.oidc_managed === 1]));
    const joined = groups.filter(({ id, name }) => names.has(name) && !managed.has(id));
    const left = groups.filter(({ id, name }) => !names.has(name) && managed.get(id) === true);
    for (const { id } of joined) {
      await tx.run('INSERT INTO group_members (group_id, user_id, oidc_managed) VALUES (?, ?, 1)', [
        id,
        userId,
      ]);
    }
    for (const { id } of left) {
      await tx.run('DELETE FROM group_members WHERE group_id = ? AND user_id = ?', [id, userId]);
    }
    const user = await getUser(tx, userId);
    if (user === null) return null;
    const nameOf = ({ name }: { name: string }): string => name;
    return { user, joined: joined.map(nameOf), left: left.map(nameOf), isLastSuperuser };
  });
}

/** True when the right stays only because nobody else has it. */
async function followSuperuser(tx: Database, userId: number, shouldBe: boolean): Promise<boolean> {
  const row = await tx.get<UserRow & { is_oidc_created: number }>(
    `SELECT ${userColumns}, is_oidc_created FROM users WHERE id = ?`,
    [userId],
  );
  if (row === null || row.is_oidc_created !== 1) return false;
  const user = userOf(row);
  if (user.isSuperuser === shouldBe) return false;
  const isNeeded = user.isSuperuser && user.isActive && (await countActiveSuperusers(tx)) <= 1;
  if (isNeeded) return true;
  await tx.run('UPDATE users SET is_superuser = ? WHERE id = ?', [shouldBe ? 1 : 0, userId]);
  return false;
}

async function createAccount(
  tx: Database,
  { issuer, sub }: Identity,
  username: string,
  now: number,
): Promise<User> {
  const createdAt = timestamp(now);
  const { lastId: id } = await tx.run(
    `INSERT INTO users (username, password_hash, is_superuser, created_at, oidc_issuer, oidc_sub, is_oidc_created)
     VALUES (?, NULL, 0, ?, ?, ?, 1)`,
    [username, createdAt, issuer, sub],
  );
  return { id, username, isActive: true, isSuperuser: false, createdAt };
}

function usableName(claim: string | null): string | null {
  if (claim === null) return null;
  try {
    return checkUsername(claim);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

function denied(message: string): AppError {
  return new AppError('permission-denied', message);
}
