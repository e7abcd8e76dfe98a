/**
 * Who is let in, and requests that another site makes a browser send: the cases S-A and S-C as a table, and the ones that
 * take several steps.
 */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser, cookieOf } from './cookies.ts';
import type { SecurityCase } from './security-cases.ts';
import { securityCases } from './security-cases.ts';
import { PASSWORD } from '../support/password.ts';

const OTHER = 'Other-Horse 27 battery';
const CROSS_SITE = 'CSRF check failed: cross-site request';
const FOREIGN = 'https://evil.example';

const FROM_ELSEWHERE: readonly Record<string, string>[] = [
  { Origin: FOREIGN },
  { 'Sec-Fetch-Site': 'cross-site' },
  { Origin: 'null' },
];

const closed = [
  '/api/a/',
  '/api/nothing/',
  '/schema/a/',
  '/ui/a/',
  '/search',
  '/metrics',
  '/auth/me',
  '/auth/sessions',
  '/api/apikeys',
  '/admin/users',
  '/admin/audit-logs',
  '/admin/nothing',
  '/nothing',
];

/** A change alice may make, as a browser on some page would send it. */
const change = (headers: Record<string, string>) => ({
  method: 'PATCH',
  path: '/api/a/',
  headers,
  body: { action: 'update', data: { _row_id: 1, secret: 'CHANGED' } },
});

const accountCases: readonly SecurityCase[] = [
  ...closed.map((path): SecurityCase => ({
    id: 'S-A1',
    what: `${path} without a credential`,
    actor: 'anon',
    request: { path },
    status: 401,
    must: ['www-authenticate: Bearer realm="svc"', '{"detail":"Not authenticated"}'],
    mustNot: [/of-alice/, /alice/],
  })),
  ...(
    [
      ['admin', 'admin'],
      ['root', 'root'],
      ['svc', 'svc'],
      ['admin', ''],
      ['adm', ''],
    ] as const
  ).map(([username, password]): SecurityCase => ({
    id: 'S-A2',
    what: `no account ${username} with password '${password}'`,
    actor: 'anon',
    request: { method: 'POST', path: '/auth/login', body: { username, password } },
    status: 401,
    must: ['{"detail":"Invalid credentials"}'],
    mustNot: [/set-cookie: svc_session/],
  })),
  {
    id: 'S-A2',
    what: 'the setup page once there is a superuser',
    actor: 'anon',
    request: { path: `/auth/setup?token=${'x'.repeat(43)}` },
    status: 404,
  },
  ...['api_key', 'access_token', 'token', 'key', 'X-API-Key', 'authorization'].map(
    (name): SecurityCase => ({
      id: 'S-A8',
      what: `a credential as query parameter ${name}`,
      actor: 'anon',
      request: { path: `/auth/me?${name}=ak_${'q'.repeat(43)}` },
      status: 401,
      mustNot: [/qqq/],
    }),
  ),
  {
    id: 'S-A13',
    what: 'a password of a megabyte',
    actor: 'anon',
    request: {
      method: 'POST',
      path: '/auth/login',
      body: { username: 'alice', password: 'x'.repeat(1_100_000) },
    },
    status: 413,
  },
  ...(
    [
      ['a bad key', { 'X-API-Key': 'ak_bad' }],
      ['a bad Basic header', { Authorization: 'Basic eDp5' }],
      ['an unsigned token', { Authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' }],
      ['an unknown scheme', { Authorization: 'Digest x' }],
      ['an empty header', { Authorization: '' }],
    ] as const
  ).map(([what, headers]): SecurityCase => ({
    id: 'S-A14',
    what: `a good session beside ${what}`,
    actor: 'alice with cookie and token',
    request: { path: '/auth/me', headers },
    status: 401,
    must: ['Not authenticated'],
    mustNot: [/alice/],
  })),
];

const csrfCases: readonly SecurityCase[] = [
  ...(
    [
      ['S-C1', 'Sec-Fetch-Site: cross-site', { 'Sec-Fetch-Site': 'cross-site' }],
      ['S-C1', 'a foreign origin', { Origin: FOREIGN }],
      [
        'S-C1',
        'a foreign origin that claims the same site',
        { Origin: FOREIGN, 'Sec-Fetch-Site': 'same-origin' },
      ],
      [
        'S-C2',
        'a sibling site',
        { Origin: 'http://other.localhost', 'Sec-Fetch-Site': 'same-site' },
      ],
      ['S-C2', 'the origin null', { Origin: 'null' }],
      ['S-C2', 'our host as a prefix', { Origin: 'http://127.0.0.1.evil.example' }],
      ['S-C2', 'our host as a suffix', { Origin: 'http://evil127.0.0.1' }],
      ['S-C2', 'our host as a user name', { Origin: 'http://127.0.0.1@evil.example' }],
      ['S-C2', 'our host on another port', { Origin: 'http://127.0.0.1:1' }],
      ['S-C2', 'an origin that is none', { Origin: '' }],
      ['S-C2', 'a file', { Origin: 'file://' }],
      ['S-C2', 'an extension', { Origin: 'chrome-extension://abc' }],
    ] as const
  ).map(([id, what, headers]): SecurityCase => ({
    id,
    what: `${what}, with the right token`,
    actor: 'alice with cookie and token',
    request: change(headers),
    status: 403,
    must: [CROSS_SITE],
  })),
  {
    id: 'S-C3',
    what: 'no token',
    actor: 'alice with cookie',
    request: change({}),
    status: 403,
    must: ['Missing CSRF token'],
  },
  {
    id: 'S-C4',
    what: 'a made-up token',
    actor: 'alice with cookie',
    request: change({ 'X-CSRF-Token': 'x'.repeat(43) }),
    status: 403,
    must: ['Invalid CSRF token'],
  },
  ...(
    [
      ['JSON as text', 'text/plain', '{"action":"update","data":{"_row_id":1,"secret":"CHANGED"}}'],
      [
        'JSON as a form',
        'application/x-www-form-urlencoded',
        '{"action":"delete","data":{"_row_id":1}}',
      ],
      ['JSON without a type', '', '{"action":"delete","data":{"_row_id":1}}'],
    ] as const
  ).map(([what, type, body]): SecurityCase => ({
    id: 'S-C5',
    what,
    actor: 'alice with cookie',
    request: { method: 'PATCH', path: '/api/a/', headers: { 'Content-Type': type }, body },
    status: 403,
  })),
  {
    id: 'S-C6',
    what: 'signing out by GET',
    actor: 'alice with cookie',
    request: { path: '/auth/logout' },
    status: 405,
    must: ['allow: POST, OPTIONS'],
    mustNot: [/Max-Age=0/],
  },
  ...['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'].map((name): SecurityCase => ({
    id: 'S-C6',
    what: `a GET that asks to be a DELETE by ${name}`,
    actor: 'alice with cookie',
    request: { path: '/api/a/?_method=DELETE', headers: { [name]: 'DELETE' } },
    status: 200,
    must: ['of-alice'],
  })),
  {
    id: 'S-C7',
    what: 'the token in the address',
    actor: 'alice with cookie',
    request: { ...change({}), path: `/api/a/?csrf_token=${'x'.repeat(43)}` },
    status: 403,
    must: ['Missing CSRF token'],
  },
  ...['/auth/login', '/auth/logout'].flatMap((path) =>
    FROM_ELSEWHERE.map((headers): SecurityCase => ({
      id: 'S-C8',
      what: `${path} from another site (${Object.entries(headers).flat().join(' ')})`,
      actor: 'anon',
      request: {
        method: 'POST',
        path,
        headers,
        body: { username: 'alice', password: PASSWORD },
      },
      status: 403,
      must: [CROSS_SITE],
    })),
  ),
  {
    id: 'S-C9',
    what: 'a key alone needs no token, wherever it comes from',
    actor: 'alice',
    request: {
      method: 'POST',
      path: '/api/apikeys',
      headers: { Origin: FOREIGN, 'Sec-Fetch-Site': 'cross-site' },
      body: {},
    },
    status: 201,
    mustNot: [/access-control/],
  },
];

const fixture = securityCases({}, [...accountCases, ...csrfCases]);

test('nothing of all this changed the file (S-C)', () => {
  const text = readFileSync(join(fixture.service.docroot, 'a.csv'), 'utf8');
  expect(text).toBe('n,secret\n1,of-alice\n');
});

test('no credential of a query stands in the log (S-A8)', () => {
  expect(fixture.service.stderr()).not.toContain('qqqq');
});

describe('a session ends (S-A6)', () => {
  const ways: [string, (browser: Browser, id: number) => Promise<unknown>][] = [
    ['signing out', (browser) => browser.fetch('/auth/logout', { method: 'POST' })],
    [
      'a new password',
      (browser) =>
        browser.fetch('/auth/password', {
          method: 'PUT',
          body: JSON.stringify({ current_password: PASSWORD, new_password: OTHER }),
        }),
    ],
    ['deactivation', (_, id) => asAdmin('PUT', `/admin/users/${id}/status`, { is_active: false })],
    ['deletion', (_, id) => asAdmin('DELETE', `/admin/users/${id}`)],
    [
      'a password reset',
      (_, id) => asAdmin('PUT', `/admin/users/${id}/password`, { new_password: OTHER }),
    ],
  ];

  async function asAdmin(method: string, path: string, body?: unknown): Promise<void> {
    const headers = await fixture.headersOf('adm');
    const init = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
    const response = await fixture.service.fetch(path, init);
    expect(`${response.status} ${await response.text()}`).toStartWith('20');
  }

  test.each(ways)('with %s, at the next request', async (what, end) => {
    const { service } = fixture;
    const username = `user of ${what}`;
    const { id } = await service.accounts.user(username, { password: PASSWORD });
    const browser = new Browser(service);
    expect((await browser.signIn(username, PASSWORD)).status).toBe(200);
    const before = new Map(browser.cookies);
    expect((await browser.fetch('/auth/me')).status).toBe(200);
    await end(browser, id);
    for (const [name, value] of before) browser.cookies.set(name, value);
    const after = await browser.fetch('/auth/me');
    expect(after.status).toBe(401);
    expect(await after.text()).not.toContain(username);
  });

  test('a right that is taken away counts at the next request', async () => {
    const { service } = fixture;
    await service.accounts.grant('carl', 'a', 'read');
    const carl = await service.inBrowserAs('carl');
    expect((await carl.fetch('/api/a/')).status).toBe(200);
    await service.accounts.db.run(
      'DELETE FROM group_members WHERE user_id = (SELECT id FROM users WHERE username = ?)',
      ['carl'],
    );
    expect((await carl.fetch('/api/a/')).status).toBe(403);
  });
});

describe('a session that was fixed before (S-A7)', () => {
  test('is not taken over, and the one that came along is dead', async () => {
    const { service } = fixture;
    await service.accounts.user('fixed', { password: PASSWORD });
    const browser = new Browser(service);
    await browser.signIn('fixed', PASSWORD);
    const old = browser.cookies.get('svc_session')!;
    const again = await browser.signIn('fixed', PASSWORD);
    expect(again.status).toBe(200);
    expect(cookieOf(again, 'svc_session')).not.toBe(old);
    const dead = await service.fetch('/auth/me', { headers: { Cookie: `svc_session=${old}` } });
    expect(dead.status).toBe(401);
    const planted = new Browser(service);
    planted.cookies.set('svc_session', 'p'.repeat(43));
    await planted.signIn('fixed', PASSWORD);
    expect(planted.cookies.get('svc_session')).not.toBe('p'.repeat(43));
  });
});

describe('names (S-A9)', () => {
  test('of two at once one wins; twins that look alike to the store are one', async () => {
    const headers = await fixture.headersOf('adm');
    const make = async (username: string) => {
      const body = JSON.stringify({ username, password: PASSWORD });
      return (await fixture.service.fetch('/admin/users', { method: 'POST', headers, body }))
        .status;
    };
    const statuses = await Promise.all(Array.from({ length: 8 }, () => make('twin')));
    expect(statuses.filter((status) => status < 300).length).toBe(1);
    expect(new Set(statuses.filter((status) => status >= 300))).toEqual(new Set([400]));
    for (const alike of [' twin', 'twin ', '\ttwin']) expect(await make(alike)).toBe(400);
    expect(await make('Ame\u0301lie')).toBeLessThan(300);
    expect(await make('Am\u00e9lie')).toBe(400);
  });
});

test('passwords are told apart past byte 72, and taken as typed (S-A13)', async () => {
  const long = `${'Ab1-'.repeat(18)}x`;
  await fixture.service.accounts.user('long', { password: long });
  const statusOf = async (password: string) =>
    (await new Browser(fixture.service).signIn('long', password)).status;
  expect(await statusOf(`${long.slice(0, 72)}y`)).toBe(401);
  expect(await statusOf(long.slice(0, 72))).toBe(401);
  expect(await statusOf(`${long} `)).toBe(401);
  expect(await statusOf(long)).toBe(200);
});

test('a token planted in the cookie, or of another session, is of no use (S-C4)', async () => {
  const { service } = fixture;
  const alice = await service.accounts.session('alice');
  const bob = await service.accounts.session('bob');
  const session = alice.cookie.split(';')[0]!;
  for (const [cookie, token] of [
    ['x'.repeat(43), 'x'.repeat(43)],
    [bob.csrfToken, bob.csrfToken],
    [alice.csrfToken, bob.csrfToken],
    [bob.csrfToken, alice.csrfToken],
  ]) {
    const headers = { Cookie: `${session}; svc_csrf=${cookie}`, 'X-CSRF-Token': token! };
    const response = await service.fetch('/api/apikeys', { method: 'POST', headers, body: '{}' });
    expect([response.status, await response.json()]).toEqual([
      403,
      { detail: 'Invalid CSRF token' },
    ]);
  }
});
