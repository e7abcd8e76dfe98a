/**
 * Which hosts are answered, whom a proxy may speak for, and what follows for cookies and request ids (DS-15, DS-203 to
 * DS-205, S-H).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startService } from '../support/service.ts';
import type { Client, Service } from '../support/service.ts';
import { cookiesOf } from './cookies.ts';
import { rawRequest } from './raw-request.ts';
import { sharedService } from './shared-service.ts';
import { PASSWORD } from '../support/password.ts';

const REFUSED = '{"detail":"Invalid host header"}';
const RANDOM_ID = /^[0-9a-f-]{36}$/;

const shared = sharedService({
  files: { 'a.csv': 'n\n1\n' },
  config: {
    public_url: 'https://data.example/',
    allowed_hosts: ['extra.example', '*.team.example', '2001:db8::7'],
    trusted_proxies: ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'],
  },
});

beforeAll(async () => {
  await shared.service.accounts.user('anna', { password: PASSWORD });
});

const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
  rawRequest(shared.service.url, { path, headers, method });

describe('Host (DS-203)', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost',
    '[::1]',
    '[::1]:8000',
    'data.example',
    'DATA.example:443',
    'data.example.',
    'extra.example',
    'extra.example:8443',
    'a.team.example',
    'a.b.team.example',
    '[2001:db8::7]',
  ])('%s is answered', async (host) => {
    expect((await ask('/health', { Host: host })).status).toBe(200);
  });

  test.each([
    'evil.example',
    'team.example',
    'ateam.example',
    'extra.example.evil.example',
    'sub.extra.example',
    'data.example.evil.example',
    'xdata.example',
    '127.0.0.2',
    '0.0.0.0',
    '[::]',
    '[2001:db8::8]',
    '2001:db8::7',
    'localhost@evil.example',
    'localhost/evil',
    'localhost:80:80',
    'data.example,evil.example',
    '*',
    '*.team.example',
    '.team.example',
    '-',
  ])('%s is refused on every route: 400, before anything else (S-H1)', async (host) => {
    const headers = { Host: host, 'X-API-Key': 'bad', Accept: 'text/html' };
    for (const path of [
      '/health',
      '/',
      '/api/a/',
      '/auth/login',
      '/nothing',
      '/_svc/x',
      '/favicon.ico',
    ]) {
      const { status, body, headers: sent } = await ask(path, headers);
      expect({ path, status, text: Buffer.from(body).toString() }).toEqual({
        path,
        status: 400,
        text: REFUSED,
      });
      expect(sent['location']).toBeUndefined();
      expect(sent['set-cookie']).toBeUndefined();
      expect(sent['cache-control']).toBe('no-store');
      expect(sent['x-content-type-options']).toBe('nosniff');
    }
  });

  test('on /mcp: 421 (DS-178)', async () => {
    for (const path of ['/mcp', '/mcp/']) {
      expect((await ask(path, { Host: 'evil.example' }, 'POST')).status).toBe(421);
    }
  });

  test('a forwarded host does not stand in for it', async () => {
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'data.example' };
    expect((await ask('/health', headers)).status).toBe(400);
  });
});

describe('a server on all interfaces', () => {
  const local = (service: Service): Client => ({
    fetch: (path, init) => fetch(service.url.replace('0.0.0.0', '127.0.0.1') + path, init),
  });

  test('without names answers to every well-formed one (DS-203)', async () => {
    await using service = await startService({ args: ['--host', '0.0.0.0'] });
    for (const host of ['anything.example', '192.0.2.1', 'localhost']) {
      expect((await local(service).fetch('/health', { headers: { Host: host } })).status).toBe(200);
    }
    const malformed = await local(service).fetch('/health', { headers: { Host: 'a/b?c=' } });
    expect(malformed.status).toBe(400);
  });

  test('with names checks them', async () => {
    await using service = await startService({
      args: ['--host', '0.0.0.0'],
      config: { allowed_hosts: ['data.example'] },
    });
    const statusOf = async (host: string) =>
      (await local(service).fetch('/health', { headers: { Host: host } })).status;
    expect(await statusOf('data.example')).toBe(200);
    expect(await statusOf('127.0.0.1')).toBe(200);
    expect(await statusOf('anything.example')).toBe(400);
  });
});

describe('the client address (DS-204)', () => {
  let attempt = 0;
  /** The address that a failed login is audited under. */
  async function auditedAddress(headers: Record<string, string>): Promise<unknown> {
    const username = `probe ${attempt++}`;
    const response = await shared.service.fetch('/auth/login', {
      method: 'POST',
      headers,
      body: JSON.stringify({ username, password: 'x' }),
    });
    expect(response.status).toBe(401);
    const row = await shared.service.accounts.db.get<{ ip_address: string }>(
      'SELECT ip_address FROM audit WHERE details = ?',
      [`Failed login for user ${username}`],
    );
    return row?.ip_address;
  }

  test.each([
    ['no header', {}, '127.0.0.1'],
    ['one address', { 'X-Forwarded-For': '192.0.2.1' }, '192.0.2.1'],
    [
      'the right-most that is no proxy',
      { 'X-Forwarded-For': '203.0.113.9, 192.0.2.1, 10.1.1.1' },
      '192.0.2.1',
    ],
    ['spaces and ports', { 'X-Forwarded-For': ' 192.0.2.1:4711 ,10.0.0.1' }, '192.0.2.1'],
    ['IPv6', { 'X-Forwarded-For': '2001:db9::1' }, '2001:db9::1'],
    ['IPv6 in brackets with a port', { 'X-Forwarded-For': '[2001:db9::1]:4711' }, '2001:db9::1'],
    ['a trusted IPv6 network', { 'X-Forwarded-For': '192.0.2.1, 2001:db8:1::5' }, '192.0.2.1'],
    ['IPv4 in IPv6', { 'X-Forwarded-For': '::ffff:192.0.2.1' }, '192.0.2.1'],
    ['only proxies', { 'X-Forwarded-For': '10.0.0.1, 10.0.0.2' }, '10.0.0.1'],
    ['no address', { 'X-Forwarded-For': 'unknown' }, '127.0.0.1'],
    ['no address on the right', { 'X-Forwarded-For': '192.0.2.1, _hidden' }, '127.0.0.1'],
    ['an empty header', { 'X-Forwarded-For': '' }, '127.0.0.1'],
    ['Forwarded', { Forwarded: 'for=192.0.2.1;proto=https, for=10.0.0.1' }, '192.0.2.1'],
    ['Forwarded with quotes', { Forwarded: 'For="[2001:db9::1]:4711"' }, '2001:db9::1'],
    ['a header of another kind', { 'X-Real-IP': '192.0.2.1' }, '127.0.0.1'],
  ] as const)('%s', async (_, headers, expected) => {
    expect(await auditedAddress(headers as unknown as Record<string, string>)).toBe(expected);
  });
});

describe('the request id (DS-15)', () => {
  test.each(['abc', 'A.b_c-1', 'x'.repeat(64)])('%s of a trusted proxy is kept', async (id) => {
    for (const path of ['/health', '/api/a/', '/nothing']) {
      expect((await ask(path, { 'X-Request-Id': id })).headers['x-request-id']).toBe(id);
    }
  });

  test.each(['', 'x'.repeat(65), 'a b', 'a/b', 'é', '<b>', 'a;b', '../x'])(
    '%p is replaced',
    async (id) => {
      const sent = (await ask('/health', { 'X-Request-Id': id })).headers['x-request-id'] ?? '';
      expect(sent).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
      expect(sent).not.toBe(id);
    },
  );
});

test('with an https public_url cookies are Secure and HSTS is sent, for every client (DS-205, DS-207)', async () => {
  const response = await shared.service.fetch('/auth/login', {
    method: 'POST',
    body: JSON.stringify({ username: 'anna', password: PASSWORD }),
  });
  expect(cookiesOf(response).length).toBe(2);
  for (const { attributes } of cookiesOf(response))
    expect(attributes).toEndWith('; SameSite=Lax; Secure');
  for (const path of ['/', '/health', '/nothing', '/favicon.ico']) {
    const { headers } = await ask(path, {});
    expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
  }
});

test('the public URL is an own origin of the site (DS-114)', async () => {
  const { cookie, csrfToken } = await shared.service.accounts.session('anna');
  const post = async (origin: string) => {
    const headers = { Cookie: cookie, 'X-CSRF-Token': csrfToken, Origin: origin };
    return (await shared.service.fetch('/api/apikeys', { method: 'POST', headers, body: '{}' }))
      .status;
  };
  expect(await post('https://data.example')).toBe(201);
  expect(await post('https://data.example:444')).toBe(403);
  expect(await post('https://extra.example')).toBe(201);
  expect(await post('https://evil.example')).toBe(403);
});

describe('a peer that is no trusted proxy', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ files: { 'a.csv': 'n\n1\n' } });
    await service.accounts.user('anna', { password: PASSWORD });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('has no say about address, scheme, host and id (S-H2)', async () => {
    const headers = {
      'X-Forwarded-For': '192.0.2.1',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'evil.example',
      'X-Original-URL': '/auth/me',
      'X-Rewrite-URL': '/auth/me',
      Forwarded: 'for=192.0.2.1;proto=https;host=evil.example',
      'X-Request-Id': 'chosen-by-client',
    };
    const response = await service.fetch('/auth/login', {
      method: 'POST',
      headers,
      body: JSON.stringify({ username: 'anna', password: PASSWORD }),
    });
    expect(response.status).toBe(200);
    for (const { attributes } of cookiesOf(response)) expect(attributes).not.toContain('Secure');
    expect(response.headers.get('Strict-Transport-Security')).toBeNull();
    expect(response.headers.get('X-Request-Id')).toMatch(RANDOM_ID);
    const row = await service.accounts.db.get<{ ip_address: string }>(
      "SELECT ip_address FROM audit WHERE action = 'login'",
    );
    expect(row?.ip_address).toBe('127.0.0.1');
    const miss = await service.fetch('/nothing', { headers: { ...headers, Accept: 'text/html' } });
    expect(miss.headers.get('Location')).toBe('/auth/login?next=/nothing');
  });

  test('gets a fresh id with each answer', async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () =>
        (await service.fetch('/health')).headers.get('X-Request-Id'),
      ),
    );
    expect(new Set(ids).size).toBe(50);
  });
});

test('secure_cookies forces Secure without any of that (DS-205)', async () => {
  await using service = await startService({ config: { secure_cookies: true } });
  const [cookie] = cookiesOf(await service.fetch('/auth/login'));
  expect(cookie?.name).toBe('svc_csrf');
  expect(cookie?.attributes).toBe('Max-Age=604800; Path=/; SameSite=Lax; Secure');
});
