/**
 * Header credentials: what is accepted, what a bad one is answered, several at once (DS-93 to DS-96, S-A1, S-A14).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { Browser, cookiesOf } from './cookies.ts';
import { get } from './listing.ts';
import { RawSocket } from './raw-socket.ts';
import { sharedService } from './shared-service.ts';
import { onSharedCores } from '../support/patience.ts';
import { PASSWORD } from '../support/password.ts';

const ODD_PASSWORD = 'pä:ss wörd \u{1f511} 27 X';

const shared = sharedService({
  files: { 'a.csv': 'n\n1\n', 'b.txt': 'text' },
  // Wrong passwords come from addresses of their own (DS-102).
  config: { trusted_proxies: ['127.0.0.1'] },
});

let addresses = 0;
function freshAddress(): Record<string, string> {
  addresses++;
  return { 'X-Forwarded-For': `198.51.${addresses >> 8}.${addresses & 255}` };
}

let annaKey = '';
let bertaKey = '';
beforeAll(async () => {
  const { accounts } = shared.service;
  await accounts.user('anna', { password: PASSWORD });
  await accounts.user('berta', { password: ODD_PASSWORD });
  for (const name of ['anna', 'berta']) await accounts.grant(name, '*', 'read', 'write');
  annaKey = await accounts.apiKey('anna');
  bertaKey = await accounts.apiKey('berta');
});

const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
const ask = (headers: Record<string, string>, path = '/auth/me', method = 'GET') =>
  shared.service.fetch(path, { method, headers: { ...freshAddress(), ...headers } });

async function nameOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { username?: unknown }).username;
}

const ANY = 'Bearer realm="svc"';
const INVALID = 'Bearer realm="svc", error="invalid_token"';
const BASIC = 'Basic realm="svc", charset="UTF-8"';
const TOKEN = 'Token realm="svc"';

describe('every route takes every credential (DS-93)', () => {
  const credentials: readonly (readonly [string, () => Record<string, string>])[] = [
    ['X-API-Key', () => ({ 'X-API-Key': annaKey })],
    ['Authorization: Bearer ak_…', () => ({ Authorization: `Bearer ${annaKey}` })],
    ['the scheme in other letters', () => ({ Authorization: `bEARER ${annaKey}` })],
    ['with spaces around', () => ({ 'X-API-Key': `  ${annaKey}  ` })],
    ['Basic', () => ({ Authorization: basic('anna', PASSWORD) })],
    ['basic', () => ({ Authorization: basic('anna', PASSWORD).replace('Basic', 'basic') })],
    [
      'both headers with keys of one user',
      () => ({ 'X-API-Key': annaKey, Authorization: `Bearer ${annaKey}` }),
    ],
  ];

  test.each(credentials)('%s', async (_, headers) => {
    for (const path of [
      '/auth/me',
      '/auth/sessions',
      '/api/apikeys',
      '/api/a/',
      '/schema/a/',
      '/health',
      '/',
    ]) {
      const { status } = await ask(headers(), path);
      expect({ path, status }).toEqual({ path, status: 200 });
    }
    const change = await shared.service.fetch('/api/a/', {
      method: 'POST',
      headers: headers(),
      body: '{"action":"create","data":[]}',
    });
    expect(change.status).toBe(200);
    expect(await nameOf(await ask(headers()))).toBe('anna');
  });

  test('a key is a password of Basic for any user name, and counts as a failed login when it is none', async () => {
    const key = await shared.service.accounts.apiKey('anna');
    for (const username of ['', '_', 'api', 'nobody', 'anna']) {
      const headers = { Authorization: basic(username, key) };
      const answer = await shared.service.fetch('/auth/me', { headers });
      expect([answer.status, await answer.json()]).toMatchObject([200, { username: 'anna' }]);
    }
    const scoped = await shared.service.accounts.apiKey('anna', ['read']);
    const headers = { Authorization: basic('api', scoped) };
    const refused = await shared.service.fetch('/api/apikeys', { method: 'POST', headers });
    expect(refused.status).toBe(403);
    const crossSite = await shared.service.fetch('/api/apikeys', {
      method: 'POST',
      headers: { Authorization: basic('api', key), Origin: 'https://evil.example' },
    });
    expect(crossSite.status).toBe(403);
    const wrong = { Authorization: basic('key guesser', `ak_${'x'.repeat(43)}`) };
    const statuses: number[] = [];
    for (let n = 0; n < 11; n++) {
      statuses.push((await shared.service.fetch('/auth/me', { headers: wrong })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
    const late = { Authorization: basic('key guesser', key) };
    expect((await shared.service.fetch('/auth/me', { headers: late })).status).toBe(429);
  });

  test('Basic takes any characters in UTF-8, colons in the password, and Latin-1 of old clients', async () => {
    expect(await nameOf(await ask({ Authorization: basic('berta', ODD_PASSWORD) }))).toBe('berta');
    await shared.service.accounts.user('émile', { password: 'café Horse 27 X' });
    const latin = `Basic ${Buffer.from('émile:café Horse 27 X', 'latin1').toString('base64')}`;
    expect(await nameOf(await ask({ Authorization: latin }))).toBe('émile');
  });

  test('a key makes no cookie, Basic neither', async () => {
    const credentials: readonly Record<string, string>[] = [
      { 'X-API-Key': annaKey },
      { Authorization: basic('anna', PASSWORD) },
    ];
    for (const headers of credentials) {
      for (const path of ['/auth/me', '/api/a/'])
        expect(cookiesOf(await ask(headers, path))).toEqual([]);
    }
  });
});

describe('without any credential (DS-95, DS-96, S-A1)', () => {
  test.each(['/', '/health', '/auth/login', '/favicon.ico'])('%s is open', async (path) => {
    expect((await ask({}, path)).status).toBe(200);
  });

  test('the list of resources is empty for it (DS-182)', async () => {
    expect(await (await ask({}, '/')).text()).toBe('{"resources":[]}');
  });

  test.each([
    '/api/a/',
    '/api/a.csv',
    '/api/nothing',
    '/schema/a/',
    '/schema/nothing',
    '/b.txt',
    '/b',
    '/nothing',
    '/ui/a',
    '/media/x',
    '/auth/me',
    '/auth/sessions',
    '/api/apikeys',
    '/metrics',
    '/admin/users',
    '/admin/users',
    '/.svc/svc.db',
    '/api/a%00',
    '/%2e%2e/x',
  ])('%s: 401 Not authenticated, whether it exists or not', async (path) => {
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      const response = await ask({}, path, method);
      if (response.status === 405) continue;
      expect({ method, status: response.status }).toEqual({ method, status: 401 });
      expect(response.headers.get('WWW-Authenticate')).toBe(ANY);
      expect(response.headers.get('ETag')).toBeNull();
      if (method !== 'HEAD') expect(await response.text()).toBe('{"detail":"Not authenticated"}');
    }
  });

  test('a key in the query string is no credential (S-A8)', async () => {
    for (const name of ['api_key', 'key', 'token', 'access_token', 'X-API-Key']) {
      expect((await ask({}, `/auth/me?${name}=${annaKey}`)).status).toBe(401);
    }
  });

  test('headers that only proxies send are none either (S-H4)', async () => {
    const headers = {
      'X-Remote-User': 'root',
      'X-Forwarded-User': 'root',
      Remote_User: 'root',
      'X-Svc-User': 'root',
    };
    expect((await ask(headers)).status).toBe(401);
  });
});

describe('a bad credential is 401 everywhere, on public routes too (DS-94, DS-95)', () => {
  const wrongByte = (position: number) => {
    const other = annaKey[position] === 'A' ? 'B' : 'A';
    return annaKey.slice(0, position) + other + annaKey.slice(position + 1);
  };
  const bad: readonly (readonly [string, () => Record<string, string>, string])[] = [
    ['an unknown key', () => ({ 'X-API-Key': `ak_${'A'.repeat(43)}` }), INVALID],
    ['a key wrong in its first byte', () => ({ 'X-API-Key': wrongByte(3) }), INVALID],
    ['a key wrong in the middle', () => ({ 'X-API-Key': wrongByte(20) }), INVALID],
    ['a key without its last byte', () => ({ 'X-API-Key': annaKey.slice(0, -1) }), INVALID],
    ['a key with one more byte', () => ({ 'X-API-Key': `${annaKey}A` }), INVALID],
    ['a key without its prefix', () => ({ 'X-API-Key': annaKey.slice(3) }), INVALID],
    ['a key in capitals', () => ({ 'X-API-Key': annaKey.toUpperCase() }), INVALID],
    ['an empty key', () => ({ 'X-API-Key': '' }), INVALID],
    ['two keys in one header', () => ({ 'X-API-Key': `${annaKey}, ${annaKey}` }), INVALID],
    ['an unknown bearer key', () => ({ Authorization: `Bearer ak_${'A'.repeat(43)}` }), INVALID],
    ['a bearer that is no key', () => ({ Authorization: 'Bearer abc' }), INVALID],
    ['a JWT while OIDC is off', () => ({ Authorization: 'Bearer e30.e30.x' }), INVALID],
    ['Bearer without a value', () => ({ Authorization: 'Bearer' }), INVALID],
    ['an unknown scheme', () => ({ Authorization: 'Digest username="anna"' }), INVALID],
    ['Negotiate', () => ({ Authorization: 'Negotiate abc' }), INVALID],
    ['a key without a scheme', () => ({ Authorization: annaKey }), INVALID],
    ['an empty Authorization', () => ({ Authorization: '' }), INVALID],
    ['an unknown token', () => ({ Authorization: `Token ${'a'.repeat(40)}` }), TOKEN],
    ['Token that is none', () => ({ Authorization: 'token a b' }), TOKEN],
    ['Token without a value', () => ({ Authorization: 'Token' }), TOKEN],
    ['an unknown token as Bearer', () => ({ Authorization: `Bearer ${'a'.repeat(40)}` }), INVALID],
    ['a wrong Basic password', () => ({ Authorization: basic('anna', 'wrong') }), BASIC],
    ['an unknown Basic user', () => ({ Authorization: basic('nobody', PASSWORD) }), BASIC],
    ['Basic that is no base64', () => ({ Authorization: 'Basic !!!' }), BASIC],
    ['Basic without a colon', () => ({ Authorization: `Basic ${btoa('anna')}` }), BASIC],
    ['Basic without a value', () => ({ Authorization: 'Basic' }), BASIC],
    ['Basic with a key as the name', () => ({ Authorization: basic(annaKey, '') }), BASIC],
  ];

  test.each(bad)('%s', async (_, headers, challenge) => {
    for (const path of ['/auth/me', '/', '/api/a/', '/api/nothing/', '/auth/login', '/health']) {
      const response = await ask(headers(), path);
      expect({ path, status: response.status }).toEqual({ path, status: 401 });
      expect(response.headers.get('WWW-Authenticate')).toBe(challenge);
      expect(await response.text()).toBe('{"detail":"Not authenticated"}');
      // One password hash is enough for this matrix.
      if (challenge === BASIC) break;
    }
  });

  test('beside a good session, and beside a good key', async () => {
    const { cookie } = await shared.service.accounts.session('anna');
    for (const [, headers, challenge] of bad.slice(0, -6)) {
      const response = await ask({ Cookie: cookie, ...headers() });
      expect(response.status).toBe(401);
      expect(response.headers.get('WWW-Authenticate')).toBe(challenge);
    }
    const mixed: readonly (readonly [Record<string, string>, string])[] = [
      [{ 'X-API-Key': annaKey, Authorization: 'Bearer ak_bad' }, INVALID],
      [{ 'X-API-Key': annaKey, Authorization: basic('anna', 'wrong') }, BASIC],
      [{ 'X-API-Key': 'bad', Authorization: basic('anna', PASSWORD) }, INVALID],
      [{ 'X-API-Key': annaKey, Authorization: 'Nonsense' }, INVALID],
    ];
    for (const [headers, challenge] of mixed) {
      const response = await ask(headers);
      expect(response.status).toBe(401);
      expect(response.headers.get('WWW-Authenticate')).toBe(challenge);
    }
  });

  test('two Authorization lines are not taken for a good one', async () => {
    const { url } = shared.service;
    using socket = await RawSocket.open(url);
    const lines = [
      `Host: ${new URL(url).host}`,
      `Authorization: Bearer ${annaKey}`,
      'Authorization: Bearer bad',
    ];
    socket.send(`GET /auth/me HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    expect((await socket.head())?.status).toBe(401);
  });

  test('a header of 200 KiB is answered at once', async () => {
    for (const scheme of ['Basic', 'Bearer', 'Token', '']) {
      for (const filler of [' ', 'A', '=']) {
        const start = performance.now();
        const { status } = await ask({ Authorization: `${scheme} x${filler.repeat(200_000)}x` });
        expect(status).toBe(401);
        expect(performance.now() - start).toBeLessThan(onSharedCores(10_000));
      }
    }
  });
});

describe('several good credentials at once (DS-94)', () => {
  test('identity is the session, else the key, else Authorization', async () => {
    const anna = new Browser(shared.service);
    await anna.signIn('anna', PASSWORD);
    const cookie = [...anna.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const berta = {
      key: { 'X-API-Key': bertaKey },
      basic: { Authorization: basic('berta', ODD_PASSWORD) },
    };
    expect(await nameOf(await ask({ Cookie: cookie, ...berta.key }))).toBe('anna');
    expect(await nameOf(await ask({ Cookie: cookie, ...berta.basic }))).toBe('anna');
    expect(await nameOf(await ask({ 'X-API-Key': annaKey, ...berta.basic }))).toBe('anna');
    expect(
      await nameOf(await ask({ 'X-API-Key': annaKey, Authorization: `Bearer ${bertaKey}` })),
    ).toBe('anna');
    expect(await nameOf(await ask({ ...berta.key, Authorization: basic('anna', PASSWORD) }))).toBe(
      'berta',
    );
  });

  test('a scoped key beside a session does not narrow the session', async () => {
    const { cookie, csrfToken } = await shared.service.accounts.session('anna');
    const scoped = await shared.service.accounts.apiKey('berta', ['read:nothing']);
    const headers = { Cookie: cookie, 'X-CSRF-Token': csrfToken, 'X-API-Key': scoped };
    const response = await shared.service.fetch('/api/a/', {
      method: 'POST',
      headers,
      body: '{"action":"create","data":[]}',
    });
    expect(response.status).toBe(200);
  });
});

test('the answer to one caller is never given to another (S-K2)', async () => {
  const { accounts } = shared.service;
  await accounts.user('stranger');
  const stranger = await shared.service.as('stranger');
  const reader = shared.service.withHeaders({ 'X-API-Key': annaKey });
  for (let round = 0; round < 5; round++) {
    const seen = await get(reader, '/api/a/');
    expect(seen.status).toBe(200);
    for (const client of [stranger, shared.service]) {
      const denied = await get(client, '/api/a/', { headers: { 'If-None-Match': seen.etag } });
      expect([401, 403]).toContain(denied.status);
      expect(denied.text).not.toContain('"n"');
    }
  }
});
