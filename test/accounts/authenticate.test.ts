import { describe, expect, test } from 'bun:test';
import { createApiKey, listApiKeys, revokeApiKey } from '../../src/accounts/identity/api-keys.ts';
import { Audit } from '../../src/accounts/audit/audit.ts';
import { listAudit } from '../support/audit.ts';
import { authenticate } from '../../src/accounts/identity/authenticate.ts';
import { refusalOf } from '../../src/accounts/identity/refusal.ts';
import { HandlerCalls } from '../../src/accounts/identity/handler-calls.ts';
import { LocalLogin } from '../../src/accounts/identity/local-login.ts';
import type { AuthServices, RequestCredentials } from '../../src/accounts/identity/method.ts';
import { methods } from '../../src/accounts/identity/methods/index.ts';
import { dummyVerify } from '../../src/accounts/identity/passwords.ts';
import {
  createSession,
  deleteSession,
  listSessions,
} from '../../src/accounts/identity/sessions.ts';
import type { User } from '../../src/accounts/identity/users.ts';
import {
  createUser,
  findUserWithHash,
  setActive,
  setPasswordHash,
} from '../../src/accounts/identity/users.ts';
import { AppError } from '../../src/base/errors.ts';
import type { Database } from '../../src/store/database.ts';
import type { TestClock } from '../support/database.ts';
import { temporaryDatabase, testClock, testLog, until } from '../support/database.ts';
import { workSince } from '../support/patience.ts';

const MINUTE = 60_000;
// The least argon2 takes: these tests are about who is let in, not about the cost.
const cheap = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const;
const phcOf = (password: string) => Bun.password.hash(password, cheap);

interface Fixture extends AsyncDisposable {
  db: Database;
  clock: TestClock;
  services: AuthServices;
  localLogin: LocalLogin;
  ada: User;
  bob: User;
  settings: { isEnabled: boolean };
  lines: string[];
  ask(
    credentials: Omit<RequestCredentials, 'clientAddress'>,
    address?: string,
  ): Promise<Awaited<ReturnType<typeof authenticate>>>;
}

async function fixture(): Promise<Fixture> {
  const at = await temporaryDatabase();
  const { db } = at;
  const clock = testClock();
  const { log, lines } = testLog();
  const audit = new Audit({ db, clock, log });
  const settings = { isEnabled: true };
  const localLogin = new LocalLogin({
    db,
    clock,
    log,
    audit,
    isEnabled: () => settings.isEnabled,
    needsFactor: async () => false,
  });
  const services = { db, clock, log, localLogin, handlerCalls: new HandlerCalls(), oidc: null };
  const passwordHash = await phcOf('right');
  const now = clock.now();
  return {
    db,
    clock,
    services,
    localLogin,
    settings,
    lines,
    ada: await createUser(db, { username: 'ada', passwordHash, isSuperuser: true, now }),
    bob: await createUser(db, { username: 'bob', passwordHash: null, isSuperuser: false, now }),
    ask: async (credentials, address = 'A') =>
      authenticate(services, { ...credentials, clientAddress: address }),
    async [Symbol.asyncDispose]() {
      await audit.drain();
      await at[Symbol.asyncDispose]();
    },
  };
}

const basic = (name: string, password: string) =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

async function keyFor(
  at: Fixture,
  user: User,
  scopes: Parameters<typeof createApiKey>[1]['scopes'] = null,
) {
  const now = at.clock.now();
  return createApiKey(at.db, {
    userId: user.id,
    description: null,
    expiresInDays: null,
    scopes,
    now,
  });
}

async function sessionFor(at: Fixture, user: User) {
  return createSession(at.db, { userId: user.id, ip: null, userAgent: null, now: at.clock.now() });
}

async function refused(work: Promise<unknown>, challenge: string, reason: string): Promise<void> {
  try {
    await work;
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({
      code: 'not-authenticated',
      message: 'Not authenticated',
      headers: { 'WWW-Authenticate': challenge },
    });
    expect(refusalOf(error)?.reason).toBe(reason as never);
    return;
  }
  throw new Error('The credential was accepted');
}

const badBearer = 'Bearer realm="svc", error="invalid_token"';
const badBasic = 'Basic realm="svc", charset="UTF-8"';

describe('the caller (DS-93, DS-94)', () => {
  test('is nobody without credentials', async () => {
    await using at = await fixture();
    expect(await at.ask({})).toEqual({
      principal: null,
      session: null,
      expiredSessionCookie: false,
      renewedSession: false,
    });
    expect(
      (await at.ask({ sessionToken: null, apiKeyHeader: null, authorization: null })).principal,
    ).toBeNull();
  });

  test('is the user of a session', async () => {
    await using at = await fixture();
    const { id, token } = await sessionFor(at, at.bob);
    expect(await at.ask({ sessionToken: token })).toEqual({
      principal: {
        userId: at.bob.id,
        username: 'bob',
        isSuperuser: false,
        credential: 'session',
        sessionId: id,
        apiKeyId: null,
        scopes: null,
      },
      session: { id, token, userId: at.bob.id, strength: 'password' },
      expiredSessionCookie: false,
      renewedSession: false,
    });
  });

  test('is the user of an API key in either header, with its scopes', async () => {
    await using at = await fixture();
    const { key, value } = await keyFor(at, at.ada, [{ verb: 'read', pattern: null }]);
    for (const credentials of [
      { apiKeyHeader: value },
      { apiKeyHeader: ` ${value} ` },
      { authorization: `Bearer ${value}` },
      { authorization: `bearer   ${value} ` },
    ]) {
      const { principal, session } = await at.ask(credentials);
      expect(principal).toMatchObject({
        userId: at.ada.id,
        isSuperuser: false,
        isNarrowedSuperuser: true,
        credential: 'api-key',
        apiKeyId: key.id,
        scopes: [{ verb: 'read', pattern: null }],
      });
      expect(session).toBeNull();
    }
  });

  test('is the user of a Basic header', async () => {
    await using at = await fixture();
    expect((await at.ask({ authorization: basic('ada', 'right') })).principal).toMatchObject({
      username: 'ada',
      credential: 'basic',
      scopes: null,
    });
    expect((await at.ask({ authorization: basic(' ada ', 'right') })).principal?.username).toBe(
      'ada',
    );
  });

  test('may send Basic in UTF-8 or Latin-1, and colons in the password', async () => {
    await using at = await fixture();
    await setPasswordHash(at.db, at.bob.id, await phcOf('ü:ü'));
    for (const encoding of ['utf8', 'latin1'] as const) {
      const authorization = `basic ${Buffer.from('bob:ü:ü', encoding).toString('base64')}`;
      expect((await at.ask({ authorization })).principal?.username).toBe('bob');
    }
  });

  test('is the one of the session, then of the key, then of Authorization', async () => {
    await using at = await fixture();
    const { id, token } = await sessionFor(at, at.bob);
    const { value } = await keyFor(at, at.bob);
    const authorization = basic('ada', 'right');
    const all = await at.ask({ sessionToken: token, apiKeyHeader: value, authorization });
    expect(all.principal).toMatchObject({ username: 'bob', credential: 'session', scopes: null });
    const headers = await at.ask({ apiKeyHeader: value, authorization });
    expect(headers.principal).toMatchObject({
      username: 'bob',
      credential: 'api-key',
      sessionId: null,
    });
    const dead = await at.ask({ sessionToken: 'x', authorization });
    expect(dead.principal).toMatchObject({ username: 'ada', credential: 'basic', sessionId: null });
    expect(dead.expiredSessionCookie).toBe(true);
    expect(dead.session).toBeNull();
    expect(all.session?.id).toBe(id);
  });
});

describe('a bad header credential is 401 with its challenge (DS-94, DS-95)', () => {
  const cases: [string, Omit<RequestCredentials, 'clientAddress'>, string, string][] = [
    ['unknown key', { apiKeyHeader: `ak_${'x'.repeat(43)}` }, badBearer, 'unknown'],
    ['empty key', { apiKeyHeader: '' }, badBearer, 'unknown'],
    ['no key at all', { apiKeyHeader: 'hello' }, badBearer, 'unknown'],
    ['unknown bearer key', { authorization: `Bearer ak_${'x'.repeat(43)}` }, badBearer, 'unknown'],
    ['other bearer', { authorization: 'Bearer abc' }, badBearer, 'switched-off'],
    ['other scheme', { authorization: 'Digest abc' }, badBearer, 'unknown-scheme'],
    ['no scheme', { authorization: '' }, badBearer, 'unknown-scheme'],
    ['wrong password', { authorization: basic('ada', 'wrong') }, badBasic, 'unknown'],
    ['unknown user', { authorization: basic('eve', 'right') }, badBasic, 'unknown'],
    ['user without password', { authorization: basic('bob', '') }, badBasic, 'unknown'],
    ['Basic without value', { authorization: 'Basic' }, badBasic, 'empty'],
    ['Basic with spaces', { authorization: 'Basic a b' }, badBasic, 'spaces'],
    ['Basic that is no base64', { authorization: 'Basic !!!!' }, badBasic, 'encoding'],
    ['Basic cut short', { authorization: 'Basic YWRhOg' }, badBasic, 'encoding'],
    ['Basic without colon', { authorization: `Basic ${btoa('ada')}` }, badBasic, 'unknown'],
  ];
  test.each(cases)('%s', async (_what, credentials, challenge, reason) => {
    await using at = await fixture();
    await refused(at.ask(credentials), challenge, reason);
    const { token } = await sessionFor(at, at.bob);
    await refused(at.ask({ ...credentials, sessionToken: token }), challenge, reason);
  });

  test('one of two keys', async () => {
    await using at = await fixture();
    const { value } = await keyFor(at, at.ada);
    await refused(
      at.ask({ apiKeyHeader: value, authorization: 'Bearer ak_x' }),
      badBearer,
      'unknown',
    );
  });

  test('a header of spaces costs no time', async () => {
    await using at = await fixture();
    const spaces = ' '.repeat(200_000);
    const started = process.cpuUsage();
    await refused(at.ask({ authorization: `Basic${spaces}a${spaces}b` }), badBasic, 'spaces');
    await refused(at.ask({ authorization: `${spaces}x${spaces}y` }), badBearer, 'unknown-scheme');
    expect(workSince(started)).toBeLessThan(5_000);
  });

  test('Basic while local login is switched off (DS-198)', async () => {
    await using at = await fixture();
    at.settings.isEnabled = false;
    await refused(at.ask({ authorization: basic('ada', 'right') }), badBasic, 'switched-off');
  });
});

describe('what is taken away stops with the next request (DS-97)', () => {
  test('a revoked key, a revoked session', async () => {
    await using at = await fixture();
    const { key, value } = await keyFor(at, at.ada);
    const session = await sessionFor(at, at.ada);
    await at.ask({ apiKeyHeader: value, sessionToken: session.token });
    await revokeApiKey(at.db, key.id);
    await deleteSession(at.db, session.id, at.ada.id);
    await refused(at.ask({ apiKeyHeader: value }), badBearer, 'revoked');
    expect(await at.ask({ sessionToken: session.token })).toMatchObject({
      principal: null,
      expiredSessionCookie: true,
    });
  });

  test('every credential of a deactivated user, and the key comes back with him', async () => {
    await using at = await fixture();
    const { value } = await keyFor(at, at.bob);
    const { token } = await sessionFor(at, at.bob);
    await setPasswordHash(at.db, at.bob.id, await phcOf('right'));
    await at.ask({ authorization: basic('bob', 'right') });
    await setActive(at.db, at.bob.id, false);
    await refused(at.ask({ apiKeyHeader: value }), badBearer, 'inactive-user');
    await refused(at.ask({ authorization: basic('bob', 'right') }), badBasic, 'unknown');
    expect((await at.ask({ sessionToken: token })).principal).toBeNull();
    await setActive(at.db, at.bob.id, true);
    expect((await at.ask({ apiKeyHeader: value })).principal?.username).toBe('bob');
    expect((await at.ask({ sessionToken: token })).principal).toBeNull();
  });

  test('a remembered Basic password that was changed', async () => {
    await using at = await fixture();
    await at.ask({ authorization: basic('ada', 'right') });
    await setPasswordHash(at.db, at.ada.id, await phcOf('other'));
    await refused(at.ask({ authorization: basic('ada', 'right') }), badBasic, 'unknown');
    await at.ask({ authorization: basic('ada', 'other') });
  });
});

describe('use', () => {
  test('of a session is noted and renewed when due, and says so (DS-104)', async () => {
    await using at = await fixture();
    const { token } = await sessionFor(at, at.bob);
    const stored = async () => (await listSessions(at.db, at.bob.id, at.clock.now()))[0];
    at.clock.pass(MINUTE);
    expect((await at.ask({ sessionToken: token })).renewedSession).toBe(false);
    await until(async () => (await stored())?.lastActiveAt === '2026-11-20T12:01:00.000Z');
    at.clock.pass(5 * MINUTE);
    expect((await at.ask({ sessionToken: token })).renewedSession).toBe(true);
    await until(async () => (await stored())?.expiresAt === '2026-11-27T12:06:00.000Z');
    expect((await at.ask({ sessionToken: token })).renewedSession).toBe(false);
  });

  test('of a key is noted', async () => {
    await using at = await fixture();
    const { value } = await keyFor(at, at.bob);
    await at.ask({ apiKeyHeader: value });
    await until(
      async () => (await listApiKeys(at.db))[0]?.lastUsedAt === '2026-11-20T12:00:00.000Z',
    );
  });

  test('that cannot be noted is logged and the request goes on', async () => {
    await using at = await fixture();
    const { token } = await sessionFor(at, at.bob);
    const { value } = await keyFor(at, at.bob);
    at.clock.pass(10 * MINUTE);
    for (const table of ['sessions', 'api_keys']) {
      await at.db.run(
        `CREATE TRIGGER no_${table} BEFORE UPDATE ON ${table} BEGIN SELECT RAISE(ABORT, 'no'); END`,
      );
    }
    const { principal } = await at.ask({ sessionToken: token, apiKeyHeader: value });
    expect(principal?.username).toBe('bob');
    await until(() => at.lines.length === 2);
  });
});

describe('passwords', () => {
  test('of Basic are hashed once a minute, also for many requests at once', async () => {
    await using at = await fixture();
    const authorization = basic('ada', 'right');
    const many = await Promise.all(Array.from({ length: 64 }, () => at.ask({ authorization })));
    expect(many.every(({ principal }) => principal?.username === 'ada')).toBe(true);
    // No hash is to be had now, so what passes needed none.
    const busy = Array.from({ length: 18 }, () => dummyVerify('x'));
    await at.ask({ authorization });
    at.clock.pass(MINUTE);
    await expect(at.ask({ authorization })).rejects.toMatchObject({ code: 'unavailable' });
    await Promise.all(busy);
    await at.ask({ authorization });
  });

  test('fail ten times and are then refused though right, for login and Basic together (DS-102)', async () => {
    await using at = await fixture();
    const wrong = () => at.localLogin.signIn({ username: 'ada', password: 'x', address: 'A' });
    for (let n = 0; n < 5; n++) expect(await wrong()).toBeNull();
    for (let n = 0; n < 4; n++) {
      await refused(at.ask({ authorization: basic('ada', 'x') }), badBasic, 'unknown');
    }
    expect(await at.localLogin.confirmPassword(at.ada.id, 'x', 'A')).toBeNull();
    const throttled = { code: 'throttled', message: 'Too many failed logins' };
    await expect(wrong()).rejects.toMatchObject(throttled);
    await expect(at.ask({ authorization: basic('ada', 'right') })).rejects.toMatchObject(throttled);
    await expect(
      at.localLogin.signIn({ username: ' ada', password: 'right', address: 'A' }),
    ).rejects.toMatchObject(throttled);
    await expect(at.localLogin.confirmPassword(at.ada.id, 'right', 'A')).rejects.toMatchObject(
      throttled,
    );
    expect((await at.ask({ authorization: basic('ada', 'right') }, 'B')).principal?.username).toBe(
      'ada',
    );
    at.clock.pass(15 * MINUTE);
    expect((await at.ask({ authorization: basic('ada', 'right') })).principal?.username).toBe(
      'ada',
    );
  });

  test('tried side by side do not get past the limit', async () => {
    await using at = await fixture();
    const guesses = Array.from({ length: 17 }, (_, n) => (n === 16 ? 'right' : `wrong${n}`));
    const outcomes = await Promise.allSettled(
      guesses.map((password) => at.localLogin.signIn({ username: 'ada', password, address: 'A' })),
    );
    expect(outcomes.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'throttled' } });
  });

  test('that fail are audited under the name that was tried (DS-140)', async () => {
    await using at = await fixture();
    const attempt = { password: 'x', address: 'A' };
    expect(await at.localLogin.signIn({ ...attempt, username: 'ada' })).toBeNull();
    expect(await at.localLogin.signIn({ ...attempt, username: ' eve ' })).toBeNull();
    expect(await at.localLogin.signIn({ ...attempt, username: 'bob' })).toBeNull();
    const { entries } = await listAudit(at.db, { limit: 9, offset: 0, order: 'asc' });
    expect(entries.map(({ details }) => details)).toEqual(
      ['ada', 'eve', 'bob'].map((name) => `Failed login for user ${name}`),
    );
    expect(entries[0]).toMatchObject({
      action: 'login_failed',
      resource: 'auth',
      userId: null,
      ipAddress: 'A',
    });
  });

  test('under weak parameters are hashed anew at login (DS-109)', async () => {
    await using at = await fixture();
    const login = { username: 'ada', password: 'right', address: 'A' };
    expect((await at.localLogin.signIn(login))?.user.username).toBe('ada');
    expect((await findUserWithHash(at.db, 'ada'))?.passwordHash).toContain('m=65536,t=2');
    expect((await at.localLogin.signIn(login))?.user.username).toBe('ada');
  });

  test('that were changed during the check do not sign in any more', async () => {
    await using at = await fixture();
    const login = at.localLogin.signIn({ username: 'ada', password: 'right', address: 'A' });
    await at.db.run("UPDATE users SET password_hash = 'changed' WHERE id = ?", [at.ada.id]);
    expect(await login).toBeNull();
  });

  test('are refused while local login is switched off (DS-99)', async () => {
    await using at = await fixture();
    at.settings.isEnabled = false;
    await expect(
      at.localLogin.signIn({ username: 'ada', password: 'right', address: 'A' }),
    ).rejects.toMatchObject({
      code: 'permission-denied',
      message: 'Local password login is disabled',
    });
  });

  test('are confirmed for changing them', async () => {
    await using at = await fixture();
    const { passwordHash } = (await findUserWithHash(at.db, 'ada'))!;
    expect(await at.localLogin.confirmPassword(at.ada.id, 'right', 'A')).toBe(passwordHash);
    expect(await at.localLogin.confirmPassword(at.bob.id, 'right', 'A')).toBeNull();
    expect(await at.localLogin.confirmPassword(99, 'right', 'A')).toBeNull();
  });
});

test('every method stands in the list', async () => {
  const files = [
    ...new Bun.Glob('*.ts').scanSync(`${import.meta.dir}/../../src/accounts/identity/methods`),
  ];
  const names = files.filter((name) => name !== 'index.ts').map((name) => name.replace('.ts', ''));
  expect(methods.map(({ credential }) => credential as string).toSorted()).toEqual(
    names.toSorted(),
  );
});
