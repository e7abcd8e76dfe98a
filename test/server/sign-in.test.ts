/** Signing in and out over HTTP: answers, cookies, CSRF (DS-98 to DS-105, DS-111 to DS-115). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { listAudit } from '../support/audit.ts';
import { PASSWORD, startFixture } from './server-fixture.ts';
import type { Fixture } from './server-fixture.ts';

// Password hashes are slow by design, and slower on a busy machine.

const HTML = { Accept: 'text/html' };
const DAY_MS = 24 * 60 * 60 * 1000;

let server: Fixture;
beforeAll(async () => {
  server = await startFixture();
  await server.user('anna');
});
afterAll(() => server[Symbol.asyncDispose]());

function form(fields: Record<string, string>, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', body: new URLSearchParams(fields), headers };
}

function json(value: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', body: JSON.stringify(value), headers };
}

/** `Set-Cookie` values by cookie name. */
function cookiesOf(response: Response): Record<string, string> {
  return Object.fromEntries(
    response.headers.getSetCookie().map((header) => {
      const [pair = '', ...attributes] = header.split('; ');
      return [pair.slice(0, pair.indexOf('=')), [pair, ...attributes.sort()].join('; ')];
    }),
  );
}

const valueOf = (header: string | undefined): string => /=([^;]*)/.exec(header ?? '')?.[1] ?? '';
const credentials = { username: 'anna', password: PASSWORD };

async function login(): Promise<{ cookie: string; csrf: string; session: string }> {
  const { svc_session, svc_csrf } = cookiesOf(await server.fetch('/auth/login', json(credentials)));
  const [session, csrf] = [valueOf(svc_session), valueOf(svc_csrf)];
  return { cookie: `svc_session=${session}; svc_csrf=${csrf}`, csrf, session };
}

async function actions(): Promise<string[]> {
  const { entries } = await listAudit(server.services.db, { order: 'asc', limit: 1000, offset: 0 });
  return entries.map(({ action, details }) => `${action}: ${details}`);
}

describe('DS-99: a login', () => {
  test('answers 200 to programs, in JSON, urlencoded and multipart', async () => {
    const multipart = new FormData();
    for (const [name, value] of Object.entries(credentials)) multipart.set(name, value);
    const bodies: RequestInit[] = [
      json(credentials),
      // As curl does it, which calls everything it posts a form.
      json(credentials, { 'Content-Type': 'application/x-www-form-urlencoded' }),
      form({ ...credentials, grant_type: 'password', client_id: 'x' }),
      { method: 'POST', body: multipart },
    ];
    for (const init of bodies) {
      const response = await server.fetch('/auth/login/', init);
      expect([response.status, await response.json()]).toEqual([200, { message: 'Logged in' }]);
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
    expect(await actions()).toContain('login: User logged in');
  });

  test('leads a browser to the page it came for, if that is one of ours', async () => {
    const location = async (path: string, next?: string): Promise<string | null> => {
      const fields = next === undefined ? credentials : { ...credentials, next };
      const response = await server.fetch(path, form(fields, HTML));
      expect(response.status).toBe(303);
      return response.headers.get('location');
    };
    expect(await location('/auth/login')).toBe('/');
    expect(await location('/auth/login', '/ui/a%20b?x=1')).toBe('/ui/a%20b?x=1');
    expect(await location('/auth/login?next=/a', '/b')).toBe('/b');
    expect(await location('/auth/login?next=/a')).toBe('/a');
    expect(await location('/auth/login', '//evil.example')).toBe('/');
  });

  test.each([
    ['an unknown user', { username: 'nobody', password: PASSWORD }],
    ['a wrong password', { username: 'anna', password: `${PASSWORD}!` }],
    ['an empty password', { username: 'anna', password: '' }],
  ])('fails alike for %s', async (_, body) => {
    const response = await server.fetch('/auth/login', json(body));
    expect([response.status, await response.json()]).toEqual([
      401,
      { detail: 'Invalid credentials' },
    ]);
    const page = await server.fetch('/auth/login', form({ ...body, next: '/a' }, HTML));
    const text = await page.text();
    expect(page.status).toBe(401);
    expect(text).toContain('Invalid credentials');
    expect(text).toContain('name="next" value="/a"');
    expect(text).not.toContain(PASSWORD);
  });

  test.each([
    ['missing members', {}, ['missing username', 'missing password']],
    [
      'other types',
      { username: 1, password: null },
      ['string_type username', 'string_type password'],
    ],
    ['another grant', { ...credentials, grant_type: 'x' }, ['string_pattern_mismatch grant_type']],
    [
      'a huge password',
      { ...credentials, password: 'x'.repeat(1025) },
      ['string_too_long password'],
    ],
  ])('refuses %s in list form', async (_, body, issues) => {
    const response = await server.fetch('/auth/login', json(body));
    expect(response.status).toBe(422);
    const { detail } = (await response.json()) as { detail: { type: string; loc: string[] }[] };
    expect(detail.map(({ type, loc }) => `${type} ${loc[1]}`)).toEqual(issues);
    expect(new Set(detail.map(({ loc }) => loc[0]))).toEqual(new Set(['body']));
    expect((await server.fetch('/auth/login', json([]))).status).toBe(422);
  });

  test('is closed while only the identity provider signs people in', async () => {
    await using closed = await startFixture({ config: { 'oidc.local_login': false } });
    const response = await closed.fetch('/auth/login', json(credentials));
    expect([response.status, await response.json()]).toEqual([
      403,
      { detail: 'Local password login is disabled' },
    ]);
    const page = await (await closed.fetch('/auth/login', { headers: HTML })).text();
    expect(page).not.toContain('type="password"');
  });

  test('DS-102: is refused after ten failures, with the right password too', async () => {
    await using strict = await startFixture();
    await strict.user('bert');
    const attempt = (password: string) =>
      strict.fetch('/auth/login', json({ username: 'bert', password }));
    await Promise.all(Array.from({ length: 10 }, () => attempt('wrong')));
    const refused = await attempt(PASSWORD);
    expect([refused.status, await refused.json()]).toEqual([
      429,
      { detail: 'Too many failed logins' },
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const page = await strict.fetch('/auth/login', form({ username: 'bert', password: 'x' }, HTML));
    expect([page.status, page.headers.has('retry-after')]).toEqual([429, true]);
    strict.clock.pass(15 * 60 * 1000);
    expect((await attempt(PASSWORD)).status).toBe(200);
  });

  test('DS-103: ends the session that came along and gives a new one', async () => {
    const first = await login();
    const init = json(credentials, { Cookie: first.cookie, 'X-CSRF-Token': first.csrf });
    const response = await server.fetch('/auth/login', init);
    expect(response.status).toBe(200);
    expect(valueOf(cookiesOf(response)['svc_session'])).not.toBe(first.session);
    const me = await server.fetch('/auth/me', { headers: { Cookie: first.cookie } });
    expect(me.status).toBe(401);
  });

  test('takes at most a megabyte', async () => {
    const response = await server.fetch('/auth/login', form({ username: 'x'.repeat(1_100_000) }));
    expect(response.status).toBe(413);
  });
});

describe('DS-103, DS-104, DS-112: the cookies', () => {
  test('have their exact attributes', async () => {
    const { svc_session, svc_csrf } = cookiesOf(
      await server.fetch('/auth/login', json(credentials)),
    );
    expect(svc_session).toMatch(
      /^svc_session=[\w-]{43}; HttpOnly; Max-Age=604800; Path=\/; SameSite=Lax$/,
    );
    expect(svc_csrf).toMatch(/^svc_csrf=[\w-]{43}; Max-Age=604800; Path=\/; SameSite=Lax$/);
  });

  test.each([
    ['secure_cookies', { secure_cookies: true }, {}, true],
    ['an https public_url', { public_url: 'https://data.example' }, {}, true],
    ['a trusted proxy', { trusted_proxies: ['127.0.0.1'] }, { 'X-Forwarded-Proto': 'https' }, true],
    ['an untrusted one', {}, { 'X-Forwarded-Proto': 'https' }, false],
  ])('DS-205: are Secure with %s', async (_, config, headers, isSecure) => {
    await using other = await startFixture({ config });
    await other.user('anna');
    const response = await other.fetch('/auth/login', json(credentials, headers));
    const cookies = response.headers.getSetCookie();
    const areSecure = cookies.map((cookie) => cookie.split('; ').includes('Secure'));
    expect(areSecure).toEqual([isSecure, isSecure]);
  });

  test('are sent again when the session is renewed', async () => {
    await using other = await startFixture();
    const { cookie, token } = await other.session('anna');
    const renewed = async (): Promise<string[]> => {
      const response = await other.fetch('/auth/me', { headers: { Cookie: cookie } });
      expect(response.status).toBe(200);
      return Object.keys(cookiesOf(response));
    };
    expect(await renewed()).toEqual([]);
    other.clock.pass(5 * 60 * 1000 + 1);
    const response = await other.fetch('/auth/me', { headers: { Cookie: cookie } });
    expect(valueOf(cookiesOf(response)['svc_session'])).toBe(token);
    expect(Object.keys(cookiesOf(response))).toEqual(['svc_session', 'svc_csrf']);
    other.clock.pass(6 * DAY_MS);
    expect(await renewed()).toHaveLength(2);
    other.clock.pass(7 * DAY_MS + 1);
    const late = await other.fetch('/auth/me', { headers: { Cookie: cookie } });
    expect(late.status).toBe(401);
    expect(cookiesOf(late)['svc_session']).toStartWith('svc_session=; HttpOnly; Max-Age=0;');
  });

  test('DS-94: an unknown session counts as absent and is cleared', async () => {
    const headers = { Cookie: `svc_session=${'x'.repeat(43)}` };
    const response = await server.fetch('/health', { headers });
    expect(response.status).toBe(200);
    expect(cookiesOf(response)['svc_session']).toContain('Max-Age=0');
  });

  test('DS-112: a missing or foreign CSRF cookie is replaced; a page gives an anonymous one', async () => {
    const { session, csrf } = await login();
    for (const other of ['', '; svc_csrf=planted']) {
      const headers = { Cookie: `svc_session=${session}${other}` };
      const response = await server.fetch('/auth/me', { headers });
      expect(valueOf(cookiesOf(response)['svc_csrf'])).toBe(csrf);
    }
    const page = await server.fetch('/auth/login', { headers: HTML });
    const random = valueOf(cookiesOf(page)['svc_csrf']);
    expect(random).toMatch(/^[\w-]{43}$/);
    const again = await server.fetch('/auth/login', {
      headers: { ...HTML, Cookie: `svc_csrf=${random}` },
    });
    expect(cookiesOf(again)).toEqual({});
  });
});

describe('DS-111 to DS-115: cross-site requests', () => {
  const origin = (): string => server.url;
  const logout = async (headers: Record<string, string>): Promise<[number, string]> => {
    const response = await server.fetch('/auth/logout', { method: 'POST', headers });
    const text = await response.text();
    return [response.status, text === '' ? '' : (JSON.parse(text) as { detail: string }).detail];
  };
  const refusal: [number, string] = [403, 'CSRF check failed: cross-site request'];

  test('a session needs its token in a header or a form field', async () => {
    const { cookie, csrf } = await login();
    const headers = { Cookie: cookie };
    expect(await logout(headers)).toEqual([403, 'Missing CSRF token']);
    expect(await logout({ ...headers, 'X-CSRF-Token': 'wrong' })).toEqual([
      403,
      'Invalid CSRF token',
    ]);
    expect(await logout({ ...headers, 'X-CSRF-Token': csrf, Origin: origin() })).toEqual([302, '']);
  });

  test('a session needs its CSRF cookie too, which comes with the refusal', async () => {
    const { session, csrf } = await login();
    const headers = { Cookie: `svc_session=${session}`, 'X-CSRF-Token': csrf };
    const response = await server.fetch('/auth/logout', { method: 'POST', headers });
    expect(await response.json()).toEqual({ detail: 'Missing CSRF cookie' });
    expect(valueOf(cookiesOf(response)['svc_csrf'])).toBe(csrf);
  });

  test('a token planted in the cookie, or of another session, is of no use', async () => {
    const [mine, other] = [await login(), await login()];
    const planted = { Cookie: `svc_session=${mine.session}; svc_csrf=${other.csrf}` };
    for (const token of [other.csrf, mine.csrf]) {
      expect(await logout({ ...planted, 'X-CSRF-Token': token })).toEqual([
        403,
        'Invalid CSRF token',
      ]);
    }
  });

  test('another origin is refused with the right token, and without a session', async () => {
    const { cookie, csrf } = await login();
    const host = origin().replace('http://', '');
    const foreign = [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: `${origin()}.evil.example` },
      { Origin: `http://evil.example/${host}` },
      { Origin: `http://evil-${host}` },
      { 'Sec-Fetch-Site': 'cross-site' },
      { Origin: origin(), 'Sec-Fetch-Site': 'cross-site' },
    ];
    for (const headers of foreign as Record<string, string>[]) {
      expect(await logout({ ...headers, Cookie: cookie, 'X-CSRF-Token': csrf })).toEqual(refusal);
      expect(await logout(headers)).toEqual(refusal);
      const response = await server.fetch('/auth/login', json(credentials, headers));
      expect(response.status).toBe(403);
    }
    expect(
      (await server.fetch('/auth/login', json(credentials, { Origin: origin() }))).status,
    ).toBe(200);
  });

  test('public_url and allowed_hosts are own origins', async () => {
    await using other = await startFixture({
      config: { public_url: 'https://data.example:8443/x', allowed_hosts: ['*.trusted.example'] },
    });
    await other.user('anna');
    const status = async (Origin: string): Promise<number> =>
      (await other.fetch('/auth/login', json(credentials, { Origin }))).status;
    expect(await status('https://data.example:8443')).toBe(200);
    expect(await status('https://a.trusted.example')).toBe(200);
    expect(await status('https://data.example')).toBe(403);
    expect(await status('https://trusted.example')).toBe(403);
  });

  test('EV-13: a remembered Basic header is no way around', async () => {
    const headers = {
      Authorization: `Basic ${btoa(`anna:${PASSWORD}`)}`,
      Origin: 'https://evil.example',
    };
    const init = { method: 'POST', body: '{}', headers };
    expect((await server.fetch('/api/apikeys', init)).status).toBe(403);
    const own = { ...init, headers: { Authorization: headers.Authorization } };
    expect((await server.fetch('/api/apikeys', own)).status).toBe(201);
  });

  test('DS-113: a form field is found behind a file, and the body stays whole', async () => {
    await using echo = await startFixture({
      routes: [
        {
          pattern: '/page/upload',
          access: 'user',
          methods: {
            POST: async (context) => new Response(await context.body.bytes(50_000_000)),
          },
        },
      ],
    });
    const { cookie, csrf } = await echo.session('anna');
    for (const size of [10, 3_000_000]) {
      const body = new FormData();
      body.set('file', new File([new Uint8Array(size).fill(65)], 'a.csv'));
      body.set('csrf_token', csrf);
      const sent = new Request('http://x/', { method: 'POST', body });
      const type = sent.headers.get('content-type')!;
      const bytes = await sent.bytes();
      const response = await echo.fetch('/page/upload', {
        method: 'POST',
        body: bytes,
        headers: { Cookie: cookie, 'Content-Type': type },
      });
      expect(response.status).toBe(200);
      expect(Bun.hash(await response.bytes())).toBe(Bun.hash(bytes));
    }
    const urlencoded = form({ csrf_token: csrf, a: 'b' }, { Cookie: cookie });
    const response = await echo.fetch('/page/upload', urlencoded);
    expect(await response.text()).toBe(`csrf_token=${csrf}&a=b`);
  });
});

describe('DS-105: logout', () => {
  test('ends the session, clears the cookies and leads to the sign-in page', async () => {
    const { cookie, csrf } = await login();
    const response = await server.fetch(
      '/auth/logout',
      form({ csrf_token: csrf }, { Cookie: cookie }),
    );
    expect([response.status, response.headers.get('location')]).toEqual([302, '/auth/login']);
    const cleared = cookiesOf(response);
    expect(cleared['svc_session']).toContain('Max-Age=0');
    expect(cleared['svc_csrf']).toContain('Max-Age=0');
    expect((await server.fetch('/auth/me', { headers: { Cookie: cookie } })).status).toBe(401);
    expect(await actions()).toContain('logout: User logged out');
  });

  test('needs no login, and no GET does it', async () => {
    expect((await server.fetch('/auth/logout', { method: 'POST' })).status).toBe(302);
    const get = await server.fetch('/auth/logout');
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });
});

test('DS-98: the sign-in page keeps a safe next and does not forward anybody', async () => {
  const { cookie } = await login();
  const page = async (path: string): Promise<string> => {
    const response = await server.fetch(path, { headers: { ...HTML, Cookie: cookie } });
    expect(response.status).toBe(200);
    return response.text();
  };
  expect(await page('/auth/login?next=/ui/x%3Fa')).toContain('name="next" value="/ui/x?a"');
  expect(await page('/auth/login?next=//evil.example')).toContain('name="next" value="/"');
  expect(await page('/auth/login')).toContain('name="csrf_token"');
});
