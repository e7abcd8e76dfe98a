/**
 * What browsers get where others get JSON: redirects to the login page and error pages (DS-12, DS-13, DS-208).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/service.ts';
import { cookieOf } from './cookies.ts';
import { rawRequest } from './raw-request.ts';
import { sharedService } from './shared-service.ts';

const HTML = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const MARKER = 'x"><script>marker</script>';

const shared = sharedService({ files: { 'a.csv': 'n\n1\n', 'b.txt': 'text' } });

let stranger: Client;
beforeAll(async () => {
  await shared.service.accounts.user('stranger');
  stranger = await shared.service.inBrowserAs('stranger');
});

const ask = (
  client: Client,
  path: string,
  method = 'GET',
  headers: Record<string, string> = HTML,
) => client.fetch(path, { method, headers });

describe('a 401 (DS-12)', () => {
  test.each([
    ['/api/a/', '/api/a/'],
    ['/api/a/?limit=1&sort=-n', '/api/a/%3Flimit%3D1%26sort%3D-n'],
    ['/b.txt', '/b.txt'],
    ['/nothing/at/all', '/nothing/at/all'],
    ['/auth/me', '/auth/me'],
    ['/metrics', '/metrics'],
    ['/api/%C3%A9%20x', '/api/%25C3%25A9%2520x'],
    ['/x?next=/y#z', '/x%3Fnext%3D/y'],
  ])('of GET %s leads to the login page and back', async (path, next) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await ask(shared.service, path, method);
      expect(response.status).toBe(302);
      expect(response.headers.get('Location')).toBe(`/auth/login?next=${next}`);
      expect(await response.text()).toBe('');
    }
  });

  test('the way back is the one that was asked for', async () => {
    const response = await ask(shared.service, '/api/a/?filter={"n":1}&q=a+b%26c');
    const location = response.headers.get('Location')!;
    const page = await (await shared.service.fetch(location)).text();
    const next = /name="next" value="([^"]*)"/
      .exec(page)?.[1]
      ?.replaceAll('&amp;', '&')
      .replaceAll('&#34;', '"');
    expect(new URL(next!, 'http://x').searchParams.get('filter')).toBe('{"n":1}');
    expect(new URL(next!, 'http://x').searchParams.get('q')).toBe('a b&c');
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'of %s leads to the login page alone',
    async (method) => {
      const response = await ask(shared.service, '/api/a/?x=1', method);
      expect(response.status).toBe(302);
      expect(response.headers.get('Location')).toBe('/auth/login');
    },
  );

  test('with a bad credential too, the dead session is cleared on the way', async () => {
    const headers = { ...HTML, Cookie: 'svc_session=dead' };
    const response = await ask(shared.service, '/b.txt', 'GET', headers);
    expect(response.status).toBe(302);
    expect(cookieOf(response, 'svc_session')).toBe('');
    const badKey = await ask(shared.service, '/b.txt', 'GET', { ...HTML, 'X-API-Key': 'bad' });
    expect(badKey.status).toBe(302);
  });

  test('never redirects health, which machines ask (DS-187)', async () => {
    const response = await ask(shared.service, '/health', 'GET', { ...HTML, 'X-API-Key': 'bad' });
    expect(response.status).toBe(401);
    expect((await ask(shared.service, '/health')).status).toBe(200);
  });

  test.each([
    ['*/*', 401],
    ['application/json', 401],
    ['text/*', 401],
    ['TEXT/HTML', 401],
    ['', 401],
    ['text/html', 302],
    ['text/html;q=0', 302],
    ['application/json, text/html', 302],
    ['x-text/html-x', 302],
  ])('Accept: %s is told by a plain substring: %d', async (accept, status) => {
    const response = await ask(shared.service, '/api/a/', 'GET', { Accept: accept });
    expect(response.status).toBe(status);
  });

  test('leads nowhere else, whatever the path looks like (S-H6)', async () => {
    for (const path of [
      '//evil.example/x',
      '///evil.example',
      '/\\evil.example',
      '/%2F%2Fevil.example',
      '/%5Cevil.example',
    ]) {
      const { status, headers } = await rawRequest(shared.service.url, { path, headers: HTML });
      expect(status).toBe(302);
      expect(headers['location']).toStartWith('/auth/login?next=');
      const page = await (await shared.service.fetch(headers['location']!)).text();
      const next = /name="next" value="([^"]*)"/.exec(page)?.[1] ?? '';
      expect(next).toMatch(/^\/(?![/\\])/);
    }
  });
});

describe('error pages (DS-13)', () => {
  const cases: readonly (readonly [string, () => Client, string, number, string])[] = [
    ['a miss', () => shared.superuser, '/nothing', 404, 'Not Found'],
    ['a denial', () => stranger, '/b.txt', 403, 'Permission denied: read on b.txt'],
    [
      'a denial of something absent',
      () => stranger,
      '/nothing',
      403,
      'Permission denied: read on nothing',
    ],
    ['a wrong method', () => shared.superuser, '/favicon.ico/x', 404, 'Not Found'],
  ];

  test.each(cases)(
    '%s is a page with the same status and text',
    async (_, client, path, status, detail) => {
      const page = await ask(client(), path);
      expect(page.status).toBe(status);
      expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
      const markup = await page.text();
      expect(markup).toContain(detail);
      expect(markup).toMatch(/^<!doctype html>/i);
      expect(markup).not.toMatch(/<script(?![^>]*\bsrc=)|\sstyle=|\son[a-z]+=/i);
      const json = await ask(client(), path, 'GET', {});
      expect({ status: json.status, text: await json.text() }).toEqual({
        status,
        text: JSON.stringify({ detail }),
      });
    },
  );

  test.each([
    ['/api/nothing', 404],
    ['/schema/nothing', 404],
    ['/admin/nothing', 404],
    ['/api/a/?limit=0', 422],
    ['/api/a/?sort=nope', 422],
    ['/api/apikeys/x', 405],
    ['/_svc/nothing.js', 404],
  ])('%s stays JSON for browsers', async (path, status) => {
    const response = await ask(shared.superuser, path);
    expect(response.status).toBe(status);
    expect(response.headers.get('Content-Type')).toBe('application/json');
  });

  test('a denial on an API path stays JSON', async () => {
    const response = await ask(stranger, '/api/a/');
    expect({ status: response.status, text: await response.text() }).toEqual({
      status: 403,
      text: '{"detail":"Permission denied: read on a"}',
    });
  });

  test('what was asked for never becomes markup (S-X8, S-X9)', async () => {
    const encoded = encodeURIComponent(MARKER);
    const asked = [
      `/${encoded}`,
      `/nothing/${encoded}`,
      `/api/${encoded}/`,
      `/schema/${encoded}/`,
      `/auth/login?next=/${encoded}`,
      `/auth/login?next=${encoded}`,
      `/?filter=${encoded}`,
      `/api/a/?sort=${encoded}`,
      `/api/a/?columns=${encoded}`,
      `/api/a/?limit=${encoded}`,
      `/api/a/?filter=${encoded}`,
    ];
    for (const client of [shared.service, stranger, shared.superuser]) {
      for (const path of asked) {
        const response = await ask(client, path, 'GET', {
          ...HTML,
          'User-Agent': MARKER,
          Referer: MARKER,
        });
        const text = await response.text();
        const isPage = response.headers.get('Content-Type')?.startsWith('text/html') === true;
        if (isPage) expect(text).not.toContain('"><script>');
        else if (text !== '')
          expect(response.headers.get('Content-Type')).toMatch(/^application\/json/);
        expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff');
      }
    }
  });

  test('depend on Accept, and say so to caches', async () => {
    for (const headers of [HTML, { Accept: 'application/json' }]) {
      const response = await ask(shared.superuser, '/nothing', 'GET', headers);
      expect(response.headers.get('Vary')).toMatch(/\bAccept\b(?!-)/);
    }
  });
});

test('no JSON answer can be run as a script of another site (S-X7)', async () => {
  for (const query of ['callback=evil', 'jsonp=evil', 'cb=evil', '_callback=evil']) {
    const response = await ask(shared.superuser, `/api/a/?${query}`);
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(await response.text()).toBe('[{"_row_id":1,"n":1}]');
  }
});
