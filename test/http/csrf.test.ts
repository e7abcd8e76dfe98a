/**
 * Cross-site requests with a session: the matrix of DS-111 to DS-115 and S-C.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { bytesOf } from './changes.ts';
import { cookieOf, cookiesOf } from './cookies.ts';
import { sharedService } from './shared-service.ts';
import { PASSWORD } from '../support/password.ts';

const CREATE = '{"action":"create","data":[]}';

const shared = sharedService({
  files: { 'a.csv': 'n\n1\n' },
  config: { allowed_hosts: ['localhost', 'partner.example', '*.team.example'] },
});

let session = '';
let token = '';
let otherToken = '';
beforeAll(async () => {
  const { accounts } = shared.service;
  await accounts.user('anna', { password: PASSWORD });
  await accounts.grant('anna', '*', 'read', 'write');
  ({ csrfToken: otherToken } = await accounts.session('anna'));
  const mine = await accounts.session('anna');
  token = mine.csrfToken;
  session = mine.cookie.split('; ')[0]!;
});

const CROSS_SITE = 'CSRF check failed: cross-site request';
const NO_COOKIE = 'Missing CSRF cookie';
const NO_TOKEN = 'Missing CSRF token';
const INVALID = 'Invalid CSRF token';

/** Headers of a browser with the session; null leaves one out. */
function headersOf(parts: {
  cookie?: string | null;
  header?: string | null;
  site?: string;
  origin?: string;
}): Record<string, string> {
  const { cookie = token, header = token, site, origin } = parts;
  return {
    Cookie: cookie === null ? session : `${session}; svc_csrf=${cookie}`,
    ...(header === null ? {} : { 'X-CSRF-Token': header }),
    ...(site === undefined ? {} : { 'Sec-Fetch-Site': site }),
    ...(origin === undefined ? {} : { Origin: origin }),
  };
}

async function post(
  headers: Record<string, string>,
  body: Bun.BodyInit = CREATE,
  path = '/api/a/',
  method = 'POST',
) {
  const response = await shared.service.fetch(path, { method, headers, body });
  const text = await response.text();
  return { status: response.status, text, response };
}

const refused = (detail: string) => ({ status: 403, text: JSON.stringify({ detail }) });

describe('the token (DS-113, DS-114)', () => {
  const bad = 'A'.repeat(43);
  const cases: readonly (readonly [string, () => Record<string, string>, string | null])[] = [
    ['cookie and header are right', () => headersOf({}), null],
    ['no cookie', () => headersOf({ cookie: null }), NO_COOKIE],
    ['an empty cookie', () => headersOf({ cookie: '' }), NO_COOKIE],
    ['no cookie and no header', () => headersOf({ cookie: null, header: null }), NO_COOKIE],
    ['no header', () => headersOf({ header: null }), NO_TOKEN],
    ['an empty header', () => headersOf({ header: '' }), NO_TOKEN],
    [
      'a planted cookie with its own token (S-C4)',
      () => headersOf({ cookie: bad, header: bad }),
      INVALID,
    ],
    ['a right cookie and another token', () => headersOf({ header: bad }), INVALID],
    ['another cookie and the right token', () => headersOf({ cookie: bad }), INVALID],
    [
      'the token of another session of the user',
      () => headersOf({ cookie: otherToken, header: otherToken }),
      INVALID,
    ],
    [
      'the token without its last character',
      () => headersOf({ header: token.slice(0, -1) }),
      INVALID,
    ],
    ['the token with one more', () => headersOf({ header: `${token}A` }), INVALID],
    ['the token in other letters', () => headersOf({ header: swapCase(token) }), INVALID],
    [
      'the session value as token',
      () => headersOf({ header: session.slice('svc_session='.length) }),
      INVALID,
    ],
  ];

  test.each(cases)('%s', async (_, headers, detail) => {
    const answer = await post(headers());
    if (detail === null) expect(answer.status).toBe(200);
    else expect(answer).toMatchObject(refused(detail));
  });

  test('a missing cookie is set afresh with the refusal, so that the next try succeeds', async () => {
    const { response } = await post(headersOf({ cookie: null }));
    expect(cookiesOf(response)).toEqual([
      { name: 'svc_csrf', value: token, attributes: 'Max-Age=604800; Path=/; SameSite=Lax' },
    ]);
    expect((await post(headersOf({ cookie: cookieOf(response, 'svc_csrf') }))).status).toBe(200);
  });

  test('the token is not accepted in the address, and no page puts it there (S-C7)', async () => {
    for (const query of [`?csrf_token=${token}`, `?X-CSRF-Token=${token}`]) {
      expect(await post(headersOf({ header: null }), CREATE, `/api/a/${query}`)).toMatchObject(
        refused(NO_TOKEN),
      );
    }
    const headers = headersOf({});
    for (const path of ['/', '/auth/login']) {
      const page = await (
        await shared.service.fetch(path, { headers: { ...headers, Accept: 'text/html' } })
      ).text();
      expect(page).not.toMatch(/(?:href|action|src)="[^"]*csrf/i);
    }
  });
});

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

describe('the token as a form field (DS-113)', () => {
  const credentials = { username: 'anna', password: PASSWORD };
  const login = (body: Bun.BodyInit, headers: Record<string, string> = {}) =>
    post({ ...headersOf({ header: null }), ...headers }, body, '/auth/login');

  test('of a urlencoded or multipart body counts, and the other fields are still read', async () => {
    const fields = { csrf_token: token, ...credentials };
    // A login ends the session that came along, so each has one of its own.
    for (const kind of ['urlencoded', 'multipart', 'multipart behind a file'] as const) {
      const own = await shared.service.accounts.session('anna');
      const headers = { Cookie: own.cookie };
      let body: Bun.BodyInit = new URLSearchParams({ ...fields, csrf_token: own.csrfToken });
      if (kind !== 'urlencoded') {
        body = new FormData();
        if (kind !== 'multipart') body.set('file', new File(['x'.repeat(200_000)], 'x.bin'));
        for (const [name, value] of Object.entries({ ...fields, csrf_token: own.csrfToken }))
          body.set(name, value);
      }
      const { status, text } = await login(body, headers);
      expect({ kind, status, text }).toEqual({
        kind,
        status: 200,
        text: '{"message":"Logged in"}',
      });
    }
  });

  test('a wrong or missing one is refused', async () => {
    const wrong = new URLSearchParams({ ...credentials, csrf_token: 'A'.repeat(43) });
    expect(await login(wrong)).toMatchObject(refused(INVALID));
    expect(await login(new URLSearchParams(credentials))).toMatchObject(refused(NO_TOKEN));
    const data = new FormData();
    data.set('username', 'anna');
    expect(await login(data)).toMatchObject(refused(NO_TOKEN));
    const long = new URLSearchParams({ csrf_token: token.repeat(100_000) });
    expect([refused(INVALID), refused(NO_TOKEN)].map(({ text }) => text)).toContain(
      (await login(long)).text,
    );
  });

  test('the header wins over the field', async () => {
    const fields = new URLSearchParams({ ...credentials, csrf_token: token });
    expect(await login(fields, { 'X-CSRF-Token': 'A'.repeat(43) })).toMatchObject(refused(INVALID));
  });

  test('is not looked for in JSON, nor in a form that says it is something else (S-C5)', async () => {
    const body = JSON.stringify({ ...credentials, csrf_token: token });
    expect(await login(body)).toMatchObject(refused(NO_TOKEN));
    const disguised = new URLSearchParams({ csrf_token: token }).toString();
    expect(await login(disguised, { 'Content-Type': 'text/plain' })).toMatchObject(
      refused(NO_TOKEN),
    );
  });

  test('a JSON change smuggled in as a form of another site is refused (S-C5)', async () => {
    const smuggled = `{"action":"create","data":[{"n":2}],"x":"=&csrf_token=${'A'.repeat(43)}"}`;
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const headers = { ...headersOf({ header: null }), 'Content-Type': type };
      expect((await post(headers, smuggled)).status).toBe(403);
    }
    expect(bytesOf(shared.service, 'a.csv')).toBe('n\n1\n');
  });
});

describe('where the request comes from (DS-114, S-C1, S-C2)', () => {
  const own = () => shared.service.url;
  const cases: readonly (readonly [string, () => { site?: string; origin?: string }, boolean])[] = [
    ['nothing said', () => ({}), true],
    ['same-origin', () => ({ site: 'same-origin', origin: own() }), true],
    ['same-site', () => ({ site: 'same-site' }), false],
    ['same-site in capitals', () => ({ site: 'Same-Site' }), false],
    ['same-site with the own origin', () => ({ site: 'same-site', origin: own() }), true],
    ['none', () => ({ site: 'none' }), true],
    ['cross-site', () => ({ site: 'cross-site' }), false],
    ['cross-site in capitals', () => ({ site: 'Cross-Site' }), false],
    ['cross-site with the own origin', () => ({ site: 'cross-site', origin: own() }), false],
    ['the own origin', () => ({ origin: own() }), true],
    [
      'the own origin in capitals',
      () => ({ origin: own().replace('localhost', 'LOCALHOST') }),
      true,
    ],
    ['a foreign origin', () => ({ origin: 'https://evil.example' }), false],
    [
      'a foreign origin that claims to be the same',
      () => ({ site: 'same-origin', origin: 'https://evil.example' }),
      false,
    ],
    ['null', () => ({ origin: 'null' }), false],
    ['an empty origin', () => ({ origin: '' }), false],
    ['the own origin as a prefix', () => ({ origin: `${own()}.evil.example` }), false],
    ['the own origin as a suffix', () => ({ origin: `https://evil.example?${own()}` }), false],
    ['the own host with another port', () => ({ origin: 'http://127.0.0.1:1' }), false],
    ['a file', () => ({ origin: 'file://' }), false],
    ['an extension', () => ({ origin: 'chrome-extension://abcdef' }), false],
    ['an allowed host', () => ({ origin: 'https://partner.example' }), true],
    ['an allowed host with a port', () => ({ origin: 'http://partner.example:8080' }), true],
    ['an allowed domain', () => ({ origin: 'https://x.team.example' }), true],
    ['the bare allowed domain', () => ({ origin: 'https://team.example' }), false],
    [
      'an allowed host as a prefix',
      () => ({ origin: 'https://partner.example.evil.example' }),
      false,
    ],
    [
      'an allowed host as a user',
      () => ({ origin: 'https://partner.example@evil.example' }),
      false,
    ],
    [
      'an allowed host as a path',
      () => ({ origin: 'https://evil.example/partner.example' }),
      false,
    ],
  ];

  test.each(cases)('%s', async (_, parts, isTaken) => {
    const answer = await post(headersOf(parts()));
    if (isTaken) expect(answer.status).toBe(200);
    else expect(answer).toMatchObject(refused(CROSS_SITE));
  });

  test('comes before everything about tokens', async () => {
    const headers = headersOf({ cookie: null, header: null, site: 'cross-site' });
    expect(await post(headers)).toMatchObject(refused(CROSS_SITE));
  });

  test('is looked at for Basic too, since browsers send that by themselves, and never for reading', async () => {
    const authorization = { Authorization: `Basic ${btoa(`anna:${PASSWORD}`)}` };
    expect((await post(authorization)).status).toBe(200);
    const foreign = { 'Sec-Fetch-Site': 'cross-site' };
    expect(await post({ ...authorization, ...foreign })).toMatchObject(refused(CROSS_SITE));
    const read = await shared.service.fetch('/api/a/', {
      headers: { ...authorization, ...foreign },
    });
    expect(read.status).toBe(200);
  });
});

describe('which requests need a token (DS-111)', () => {
  test('every method but GET, HEAD and OPTIONS, on every route', async () => {
    const routes: readonly (readonly [string, string])[] = [
      ['POST', '/api/a/'],
      ['PATCH', '/api/a/'],
      ['DELETE', '/api/a/'],
      ['PUT', '/api/a/'],
      ['POST', '/api/nothing/'],
      ['POST', '/nothing'],
      ['POST', '/api/apikeys'],
      ['DELETE', '/api/apikeys/1'],
      ['DELETE', '/auth/sessions/1'],
      ['PUT', '/auth/password'],
      ['POST', '/auth/login'],
      ['POST', '/auth/logout'],
    ];
    for (const [method, path] of routes) {
      const answer = await post(headersOf({ header: null }), '{}', path, method);
      expect({ method, path, ...answer }).toMatchObject({ method, path, ...refused(NO_TOKEN) });
    }
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      for (const path of ['/api/a/', '/auth/me', '/']) {
        const headers = headersOf({
          header: null,
          cookie: null,
          site: 'cross-site',
          origin: 'https://evil.example',
        });
        const { status } = await shared.service.fetch(path, { method, headers });
        expect([200, 204]).toContain(status);
      }
    }
  });

  test('a session beside a key or Basic needs it all the same', async () => {
    const key = await shared.service.accounts.apiKey('anna');
    const credentials: readonly Record<string, string>[] = [
      { 'X-API-Key': key },
      { Authorization: `Bearer ${key}` },
    ];
    for (const credential of credentials) {
      const headers = { ...headersOf({ header: null }), ...credential };
      expect(await post(headers)).toMatchObject(refused(NO_TOKEN));
    }
  });

  test('an API key alone, a dead session, an anonymous caller do not', async () => {
    const key = await shared.service.accounts.apiKey('anna');
    expect((await post({ 'X-API-Key': key })).status).toBe(200);
    expect((await post({ 'X-API-Key': key, Cookie: 'svc_session=dead' })).status).toBe(200);
    expect((await post({})).status).toBe(401);
    expect((await post({ Cookie: `svc_csrf=${token}` })).status).toBe(401);
    expect((await post({ Cookie: 'svc_session=dead; svc_csrf=dead' })).status).toBe(401);
  });

  test('signing out needs it with a session, and an own origin without one (DS-115)', async () => {
    const foreign = { 'Sec-Fetch-Site': 'cross-site' };
    expect(await post(foreign, '', '/auth/logout')).toMatchObject(refused(CROSS_SITE));
    expect((await post({}, '', '/auth/logout')).status).toBe(302);
    expect(await post(headersOf({ header: null }), '', '/auth/logout')).toMatchObject(
      refused(NO_TOKEN),
    );
    expect((await shared.service.fetch('/auth/me', { headers: { Cookie: session } })).status).toBe(
      200,
    );
  });
});

test('a token changes with the session, and dies with it (DS-112)', async () => {
  const first = await shared.service.accounts.session('anna');
  const second = await shared.service.accounts.session('anna');
  expect(first.csrfToken).not.toBe(second.csrfToken);
  const headers = { Cookie: first.cookie, 'X-CSRF-Token': first.csrfToken };
  expect((await post(headers, '', '/auth/logout')).status).toBe(302);
  expect((await post(headers)).status).toBe(401);
  const mixed = {
    Cookie: `${second.cookie.split('; ')[0]}; svc_csrf=${first.csrfToken}`,
    'X-CSRF-Token': first.csrfToken,
  };
  expect(await post(mixed)).toMatchObject(refused(INVALID));
});
