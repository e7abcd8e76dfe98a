/**
 * A site below a path of its host: `public_url` is `https://host/data`, behind a proxy that takes the path away and behind one
 * that does not (DS-244).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Service, startService } from '../support/service.ts';
import { PASSWORD } from '../support/password.ts';

const BASE = '/data';
let svc: Service;
const proxies: Record<string, Bun.Server<unknown>> = {};

beforeAll(async () => {
  svc = await startService({
    files: {
      'a.csv': 'n\n1\n2\n3\n',
      'notes.md': '# Notes\n\n[rows](a.csv) [top](/a.csv) `<a href="/x">`\n',
      'raw.html': '<!doctype html><a href="/x">x</a>',
    },
    config: { public_url: `https://example.org${BASE}/`, trusted_proxies: ['127.0.0.1'] },
  });
  await svc.accounts.user('anna', { password: PASSWORD, superuser: true });
  for (const [name, isStripping] of [
    ['stripping', true],
    ['keeping', false],
  ] as const) {
    proxies[name] = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { pathname, search } = new URL(request.url);
        if (pathname !== BASE && !pathname.startsWith(`${BASE}/`)) {
          return new Response('another site', { status: 418 });
        }
        const path = isStripping ? pathname.slice(BASE.length) || '/' : pathname;
        const headers = new Headers(request.headers);
        headers.set('Host', 'example.org');
        headers.set('X-Forwarded-Proto', 'https');
        const body = request.body === null ? undefined : await request.bytes();
        return fetch(svc.url + path + search, {
          method: request.method,
          headers,
          body,
          redirect: 'manual',
          decompress: false,
        });
      },
    });
  }
});
afterAll(async () => {
  for (const proxy of Object.values(proxies)) await proxy.stop(true);
  await svc?.[Symbol.asyncDispose]();
});

const HTML = { Accept: 'text/html' };
/** What a browser would send of these cookies to the path. */
function cookiesFor(path: string, set: readonly string[]): string {
  return set
    .filter((one) => path.startsWith(/Path=([^;]*)/.exec(one)![1]!))
    .map((one) => one.slice(0, one.indexOf(';')))
    .join('; ');
}

describe.each(['stripping', 'keeping'])('behind a %s proxy', (name) => {
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${proxies[name]!.port}${path}`, {
      redirect: 'manual',
      ...init,
    });
  let cookies: string[] = [];
  const signedIn = (path: string, init: RequestInit = {}) =>
    ask(path, { ...init, headers: { ...init.headers, Cookie: cookiesFor(path, cookies) } });

  test('people are sent to sign in and back', async () => {
    const away = await ask(`${BASE}/ui/a/`, { headers: HTML });
    expect([away.status, away.headers.get('Location')]).toEqual([
      302,
      `${BASE}/auth/login?next=/ui/a/`,
    ]);
    const form = await ask(away.headers.get('Location')!, { headers: HTML });
    const page = await form.text();
    expect(page).toContain(`action="${BASE}/auth/login"`);
    const fields = new URLSearchParams({ username: 'anna', password: PASSWORD, next: '/ui/a/' });
    const answer = await ask(`${BASE}/auth/login`, {
      method: 'POST',
      body: fields,
      headers: { ...HTML, Origin: 'https://example.org' },
    });
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, `${BASE}/ui/a/`]);
    cookies = answer.headers.getSetCookie();
    expect(cookies.length).toBe(2);
    for (const cookie of cookies)
      expect(cookie).toMatch(/; Path=\/data\/; .*Secure|Secure.*; Path=\/data\//);
    expect((await signedIn(`${BASE}/auth/me`)).status).toBe(200);
  });

  test('a link, its pages and its cookie stay below the path', async () => {
    const made = await signedIn(`${BASE}/auth/links`, {
      method: 'POST',
      headers: {
        Origin: 'https://example.org',
        'X-CSRF-Token': /svc_csrf=([^;]*)/.exec(cookies.join())![1]!,
      },
      body: JSON.stringify({ resource: 'a', password: PASSWORD }),
    });
    const { url } = (await made.json()) as { url: string };
    const { pathname } = new URL(url);
    expect(url).toBe(`https://example.org${pathname}`);
    expect(pathname).toStartWith(`${BASE}/s/`);
    const body = new URLSearchParams({ password: PASSWORD });
    const entered = await ask(pathname, { method: 'POST', body, headers: HTML });
    const [cookie] = entered.headers.getSetCookie();
    expect(cookie).toContain(`Path=${pathname}`);
    const sent = { ...HTML, Cookie: cookie!.split(';')[0]! };
    const front = await ask(entered.headers.get('Location')!, { headers: sent });
    expect(front.headers.get('Location')).toBe(`${pathname}ui/a/`);
    const page = await (await ask(`${pathname}ui/a/`, { headers: sent })).text();
    expect(page).toContain(`data-base="${pathname.slice(0, -1)}"`);
    const addresses = [...page.matchAll(/\s(?:href|src|action)="(\/[^"]*)"/g)].map(
      ([, one]) => one!,
    );
    expect(addresses.filter((one) => !one.startsWith(pathname))).toEqual([]);
  });

  test('every address of a page leads below the path, and is there', async () => {
    const seen = new Set<string>();
    for (const path of [
      '/',
      '/ui/a/',
      '/notes',
      '/profile',
      '/admin/',
      '/search?q=x',
      '/docs',
      '/events',
      '/none',
    ]) {
      const page = await signedIn(BASE + path, { headers: HTML });
      const markup = (await page.text()).replaceAll(/&lt;.*?&gt;/g, '');
      const addresses = [...markup.matchAll(/\s(?:href|src|action)="(\/[^"]*)"/g)].map(
        ([, one]) => one!,
      );
      expect(addresses.length).toBeGreaterThan(3);
      expect(addresses.filter((one) => !one.startsWith(`${BASE}/`))).toEqual([]);
      expect(markup).toContain(`data-base="${BASE}"`);
      for (const one of addresses) seen.add(one.replaceAll('&amp;', '&'));
    }
    const missing: string[] = [];
    for (const address of [...seen].filter((one) => one.includes('/_svc/') || !one.includes('?'))) {
      const { status } = await signedIn(address, { headers: HTML });
      if (status === 404 || status === 418) missing.push(address);
    }
    expect(missing).toEqual([]);
    const notes = await (await signedIn(`${BASE}/notes`, { headers: HTML })).text();
    expect(notes).toContain('&lt;a href="/x"&gt;');
    const raw = await signedIn(`${BASE}/raw.html`);
    expect(await raw.text()).toBe('<!doctype html><a href="/x">x</a>');
  });

  test('programs follow links', async () => {
    const first = await signedIn(`${BASE}/api/a/?limit=2`);
    const next = /<([^>]*)>; rel="next"/.exec(first.headers.get('Link')!)![1]!;
    expect(next).toStartWith(`${BASE}/api/a/?`);
    expect(await (await signedIn(next)).json()).toEqual([{ _row_id: 3, n: 3 }]);
    const openapi = (await (await signedIn(`${BASE}/openapi.json`)).json()) as object;
    expect(openapi).toMatchObject({ servers: [{ url: BASE }] });
    const search = (await (await signedIn(`${BASE}/search?q=notes`)).json()) as {
      results: { ui_url: string }[];
    };
    expect(search.results[0]!.ui_url).toStartWith(`${BASE}/notes`);
    const file = await signedIn(`${BASE}/a.csv`, { headers: { Range: 'bytes=0-2' } });
    expect([file.status, await file.text()]).toEqual([206, 'n\n1']);
  });

  test('what changes something needs the token of its session', async () => {
    const csrf = /svc_csrf=([^;]*)/.exec(cookies.join('\n'))![1]!;
    const change = (headers: Record<string, string>) =>
      signedIn(`${BASE}/api/a/`, {
        method: 'PATCH',
        headers: { ...headers, Origin: 'https://example.org' },
        body: '{"action":"update","data":{"_row_id":1,"n":1}}',
      });
    expect((await change({})).status).toBe(403);
    expect((await change({ 'X-CSRF-Token': csrf })).status).toBe(200);
    const out = await signedIn(`${BASE}/auth/logout`, {
      method: 'POST',
      headers: { 'X-CSRF-Token': csrf, Origin: 'https://example.org' },
    });
    expect([out.status, out.headers.get('Location')]).toEqual([302, `${BASE}/auth/login`]);
    expect(out.headers.getSetCookie().every((one) => one.includes(`Path=${BASE}/`))).toBe(true);
  });

  test('paths that are none stay none', async () => {
    const key = await svc.accounts.apiKey('anna');
    for (const path of [`${BASE}/api//a/`, `${BASE}/none`]) {
      expect((await ask(path, { headers: { 'X-API-Key': key } })).status).toBe(404);
    }
    expect((await ask('/database')).status).toBe(418);
  });
});

test('metadata for agents names the whole address', async () => {
  await using other = await startService({
    files: { 'a.csv': 'n\n1\n' },
    config: {
      public_url: 'https://example.org/data',
      oidc: { issuer: 'http://127.0.0.1:9/realm', client_id: 'svc' },
    },
  });
  const path = '/.well-known/oauth-protected-resource/mcp';
  const metadata = await other.fetch(path, { headers: { Host: 'example.org' } });
  expect(await metadata.json()).toMatchObject({ resource: 'https://example.org/data/mcp' });
  const refused = await other.fetch('/mcp', {
    method: 'POST',
    headers: { Host: 'example.org' },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
  expect(refused.headers.get('WWW-Authenticate')).toContain(
    'https://example.org/data/.well-known/oauth-protected-resource/mcp',
  );
});
