/**
 * What stands between the network and the product: hosts and proxies, caches, logs (S-H, S-K, S-L) as a table, and the
 * cases that look at the log afterwards.
 */
import { describe, expect, test } from 'bun:test';
import { eventually } from './eventually.ts';
import { rawRequest } from './raw-request.ts';
import type { SecurityActor, SecurityCase } from './security-cases.ts';
import { securityCases } from './security-cases.ts';

const EVIL = 'evil.example';
const NOWHERE_ELSE = [/location: (?!\/(?!\/))/, /evil\.example/];

const routes = ['/', '/health', '/openapi.json', '/docs', '/api/a/', '/admin/users', '/auth/login'];

const hostCases: readonly SecurityCase[] = [
  ...[...routes, '/nothing', '/_svc/x', '/.well-known/oauth-protected-resource'].map(
    (path): SecurityCase => ({
      id: 'S-H1',
      what: `${path} with a foreign Host`,
      actor: 'adm',
      request: { path, headers: { Host: EVIL, Accept: 'text/html' } },
      status: 400,
      must: ['{"detail":"Invalid host header"}', 'cache-control: no-store'],
      mustNot: [/location:/, /set-cookie/, /of-alice/],
    }),
  ),
  ...(
    [
      { 'X-Forwarded-Host': EVIL },
      { Forwarded: `host=${EVIL};proto=https` },
      { 'X-Host': EVIL },
      { 'X-Original-URL': '/admin/users' },
      { 'X-Rewrite-URL': '/admin/users' },
      { 'X-Original-Host': EVIL },
    ] as Record<string, string>[]
  ).map((headers): SecurityCase => ({
    id: 'S-H2',
    what: `${Object.keys(headers)[0]} of anybody`,
    actor: 'anon',
    request: { path: '/ui/a/', headers: { ...headers, Accept: 'text/html' } },
    status: 302,
    must: ['location: /auth/login?next=/ui/a/'],
    mustNot: [...NOWHERE_ELSE, /strict-transport-security/, /admin/],
  })),
  ...['X-Remote-User', 'Remote-User', 'X-Forwarded-User', 'X-Auth-Request-User', 'X-User'].map(
    (name): SecurityCase => ({
      id: 'S-H4',
      what: `${name} of anybody`,
      actor: 'anon',
      request: { path: '/auth/me', headers: { [name]: 'adm' } },
      status: 401,
      mustNot: [/"adm"/],
    }),
  ),
  ...[
    `//${EVIL}/`,
    `//${EVIL}/%2e%2e`,
    `/%5c${EVIL}/`,
    `/%2f%2f${EVIL}/x/`,
    `/.%2f/${EVIL}`,
  ].flatMap((path): SecurityCase[] =>
    (['anon', 'adm'] as const).map((actor) => ({
      id: 'S-H6',
      what: path,
      actor,
      request: { path, headers: { Accept: 'text/html' } },
      status: actor === 'anon' ? 302 : 404,
      mustNot: [/location: (?!\/auth\/login)/, /location: \/\//],
    })),
  ),
  ...(
    [
      ['a foreign site', { Origin: `https://${EVIL}` }],
      ['nowhere', { Origin: 'null' }],
      ['a host that ends alike', { Origin: 'http://evil127.0.0.1' }],
      ['our own', { Origin: 'http://127.0.0.1' }],
    ] as const
  ).flatMap(([what, headers]): SecurityCase[] => [
    {
      id: 'S-H7',
      what: `reading from ${what}`,
      actor: 'alice with cookie',
      request: { path: '/api/a/', headers },
      status: 200,
      mustNot: [/access-control-/],
    },
    {
      id: 'S-H7',
      what: `a preflight from ${what}`,
      actor: 'anon',
      request: {
        method: 'OPTIONS',
        path: '/auth/me',
        headers: {
          ...headers,
          'Access-Control-Request-Method': 'PUT',
          'Access-Control-Request-Headers': 'x-csrf-token',
        },
      },
      status: 204,
      mustNot: [/access-control-/],
    },
  ]),
];

const kept: [string, SecurityActor, string][] = [
  ['/api/a/', 'alice', 'private, no-cache'],
  ['/schema/a/', 'alice', 'private, no-cache'],
  ['/', 'alice', 'private, no-cache'],
  ['/ui/a/', 'alice with cookie', 'private, no-cache'],
  ['/auth/me', 'alice', 'no-store'],
  ['/auth/sessions', 'alice', 'no-store'],
  ['/auth/login', 'anon', 'no-store'],
  ['/api/apikeys', 'alice', 'no-store'],
  ['/admin/users', 'adm', 'no-store'],
  ['/health', 'alice', 'no-store'],
  ['/metrics', 'adm', 'no-store'],
];

const cacheCases: readonly SecurityCase[] = [
  ...kept.map(([path, actor, value]): SecurityCase => ({
    id: 'S-K1',
    what: `${path} is kept by nobody else`,
    actor,
    request: { path },
    status: 200,
    must: [`cache-control: ${value}`],
    mustNot: [/cache-control: .*public/],
  })),
  {
    id: 'S-K2',
    what: 'the same address for somebody without the right',
    actor: 'bob',
    request: { path: '/api/a/' },
    status: 403,
    must: ['Permission denied: read on a'],
    mustNot: [/of-alice/, /etag/],
  },
  {
    id: 'S-K2',
    what: 'the same address for nobody',
    actor: 'anon',
    request: { path: '/api/a/' },
    status: 401,
    mustNot: [/of-alice/, /etag/],
  },
  ...['*', '"x"', 'W/"x"'].map((tag): SecurityCase => ({
    id: 'S-K3',
    what: `If-None-Match: ${tag} without the right`,
    actor: 'bob',
    request: { path: '/api/a/', headers: { 'If-None-Match': tag } },
    status: 403,
  })),
  {
    id: 'S-K4',
    what: 'the ETag tells nothing of the file',
    actor: 'alice',
    request: { path: '/api/a/' },
    status: 200,
    must: [/etag: "[\w-]+\.[\w-]+"/],
    mustNot: [/etag: "[^"]*(?:1\d{9}|a\.csv)/],
  },
  ...['/api/a.csv/foo.css', '/api/a/x.js', '/api/a%2ejs', '/api/a/;x.css', '/auth/me/x.css'].map(
    (path): SecurityCase => ({
      id: 'S-K5',
      what: `${path} as if it were a style or script`,
      actor: 'alice with cookie',
      request: { path },
      status: path.startsWith('/auth') ? 403 : 403,
      mustNot: [/of-alice/, /cache-control: .*public/, /max-age=[1-9]/],
    }),
  ),
];

const fixture = securityCases({}, [...hostCases, ...cacheCases]);

describe('the log (S-L)', () => {
  const lines = (): Record<string, unknown>[] =>
    fixture.service
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  test('has one line for each request, whatever stands in it (S-L1)', async () => {
    const { service } = fixture;
    // Lines come gathered: those of earlier requests are here once that of a later one is.
    const start = '/the-lines-before-are-here';
    await service.fetch(start);
    const startAt = await eventually(() => {
      const at = lines().findIndex((line) => JSON.stringify(line).includes(start));
      expect(at).toBeGreaterThanOrEqual(0);
      return at;
    });
    const before = startAt + 1;
    const nasty = '\u001b[31mred\u0007","level":"error","x":"';
    await service.fetch('/nothing%0a%0d%1b[2J{"level":"error"}');
    await service.fetch('/health', { headers: { 'User-Agent': 'a\tb"c\\d\u00ff' } });
    await service.fetch('/auth/login', {
      method: 'POST',
      body: JSON.stringify({ username: `a\n{"level":"error"}${nasty}`, password: 'x' }),
    });
    await rawRequest(service.url, { path: '/api/%E2%80%AEfdp.exe/%00', headers: {} });
    await eventually(() => expect(lines().length).toBe(before + 4));
    for (const line of lines().slice(before)) {
      expect(line['level']).not.toBe('error');
      expect(JSON.stringify(line)).not.toMatch(/[\u0000-\u001f]/);
    }
  });

  test('holds no credential that was used here (S-L3)', async () => {
    const log = fixture.service.stderr();
    const actors: readonly SecurityActor[] = ['alice', 'bob', 'adm', 'alice with cookie and token'];
    for (const actor of actors) {
      for (const value of Object.values(await fixture.headersOf(actor))) {
        for (const part of value.split(/; |=/)) {
          if (part.length >= 40) expect(log).not.toContain(part);
        }
      }
    }
  });

  test('and the audit tell who was denied what, from where, and who failed to sign in (S-L5)', async () => {
    const { accounts } = fixture.service;
    const rows = await accounts.db.all<Record<string, unknown>>(
      "SELECT action, resource, details, ip_address, timestamp, user_id FROM audit WHERE action IN ('permission_denied', 'login_failed')",
    );
    const denied = rows.find(
      ({ action, resource }) => action === 'permission_denied' && resource === 'a',
    );
    expect(denied).toMatchObject({ resource: 'a', details: 'read', ip_address: '127.0.0.1' });
    expect(denied?.['user_id']).toEqual(expect.any(Number));
    expect(String(denied?.['timestamp'])).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const failed = rows.filter(({ action }) => action === 'login_failed');
    expect(failed.length).toBe(1);
    expect(failed[0]?.['user_id']).toBeNull();
  });
});
