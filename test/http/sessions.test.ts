/**
 * Browser sessions: how long they live, their list, their end (DS-94, DS-97, DS-104 to DS-107, DS-112).
 *
 * Time passes by moving the times in the state database.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { timestamp } from '../../src/base/clock.ts';
import { auditAfter, lastAuditId } from './changes.ts';
import { Browser, cookieOf, cookiesOf } from './cookies.ts';
import { eventually } from './eventually.ts';
import { sharedService } from './shared-service.ts';
import { PASSWORD } from '../support/password.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const LIFETIME = 7 * DAY;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const shared = sharedService({ files: { 'a.csv': 'n\n1\n' } });

beforeAll(async () => {
  const { accounts } = shared.service;
  await accounts.user('anna', { password: PASSWORD });
  await accounts.grant('anna', '*', 'read', 'write');
});

interface SessionRow {
  readonly id: number;
  readonly last_active_at: string;
  readonly expires_at: string;
}

/** A browser with a session of the user, and the row of that session. */
async function signedIn(username = 'anna') {
  const browser = new Browser(shared.service);
  const { cookie } = await shared.service.accounts.session(username);
  for (const pair of cookie.split('; '))
    browser.cookies.set(pair.split('=')[0]!, pair.split('=')[1]!);
  const token = browser.cookies.get('svc_session')!;
  const digest = createHash('sha256').update(token).digest('hex');
  const { db } = shared.service.accounts;
  const row = async () => {
    const found = await db.get<SessionRow>(
      'SELECT id, last_active_at, expires_at FROM sessions WHERE token_hash = ?',
      [digest],
    );
    return found;
  };
  const set = (column: 'expires_at' | 'last_active_at', epochMs: number) =>
    db.run(`UPDATE sessions SET ${column} = ? WHERE token_hash = ?`, [timestamp(epochMs), digest]);
  return { browser, token, row, set, id: (await row())!.id };
}

describe('a session lives 7 days, sliding (DS-104)', () => {
  test('a use within 5 minutes of the last renewal renews nothing', async () => {
    const { browser, row, set } = await signedIn();
    await set('expires_at', Date.now() + LIFETIME - 4 * MINUTE);
    const before = (await row())!.expires_at;
    const response = await browser.fetch('/auth/me');
    expect(response.status).toBe(200);
    expect(cookiesOf(response)).toEqual([]);
    expect((await row())!.expires_at).toBe(before);
  });

  test.each([6 * MINUTE, DAY, LIFETIME - MINUTE])(
    'a use %d ms after it renews session and cookies',
    async (age) => {
      const { browser, token, row, set } = await signedIn();
      await set('expires_at', Date.now() + LIFETIME - age);
      const start = Date.now();
      const response = await browser.fetch('/auth/me');
      expect(response.status).toBe(200);
      const cookies = cookiesOf(response);
      expect(cookies.map(({ name }) => name).sort()).toEqual(['svc_csrf', 'svc_session']);
      const session = cookies.find(({ name }) => name === 'svc_session')!;
      expect(session.value).toBe(token);
      expect(session.attributes).toBe('HttpOnly; Max-Age=604800; Path=/; SameSite=Lax');
      await eventually(async () => {
        expect(Date.parse((await row())!.expires_at)).toBeGreaterThanOrEqual(start + LIFETIME);
      });
      expect(cookiesOf(await browser.fetch('/auth/me'))).toEqual([]);
    },
  );

  test.each([0, 1_000, 30 * DAY])(
    '%d ms after its end it counts as absent and is cleared (DS-94)',
    async (ago) => {
      const { browser, row, set } = await signedIn();
      await set('expires_at', Date.now() - ago);
      const response = await browser.fetch('/auth/me');
      expect(response.status).toBe(401);
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer realm="svc"');
      expect(cookiesOf(response)).toContainEqual({
        name: 'svc_session',
        value: '',
        attributes: 'HttpOnly; Max-Age=0; Path=/; SameSite=Lax',
      });
      expect(await row()).toBeNull();
      // A clock set back does not revive it: the row is gone.
      expect((await signedIn()).id).toBeGreaterThan(0);
    },
  );

  test('expired ones are removed at the start (DS-104)', async () => {
    const { service } = shared;
    const { row, set } = await signedIn();
    const kept = await signedIn();
    await set('expires_at', Date.now() - 1);
    await service.restart();
    await eventually(async () => expect(await row()).toBeNull());
    expect(await kept.row()).not.toBeNull();
    expect((await kept.browser.fetch('/auth/me')).status).toBe(200);
  });

  test('uses are noted at most once a minute (DS-97)', async () => {
    const { browser, row, set } = await signedIn();
    const recent = Date.now() - 30_000;
    await set('last_active_at', recent);
    await browser.fetch('/auth/me');
    await browser.fetch('/api/a/');
    expect((await row())!.last_active_at).toBe(timestamp(recent));
    const start = Date.now();
    await set('last_active_at', start - 2 * MINUTE);
    await browser.fetch('/auth/me');
    await eventually(async () => {
      expect(Date.parse((await row())!.last_active_at)).toBeGreaterThanOrEqual(start);
    });
  });
});

describe('a session cookie that is worth nothing (DS-94)', () => {
  test.each([
    'x',
    '',
    'A'.repeat(43),
    `${'A'.repeat(42)}=`,
    '../../etc/passwd',
    '%00',
    "' OR 1=1 --",
  ])('%p counts as absent and is cleared, whatever is asked', async (value) => {
    const asked: readonly (readonly [string, string, number])[] = [
      ['GET', '/', 200],
      ['GET', '/health', 200],
      ['GET', '/auth/login', 200],
      ['GET', '/auth/me', 401],
      ['GET', '/api/a/', 401],
      ['POST', '/api/a/', 401],
      ['GET', '/nothing', 401],
    ];
    for (const [method, path, status] of asked) {
      const headers = { Cookie: `svc_session=${value}` };
      const response = await shared.service.fetch(path, { method, headers });
      expect({ path, status: response.status }).toEqual({ path, status });
      expect(cookieOf(response, 'svc_session')).toBe('');
    }
  });

  test('beside a good key it changes nothing but is cleared too', async () => {
    const key = await shared.service.accounts.apiKey('anna');
    const headers = { Cookie: 'svc_session=dead', 'X-API-Key': key };
    const response = await shared.service.fetch('/api/a/', {
      method: 'POST',
      headers,
      body: CREATE,
    });
    expect(response.status).toBe(200);
    expect(cookieOf(response, 'svc_session')).toBe('');
  });

  const CREATE = '{"action":"create","data":[]}';

  test('no session cookie, nothing to clear', async () => {
    expect(cookiesOf(await shared.service.fetch('/auth/me'))).toEqual([]);
    const other = await shared.service.fetch('/auth/me', {
      headers: { Cookie: 'svc_sessions=x; a=b' },
    });
    expect(cookiesOf(other)).toEqual([]);
  });

  test('embedded assets do not care', async () => {
    const response = await shared.service.fetch('/favicon.ico', {
      headers: { Cookie: 'svc_session=dead', 'X-API-Key': 'bad' },
    });
    expect(response.status).toBe(200);
    expect(cookiesOf(response)).toEqual([]);
  });
});

test('the CSRF cookie is sent with any answer to a session that lacks it or holds another (DS-112)', async () => {
  const { browser, token } = await signedIn();
  const right = browser.cookies.get('svc_csrf')!;
  for (const sent of ['', '; svc_csrf=', `; svc_csrf=${'A'.repeat(43)}`]) {
    const headers = { Cookie: `svc_session=${token}${sent}` };
    for (const path of ['/auth/me', '/api/a/', '/nothing', '/']) {
      const response = await shared.service.fetch(path, { headers });
      expect(cookiesOf(response)).toEqual([
        { name: 'svc_csrf', value: right, attributes: 'Max-Age=604800; Path=/; SameSite=Lax' },
      ]);
    }
  }
  expect(cookiesOf(await browser.fetch('/auth/me'))).toEqual([]);
});

describe('signing out (DS-105)', () => {
  test('ends the session, clears both cookies, leads to the login page', async () => {
    const { browser, token, row } = await signedIn();
    const response = await browser.fetch('/auth/logout', { method: 'POST' });
    expect(response.status).toBe(302);
    expect(response.headers.get('Location')).toBe('/auth/login');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    const cleared = {
      value: '',
      attributes: expect.stringContaining('Max-Age=0; Path=/; SameSite=Lax'),
    };
    expect(cookiesOf(response)).toEqual([
      { name: 'svc_session', ...cleared },
      { name: 'svc_csrf', ...cleared },
    ]);
    expect(await row()).toBeNull();
    const headers = { Cookie: `svc_session=${token}` };
    expect((await shared.service.fetch('/auth/me', { headers })).status).toBe(401);
  });

  test('needs no login: without a session the answer is the same, and nothing is audited', async () => {
    const audit = await lastAuditId(shared.service);
    const clients = [
      {},
      { Cookie: 'svc_session=dead; svc_csrf=dead' },
      { 'X-API-Key': await shared.service.accounts.apiKey('anna') },
    ];
    for (const headers of clients) {
      const response = await shared.service.fetch('/auth/logout', {
        method: 'POST',
        headers: headers as Record<string, string>,
      });
      expect(response.status).toBe(302);
      expect(response.headers.get('Location')).toBe('/auth/login');
      expect(cookiesOf(response).map(({ name, value }) => `${name}=${value}`)).toEqual([
        'svc_session=',
        'svc_csrf=',
      ]);
    }
    expect(await auditAfter(shared.service, audit)).toEqual([]);
  });

  test('another session of the user and its keys go on', async () => {
    const [one, other] = [await signedIn(), await signedIn()];
    const key = await shared.service.as('anna');
    await one.browser.fetch('/auth/logout', { method: 'POST' });
    expect((await other.browser.fetch('/auth/me')).status).toBe(200);
    expect((await key.fetch('/auth/me')).status).toBe(200);
  });

  test('GET does not sign out (S-C6)', async () => {
    const { browser } = await signedIn();
    expect((await browser.fetch('/auth/logout')).status).toBe(405);
    expect((await browser.fetch('/auth/me')).status).toBe(200);
  });
});

test('/auth/me says who one is, with every credential, and nothing more (DS-106)', async () => {
  const { accounts } = shared.service;
  const { id } = await accounts.user('anna');
  const root = await accounts.user('root');
  const { browser } = await signedIn();
  const clients = [
    browser,
    await shared.service.as('anna'),
    shared.service.withHeaders({ Authorization: `Basic ${btoa(`anna:${PASSWORD}`)}` }),
  ];
  for (const client of clients) {
    expect(await (await client.fetch('/auth/me')).json()).toEqual({
      id,
      username: 'anna',
      is_superuser: false,
    });
  }
  expect(await (await shared.superuser.fetch('/auth/me')).json()).toEqual({
    id: root.id,
    username: 'root',
    is_superuser: true,
  });
  expect((await shared.service.fetch('/auth/me')).status).toBe(401);
});

describe('the list of own sessions (DS-107)', () => {
  test('names each with its browser, and which one asks', async () => {
    const { accounts } = shared.service;
    await accounts.user('berta', { password: PASSWORD });
    const browsers = ['first browser', 'second browser'].map(
      (agent) => new Browser(shared.service, { 'User-Agent': agent }),
    );
    for (const browser of browsers) await browser.signIn('berta', PASSWORD);
    const expired = await signedIn('berta');
    await expired.set('expires_at', Date.now() - 1);
    const sessions = (await (await browsers[1]!.fetch('/auth/sessions')).json()) as Record<
      string,
      unknown
    >[];
    expect(sessions.map(({ user_agent, current }) => [user_agent, current])).toEqual([
      ['first browser', false],
      ['second browser', true],
    ]);
    for (const session of sessions) {
      expect(Object.keys(session).sort()).toEqual([
        'created_at',
        'current',
        'expires_at',
        'id',
        'ip_address',
        'last_active_at',
        'strength',
        'user_agent',
      ]);
      expect(session['ip_address']).toBe('127.0.0.1');
      expect(session['id']).toBeInteger();
      for (const name of ['created_at', 'last_active_at', 'expires_at'])
        expect(session[name]).toMatch(TIME);
    }
    expect(JSON.stringify(sessions)).not.toContain(browsers[0]!.cookies.get('svc_session')!);
    const byKey = await (await (await shared.service.as('berta')).fetch('/auth/sessions')).json();
    expect((byKey as { current: boolean }[]).map(({ current }) => current)).toEqual([false, false]);
  });

  test('one can be ended: 204, with the next request it is dead (DS-97)', async () => {
    const [mine, other] = [await signedIn(), await signedIn()];
    const response = await mine.browser.fetch(`/auth/sessions/${other.id}`, { method: 'DELETE' });
    expect(response.status).toBe(204);
    expect(await response.text()).toBe('');
    expect(cookiesOf(response)).toEqual([]);
    expect((await other.browser.fetch('/auth/me')).status).toBe(401);
    expect((await mine.browser.fetch('/auth/me')).status).toBe(200);
    const again = await mine.browser.fetch(`/auth/sessions/${other.id}`, { method: 'DELETE' });
    expect(again.status).toBe(404);
    expect(await again.json()).toEqual({ detail: 'Session not found' });
  });

  test('a foreign one cannot: 404, as if it were not there', async () => {
    await shared.service.accounts.user('carla');
    const foreign = await signedIn('carla');
    const { browser } = await signedIn();
    for (const client of [browser, await shared.service.as('anna'), shared.superuser]) {
      for (const id of [foreign.id, 999_999_999, 0, -1]) {
        const response = await client.fetch(`/auth/sessions/${id}`, { method: 'DELETE' });
        expect(response.status).toBe(404);
        expect(await response.json()).toEqual({ detail: 'Session not found' });
      }
    }
    expect(await foreign.row()).not.toBeNull();
  });

  test.each(['x', '1.5', '1e3', '%20', '99999999999999999999'])(
    '%s is no id: 422 (DS-133)',
    async (id) => {
      const { browser } = await signedIn();
      const response = await browser.fetch(`/auth/sessions/${id}`, { method: 'DELETE' });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        detail: [{ type: 'int_parsing', loc: ['path', 'id'] }],
      });
    },
  );

  test('the own one can be ended too', async () => {
    const { browser, id, row } = await signedIn();
    const response = await browser.fetch(`/auth/sessions/${id}`, { method: 'DELETE' });
    expect(response.status).toBe(204);
    expect(await row()).toBeNull();
    expect((await shared.service.fetch('/auth/me', { headers: { Cookie: 'x=y' } })).status).toBe(
      401,
    );
  });
});

describe('a user who is switched off or deleted (DS-97, DS-139, S-A6)', () => {
  test('is out with the next request, with every credential; switched on again the key works', async () => {
    const { accounts } = shared.service;
    const { id } = await accounts.user('doris', { password: PASSWORD });
    await accounts.grant('doris', '*', 'read');
    const { browser } = await signedIn('doris');
    const key = await shared.service.as('doris');
    const basic = shared.service.withHeaders({
      Authorization: `Basic ${btoa(`doris:${PASSWORD}`)}`,
    });
    const statuses = async () =>
      Promise.all(
        [browser, key, basic].map(async (client) => {
          const response = await client.fetch('/api/a/');
          return [response.status, response.headers.get('WWW-Authenticate')];
        }),
      );
    expect(await statuses()).toEqual([
      [200, null],
      [200, null],
      [200, null],
    ]);
    await accounts.db.run('UPDATE users SET is_active = 0 WHERE id = ?', [id]);
    expect(await statuses()).toEqual([
      [401, 'Bearer realm="svc"'],
      [401, 'Bearer realm="svc", error="invalid_token"'],
      [401, 'Basic realm="svc", charset="UTF-8"'],
    ]);
    await accounts.db.run('UPDATE users SET is_active = 1 WHERE id = ?', [id]);
    expect((await key.fetch('/api/a/')).status).toBe(200);
    await accounts.db.run('DELETE FROM users WHERE id = ?', [id]);
    expect((await statuses()).map(([status]) => status)).toEqual([401, 401, 401]);
  });
});
