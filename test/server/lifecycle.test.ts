/** The checks of a request, their order, and what every response carries (DS-6 to DS-15, DS-22, DS-94 to DS-96, DS-207). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { AppError } from '../../src/base/errors.ts';
import { jsonReply } from '../../src/http/reply/reply.ts';
import type { TestRoute } from './server-fixture.ts';
import { until } from '../support/database.ts';
import { startFixture } from './server-fixture.ts';
import type { Fixture } from './server-fixture.ts';

const HTML = { Accept: 'text/html,*/*' };
const SECURITY_HEADERS = [
  'x-content-type-options',
  'x-frame-options',
  'referrer-policy',
  'permissions-policy',
  'cross-origin-opener-policy',
  'content-security-policy',
  'x-request-id',
  'cache-control',
];

const ok = () => jsonReply({ done: true });
/** Somebody waits for the answer of /page/waits. */
const waiting = Promise.withResolvers<void>();
const routes: TestRoute[] = [
  { pattern: '/page/public', access: 'public', methods: { GET: ok, POST: ok } },
  { pattern: '/page/user', access: 'user', methods: { GET: ok, POST: ok } },
  { pattern: '/page/root', access: 'superuser', methods: { GET: ok, POST: ok } },
  { pattern: '/page/scoped', access: 'user', refusesScopedKeys: true, methods: { GET: ok } },
  { pattern: '/page/off', access: 'public', isOn: () => false, methods: { GET: ok } },
  {
    pattern: '/page/login-like',
    access: 'public',
    requiresOwnOrigin: true,
    isExemptFromReadOnly: true,
    methods: { POST: ok },
  },
  {
    pattern: '/page/waits',
    access: 'public',
    methods: {
      GET: ({ request: { signal } }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          waiting.resolve();
        }),
    },
  },
  {
    pattern: '/page/bug',
    access: 'public',
    methods: {
      GET: () => {
        throw new TypeError('secret /abs/path SELECT 1');
      },
      POST: async () => {
        throw new TypeError('secret /abs/path SELECT 1');
      },
    },
  },
  {
    pattern: '/page/fails',
    access: 'public',
    methods: {
      GET: () => {
        throw new AppError('conflict', 'Busy <b>now</b>', { headers: { 'Retry-After': '3' } });
      },
    },
  },
  {
    pattern: '/page/body',
    access: 'public',
    methods: { POST: async (context) => jsonReply({ body: await context.json() }) },
  },
  {
    pattern: '/page/raw',
    access: 'public',
    methods: {
      GET: () =>
        new Response('raw', {
          headers: { 'Content-Security-Policy': 'sandbox', 'X-Frame-Options': 'ALLOWALL' },
        }),
    },
  },
];

let server: Fixture;
beforeAll(async () => {
  server = await startFixture({ routes });
  await server.user('root', true);
});
afterAll(() => server[Symbol.asyncDispose]());

async function answer(path: string, init?: RequestInit): Promise<[number, unknown]> {
  const response = await server.fetch(path, init);
  const text = await response.text();
  return [response.status, text.startsWith('{') ? JSON.parse(text) : text];
}

describe('DS-207: every response', () => {
  test.each([
    ['an answer', '/page/public', {}],
    ['401', '/page/user', {}],
    ['a redirect', '/page/user', { headers: HTML }],
    ['404', '/page/off', {}],
    ['405', '/page/public', { method: 'DELETE' }],
    ['500', '/page/bug', {}],
    ['an HTML error', '/page/fails', { headers: HTML }],
    ['OPTIONS', '/page/public', { method: 'OPTIONS' }],
    ['HEAD', '/page/public', { method: 'HEAD' }],
    ['an asset', '/favicon.ico', {}],
    ['a bad host', '/health', { headers: { Host: 'evil.example' } }],
    ['a response made elsewhere', '/page/raw', {}],
  ] as [string, string, RequestInit][])('has the security headers: %s', async (_, path, init) => {
    const { headers } = await server.fetch(path, init);
    expect(SECURITY_HEADERS.filter((name) => !headers.has(name))).toEqual([]);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('server')).toBeNull();
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('strict-transport-security')).toBeNull();
  });

  test('keeps the policy of a response made elsewhere', async () => {
    const { headers } = await server.fetch('/page/raw');
    expect(headers.get('content-security-policy')).toBe('sandbox');
  });

  test('DS-15: has a request id of its own, whatever the client sends', async () => {
    const id = async (): Promise<string | null> => {
      const { headers } = await server.fetch('/health', { headers: { 'X-Request-Id': 'mine' } });
      return headers.get('x-request-id');
    };
    const [first, second] = [await id(), await id()];
    expect(first).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
    expect(new Set([first, second, 'mine']).size).toBe(3);
  });

  test('DS-15, DS-204: has the id a trusted proxy sent', async () => {
    await using proxied = await startFixture({ config: { trusted_proxies: ['127.0.0.1'] } });
    const idFor = async (sent: string): Promise<string | null> => {
      const { headers } = await proxied.fetch('/health', { headers: { 'X-Request-Id': sent } });
      return headers.get('x-request-id');
    };
    expect(await idFor('proxy.id-1')).toBe('proxy.id-1');
    expect(await idFor('a b')).not.toBe('a b');
    expect(await idFor('x'.repeat(65))).not.toBe('x'.repeat(65));
  });

  test('DS-207: says HSTS behind an https public_url, and lets forms go to the identity provider', async () => {
    await using https = await startFixture({
      config: {
        public_url: 'https://data.example',
        'oidc.issuer': 'https://id.example/realms/x',
        'oidc.client_id': 'svc',
      },
    });
    const { headers } = await https.fetch('/health');
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("form-action 'self' https://id.example;");
  });
});

describe('DS-6, DS-7: methods', () => {
  test('HEAD answers as GET, without a body', async () => {
    const get = await server.fetch('/page/public');
    const head = await server.fetch('/page/public', { method: 'HEAD' });
    expect(await head.text()).toBe('');
    const names = (response: Response): string[] => [...response.headers.keys()].sort();
    expect([head.status, names(head)]).toEqual([get.status, names(get)]);
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
  });

  test('OPTIONS names the methods and needs nobody', async () => {
    for (const path of ['/page/root', '/page/root/']) {
      const response = await server.fetch(path, { method: 'OPTIONS' });
      expect([response.status, response.headers.get('allow')]).toEqual([
        204,
        'GET, HEAD, POST, OPTIONS',
      ]);
    }
  });

  test('a wrong one on a built-in route is 405 before anything is asked of the caller', async () => {
    const response = await server.fetch('/page/root', {
      method: 'DELETE',
      headers: { 'X-API-Key': 'ak_wrong' },
    });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
    expect(await response.json()).toEqual({ detail: 'Method Not Allowed' });
  });
});

describe('DS-8: the order of checks', () => {
  test('host before route and credentials', async () => {
    const headers = { Host: 'evil.example', 'X-API-Key': 'ak_wrong' };
    expect(await answer('/page/user', { method: 'DELETE', headers })).toEqual([
      400,
      { detail: 'Invalid host header' },
    ]);
    expect((await answer('/mcp/', { method: 'POST', headers }))[0]).toBe(421);
  });

  test('a bad header credential before identity and rights, on public routes too (DS-94)', async () => {
    const unauthorised: [number, unknown] = [401, { detail: 'Not authenticated' }];
    const headers = { 'X-API-Key': 'ak_wrong' };
    expect(await answer('/page/public', { headers })).toEqual(unauthorised);
    expect(await answer('/page/root', { method: 'POST', headers })).toEqual(unauthorised);
    const { cookie } = await server.session('anna');
    expect(await answer('/page/user', { headers: { ...headers, cookie } })).toEqual(unauthorised);
  });

  test('a bad credential does not keep assets from anybody (DS-94)', async () => {
    const { status } = await server.fetch('/favicon.ico', { headers: { 'X-API-Key': 'ak_wrong' } });
    expect(status).toBe(200);
  });

  test('identity before CSRF before rights', async () => {
    expect((await answer('/page/root', { method: 'POST' }))[0]).toBe(401);
    const { cookie, csrf } = await server.session('anna');
    expect(await answer('/page/root', { method: 'POST', headers: { cookie } })).toEqual([
      403,
      { detail: 'Missing CSRF token' },
    ]);
    const headers = { cookie, 'X-CSRF-Token': csrf };
    expect(await answer('/page/root', { method: 'POST', headers })).toEqual([
      403,
      { detail: 'Superuser privileges required' },
    ]);
  });

  test('rights before read-only mode', async () => {
    const { cookie, csrf } = await server.session('anna');
    const root = await server.session('root');
    const { config } = server.services;
    server.services.config = { ...config, readonly: true };
    try {
      const post = (path: string, session: { cookie: string; csrf: string }) =>
        server.fetch(path, {
          method: 'POST',
          headers: { cookie: session.cookie, 'X-CSRF-Token': session.csrf },
        });
      expect((await post('/page/root', { cookie, csrf })).status).toBe(403);
      const refused = await post('/page/root', root);
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expect(await refused.json()).toEqual({ detail: 'Server is in read-only mode' });
      expect((await post('/page/login-like', root)).status).toBe(200);
      expect((await server.fetch('/page/public')).status).toBe(200);
    } finally {
      server.services.config = config;
    }
  });

  test('the body is not read before the caller may use the route', async () => {
    const body = 'x'.repeat(60_000);
    expect((await answer('/page/user', { method: 'POST', body }))[0]).toBe(401);
    expect((await answer('/page/body', { method: 'POST', body }))[0]).toBe(422);
  });
});

describe('DS-11, DS-96: what has no route', () => {
  test('is asked of the files, for signed-in callers only', async () => {
    expect((await answer('/api/nothing'))[0]).toBe(401);
    const headers = { 'X-API-Key': await server.apiKey('anna') };
    expect(await answer('/api/d%C3%A4ta/x/?q=1', { headers })).toEqual([
      200,
      {
        method: 'GET',
        path: '/api/d%C3%A4ta/x/',
        segments: ['api', 'däta', 'x'],
        isMatchable: true,
        search: '?q=1',
      },
    ]);
  });

  test('gets every method there, after the same checks', async () => {
    const headers = { 'X-API-Key': await server.apiKey('anna') };
    for (const method of ['PUT', 'OPTIONS', 'PROPFIND']) {
      expect((await answer('/api/x', { method, headers }))[0]).toBe(200);
    }
    const { cookie } = await server.session('anna');
    expect((await answer('/api/x', { method: 'POST', headers: { cookie } }))[0]).toBe(403);
  });

  test('DS-11: a route that is switched off is 404 for everyone', async () => {
    const callers: Record<string, string>[] = [{}, { 'X-API-Key': await server.apiKey('root') }];
    for (const headers of callers) {
      expect(await answer('/page/off', { headers })).toEqual([404, { detail: 'Not Found' }]);
    }
  });
});

describe('DS-95: a 401 says what would help', () => {
  test.each([
    ['nothing was sent', {}, 'Bearer realm="svc"'],
    ['a key', { 'X-API-Key': 'ak_wrong' }, 'Bearer realm="svc", error="invalid_token"'],
    ['Basic', { Authorization: 'Basic !' }, 'Basic realm="svc", charset="UTF-8"'],
    ['something', { Authorization: 'Own x' }, 'Bearer realm="svc", error="invalid_token"'],
  ])('when %s was wrong', async (_, headers, challenge) => {
    const response = await server.fetch('/page/user', { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(challenge);
  });
});

describe('DS-12: a 401 for an HTML client', () => {
  test('is a redirect to the sign-in page that comes back', async () => {
    const location = async (path: string, method = 'GET'): Promise<[number, string | null]> => {
      const response = await server.fetch(path, { method, headers: HTML });
      return [response.status, response.headers.get('location')];
    };
    expect(await location('/page/user/?a=b%20c&d=é')).toEqual([
      302,
      '/auth/login?next=/page/user/%3Fa%3Db%2520c%26d%3D%25C3%25A9',
    ]);
    expect(await location('/api/x', 'HEAD')).toEqual([302, '/auth/login?next=/api/x']);
    expect(await location('/page/user', 'POST')).toEqual([302, '/auth/login']);
  });
});

describe('DS-9, DS-13, DS-14: failures', () => {
  test('have their text and headers', async () => {
    const response = await server.fetch('/page/fails');
    expect(response.headers.get('retry-after')).toBe('3');
    expect([response.status, await response.json()]).toEqual([409, { detail: 'Busy <b>now</b>' }]);
  });

  test('are a page for an HTML client, with the same text and the request id', async () => {
    const response = await server.fetch('/page/fails', { headers: HTML });
    const page = await response.text();
    expect(response.status).toBe(409);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page).toContain('Busy &lt;b&gt;now&lt;/b&gt;');
    expect(page).toContain(response.headers.get('x-request-id')!);
  });

  test('are JSON below /api, /schema, /admin and /mcp for everybody', async () => {
    const headers = { ...HTML, 'X-API-Key': await server.apiKey('anna') };
    await using failing = await startFixture({
      fallback: () => {
        throw new AppError('not-found', 'Not Found');
      },
    });
    const key = await failing.apiKey('anna');
    for (const path of ['/api/x', '/schema/x', '/admin/x', '/mcp/x']) {
      const response = await failing.fetch(path, { headers: { ...headers, 'X-API-Key': key } });
      expect([path, await response.json()]).toEqual([path, { detail: 'Not Found' }]);
    }
    const page = await failing.fetch('/apix', { headers: { ...headers, 'X-API-Key': key } });
    expect(page.headers.get('content-type')).toStartWith('text/html');
  });

  test('that nobody foresaw say nothing but an id, under which the log has the cause', async () => {
    for (const method of ['GET', 'POST']) {
      const response = await server.fetch('/page/bug', { method });
      const id = response.headers.get('x-request-id')!;
      expect([response.status, await response.json()]).toEqual([
        500,
        { detail: 'Internal Server Error', request_id: id },
      ]);
      const line = server.log.find((text) => text.includes('request failed') && text.includes(id));
      expect(line).toContain('secret /abs/path');
    }
  });

  test('because the client left are none of the server’s', async () => {
    const leave = new AbortController();
    const answer = server.fetch('/page/waits', { signal: leave.signal }).catch(() => null);
    await waiting.promise;
    leave.abort();
    await answer;
    const lines = () => server.log.filter((text) => text.includes('/page/waits'));
    await until(() => lines().length > 0);
    expect(lines().map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      'request',
    ]);
    expect(lines()[0]).toContain('"status":400');
  });
});

describe('DS-18: bodies', () => {
  test('above limits.max_body_bytes are 413, with and without a declared length', async () => {
    await using small = await startFixture({ routes, config: { 'limits.max_body_bytes': 1000 } });
    const body = JSON.stringify('x'.repeat(2000));
    const sizes: RequestInit[] = [{ body }, { body: new Blob([body]).stream() }];
    for (const init of sizes) {
      const response = await small.fetch('/page/body', { method: 'POST', ...init });
      expect([response.status, await response.json()]).toEqual([
        413,
        { detail: 'Request body too large' },
      ]);
    }
    const fits = await small.fetch('/page/body', {
      method: 'POST',
      body: new Blob(['{"a":', '1}']).stream(),
    });
    expect(await fits.json()).toEqual({ body: { a: 1 } });
  });

  test('DS-17: are JSON whatever the Content-Type says', async () => {
    for (const type of ['text/plain', 'multipart/form-data', 'application/json; charset=utf-7']) {
      const init = { method: 'POST', body: '[1]', headers: { 'Content-Type': type } };
      expect(await answer('/page/body', init)).toEqual([200, { body: [1] }]);
    }
  });
});

describe('DS-118: an API key with scopes', () => {
  test('does not open routes about accounts', async () => {
    const scoped = { 'X-API-Key': await server.apiKey('anna', ['read']) };
    const whole = { 'X-API-Key': await server.apiKey('anna') };
    const refusal: [number, unknown] = [403, { detail: 'API key scope does not permit this' }];
    expect(await answer('/page/scoped', { headers: scoped })).toEqual(refusal);
    expect(await answer('/api/apikeys', { headers: scoped })).toEqual(refusal);
    expect(await answer('/auth/sessions/', { headers: scoped })).toEqual(refusal);
    expect((await answer('/page/scoped', { headers: whole }))[0]).toBe(200);
    expect((await answer('/page/user', { headers: scoped }))[0]).toBe(200);
  });
});

test('DS-209: the log has a line for each request, without query and credentials', async () => {
  const key = await server.apiKey('anna');
  const response = await server.fetch('/page/user?token=secret-value', {
    headers: { 'X-API-Key': key },
  });
  const id = response.headers.get('x-request-id')!;
  const line = server.log.find((text) => text.includes(`"id":"${id}"`))!;
  expect(JSON.parse(line)).toMatchObject({
    message: 'request',
    client: '127.0.0.1',
    user_id: expect.any(Number),
    method: 'GET',
    path: '/page/user',
    status: 200,
    ms: expect.any(Number),
    bytes: 13,
  });
  expect(server.log.join('')).not.toContain('secret-value');
  expect(server.log.join('')).not.toContain(key);
});
