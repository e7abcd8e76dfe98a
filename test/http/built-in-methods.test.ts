/**
 * Methods and slashes of the built-in routes (DS-4, DS-6, DS-7).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { rawRequest } from './raw-request.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({ files: { 'a.csv': 'n\n1\n' } });

const ROUTES: readonly (readonly [string, readonly string[]])[] = [
  ['/', ['GET', 'HEAD', 'OPTIONS']],
  ['/health', ['GET', 'HEAD', 'OPTIONS']],
  ['/metrics', ['GET', 'HEAD', 'OPTIONS']],
  ['/favicon.ico', ['GET', 'HEAD', 'OPTIONS']],
  ['/auth/login', ['GET', 'HEAD', 'OPTIONS', 'POST']],
  ['/auth/logout', ['OPTIONS', 'POST']],
  ['/auth/me', ['GET', 'HEAD', 'OPTIONS']],
  ['/auth/sessions', ['GET', 'HEAD', 'OPTIONS']],
  ['/auth/sessions/1', ['DELETE', 'OPTIONS']],
  ['/auth/password', ['OPTIONS', 'PUT']],
  ['/api/apikeys', ['GET', 'HEAD', 'OPTIONS', 'POST']],
  ['/api/apikeys/1', ['DELETE', 'OPTIONS']],
  ['/api/uploads', ['OPTIONS', 'POST']],
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

let key = '';
let asset = '';
beforeAll(async () => {
  key = await shared.service.accounts.apiKey('root');
  const page = await (await shared.service.fetch('/auth/login')).text();
  asset = /"(\/_svc\/[^"]+)"/.exec(page)?.[1] ?? '';
});

const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  rawRequest(shared.service.url, { method, path, headers });
const methodsIn = (allow: string | undefined) => (allow ?? '').split(', ').sort();
const withSlash = (path: string) => (path === '/' ? [path] : [path, `${path}/`]);

describe.each(ROUTES)('%s', (path, methods) => {
  test('OPTIONS lists its methods to anybody: 204 (DS-6)', async () => {
    for (const spelled of withSlash(path)) {
      for (const headers of [{}, { 'X-API-Key': key }, { Cookie: 'svc_session=dead' }]) {
        const answer = await ask('OPTIONS', spelled, headers as Record<string, string>);
        expect(answer.status).toBe(204);
        expect(answer.body.length).toBe(0);
        expect(methodsIn(answer.headers['allow'])).toEqual([...methods]);
      }
    }
  });

  test('any other method is 405 with the same list, whoever asks (DS-7)', async () => {
    for (const method of METHODS.filter((one) => !methods.includes(one))) {
      for (const spelled of withSlash(path)) {
        for (const headers of [{}, { 'X-API-Key': key }]) {
          const answer = await ask(method, spelled, headers as Record<string, string>);
          expect(answer.status).toBe(405);
          expect(methodsIn(answer.headers['allow'])).toEqual([...methods]);
          if (method !== 'HEAD') {
            expect(Buffer.from(answer.body).toString()).toBe('{"detail":"Method Not Allowed"}');
          }
        }
      }
    }
  });

  test('HEAD has the status and headers of GET, and no body (DS-6)', async () => {
    if (!methods.includes('GET')) return;
    for (const headers of [{}, { 'X-API-Key': key }, { Accept: 'text/html' }]) {
      const full = await ask('GET', path, headers as Record<string, string>);
      const head = await ask('HEAD', path, headers as Record<string, string>);
      expect(head.body.length).toBe(0);
      expect({ status: head.status, ...comparable(head.headers) }).toEqual({
        status: full.status,
        ...comparable(full.headers),
      });
    }
  });

  test('a trailing slash makes no difference and no redirect (DS-4)', async () => {
    if (!methods.includes('GET')) return;
    const [plain, slashed] = await Promise.all(
      [path, path === '/' ? '/' : `${path}/`].map((one) => ask('GET', one, { 'X-API-Key': key })),
    );
    expect(plain!.status).toBe(200);
    expect({ status: slashed!.status, ...comparable(slashed!.headers) }).toEqual({
      status: plain!.status,
      ...comparable(plain!.headers),
    });
  });
});

/** Headers that must be equal; lengths are, unless a page names the path it was asked at or the time. */
function comparable(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { date: _date, 'x-request-id': _id, 'content-length': _length, ...rest } = headers;
  const cookie = rest['set-cookie'];
  // A random CSRF cookie for anonymous pages.
  if (cookie !== undefined) {
    return { ...rest, 'set-cookie': cookie.replace(/svc_csrf=[\w-]{43}/g, 'svc_csrf=…') };
  }
  return rest;
}

test('an embedded asset has them too, with its length for HEAD', async () => {
  expect(asset).not.toBe('');
  const full = await ask('GET', asset);
  const head = await ask('HEAD', asset);
  expect(head.headers['content-length']).toBe(full.headers['content-length']);
  expect(head.headers['content-length']).toBe(String(full.body.length));
  expect((await ask('OPTIONS', asset)).status).toBe(204);
  const { status, headers } = await ask('POST', asset);
  expect(status).toBe(405);
  expect(methodsIn(headers['allow'])).toEqual(['GET', 'HEAD', 'OPTIONS']);
});

test.each(['TRACE', 'CONNECT'])('%s is refused (DS-6)', async (method) => {
  for (const [path] of ROUTES) {
    const { status, body } = await ask(method, path);
    expect(status).toBe(405);
    expect(Buffer.from(body).toString()).not.toContain(method);
  }
});

test('a method cannot be overridden by a header or parameter (S-C6)', async () => {
  const headers = {
    'X-HTTP-Method-Override': 'DELETE',
    'X-Method-Override': 'DELETE',
    'X-API-Key': key,
  };
  const { status, body } = await ask('GET', '/api/a/?_method=DELETE', headers);
  expect(status).toBe(200);
  expect(Buffer.from(body).toString()).toBe('[{"_row_id":1,"n":1}]');
});

test.each(['/nothing', '/auth', '/auth/nothing', '/_svc', '/admin/nothing'])(
  '%s is no built-in route: as a miss among the files, signed in or not (DS-11)',
  async (path) => {
    expect((await ask('GET', path)).status).toBe(401);
    expect((await ask('POST', path)).status).toBe(401);
    expect((await ask('GET', path, { 'X-API-Key': key })).status).toBe(404);
  },
);
