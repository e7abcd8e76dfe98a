/**
 * Signing in through an identity provider that says whatever it likes: every row of DS-121 and DS-122, linking, roles,
 * and providers that are down, slow or hostile (S-O).
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/openid-provider.ts';
import { makeCertificate } from '../support/certificate.ts';
import { startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { Service } from '../support/service.ts';
import { FIRST_KEY, StandInProvider } from '../support/stand-in-provider.ts';
import { Browser, cookieOf, cookiesOf } from './cookies.ts';
import { soon } from './eventually.ts';
import { PASSWORD } from '../support/password.ts';

const CLIENT = 'svc-client';
const SECRET = 'client secret/with+signs';
const HTML = { Accept: 'text/html' };

let provider: StandInProvider;
let svc: Service;

async function startWith(
  own: StandInProvider,
  oidc: Record<string, unknown> = {},
  env: Record<string, string> = { SVC_OIDC_CLIENT_SECRET: SECRET },
): Promise<Service> {
  const port = String(freePort());
  return startService({
    files: { 'a.csv': 'n\n1\n' },
    args: ['--port', port],
    config: {
      public_url: `http://127.0.0.1:${port}`,
      oidc: { issuer: own.issuer, client_id: CLIENT, ...oidc },
    },
    env,
  });
}

beforeAll(async () => {
  provider = await StandInProvider.start();
  svc = await startWith(provider);
});
afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  provider.answers = {};
  provider.metadata = {};
});

interface Started {
  readonly browser: Browser;
  readonly location: URL;
}

async function begin(service = svc, next?: string): Promise<Started> {
  const browser = new Browser(service);
  const query = next === undefined ? '' : `?next=${encodeURIComponent(next)}`;
  const response = await browser.fetch(`/auth/oidc/login${query}`);
  expect(response.status).toBe(302);
  return { browser, location: new URL(response.headers.get('Location')!) };
}

/** Ends a sign-in with these ID token claims. `idToken` and `accessToken` replace what the provider would answer. */
async function complete(
  { browser, location }: Started,
  claims: Record<string, unknown>,
  options: {
    query?: Record<string, string | undefined>;
    idToken?: unknown;
    accessToken?: unknown;
    headers?: Record<string, string>;
    from?: StandInProvider;
  } = {},
): Promise<Response> {
  const { query = {}, headers = {}, from = provider } = options;
  const nonce = location.searchParams.get('nonce');
  const idToken = await from.token({ aud: CLIENT, nonce, ...claims });
  from.tokens = {
    access_token: 'accessToken' in options ? options.accessToken : 'opaque',
    id_token: 'idToken' in options ? options.idToken : idToken,
    token_type: 'Bearer',
    expires_in: 300,
  };
  const parameters = { code: 'code-1', state: location.searchParams.get('state')!, ...query };
  const search = new URLSearchParams(JSON.parse(JSON.stringify(parameters)));
  return browser.fetch(`/auth/oidc/callback?${search}`, { headers });
}

async function signIn(claims: Record<string, unknown>, service = svc, from = provider) {
  const started = await begin(service);
  const response = await complete(started, claims, { from });
  expect({ status: response.status, text: await response.text() }).toEqual({
    status: 302,
    text: '',
  });
  return started.browser;
}

const detailOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { detail: unknown }).detail;
const groupsOf = async (service: Service, username: string) =>
  (
    await service.accounts.db.all<{ name: string }>(
      `SELECT groups.name AS name FROM group_members JOIN groups ON groups.id = group_id
       JOIN users ON users.id = user_id WHERE username = ? ORDER BY name`,
      [username],
    )
  ).map(({ name }) => name);

describe('the way to the provider (DS-121)', () => {
  test('carries everything the code flow with PKCE needs', async () => {
    const { location, browser } = await begin();
    expect(location.origin + location.pathname).toBe(`${provider.issuer}/authorize`);
    const sent = Object.fromEntries(location.searchParams);
    expect(Object.keys(sent).sort()).toEqual(
      ['client_id', 'code_challenge', 'code_challenge_method', 'nonce', 'redirect_uri'].concat([
        'response_type',
        'scope',
        'state',
      ]),
    );
    expect(sent).toMatchObject({
      response_type: 'code',
      client_id: CLIENT,
      redirect_uri: `${svc.url}/auth/oidc/callback`,
      scope: 'openid profile',
      code_challenge_method: 'S256',
    });
    const verifier = browser.cookies.get('svc_oidc_verifier')!;
    const digest = new Bun.CryptoHasher('sha256').update(verifier).digest('base64url');
    expect(sent['code_challenge']).toBe(digest);
  });

  test('leaves cookies only this browser has, for ten minutes', async () => {
    const response = await svc.fetch('/auth/oidc/login?next=/ui/a/%3Fq%3D1');
    const cookies = cookiesOf(response);
    expect(cookies.map(({ name }) => name)).toEqual([
      'svc_oidc_state',
      'svc_oidc_verifier',
      'svc_oidc_nonce',
      'svc_oidc_next',
    ]);
    for (const { attributes } of cookies) {
      expect(attributes).toBe('HttpOnly; Max-Age=600; Path=/; SameSite=Lax');
    }
    expect(decodeURIComponent(cookieOf(response, 'svc_oidc_next')!)).toBe('/ui/a/?q=1');
  });

  test.each(['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)'])(
    'does not remember %s (S-O8)',
    async (next) => {
      const { browser } = await begin(svc, next);
      expect(browser.cookies.has('svc_oidc_next')).toBe(false);
    },
  );

  test('goes by the public address, whatever the request says about hosts (S-H5)', async () => {
    for (const headers of [
      { Host: 'localhost' },
      { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' },
      { Forwarded: 'host=evil.example' },
    ] as Record<string, string>[]) {
      const response = await svc.fetch('/auth/oidc/login', { headers });
      const location = new URL(response.headers.get('Location')!);
      expect(location.searchParams.get('redirect_uri')).toBe(`${svc.url}/auth/oidc/callback`);
    }
  });

  test('asks for the metadata once, however many ask (S-O4)', async () => {
    const before = provider.count('/.well-known/openid-configuration');
    await Promise.all(Array.from({ length: 50 }, () => begin()));
    expect(provider.count('/.well-known/openid-configuration')).toBe(Math.max(before, 1));
  });

  test('is shown on the sign-in page, with where to go afterwards', async () => {
    const page = await (await svc.fetch('/auth/login?next=/ui/a/', { headers: HTML })).text();
    expect(page).toContain('href="/auth/oidc/login?next=%2Fui%2Fa%2F"');
  });
});

describe('coming back (DS-122)', () => {
  test('signs in: session, ID token kept, cookies of the way cleared, an account made', async () => {
    const started = await begin(svc, '/ui/a/');
    const response = await complete(started, { sub: 's-1', preferred_username: 'ina' });
    expect(response.status).toBe(302);
    expect(response.headers.get('Location')).toBe('/ui/a/');
    const names = cookiesOf(response)
      .filter(({ attributes }) => attributes.includes('Max-Age=0'))
      .map(({ name }) => name);
    expect(names).toContain('svc_oidc_state');
    expect(names).toContain('svc_oidc_next');
    const me = await started.browser.fetch('/auth/me');
    expect(await me.json()).toMatchObject({ username: 'ina', is_superuser: false });
    const { body, authorization } = provider.exchange!;
    expect(Object.fromEntries(body)).toEqual({
      grant_type: 'authorization_code',
      code: 'code-1',
      redirect_uri: `${svc.url}/auth/oidc/callback`,
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
      client_id: CLIENT,
    });
    const [id, secret] = atob(authorization!.slice('Basic '.length)).split(':');
    expect(decodeURIComponent(id!)).toBe(CLIENT);
    expect(new URLSearchParams(`s=${secret}`).get('s')).toBe(SECRET);
    const audit = await svc.accounts.db.all(
      "SELECT action, details, user_id FROM audit WHERE action IN ('login', 'create_user') ORDER BY id",
    );
    expect(audit).toEqual([
      { action: 'create_user', details: 'Created user ina', user_id: null },
      { action: 'login', details: 'User logged in via OIDC', user_id: expect.any(Number) },
    ]);
  });

  test('the same person again is the same account, whatever the name is by now', async () => {
    const first = await signIn({ sub: 's-2', preferred_username: 'jan' });
    const again = await signIn({ sub: 's-2', preferred_username: 'jan-renamed' });
    const idOf = async (browser: Browser) =>
      ((await (await browser.fetch('/auth/me')).json()) as { id: number }).id;
    expect(await idOf(again)).toBe(await idOf(first));
  });

  test('signs out at the provider too (DS-105)', async () => {
    const browser = await signIn({ sub: 's-3', preferred_username: 'kim' });
    const out = await browser.fetch('/auth/logout', { method: 'POST' });
    expect(out.status).toBe(302);
    const address = new URL(out.headers.get('Location')!);
    expect(address.origin + address.pathname).toBe(`${provider.issuer}/end`);
    expect(address.searchParams.get('id_token_hint')).toStartWith('ey');
    expect(address.searchParams.get('post_logout_redirect_uri')).toBe(`${svc.url}/auth/login`);
    expect((await browser.fetch('/auth/me')).status).toBe(401);
  });

  test('the policy of pages lets a sign-out form reach the provider (DS-207)', async () => {
    const policy = (await svc.fetch('/auth/login')).headers.get('Content-Security-Policy');
    expect(policy).toContain(`form-action 'self' ${provider.issuer};`);
  });

  const refusals: [string, Record<string, string | undefined>, number, string][] = [
    ['the provider says no', { error: 'access_denied' }, 401, 'access_denied'],
    ['no code', { code: undefined }, 400, 'Missing OIDC callback parameters'],
    ['no state', { state: undefined }, 400, 'Missing OIDC callback parameters'],
    ['another state', { state: 'x'.repeat(43) }, 400, 'Invalid OIDC state'],
    ['another issuer (mix-up)', { iss: 'https://other.example' }, 400, 'Invalid OIDC state'],
  ];
  test.each(refusals)('%s (S-O5)', async (_, query, status, detail) => {
    const response = await complete(await begin(), { preferred_username: 'nobody' }, { query });
    expect(response.status).toBe(status);
    expect(await detailOf(response)).toBe(detail);
    expect(cookieOf(response, 'svc_session')).toBeNull();
  });

  test('an error of the provider is text of at most 200 characters', async () => {
    const error = `<script>alert(1)</script>\r\nX: y${'z'.repeat(500)}`;
    const started = await begin();
    const json = await detailOf(await complete(started, {}, { query: { error } }));
    expect([...String(json)].length).toBe(200);
    const page = await complete(started, {}, { query: { error }, headers: HTML });
    expect(page.status).toBe(401);
    const text = await page.text();
    expect(text).toContain('&lt;script');
    expect(text).not.toContain('<script>alert');
  });

  test('in another browser, without the cookies, or a second time it is refused (S-O5)', async () => {
    const started = await begin();
    const stranger = { browser: new Browser(svc), location: started.location };
    const without = await complete(stranger, { preferred_username: 'mallory' });
    expect([without.status, await detailOf(without)]).toEqual([
      400,
      'Missing OIDC callback parameters',
    ]);
    const other = await begin();
    const foreign = await complete(
      { browser: other.browser, location: started.location },
      { preferred_username: 'mallory' },
    );
    expect([foreign.status, await detailOf(foreign)]).toEqual([400, 'Invalid OIDC state']);
    const cookies = new Map(started.browser.cookies);
    expect((await complete(started, { sub: 's-4', preferred_username: 'lea' })).status).toBe(302);
    const replay = new Browser(svc);
    for (const [name, value] of cookies) replay.cookies.set(name, value);
    const again = await complete(
      { browser: replay, location: started.location },
      { sub: 's-4', preferred_username: 'lea' },
    );
    expect([again.status, await detailOf(again)]).toEqual([400, 'Invalid OIDC state']);
  });

  test('made-up codes are a few requests at once to the provider, the others wait or are sent away', async () => {
    let [running, most] = [0, 0];
    const open = Promise.withResolvers<void>();
    provider.answers['/token'] = async () => {
      most = Math.max(most, (running += 1));
      await open.promise;
      running -= 1;
      return Response.json({ error: 'invalid_grant' }, { status: 400 });
    };
    const answers = Array.from({ length: 120 }, (_, index) => {
      const state = `made-up-${index}`;
      const Cookie = `svc_oidc_state=${state}; svc_oidc_verifier=${'v'.repeat(43)}; svc_oidc_nonce=n`;
      return svc.fetch(`/auth/oidc/callback?code=x&state=${state}`, { headers: { Cookie } });
    });
    const refused = (await Promise.race(answers)).status;
    open.resolve();
    const statuses = new Set((await Promise.all(answers)).map(({ status }) => status));
    expect([refused, most, [...statuses].sort()]).toEqual([503, 8, [401, 503]]);
  });

  const answers: [string, () => unknown, string][] = [
    ['an error', () => ({ error: 'invalid_grant' }), 'OIDC token response missing access_token'],
    ['no access token', () => ({ id_token: 'x' }), 'OIDC token response missing access_token'],
    [
      'no ID token',
      () => ({ access_token: 'x', token_type: 'Bearer' }),
      'OIDC token response missing id_token',
    ],
    [
      'an ID token that is none',
      () => ({ access_token: 'x', token_type: 'Bearer', id_token: 'a.b.c' }),
      'Invalid OIDC ID token',
    ],
    ['a list', () => [], 'OIDC token response missing access_token'],
  ];
  test.each(answers)('the token endpoint answers %s', async (_, answer, detail) => {
    provider.answers['/token'] = () => Response.json(answer());
    const response = await complete(await begin(), {});
    expect([response.status, await detailOf(response)]).toEqual([401, detail]);
  });

  const failures: [string, () => Response][] = [
    ['400', () => Response.json({ error: 'invalid_grant' }, { status: 400 })],
    ['500 in HTML', () => new Response('<h1>oops</h1>', { status: 500 })],
    ['a redirect', () => Response.redirect('http://127.0.0.1:1/')],
    ['no JSON', () => new Response('{', { headers: { 'Content-Type': 'application/json' } })],
    ['10 MB', () => Response.json({ access_token: 'x'.repeat(10_000_000) })],
  ];
  test.each(failures)('the token endpoint fails: %s', async (_, answer) => {
    provider.answers['/token'] = answer;
    const response = await complete(await begin(), {});
    expect([response.status, await detailOf(response)]).toEqual([
      401,
      'OIDC token exchange failed',
    ]);
  });

  const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset;
  const idTokens: [string, () => Record<string, unknown>][] = [
    ['for another client', () => ({ aud: 'other' })],
    ['of another issuer', () => ({ iss: 'https://other.example' })],
    ['of an issuer with a slash more', () => ({ iss: `${provider.issuer}/` })],
    ['with another nonce', () => ({ nonce: 'n'.repeat(43) })],
    ['without a nonce', () => ({ nonce: undefined })],
    ['authorised for another party', () => ({ aud: [CLIENT, 'other'], azp: 'other' })],
    ['of several audiences without a party', () => ({ aud: [CLIENT, 'other'] })],
    ['that has ended', () => ({ exp: seconds(-61) })],
    ['without an end', () => ({ exp: undefined })],
    ['without a beginning', () => ({ iat: undefined })],
    ['from the future', () => ({ iat: seconds(3_600) })],
    ['not yet valid', () => ({ nbf: seconds(3_600) })],
    ['of nobody', () => ({ sub: undefined })],
  ];
  test.each(idTokens)('an ID token %s is refused', async (_, claims) => {
    const all = { preferred_username: 'nobody', ...claims() };
    const response = await complete(await begin(), all);
    expect([response.status, await detailOf(response)]).toEqual([401, 'Invalid OIDC ID token']);
  });

  test('an ID token signed with another key, or the same key id, or not at all is refused', async () => {
    const impostor = await StandInProvider.start();
    await using _ = impostor;
    const started = await begin();
    const nonce = started.location.searchParams.get('nonce');
    const claims = { iss: provider.issuer, aud: CLIENT, nonce, preferred_username: 'nobody' };
    const forged = await impostor.token(claims);
    const none = `${btoa('{"alg":"none"}').replace(/=+$/, '')}.${forged.split('.')[1]}.`;
    for (const idToken of [forged, none]) {
      const response = await complete(await begin(), {}, { idToken });
      expect([response.status, await detailOf(response)]).toEqual([401, 'Invalid OIDC ID token']);
    }
  });

  test('30 seconds of difference between the clocks are allowed (DS-123)', async () => {
    await signIn({ sub: 's-5', preferred_username: 'ole', iat: seconds(20), nbf: seconds(20) });
    await signIn({ sub: 's-5', preferred_username: 'ole', exp: seconds(-20) });
  });

  test('a browser gets every failure as the sign-in page, with the same status', async () => {
    const response = await complete(await begin(), {}, { query: { state: 'x' }, headers: HTML });
    expect(response.status).toBe(400);
    const page = await response.text();
    expect(page).toContain('Invalid OIDC state');
    expect(page).toContain('name="password"');
  });
});

describe('accounts (DS-124, S-O6, S-O7)', () => {
  test.each([[undefined], [''], ['   '], [5], [['a']], ['x'.repeat(151)], ['a\u0000b']])(
    'a user name claim of %p signs nobody in',
    async (name) => {
      const response = await complete(await begin(), { sub: 'nameless', preferred_username: name });
      expect([response.status, await detailOf(response)]).toEqual([401, 'Invalid credentials']);
    },
  );

  test('a name somebody holds here is not taken over, nor one of another identity', async () => {
    await svc.accounts.user('local', { password: PASSWORD });
    const local = await complete(await begin(), { sub: 'x-1', preferred_username: 'local' });
    expect([local.status, await detailOf(local)]).toEqual([403, 'Account exists locally']);
    const alike = await complete(await begin(), { sub: 'x-1', preferred_username: ' local\t' });
    expect([alike.status, await detailOf(alike)]).toEqual([403, 'Account exists locally']);
    await signIn({ sub: 'x-2', preferred_username: 'taken' });
    const taken = await complete(await begin(), { sub: 'x-3', preferred_username: 'taken' });
    expect([taken.status, await detailOf(taken)]).toEqual([403, 'Account already linked']);
    const rows = await svc.accounts.db.all<{ details: string }>(
      "SELECT details FROM audit WHERE action = 'login_failed' AND details LIKE '%local' OR details LIKE 'Failed%taken'",
    );
    expect(rows.map(({ details }) => details)).toEqual([
      'Failed login for user local',
      'Failed login for user taken',
    ]);
  });

  test('a deactivated account stays out, with a session and with a token', async () => {
    await signIn({ sub: 'x-4', preferred_username: 'gone' });
    await svc.accounts.db.run("UPDATE users SET is_active = 0 WHERE username = 'gone'");
    const response = await complete(await begin(), { sub: 'x-4', preferred_username: 'gone' });
    expect([response.status, await detailOf(response)]).toEqual([401, 'Invalid credentials']);
    const bearer = await provider.token({ sub: 'x-4', aud: svc.url });
    const asked = await svc.fetch('/auth/me', { headers: { Authorization: `Bearer ${bearer}` } });
    expect(asked.status).toBe(401);
  });

  test('such an account has no password (DS-99)', async () => {
    await signIn({ sub: 'x-5', preferred_username: 'nopass' });
    const response = await new Browser(svc).signIn('nopass', '');
    expect([response.status, await detailOf(response)]).toEqual([401, 'Invalid credentials']);
  });

  test('linked on request, a local account keeps its password and its superuser flag', async () => {
    await using linking = await startWith(provider, { link_existing: true });
    await linking.accounts.user('ada', { password: PASSWORD, superuser: true });
    await linking.accounts.group('staff');
    const browser = await signIn(
      { sub: 'l-1', preferred_username: 'ada', groups: ['staff'] },
      linking,
    );
    expect(await (await browser.fetch('/auth/me')).json()).toMatchObject({ is_superuser: true });
    expect(await groupsOf(linking, 'ada')).toEqual(['staff']);
    const local = await new Browser(linking).signIn('ada', PASSWORD);
    expect(local.status).toBe(200);
    const second = await complete(await begin(linking), { sub: 'l-2', preferred_username: 'ada' });
    expect([second.status, await detailOf(second)]).toEqual([403, 'Account already linked']);
  });

  test('two first sign-ins at once make one account', async () => {
    const ways = await Promise.all(Array.from({ length: 4 }, () => begin()));
    const idToken = async ({ location }: Started) =>
      provider.token({
        aud: CLIENT,
        nonce: location.searchParams.get('nonce'),
        sub: 'twin',
        preferred_username: 'twin',
      });
    provider.answers['/token'] = async (request) => {
      const code = Number(new URLSearchParams(await request.text()).get('code'));
      const token = await idToken(ways[code]!);
      return Response.json({ access_token: 'x', token_type: 'Bearer', id_token: token });
    };
    const statuses = await Promise.all(
      ways.map(async (way, index) => {
        const query = { code: String(index) };
        return (await complete(way, {}, { query })).status;
      }),
    );
    expect(statuses).toEqual([302, 302, 302, 302]);
  });
});

describe('roles and groups (DS-125)', () => {
  test('memberships follow the claims; those given by hand stay; groups are never made', async () => {
    const { accounts } = svc;
    for (const name of ['red', 'blue', 'by-hand', 'realm']) await accounts.group(name);
    const claims = { sub: 'g-1', preferred_username: 'gil' };
    const realm = { realm_access: { roles: ['realm', 5, null] } };
    await signIn({ ...claims, groups: ['/red', 'blue', 'unknown', { x: 1 }], ...realm });
    expect(await groupsOf(svc, 'gil')).toEqual(['blue', 'realm', 'red']);
    await accounts.group('by-hand', ['gil']);
    await signIn({ ...claims, groups: ['blue'] });
    expect(await groupsOf(svc, 'gil')).toEqual(['blue', 'by-hand']);
    await signIn(claims);
    expect(await groupsOf(svc, 'gil')).toEqual(['by-hand']);
    const audit = await accounts.db.all<{ details: string }>(
      "SELECT details FROM audit WHERE details LIKE '%user gil %' ORDER BY id",
    );
    expect(audit.map(({ details }) => details)).toEqual([
      'Added user gil to group red',
      'Added user gil to group blue',
      'Added user gil to group realm',
      'Removed user gil from group red',
      'Removed user gil from group realm',
      'Removed user gil from group blue',
    ]);
  });

  test('a superuser role counts while it is there, and never takes away the last superuser', async () => {
    const claims = { sub: 'g-2', preferred_username: 'sue' };
    const isSuperuser = async (browser: Browser) =>
      ((await (await browser.fetch('/auth/me')).json()) as { is_superuser: boolean }).is_superuser;
    expect(await isSuperuser(await signIn({ ...claims, groups: ['svc-admin'] }))).toBe(true);
    expect(await isSuperuser(await signIn(claims))).toBe(true);
    await svc.accounts.user('another', { superuser: true });
    expect(await isSuperuser(await signIn(claims))).toBe(false);
    await soon(() => svc.stderr()).toContain('the last active superuser keeps the right');
  });

  test('of the access token count where the ID token has none, of its own person only', async () => {
    await svc.accounts.group('from-access');
    const started = await begin();
    const access = { sub: 'g-3', groups: ['from-access'], aud: 'somebody else' };
    await complete(
      started,
      { sub: 'g-3', preferred_username: 'tim' },
      { accessToken: await provider.token(access) },
    );
    expect(await groupsOf(svc, 'tim')).toEqual(['from-access']);
    await complete(
      await begin(),
      { sub: 'g-3', preferred_username: 'tim' },
      { accessToken: await provider.token({ ...access, sub: 'other' }) },
    );
    expect(await groupsOf(svc, 'tim')).toEqual([]);
  });
});

describe('a provider that cannot be used (S-O1 to S-O3)', () => {
  const faults: [string, (provider: StandInProvider) => void][] = [
    [
      'metadata elsewhere',
      (broken) => {
        broken.answers['/.well-known/openid-configuration'] = () =>
          Response.redirect('http://127.0.0.1:1/');
      },
    ],
    [
      'metadata of another issuer',
      (broken) => {
        broken.metadata = { issuer: 'https://other.example' };
      },
    ],
  ];
  test.each(faults)('%s: 502, and local sign-in goes on', async (_, spoil) => {
    await using broken = await StandInProvider.start();
    spoil(broken);
    await using service = await startWith(broken);
    await service.accounts.user('ada', { password: PASSWORD });
    const json = await service.fetch('/auth/oidc/login');
    expect([json.status, await detailOf(json)]).toEqual([502, 'OIDC discovery failed']);
    const page = await service.fetch('/auth/oidc/login', { headers: HTML });
    expect(page.status).toBe(502);
    expect(await page.text()).toContain('name="password"');
    expect(broken.count('/.well-known/openid-configuration')).toBe(1);
    expect(broken.count('/token')).toBe(0);
    const local = await new Browser(service).signIn('ada', PASSWORD);
    expect(local.status).toBe(200);
    await soon(() => service.stderr()).toContain(
      'the metadata of the identity provider cannot be had',
    );
  });

  test('one that is not there: 502, a bearer token 503 with Retry-After, local sign-in goes on', async () => {
    const gone = await StandInProvider.start();
    await using service = await startWith(gone);
    const bearer = await gone.token({ aud: service.url });
    await gone[Symbol.asyncDispose]();
    await service.accounts.user('ada', { password: PASSWORD });
    expect((await service.fetch('/auth/oidc/login')).status).toBe(502);
    const asked = await service.fetch('/auth/me', {
      headers: { Authorization: `Bearer ${bearer}` },
    });
    expect([asked.status, await detailOf(asked)]).toEqual([
      503,
      'The identity provider cannot be reached',
    ]);
    expect(Number(asked.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect((await new Browser(service).signIn('ada', PASSWORD)).status).toBe(200);
  });
});

describe('a provider with https', () => {
  test('is asked only when its certificate is one that is trusted', async () => {
    using folder = temporaryFolder();
    makeCertificate(folder.path, 'issuer');
    const read = (end: string): string => readFileSync(join(folder.path, `issuer.${end}`), 'utf8');
    await using secure = await StandInProvider.start({ cert: read('crt'), key: read('key') });
    {
      await using doubting = await startWith(secure);
      expect((await doubting.fetch('/auth/oidc/login')).status).toBe(502);
      expect(secure.counts.size).toBe(0);
    }
    await using trusting = await startWith(
      secure,
      {},
      {
        SVC_OIDC_CLIENT_SECRET: SECRET,
        NODE_EXTRA_CA_CERTS: join(folder.path, 'issuer.crt'),
      },
    );
    const browser = await signIn({ sub: 't-1', preferred_username: 'tls' }, trusting, secure);
    expect(await (await browser.fetch('/auth/me')).json()).toMatchObject({ username: 'tls' });
    const Authorization = `Bearer ${await secure.token({ sub: 't-1', aud: trusting.url })}`;
    expect((await trusting.fetch('/auth/me', { headers: { Authorization } })).status).toBe(200);
  });
});

describe('settings', () => {
  test('off: 404 with its reason, and no metadata (DS-121, DS-127)', async () => {
    await using off = await startService({ files: { 'a.csv': 'n\n1\n' } });
    for (const path of ['/auth/oidc/login', '/auth/oidc/callback?code=1&state=2']) {
      const response = await off.fetch(path);
      expect([response.status, await detailOf(response)]).toEqual([404, 'OIDC is not configured']);
    }
    const page = await off.fetch('/auth/oidc/callback', { headers: HTML });
    expect([page.status, (await page.text()).includes('OIDC is not configured')]).toEqual([
      404,
      true,
    ]);
    for (const path of ['', '/mcp']) {
      const response = await off.fetch(`/.well-known/oauth-protected-resource${path}`);
      expect(response.status).toBe(404);
    }
    expect(await (await off.fetch('/auth/login')).text()).not.toContain('/auth/oidc');
  });

  test('without a public address: 503 that says so', async () => {
    await using service = await startService({
      config: { oidc: { issuer: provider.issuer, client_id: CLIENT } },
    });
    const response = await service.fetch('/auth/oidc/login');
    expect([response.status, await detailOf(response)]).toEqual([
      503,
      'OIDC public_url is not configured',
    ]);
    await soon(() => service.stderr()).toContain('needs public_url');
  });

  test('local_login off refuses form and Basic, and leaves the provider (DS-198)', async () => {
    await using service = await startWith(provider, { local_login: false });
    await service.accounts.user('ada', { password: PASSWORD });
    const form = await new Browser(service).signIn('ada', PASSWORD);
    expect([form.status, await detailOf(form)]).toEqual([403, 'Local password login is disabled']);
    const Authorization = `Basic ${btoa(`ada:${PASSWORD}`)}`;
    expect((await service.fetch('/auth/me', { headers: { Authorization } })).status).toBe(401);
    const page = await (await service.fetch('/auth/login')).text();
    expect(page).not.toContain('name="password"');
    expect(page).toContain('/auth/oidc/login');
    await signIn({ sub: 'only', preferred_username: 'only' }, service);
  });

  test('read-only mode does not keep anybody out (DS-22)', async () => {
    await using service = await startWith(provider, {}, { SVC_READONLY: '1' });
    const browser = await signIn({ sub: 'reader', preferred_username: 'reader' }, service);
    expect((await browser.fetch('/api/apikeys', { method: 'POST', body: '{}' })).status).toBe(405);
    expect((await browser.fetch('/auth/logout', { method: 'POST' })).status).toBe(302);
  });

  test('a client without a secret sends none', async () => {
    await using service = await startWith(provider, {}, {});
    await signIn({ sub: 'public', preferred_username: 'public' }, service);
    expect(provider.exchange?.authorization).toBeNull();
    expect(provider.exchange?.body.get('client_id')).toBe(CLIENT);
  });

  test('the OpenAPI document shows the way to the provider while there is one (DS-190)', async () => {
    const paths = async (service: Service) =>
      Object.keys(
        ((await (await service.fetch('/openapi.json')).json()) as { paths: object }).paths,
      ).filter((path) => path.includes('oidc') || path.includes('well-known'));
    expect(await paths(svc)).toEqual(['/auth/oidc/login', '/auth/oidc/callback']);
    await using off = await startService();
    expect(await paths(off)).toEqual([]);
  });

  test('clients find the provider (DS-127)', async () => {
    for (const path of ['', '/', '/mcp', '/mcp/']) {
      const response = await svc.fetch(`/.well-known/oauth-protected-resource${path}`);
      expect(await response.json()).toEqual({
        resource: `${svc.url}/mcp`,
        authorization_servers: [provider.issuer],
        bearer_methods_supported: ['header'],
        scopes_supported: ['openid', 'profile'],
      });
    }
  });

  test('an issuer that would be asked without encryption is refused at the start (S-O1)', async () => {
    for (const issuer of ['http://id.example', 'http://169.254.169.254/', 'file:///etc', 'x']) {
      const env = { SVC_OIDC_ISSUER: issuer, SVC_OIDC_CLIENT_ID: 'x' };
      const failed = await startService({ env }).catch((error: Error) => error.message);
      expect(failed).toContain('SVC_OIDC_ISSUER: must be an https:// address');
    }
  });

  test('no token and no secret reaches the log (S-L3)', async () => {
    const log = svc.stderr();
    expect(log).not.toContain(SECRET);
    expect(log).not.toMatch(/eyJ[\w-]{10,}\./);
    expect(log).not.toContain('code-1');
    expect(provider.keys.has(FIRST_KEY)).toBe(true);
  });
});
