/**
 * The cookie holds 32 random bytes; only their SHA-256 is stored, so a copy of the database signs nobody in. A
 * session found expired is deleted at once: a clock set back must not revive it.
 */
import { timestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { randomToken, sha256Hex } from '../../base/ids.ts';
import type { Database } from '../../store/database.ts';
import { type ListSource, tableList } from '../../store/list-source.ts';
import { isUseDue } from './last-use.ts';
import { ANY_CHALLENGE } from './refusal.ts';
import type { User, UserRow } from './users.ts';
import { userColumns, withUser } from './users.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Also the cookie's Max-Age. */
export const SESSION_LIFETIME_MS = 7 * DAY_MS;
/** A use later than this after the last renewal renews the session. */
const RENEW_AFTER_MS = 5 * 60 * 1000;
const MAX_USER_AGENT_LENGTH = 512;

/** What the user signed in with: `provider` is the identity provider, which may have asked for more. */
export type Strength = 'password' | 'two-factors' | 'passkey' | 'provider';

export interface Session {
  readonly id: number;
  readonly userId: number;
  readonly createdAt: string;
  readonly lastActiveAt: string;
  readonly expiresAt: string;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly strength: Strength;
}

const sessionColumns = `sessions.id AS id, sessions.user_id AS "userId", sessions.created_at AS "createdAt",
  last_active_at AS "lastActiveAt", expires_at AS "expiresAt", ip_address AS "ipAddress", user_agent AS "userAgent", strength`;

interface NewSession {
  readonly userId: number;
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** The hash the user was checked against: no session begins once it was replaced. */
  readonly passwordHash?: string;
  /** For sign-out at the issuer. */
  readonly idToken?: string | null;
  /** `password` unless given. */
  readonly strength?: Strength;
  readonly now: number;
}

/**
 * `token` cannot be read again. Throws `invalid-credentials` when the account was deactivated, deleted or given
 * another password since it was read: such a change ends all sessions, so none may begin after it.
 */
export async function createSession(
  db: Database,
  session: NewSession,
): Promise<{ id: number; token: string }> {
  const token = randomToken();
  const now = timestamp(session.now);
  const { changes, lastId } = await db.run(
    `INSERT INTO sessions (token_hash, user_id, created_at, last_active_at, expires_at, ip_address, user_agent, id_token, strength)
     SELECT ?, id, ?, ?, ?, ?, ?, ?, ? FROM users
     WHERE id = ? AND is_active = 1 AND coalesce(?, password_hash) IS NOT DISTINCT FROM password_hash`,
    [
      sha256Hex(token),
      now,
      now,
      timestamp(session.now + SESSION_LIFETIME_MS),
      session.ip,
      session.userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
      session.idToken ?? null,
      session.strength ?? 'password',
      session.userId,
      session.passwordHash ?? null,
    ],
  );
  if (changes === 0) {
    const headers = { 'WWW-Authenticate': ANY_CHALLENGE };
    throw new AppError('invalid-credentials', 'Invalid credentials', { headers });
  }
  return { id: lastId, token };
}

/** One indexed read. */
export async function findSession(
  db: Database,
  token: string,
  now: number,
): Promise<{ session: Session; user: User } | null> {
  if (!/^[\w-]{43}$/.test(token)) return null;
  const row = await db.get<Session & UserRow>(
    `SELECT ${sessionColumns}, ${userColumns} FROM sessions JOIN users ON users.id = sessions.user_id
     WHERE token_hash = ?`,
    [sha256Hex(token)],
  );
  if (row === null) return null;
  if (row.expiresAt <= timestamp(now)) {
    await forgetExpired(db, row.id);
    return null;
  }
  const { user, rest: session } = withUser(row);
  return user.isActive ? { session, user } : null;
}

async function forgetExpired(db: Database, id: number): Promise<void> {
  try {
    await db.relaxed.run('DELETE FROM sessions WHERE id = ?', [id]);
  } catch {
    // A full disk must not fail a read; the daily purge deletes it.
  }
}

export function dueAfterUse(session: Session, now: number): { note: boolean; renew: boolean } {
  const renewedAt = Date.parse(session.expiresAt) - SESSION_LIFETIME_MS;
  // Absolute, because the clock may have been set back.
  const renew = Math.abs(now - renewedAt) > RENEW_AFTER_MS;
  return { note: renew || isUseDue(session.lastActiveAt, now), renew };
}

export async function noteSessionUse(
  db: Database,
  session: Session,
  now: number,
  renew: boolean,
): Promise<void> {
  const expiresAt = renew ? timestamp(now + SESSION_LIFETIME_MS) : session.expiresAt;
  await db.relaxed.run(
    'UPDATE sessions SET last_active_at = ?, expires_at = ? WHERE id = ? AND last_active_at = ? AND expires_at = ?',
    [timestamp(now), expiresAt, session.id, session.lastActiveAt, session.expiresAt],
  );
}

export async function setSessionStrength(
  db: Database,
  id: number,
  strength: Strength,
): Promise<void> {
  await db.run('UPDATE sessions SET strength = ? WHERE id = ?', [strength, id]);
}

export async function listSessions(db: Database, userId: number, now: number): Promise<Session[]> {
  return db.all<Session>(
    `SELECT ${sessionColumns} FROM sessions WHERE sessions.user_id = ? AND expires_at > ? ORDER BY id`,
    [userId, timestamp(now)],
  );
}

/** False when there is no such session, or not of that user. */
export async function deleteSession(db: Database, id: number, userId?: number): Promise<boolean> {
  const { changes } = await db.run(
    'DELETE FROM sessions WHERE id = ? AND user_id = coalesce(?, user_id)',
    [id, userId ?? null],
  );
  return changes > 0;
}

export async function deleteSessionByToken(
  db: Database,
  token: string,
): Promise<{ id: number; userId: number; idToken: string | null } | null> {
  return db.transaction(async (tx) => {
    const row = await tx.get<{ id: number; userId: number; idToken: string | null }>(
      'SELECT id, user_id AS "userId", id_token AS "idToken" FROM sessions WHERE token_hash = ?',
      [sha256Hex(token)],
    );
    if (row !== null) await tx.run('DELETE FROM sessions WHERE id = ?', [row.id]);
    return row;
  });
}

/** Run at least daily. */
export async function purgeExpiredSessions(db: Database, now: number): Promise<number> {
  const { changes } = await db.relaxed.run('DELETE FROM sessions WHERE expires_at <= ?', [
    timestamp(now),
  ]);
  return changes;
}

export function sessionList(now: number): ListSource {
  const columns = {
    id: 'integer',
    user_id: 'integer',
    created_at: 'date-time',
    last_active_at: 'date-time',
    expires_at: 'date-time',
    ip_address: 'string',
    user_agent: 'string',
    strength: 'string',
  } as const;
  return {
    ...tableList('sessions', columns, ['created_at', 'last_active_at', 'expires_at', 'user_id']),
    from: '(SELECT * FROM sessions WHERE expires_at > ?)',
    params: [timestamp(now)],
  };
}
