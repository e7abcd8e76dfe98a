/**
 * Signing in: bodies, answers, cookies, where it leads (DS-98 to DS-103, DS-112).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser, cookieOf, cookiesOf } from './cookies.ts';
import { sharedService } from './shared-service.ts';
import { onSharedCores } from '../support/patience.ts';
import { PASSWORD } from '../support/password.ts';

const ODD_PASSWORD = ' pä&=+%20;"\'<ß\u{1f511}> ';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const HTML = { Accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

// Requests come from addresses of their own, so that wrong passwords stay below the limits of DS-102.
const shared = sharedService({ config: { trusted_proxies: ['127.0.0.1'] } });

let addresses = 0;
function freshAddress(): Record<string, string> {
  addresses++;
  return { 'X-Forwarded-For': `198.51.${addresses >> 8}.${addresses & 255}` };
}

let annaId = 0;
beforeAll(async () => {
  const { accounts } = shared.service;
  ({ id: annaId } = await accounts.user('anna', { password: PASSWORD }));
  await accounts.user('odd & co', { password: ODD_PASSWORD });
  const { id } = await accounts.user('inactive', { password: PASSWORD });
  await accounts.db.run('UPDATE users SET is_active = 0 WHERE id = ?', [id]);
  await accounts.user('without password');
});

function post(body: Bun.BodyInit, headers: Record<string, string> = {}, path = '/auth/login') {
  return shared.service.fetch(path, {
    method: 'POST',
    headers: { ...freshAddress(), ...headers },
    body,
  });
}

const json = (username: unknown, password: unknown, more: object = {}) =>
  JSON.stringify({ username, password, ...more });
const form = (fields: Record<string, string>) => new URLSearchParams(fields);

function multipart(fields: Record<string, string>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
}

describe('the three kinds of body (DS-99)', () => {
  const credentials = { username: 'anna', password: PASSWORD };
  const bodies: readonly (readonly [string, () => Bun.BodyInit])[] = [
    ['JSON', () => json('anna', PASSWORD)],
    ['urlencoded', () => form(credentials)],
    ['multipart', () => multipart(credentials)],
  ];

  test.each(bodies)('%s signs in: 200, message and cookies', async (_, body) => {
    const response = await post(body());
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('{"message":"Logged in"}');
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(cookieOf(response, 'svc_session')).toMatch(TOKEN);
  });

  test.each(bodies)('%s with an HTML client', async (kind, body) => {
    const response = await post(body(), HTML);
    if (kind === 'JSON') {
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ message: 'Logged in' });
    } else {
      expect(response.status).toBe(303);
      expect(response.headers.get('Location')).toBe('/');
    }
    expect(cookieOf(response, 'svc_session')).toMatch(TOKEN);
  });

  test('names and passwords of any characters come through each of them', async () => {
    const odd = { username: 'odd & co', password: ODD_PASSWORD };
    for (const body of [json(odd.username, odd.password), form(odd), multipart(odd)]) {
      expect((await post(body)).status).toBe(200);
    }
  });

  test('the name is trimmed and normalised, the password taken as typed (DS-109, DS-136)', async () => {
    expect((await post(json('  anna ', PASSWORD))).status).toBe(200);
    expect((await post(json('anna', ` ${PASSWORD}`))).status).toBe(401);
    expect((await post(json('anna', `${PASSWORD} `))).status).toBe(401);
    expect((await post(json('Anna', PASSWORD))).status).toBe(401);
  });

  test.each([
    ['grant_type password', { grant_type: 'password' }, 200],
    ['grant_type null', { grant_type: null }, 200],
    ['fields of OAuth 2', { scope: '', client_id: 'x', client_secret: 'y' }, 200],
    ['another grant_type', { grant_type: 'client_credentials' }, 422],
    ['an empty grant_type', { grant_type: '' }, 422],
    ['grant_type as a list', { grant_type: ['password'] }, 422],
  ])('%s', async (_, more, status) => {
    const response = await post(json('anna', PASSWORD, more));
    expect(response.status).toBe(status);
    if (status === 422) {
      const { detail } = (await response.json()) as { detail: { loc: unknown }[] };
      expect(detail[0]?.loc).toEqual(['body', 'grant_type']);
    }
  });

  test('a missing field is 422 in list form (DS-99)', async () => {
    const asked: readonly (readonly [Bun.BodyInit, string[]])[] = [
      [form({ username: 'anna' }), ['password']],
      [form({ password: 'x' }), ['username']],
      [form({}), ['username', 'password']],
      [multipart({ username: 'anna' }), ['password']],
      [json(undefined, 'x'), ['username']],
    ];
    for (const [body, missing] of asked) {
      const headers = body instanceof URLSearchParams && [...body].length === 0 ? FORM : {};
      const response = await post(body, headers);
      expect(response.status).toBe(422);
      const { detail } = (await response.json()) as { detail: object[] };
      expect(detail).toEqual(
        missing.map((name) => ({ type: 'missing', loc: ['body', name], msg: expect.any(String) })),
      );
      expect(cookiesOf(response)).toEqual([]);
    }
  });

  const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

  test('an HTML client gets the form back for a missing field, still as 422', async () => {
    const response = await post(form({ username: '<b>anna</b>' }), HTML);
    expect(response.status).toBe(422);
    const page = await response.text();
    expect(page).toContain('<form');
    expect(page).toContain('value="<b>anna</b>"');
    expect(page).not.toContain('><b>anna');
  });

  test.each([
    ['no boundary', 'multipart/form-data', 'x'],
    ['an empty body', 'multipart/form-data; boundary=x', ''],
    [
      'no closing boundary',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="username"\r\n\r\nanna',
    ],
    [
      'a part without a name',
      'multipart/form-data; boundary=x',
      '--x\r\nX: y\r\n\r\nanna\r\n--x--\r\n',
    ],
    [
      'headers without an end',
      'multipart/form-data; boundary=x',
      `--x\r\n${'X: y\r\n'.repeat(9_000)}`,
    ],
  ])('multipart with %s is refused as 400 or 422', async (_, type, body) => {
    const response = await post(body, { 'Content-Type': type });
    expect([400, 422]).toContain(response.status);
    expect(cookiesOf(response)).toEqual([]);
  });

  test('a body of 10 MB is 413 before any hashing (S-D3)', async () => {
    const start = performance.now();
    const big = 'x'.repeat(10 * 1024 * 1024);
    for (const body of [json('anna', big), form({ username: 'anna', password: big })]) {
      expect((await post(body)).status).toBe(413);
    }
    expect(performance.now() - start).toBeLessThan(onSharedCores(5_000));
  });

  test('a password of more than 1024 characters is 422, of 1024 just wrong (DS-109)', async () => {
    const long = await post(json('anna', 'x'.repeat(1025)));
    expect(long.status).toBe(422);
    expect(await long.json()).toMatchObject({
      detail: [{ type: 'string_too_long', loc: ['body', 'password'] }],
    });
    expect((await post(json('anna', 'ä'.repeat(1024)))).status).toBe(401);
  });
});

describe('who cannot sign in hears the same words (DS-99, DS-101, S-A3)', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['a wrong password', 'anna', 'wrong'],
    ['an unknown user', 'nobody at all', PASSWORD],
    ['an inactive user', 'inactive', PASSWORD],
    ['a user without a password', 'without password', PASSWORD],
    ['an empty password', 'anna', ''],
    ['an empty name', '', PASSWORD],
    ['a name of control characters', 'a\u0000b', PASSWORD],
    ['a name of sixty thousand characters', 'x'.repeat(60_000), 'wrong'],
    ['SQL as a name', "' OR 1=1 --", 'x'],
  ];

  const comparable = async (response: Response) => {
    const headers = Object.fromEntries(response.headers);
    delete headers['x-request-id'];
    delete headers['date'];
    return { status: response.status, headers, body: await response.text() };
  };

  let reference: unknown;
  beforeAll(async () => {
    reference = await comparable(await post(json('anna', 'wrong')));
  });

  test.each(cases)('%s: 401 with the very same answer', async (_, username, password) => {
    const response = await post(json(username, password));
    const answer = await comparable(response);
    expect(answer).toMatchObject({ status: 401, body: '{"detail":"Invalid credentials"}' });
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="svc"');
    expect(cookiesOf(response)).toEqual([]);
    expect(answer).toEqual(reference as typeof answer);
  });

  test('an HTML client gets the login page with that message, status 401, never a redirect (DS-12)', async () => {
    const response = await post(
      form({ username: 'anna', password: 'wrong', next: '/a?b=1' }),
      HTML,
    );
    expect(response.status).toBe(401);
    expect(response.headers.get('Location')).toBeNull();
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    const page = await response.text();
    expect(page).toContain('Invalid credentials');
    expect(page).toContain('value="anna"');
    expect(page).toContain('value="/a?b=1"');
    expect(page).not.toContain('wrong');
    expect(page).not.toContain(PASSWORD);
  });

  test('the name that comes back is text, not markup (S-X8)', async () => {
    const username = '"><script>alert(1)</script>';
    const page = await (await post(form({ username, password: 'x' }), HTML)).text();
    // It stays inside the quotes of its attribute.
    expect(page).toContain('value="&#34;><script>alert(1)</script>"');
    expect(page).not.toContain('"><script>alert');
  });

  test('an unknown user costs as much time as a wrong password', async () => {
    const took: Record<string, number[]> = { 'nobody at all': [], anna: [] };
    for (let round = 0; round < 9; round++) {
      for (const [username, times] of Object.entries(took)) {
        const start = performance.now();
        await post(json(username, `wrong ${round}`));
        times.push(performance.now() - start);
      }
    }
    // The quickest of each: what is slower was held up by something else.
    const [unknown = 0, known = 0] = Object.values(took).map((times) => Math.min(...times));
    // Without the dummy hash the unknown user would be answered in a hundredth of the time.
    expect(unknown / known).toBeGreaterThan(0.4);
    expect(unknown / known).toBeLessThan(2.5);
  });
});

describe('the cookies (DS-103, DS-112, S-A10)', () => {
  test('have exactly these names, values and attributes', async () => {
    const response = await post(json('anna', PASSWORD));
    const cookies = cookiesOf(response);
    expect(cookies.map(({ name }) => name).sort()).toEqual(['svc_csrf', 'svc_session']);
    const [session, csrf] = ['svc_session', 'svc_csrf'].map((name) =>
      cookies.find((cookie) => cookie.name === name)!,
    );
    expect(session!.value).toMatch(TOKEN);
    expect(session!.attributes).toBe('HttpOnly; Max-Age=604800; Path=/; SameSite=Lax');
    expect(csrf!.value).toMatch(TOKEN);
    expect(csrf!.attributes).toBe('Max-Age=604800; Path=/; SameSite=Lax');
    expect(csrf!.value).not.toBe(session!.value);
  });

  test('are Secure when a trusted proxy says https (DS-205)', async () => {
    const response = await post(json('anna', PASSWORD), { 'X-Forwarded-Proto': 'https' });
    for (const { attributes } of cookiesOf(response))
      expect(attributes).toEndWith('; SameSite=Lax; Secure');
    const plain = await post(json('anna', PASSWORD), { 'X-Forwarded-Proto': 'http' });
    for (const { attributes } of cookiesOf(plain)) expect(attributes).not.toContain('Secure');
  });

  test('only the digest of the session value is stored', async () => {
    const response = await post(json('anna', PASSWORD), { 'User-Agent': 'a test' });
    const value = cookieOf(response, 'svc_session')!;
    const digest = createHash('sha256').update(value).digest('hex');
    const { db } = shared.service.accounts;
    const row = await db.get<Record<string, unknown>>(
      'SELECT * FROM sessions WHERE token_hash = ?',
      [digest],
    );
    expect(row).toMatchObject({ user_id: annaId, user_agent: 'a test' });
    expect(String(row?.['ip_address'])).toStartWith('198.51.');
    const lifetime =
      Date.parse(String(row?.['expires_at'])) - Date.parse(String(row?.['created_at']));
    expect(lifetime).toBe(7 * 24 * 60 * 60 * 1000);
    const database = readFileSync(join(shared.service.stateDir, 'svc.db')).toString('latin1');
    expect(database).not.toContain(value);
    expect(JSON.stringify(await db.all('SELECT * FROM sessions'))).not.toContain(value);
  });

  test('every login gives new values; the session that came along ends (S-A7)', async () => {
    const browser = new Browser(shared.service);
    const values = new Set<string>();
    const earlier: string[] = [];
    for (let round = 0; round < 3; round++) {
      expect((await browser.signIn('anna', PASSWORD)).status).toBe(200);
      const session = browser.cookies.get('svc_session')!;
      values.add(session).add(browser.cookies.get('svc_csrf')!);
      for (const dead of earlier) {
        const headers = { Cookie: `svc_session=${dead}` };
        expect((await shared.service.fetch('/auth/me', { headers })).status).toBe(401);
      }
      earlier.push(session);
    }
    expect(values.size).toBe(6);
    expect((await browser.fetch('/auth/me')).status).toBe(200);
  });

  test('a value that was planted before is never taken over (S-A7)', async () => {
    const planted = 'A'.repeat(43);
    const response = await post(json('anna', PASSWORD), {
      Cookie: `svc_session=${planted}; svc_csrf=${planted}`,
    });
    expect(response.status).toBe(200);
    expect(cookieOf(response, 'svc_session')).not.toBe(planted);
    expect(cookieOf(response, 'svc_csrf')).not.toBe(planted);
    const headers = { Cookie: `svc_session=${planted}` };
    expect((await shared.service.fetch('/auth/me', { headers })).status).toBe(401);
  });

  test('several sessions of one user live side by side', async () => {
    const browsers = [new Browser(shared.service), new Browser(shared.service)];
    for (const browser of browsers) await browser.signIn('anna', PASSWORD);
    for (const browser of browsers) expect((await browser.fetch('/auth/me')).status).toBe(200);
  });
});

describe('where it leads (DS-100)', () => {
  const SAFE: readonly (readonly [string, string])[] = [
    ['/', '/'],
    ['/ui/a', '/ui/a'],
    ['/ui/a?x=1&y=2', '/ui/a?x=1&y=2'],
    ['/a#part', '/a#part'],
    ['/a%20b', '/a%20b'],
    ['/%2F%2Fevil.example', '/%2F%2Fevil.example'],
    ['/a//b', '/a//b'],
    ['/a:b@c', '/a:b@c'],
    ['/a?next=https://evil.example', '/a?next=https://evil.example'],
  ];
  const UNSAFE = [
    '',
    'a',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https://evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    ' /a',
    '/a b',
    '/ /evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/\r\nX-Injected: yes',
    '/a\u0000',
    '/a\\b',
    '/.//evil.example',
    '/..//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    '?x=1',
    '#x',
  ];

  /** Where the form of the login page will ask to be sent to. */
  async function offered(next: string): Promise<string | undefined> {
    const path = `/auth/login?next=${encodeURIComponent(next)}`;
    const page = await (await shared.service.fetch(path)).text();
    expect(page).not.toContain('javascript:');
    return /name="next" value="([^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
  }

  async function destination(next: string, place: 'body' | 'query'): Promise<string | null> {
    const fields = { username: 'anna', password: PASSWORD, ...(place === 'body' && { next }) };
    const path = place === 'query' ? `/auth/login?next=${encodeURIComponent(next)}` : '/auth/login';
    const response = await post(form(fields), HTML, path);
    expect(response.status).toBe(303);
    return response.headers.get('Location');
  }

  test.each(SAFE)('%s is kept', async (next, expected) => {
    expect(await offered(next)).toBe(expected);
  });

  test('what is kept is followed, from the body and from the query', async () => {
    for (const [next, expected] of [SAFE[2]!, SAFE[5]!]) {
      expect(await destination(next, 'body')).toBe(expected);
      expect(await destination(next, 'query')).toBe(expected);
    }
  });

  test.each(UNSAFE.map((next) => [JSON.stringify(next), next]))('%s is not', async (_, next) => {
    expect(await offered(next!)).toBe('/');
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/\t/evil.example',
    '/.//evil.example',
  ])('%j is not followed either', async (next) => {
    expect(await destination(next, 'body')).toBe('/');
  });

  test('the one in the body wins over the one in the query', async () => {
    const fields = { username: 'anna', password: PASSWORD, next: '/from-body' };
    const response = await post(form(fields), HTML, '/auth/login?next=/from-query');
    expect(response.headers.get('Location')).toBe('/from-body');
  });

  test('only HTML clients with a form are sent anywhere', async () => {
    const fields = { username: 'anna', password: PASSWORD, next: '/a' };
    expect((await post(form(fields))).status).toBe(200);
    expect((await post(json('anna', PASSWORD, { next: '/a' }), HTML)).status).toBe(200);
  });
});

describe('the login page (DS-98)', () => {
  test('is HTML for everybody, keeps a safe next, has no inline script (DS-208)', async () => {
    const response = await shared.service.fetch('/auth/login?next=/ui/a%3Fx%3D1');
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    const page = await response.text();
    expect(page).toContain('name="next" value="/ui/a?x=1"');
    expect(page).toMatch(/<form[^>]+method="post"/i);
    expect(page).not.toMatch(/<script(?![^>]*\bsrc=)/i);
    expect(page).not.toMatch(/\sstyle=|\son[a-z]+=|https?:\/\//i);
  });

  test('gives an anonymous visitor a random CSRF cookie, once (DS-112)', async () => {
    const first = await shared.service.fetch('/auth/login');
    const value = cookieOf(first, 'svc_csrf');
    expect(value).toMatch(TOKEN);
    expect(cookieOf(first, 'svc_session')).toBeNull();
    expect(cookieOf(await shared.service.fetch('/auth/login'), 'svc_csrf')).not.toBe(value);
    const again = await shared.service.fetch('/auth/login', {
      headers: { Cookie: `svc_csrf=${value}` },
    });
    expect(cookiesOf(again)).toEqual([]);
  });

  test('does not forward somebody who is signed in', async () => {
    const browser = await shared.service.inBrowserAs('anna');
    const response = await browser.fetch('/auth/login?next=/ui/a', { headers: HTML });
    expect(response.status).toBe(200);
    expect(response.headers.get('Location')).toBeNull();
  });
});

test('signing in from another site is refused without a session too (DS-115, S-C8)', async () => {
  const foreign: readonly Record<string, string>[] = [
    { 'Sec-Fetch-Site': 'cross-site' },
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: 'http://localhost.evil.example' },
    { Origin: `${shared.service.url}.evil.example` },
  ];
  for (const headers of foreign) {
    for (const body of [json('anna', PASSWORD), form({ username: 'anna', password: PASSWORD })]) {
      const response = await post(body, headers);
      expect(response.status).toBe(403);
      expect(await response.text()).toBe('{"detail":"CSRF check failed: cross-site request"}');
      expect(cookiesOf(response)).toEqual([]);
    }
  }
  const own: readonly Record<string, string>[] = [
    {},
    { 'Sec-Fetch-Site': 'same-origin', Origin: shared.service.url },
    { 'Sec-Fetch-Site': 'none' },
    { Origin: shared.service.url.toUpperCase().replace('HTTP', 'http') },
  ];
  for (const headers of own) expect((await post(json('anna', PASSWORD), headers)).status).toBe(200);
});
