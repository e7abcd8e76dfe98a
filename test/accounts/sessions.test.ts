import { describe, expect, test } from 'bun:test';
import type { Database } from '../../src/store/database.ts';
import {
  SESSION_LIFETIME_MS,
  createSession,
  deleteSession,
  deleteSessionByToken,
  dueAfterUse,
  findSession,
  listSessions,
  noteSessionUse,
  purgeExpiredSessions,
} from '../../src/accounts/identity/sessions.ts';
import { createUser, setActive } from '../../src/accounts/identity/users.ts';
import { temporaryDatabase } from '../support/database.ts';

const now = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;

async function signedIn(db: Database, username = 'ada') {
  const user = await createUser(db, { username, passwordHash: null, isSuperuser: false, now });
  const { id, token } = await createSession(db, {
    userId: user.id,
    ip: '127.0.0.1',
    userAgent: 'agent',
    idToken: 'jwt',
    now,
  });
  return { user, id, token };
}

describe('a session (DS-103)', () => {
  test('is found by its token, of which only the digest is stored', async () => {
    await using at = await temporaryDatabase();
    const { user, id, token } = await signedIn(at.db);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(await findSession(at.db, token, now)).toEqual({
      user,
      session: {
        id,
        userId: user.id,
        createdAt: '2026-11-20T12:00:00.000Z',
        lastActiveAt: '2026-11-20T12:00:00.000Z',
        expiresAt: '2026-11-27T12:00:00.000Z',
        ipAddress: '127.0.0.1',
        userAgent: 'agent',
        strength: 'password',
      },
    });
    const stored = JSON.stringify(await at.db.all('SELECT * FROM sessions'));
    expect(stored).not.toContain(token);
    expect(stored).toMatch(/"token_hash":"[0-9a-f]{64}"/);
  });

  test('is not found by anything else', async () => {
    await using at = await temporaryDatabase();
    const { token } = await signedIn(at.db);
    for (const other of [
      '',
      'x',
      token.slice(1),
      `${token}a`,
      `${token.startsWith('a') ? 'b' : 'a'}${token.slice(1)}`,
      'é'.repeat(43),
    ]) {
      expect(await findSession(at.db, other, now)).toBeNull();
    }
  });

  test('is dead once expired, also when the clock is set back afterwards', async () => {
    await using at = await temporaryDatabase();
    const { token } = await signedIn(at.db);
    expect(await findSession(at.db, token, now + SESSION_LIFETIME_MS - 1)).not.toBeNull();
    expect(await findSession(at.db, token, now + SESSION_LIFETIME_MS)).toBeNull();
    expect(await findSession(at.db, token, now)).toBeNull();
  });

  test('counts as absent while its user is inactive', async () => {
    await using at = await temporaryDatabase();
    const { user, token } = await signedIn(at.db);
    await at.db.run('UPDATE users SET is_active = 0');
    expect(await findSession(at.db, token, now)).toBeNull();
    await setActive(at.db, user.id, true);
    expect(await findSession(at.db, token, now)).not.toBeNull();
  });
});

describe('the use of a session', () => {
  test('is written at most once a minute and renews after 5 minutes (DS-97, DS-104)', async () => {
    await using at = await temporaryDatabase();
    const { token } = await signedIn(at.db);
    const session = async (time: number) => (await findSession(at.db, token, time))!.session;
    const first = await session(now);
    expect(dueAfterUse(first, now + MINUTE - 1)).toEqual({ note: false, renew: false });
    expect(dueAfterUse(first, now + MINUTE)).toEqual({ note: true, renew: false });
    expect(dueAfterUse(first, now + 5 * MINUTE)).toEqual({ note: true, renew: false });
    expect(dueAfterUse(first, now + 5 * MINUTE + 1)).toEqual({ note: true, renew: true });
    await noteSessionUse(at.db, first, now + MINUTE, false);
    const second = await session(now + MINUTE);
    expect(second.lastActiveAt).toBe('2026-11-20T12:01:00.000Z');
    expect(second.expiresAt).toBe(first.expiresAt);
    await noteSessionUse(at.db, second, now + 6 * MINUTE, true);
    const third = await session(now + 6 * MINUTE);
    expect(third.expiresAt).toBe('2026-11-27T12:06:00.000Z');
    expect(dueAfterUse(third, now + 6 * MINUTE)).toEqual({ note: false, renew: false });
  });

  test('by several requests at once is written once', async () => {
    await using at = await temporaryDatabase();
    const { token } = await signedIn(at.db);
    const { session } = (await findSession(at.db, token, now))!;
    await Promise.all(
      [1, 2, 3].map((n) => noteSessionUse(at.db, session, now + n * MINUTE, false)),
    );
    expect((await findSession(at.db, token, now))!.session.lastActiveAt).toBe(
      '2026-11-20T12:01:00.000Z',
    );
  });

  test('goes on being written after the clock was set back', async () => {
    await using at = await temporaryDatabase();
    const { token } = await signedIn(at.db);
    const { session } = (await findSession(at.db, token, now))!;
    expect(dueAfterUse(session, now - 60 * MINUTE)).toEqual({ note: true, renew: true });
  });
});

describe('ending sessions', () => {
  test('one of one’s own', async () => {
    await using at = await temporaryDatabase();
    const ada = await signedIn(at.db);
    const bob = await signedIn(at.db, 'bob');
    expect(await deleteSession(at.db, bob.id, ada.user.id)).toBe(false);
    expect(await deleteSession(at.db, ada.id, ada.user.id)).toBe(true);
    expect(await findSession(at.db, ada.token, now)).toBeNull();
    expect(await findSession(at.db, bob.token, now)).not.toBeNull();
  });

  test('by the cookie, which also gives the ID token', async () => {
    await using at = await temporaryDatabase();
    const { user, id, token } = await signedIn(at.db);
    expect(await deleteSessionByToken(at.db, token)).toEqual({
      id,
      userId: user.id,
      idToken: 'jwt',
    });
    expect(await deleteSessionByToken(at.db, token)).toBeNull();
  });

  test('lists those of a user that are live, and removes what has expired', async () => {
    await using at = await temporaryDatabase();
    const ada = await signedIn(at.db);
    await createSession(at.db, {
      userId: ada.user.id,
      ip: null,
      userAgent: 'x'.repeat(9999),
      now: now + 1,
    });
    expect((await listSessions(at.db, ada.user.id, now)).map(({ id }) => id)).toEqual([1, 2]);
    expect(await listSessions(at.db, ada.user.id, now + SESSION_LIFETIME_MS)).toHaveLength(1);
    expect(await purgeExpiredSessions(at.db, now + SESSION_LIFETIME_MS)).toBe(1);
    expect((await listSessions(at.db, ada.user.id, now)).map(({ id }) => id)).toEqual([2]);
  });
});
