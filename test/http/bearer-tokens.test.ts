/**
 * Bearer tokens of the identity provider: which are believed, for whom, and that no forged one is (DS-126, S-J).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { exportSPKI, importJWK } from 'jose';
import { freePort } from '../support/openid-provider.ts';
import type { Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { FIRST_KEY, StandInProvider } from '../support/stand-in-provider.ts';

let provider: StandInProvider;
let svc: Service;
let audience: string;

beforeAll(async () => {
  provider = await StandInProvider.start();
  const port = String(freePort());
  audience = `http://127.0.0.1:${port}`;
  svc = await startService({
    files: { 'a.csv': 'n\n1\n' },
    args: ['--port', port],
    config: { public_url: audience, oidc: { issuer: provider.issuer, client_id: 'svc' } },
  });
  await svc.accounts.grantGroup('readers', 'a', 'read');
});
afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

const ask = (token: string, path = '/auth/me') =>
  svc.fetch(path, { headers: { Authorization: `Bearer ${token}` } });
const usual = (claims: Record<string, unknown> = {}) => ({
  aud: audience,
  preferred_username: 'ada',
  ...claims,
});
const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset;
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a good token', () => {
  test('makes an account at first sight and is that account from then on', async () => {
    const first = await ask(await provider.token(usual({ sub: 'b-1', preferred_username: 'ben' })));
    expect(await first.json()).toEqual({
      id: expect.any(Number),
      username: 'ben',
      is_superuser: false,
    });
    const again = await ask(await provider.token(usual({ sub: 'b-1', preferred_username: 'x' })));
    expect(await again.json()).toMatchObject({ username: 'ben' });
    expect(first.headers.getSetCookie()).toEqual([]);
  });

  test('needs no CSRF token, and has the rights of its groups (DS-111, DS-125)', async () => {
    const claims = usual({ sub: 'b-2', preferred_username: 'cleo' });
    expect((await ask(await provider.token(claims), '/api/a/')).status).toBe(403);
    const member = await provider.token({ ...claims, groups: ['readers'] });
    expect((await ask(member, '/api/a/')).status).toBe(200);
    // A token that says nothing takes nothing away only while none before said anything.
    expect((await ask(await provider.token(claims), '/api/a/')).status).toBe(403);
    const made = await svc.fetch('/api/apikeys', {
      method: 'POST',
      headers: { Authorization: `Bearer ${member}` },
      body: '{}',
    });
    expect(made.status).toBe(201);
  });

  test('may be for several, of any of the algorithms, and without a key id while there is one key', async () => {
    expect((await ask(await provider.token(usual({ aud: ['x', audience] })))).status).toBe(200);
    expect((await ask(await provider.token(usual(), { kid: undefined }))).status).toBe(200);
    expect((await ask(await provider.token(usual(), { typ: 'at+jwt' }))).status).toBe(200);
    expect((await ask(await provider.token(usual({ exp: seconds(-20) })))).status).toBe(200);
  });

  test('stops with its account', async () => {
    const token = await provider.token(usual({ sub: 'b-3', preferred_username: 'dan' }));
    expect((await ask(token)).status).toBe(200);
    await svc.accounts.db.run("UPDATE users SET is_active = 0 WHERE username = 'dan'");
    expect((await ask(token)).status).toBe(401);
  });

  test('of a name somebody holds is 403, with the reason (DS-126)', async () => {
    await svc.accounts.user('eve');
    const local = await ask(await provider.token(usual({ sub: 'b-4', preferred_username: 'eve' })));
    expect([local.status, await local.json()]).toEqual([403, { detail: 'Account exists locally' }]);
    const other = await ask(await provider.token(usual({ sub: 'b-5', preferred_username: 'ben' })));
    expect([other.status, await other.json()]).toEqual([403, { detail: 'Account already linked' }]);
  });
});

describe('a forged or foreign token is 401 (S-J)', () => {
  const { keys } = { keys: () => provider.keys.get(FIRST_KEY)! };
  const withClaims = (claims: Record<string, unknown>) => () => provider.token(usual(claims));
  const withHeader = (header: Record<string, unknown>) => () => provider.token(usual(), header);
  const unsigned = (header: unknown) => () =>
    `${part(header)}.${part({ iss: provider.issuer, sub: 'x', exp: seconds(60), ...usual() })}.`;
  const withPublicKey = async (): Promise<string> => {
    const key = await importJWK({ ...keys().public }, 'RS256', { extractable: true });
    const pem = await exportSPKI(key as CryptoKey);
    return provider.token(usual(), { alg: 'HS256' }, new TextEncoder().encode(pem));
  };
  const resigned = async (change: (parts: string[]) => string[]): Promise<string> =>
    change((await provider.token(usual())).split('.')).join('.');

  const cases: Record<string, () => string | Promise<string>> = {
    'alg none (J1)': unsigned({ alg: 'none', kid: FIRST_KEY }),
    'alg None (J1)': unsigned({ alg: 'None', kid: FIRST_KEY }),
    'an empty alg (J1)': unsigned({ alg: '', kid: FIRST_KEY }),
    'no alg (J1)': unsigned({ kid: FIRST_KEY }),
    'alg a number (J1)': unsigned({ alg: 5, kid: FIRST_KEY }),
    'HS256 with the public key (J1)': withPublicKey,
    'HS256 with an empty key': async () =>
      provider.token(usual(), { alg: 'HS256' }, Buffer.from('x')),
    'another alg of the same key (J2)': () =>
      resigned(([, body, signature]) => [
        part({ alg: 'PS256', kid: FIRST_KEY }),
        body!,
        signature!,
      ]),
    'an unknown key id (J3)': withHeader({ kid: 'unknown' }),
    'a path as key id (J3)': withHeader({ kid: '../../keys' }),
    'SQL as key id (J3)': withHeader({ kid: "' OR 1=1 --" }),
    'an inherited key id (J3)': withHeader({ kid: '__proto__' }),
    '10 KB of key id (J3)': withHeader({ kid: 'k'.repeat(10_000) }),
    'a key id that is no text': unsigned({ alg: 'RS256', kid: { a: 1 } }),
    'an unknown crit (J3)': () =>
      resigned(([, body, signature]) => [
        part({ alg: 'RS256', kid: FIRST_KEY, crit: ['exp'], exp: 1 }),
        body!,
        signature!,
      ]),
    'another audience (J4)': withClaims({ aud: 'https://other.example' }),
    'the client as audience (J5)': withClaims({ aud: 'svc' }),
    'no audience (J4)': withClaims({ aud: undefined }),
    'an audience that begins alike (J4)': () => provider.token(usual({ aud: `${audience}/` })),
    'another issuer (J4)': withClaims({ iss: 'https://other.example' }),
    'the issuer with a slash (J4)': () => provider.token(usual({ iss: `${provider.issuer}/` })),
    'the issuer in capitals (J4)': () =>
      provider.token(usual({ iss: provider.issuer.toUpperCase() })),
    'no end (J4)': withClaims({ exp: undefined }),
    'an end 61 s ago (J4)': () => provider.token(usual({ exp: seconds(-61) })),
    'an end that is text (J4)': withClaims({ exp: '99999999999' }),
    'a beginning in an hour (J4)': () => provider.token(usual({ nbf: seconds(3_600) })),
    'made in an hour': () => provider.token(usual({ iat: seconds(3_600), exp: seconds(3_700) })),
    'ten years of life (J4)': () => provider.token(usual({ exp: seconds(315_360_000) })),
    'an ID token (J5)': withClaims({ nonce: 'n' }),
    'the hash of an access token (J5)': withClaims({ at_hash: 'h' }),
    'a refresh token of Keycloak (J5)': withClaims({ typ: 'Refresh' }),
    'a logout token (J5)': withHeader({ typ: 'logout+jwt' }),
    'an encrypted token': () => `${part({ alg: 'RSA-OAEP', enc: 'A128GCM' })}.a.b.c.d`,
    'an empty sub (J6)': withClaims({ sub: '' }),
    'a sub that is no text (J6)': withClaims({ sub: 5 }),
    'no sub (J6)': withClaims({ sub: undefined }),
    '100 KB of claims (J6)': withClaims({ filler: 'x'.repeat(100_000) }),
    'no UTF-8 (J6)': () =>
      `${part({ alg: 'RS256' })}.${Buffer.from([0xff]).toString('base64url')}.x`,
    'a list of claims (J6)': () => `${part({ alg: 'RS256' })}.${part([1])}.x`,
    'a changed claim': () =>
      resigned(([head, , signature]) => [
        head!,
        part({ iss: provider.issuer, sub: 'x', exp: seconds(60), ...usual() }),
        signature!,
      ]),
    'no signature': () => resigned(([head, body]) => [head!, body!, '']),
    'two parts': () => resigned(([head, body]) => [head!, body!]),
    nothing: () => '',
    dots: () => '..',
    'a word': () => 'token',
    'a name nobody may have': withClaims({ sub: 'b-9', preferred_username: 'a\u0000' }),
    'no name': withClaims({ sub: 'b-9', preferred_username: undefined }),
  };

  test.each(Object.entries(cases))('%s', async (_, make) => {
    const response = await ask(await make());
    expect([response.status, await response.json()]).toEqual([
      401,
      { detail: 'Not authenticated' },
    ]);
    expect(response.headers.get('WWW-Authenticate')).toBe(
      'Bearer realm="svc", error="invalid_token"',
    );
  });

  test('a key of the attacker in the token is not looked at (J3)', async () => {
    await using impostor = await StandInProvider.start();
    const key = impostor.keys.get(FIRST_KEY)!;
    for (const header of [
      { jwk: key.public },
      { jku: `${impostor.issuer}/keys` },
      { x5u: `${impostor.issuer}/keys`, kid: 'x' },
      { x5c: ['AAAA'] },
    ]) {
      const token = await provider.token(usual(), header, key.private);
      expect((await ask(token)).status).toBe(401);
    }
    expect([...impostor.counts]).toEqual([]);
  });

  test('on public routes too, and beside a good key (DS-94)', async () => {
    const bad = await provider.token(usual({ aud: 'x' }));
    expect((await ask(bad, '/health')).status).toBe(401);
    const headers = {
      Authorization: `Bearer ${bad}`,
      'X-API-Key': await svc.accounts.apiKey('ben'),
    };
    expect((await svc.fetch('/auth/me', { headers })).status).toBe(401);
  });
});

test('a thousand unknown keys are one request to the provider (J3)', async () => {
  const before = provider.count('/keys');
  const tokens = await Promise.all(
    Array.from({ length: 100 }, (_, index) => provider.token(usual(), { kid: `unknown ${index}` })),
  );
  for (let round = 0; round < 10; round++) {
    const statuses = await Promise.all(tokens.map(async (token) => (await ask(token)).status));
    expect(new Set(statuses)).toEqual(new Set([401]));
  }
  expect(provider.count('/keys') - before).toBeLessThanOrEqual(1);
});

test('a token that cannot be ours makes no request at all', async () => {
  await using other = await StandInProvider.start();
  const port = String(freePort());
  await using fresh = await startService({
    args: ['--port', port],
    config: {
      public_url: `http://127.0.0.1:${port}`,
      oidc: { issuer: other.issuer, client_id: 'svc' },
    },
  });
  const Authorization = `Bearer ${await provider.token(usual())}`;
  expect((await fresh.fetch('/auth/me', { headers: { Authorization } })).status).toBe(401);
  expect([...other.counts]).toEqual([]);
});
