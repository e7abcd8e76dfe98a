/**
 * Headers of every kind of answer (DS-20, DS-207, DS-208), and compression of what is no dataset (DS-19).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { rawRequest } from './raw-request.ts';
import type { RawAnswer } from './raw-request.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  files: {
    'a.csv': `n,t\n${Array.from({ length: 200 }, (_, n) => `${n},text of row ${n}`).join('\n')}\n`,
    'broken.csv': new Uint8Array([0xff, 0xfe, 0x00]),
  },
  config: { limits: { max_body_bytes: 100_000 } },
});

let key = '';
let strangerKey = '';
let session = { cookie: '', csrfToken: '' };
let etag = '';
let spareKeyId = 0;
beforeAll(async () => {
  const { accounts } = shared.service;
  key = await accounts.apiKey('root');
  await accounts.apiKey('root');
  const newest = await accounts.db.get<{ id: number }>('SELECT max(id) AS id FROM api_keys');
  spareKeyId = newest?.id ?? 0;
  strangerKey = await accounts.apiKey('stranger');
  session = await accounts.session('root');
  etag = (await ask({ path: '/api/a/', headers: { 'X-API-Key': key } })).headers['etag'] ?? '';
});

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
}

const ask = (request: Asked): Promise<RawAnswer> => rawRequest(shared.service.url, request);
const withKey = (more: Record<string, string> = {}) => ({ 'X-API-Key': key, ...more });
const HTML = { Accept: 'text/html' };

const ANSWERS: readonly (readonly [string, number, () => Asked])[] = [
  ['the start page', 200, () => ({ path: '/', headers: HTML })],
  ['the listing', 200, () => ({ path: '/', headers: withKey() })],
  ['the login page', 200, () => ({ path: '/auth/login', headers: HTML })],
  ['health', 200, () => ({ path: '/health' })],
  ['metrics', 200, () => ({ path: '/metrics', headers: withKey() })],
  ['an asset', 200, () => ({ path: '/favicon.ico' })],
  ['rows', 200, () => ({ path: '/api/a/', headers: withKey() })],
  [
    'compressed rows',
    200,
    () => ({ path: '/api/a/', headers: withKey({ 'Accept-Encoding': 'gzip' }) }),
  ],
  ['rows as CSV', 200, () => ({ path: '/api/a/?format=csv', headers: withKey() })],
  ['a schema', 200, () => ({ path: '/schema/a/', headers: withKey() })],
  ['a HEAD', 200, () => ({ method: 'HEAD', path: '/api/a/', headers: withKey() })],
  ['OPTIONS', 204, () => ({ method: 'OPTIONS', path: '/health' })],
  [
    'a revoked key',
    204,
    () => ({ method: 'DELETE', path: `/api/apikeys/${spareKeyId}`, headers: withKey() }),
  ],
  ['nothing new', 304, () => ({ path: '/api/a/', headers: withKey({ 'If-None-Match': etag }) })],
  ['a sign-out', 302, () => ({ method: 'POST', path: '/auth/logout' })],
  ['the way to the login page', 302, () => ({ path: '/api/a/', headers: HTML })],
  ['a foreign host', 400, () => ({ path: '/health', headers: { Host: 'evil.example' } })],
  ['no credential', 401, () => ({ path: '/api/a/' })],
  ['a bad credential', 401, () => ({ path: '/', headers: { 'X-API-Key': 'bad' } })],
  ['a denial', 403, () => ({ path: '/api/a/', headers: { 'X-API-Key': strangerKey } })],
  [
    'a denial as a page',
    403,
    () => ({ path: '/x', headers: { 'X-API-Key': strangerKey, ...HTML } }),
  ],
  [
    'a missing CSRF token',
    403,
    () => ({ method: 'POST', path: '/api/a/', headers: { Cookie: session.cookie } }),
  ],
  ['a miss', 404, () => ({ path: '/api/nothing', headers: withKey() })],
  ['a miss as a page', 404, () => ({ path: '/nothing', headers: withKey(HTML) })],
  ['a path that names nothing', 404, () => ({ path: '/%2e%2e/%00', headers: withKey() })],
  ['a wrong method', 405, () => ({ method: 'PUT', path: '/health' })],
  ['TRACE', 405, () => ({ method: 'TRACE', path: '/' })],
  [
    'a body that is announced as too large',
    413,
    () => ({ method: 'POST', path: '/api/a/', headers: withKey({ 'Content-Length': '200000' }) }),
  ],
  ['a bad parameter', 422, () => ({ path: '/api/a/?limit=0', headers: withKey() })],
  ['a missing body', 422, () => ({ method: 'POST', path: '/api/a/', headers: withKey() })],
  ['a broken file', 422, () => ({ path: '/api/broken/', headers: withKey() })],
];

const CSP =
  "default-src 'self'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; " +
  "media-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; " +
  "frame-ancestors 'none'";

describe.each(ANSWERS)('%s (%d)', (_, status, make) => {
  test('has the security headers, each once, and no others that tell what runs here (DS-207, DS-208)', async () => {
    const { status: found, headers } = await ask(make());
    expect(found).toBe(status);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'permissions-policy': 'camera=(), microphone=(), geolocation=()',
      'cross-origin-opener-policy': 'same-origin',
      'content-security-policy': CSP,
      'x-request-id': expect.stringMatching(/^[A-Za-z0-9._-]{1,64}$/),
    });
    expect(headers['strict-transport-security']).toBeUndefined();
    for (const name of ['server', 'x-powered-by', 'via', 'x-runtime'])
      expect(headers[name]).toBeUndefined();
    expect(headers['cache-control']).toMatch(
      /^(?:no-store|private, no-cache|public, max-age=31536000, immutable)$/,
    );
  });

  test('says nothing about where it runs (DS-9)', async () => {
    const { body, headers } = await ask(make());
    const isPacked = headers['content-encoding'] === 'gzip';
    const text = (isPacked ? gunzipSync(body) : Buffer.from(body)).toString();
    for (const secret of [
      shared.service.docroot,
      '/tmp/',
      'node_modules',
      'SELECT ',
      'sqlite',
      '    at ',
      'Bun/',
      'elysia',
    ]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('Cache-Control (DS-20)', () => {
  test.each([
    ['/health', 'no-store'],
    ['/metrics', 'no-store'],
    ['/auth/login', 'no-store'],
    ['/auth/me', 'no-store'],
    ['/auth/sessions', 'no-store'],
    ['/api/apikeys', 'no-store'],
    ['/', 'private, no-cache'],
    ['/api/a/', 'private, no-cache'],
    ['/schema/a/', 'private, no-cache'],
    ['/nothing', 'private, no-cache'],
  ])('of %s is %s', async (path, expected) => {
    expect((await ask({ path, headers: withKey() })).headers['cache-control']).toBe(expected);
  });

  test('of embedded assets lets them be kept for ever; their names change with their content', async () => {
    const page = Buffer.from((await ask({ path: '/auth/login' })).body).toString();
    const assets = [...page.matchAll(/"(\/_svc\/[^"]+)"/g)].map(([, path]) => path!);
    expect(assets.length).toBeGreaterThan(0);
    for (const path of assets) {
      expect(path).toMatch(/\.[0-9a-f]{8,}\.[a-z0-9]+$/);
      const { status, headers } = await ask({ path });
      expect(status).toBe(200);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers['set-cookie']).toBeUndefined();
      const again = await ask({ path, headers: { 'If-None-Match': headers['etag'] ?? '' } });
      expect(again.status).toBe(304);
      expect(again.body.length).toBe(0);
    }
    expect(
      (await ask({ path: assets[0]!.replace(/\.[0-9a-f]{8,}\./, '.0000000000000000.') })).status,
    ).toBe(404);
  });
});

describe('gzip of what is no dataset (DS-19)', () => {
  const GZIP = { 'Accept-Encoding': 'gzip' };

  test.each([
    ['/', HTML],
    ['/auth/login', HTML],
    ['/metrics', {}],
    ['/nothing', HTML],
  ])('%s is sent packed on request, and says what it depends on', async (path, accept) => {
    const headers = withKey(accept as Record<string, string>);
    const plain = await ask({ path, headers });
    const packed = await ask({ path, headers: { ...headers, ...GZIP } });
    expect(packed.status).toBe(plain.status);
    expect(plain.body.length).toBeGreaterThan(1_024);
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(packed.headers['vary']).toContain('Accept-Encoding');
    expect(gunzipSync(packed.body).toString()).toStartWith(
      Buffer.from(plain.body).toString().slice(0, 30),
    );
  });

  test('short answers are sent as they are', async () => {
    for (const path of ['/health', '/auth/me', '/nothing']) {
      const { headers } = await ask({ path, headers: withKey(GZIP) });
      expect(headers['content-encoding']).toBeUndefined();
    }
  });

  test('an asset has one tag for each form, and both are known', async () => {
    const page = Buffer.from((await ask({ path: '/auth/login' })).body).toString();
    const path = /"(\/_svc\/[^"]+\.css)"/.exec(page)![1]!;
    const plain = await ask({ path });
    const packed = await ask({ path, headers: GZIP });
    expect(packed.headers['etag']).toBe(plain.headers['etag']!.replace(/"$/, '-gz"'));
    expect(gunzipSync(packed.body).equals(Buffer.from(plain.body))).toBe(true);
    for (const tag of [plain.headers['etag']!, packed.headers['etag']!]) {
      expect((await ask({ path, headers: { ...GZIP, 'If-None-Match': tag } })).status).toBe(304);
    }
  });
});

test('pages carry no inline script or style and name no foreign origin (DS-186, DS-208)', async () => {
  for (const headers of [HTML, withKey(HTML)]) {
    for (const path of ['/', '/auth/login', '/nothing']) {
      const answer = await ask({ path, headers });
      if (answer.status === 302) continue;
      const page = Buffer.from(answer.body).toString();
      expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:/i);
      for (const [, address] of page.matchAll(/(?<![-\w])(?:src|href|action)="([^"]*)"/g)) {
        expect(address).toMatch(/^(?:\/(?!\/)|#|data:image\/)/);
      }
    }
  }
});
