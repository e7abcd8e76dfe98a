import { describe, expect, test } from 'bun:test';
import type { SessionRequest } from '../../src/accounts/identity/csrf-check.ts';
import { checkCsrf, checkOrigin, csrfToken } from '../../src/accounts/identity/csrf-check.ts';
import { secretsEqual } from '../../src/accounts/identity/secret-compare.ts';

const secret = new Uint8Array(32).fill(7);
const own = 'https://data.example';
const token = csrfToken(secret, 'session');

function request(more: Partial<SessionRequest> = {}): SessionRequest {
  return {
    method: 'POST',
    sessionToken: 'session',
    secFetchSite: null,
    origin: null,
    isOwnOrigin: (origin) => origin === own,
    cookie: token,
    headerToken: token,
    formToken: async () => null,
    ...more,
  };
}

test('a token belongs to one session of one server and has 43 characters (DS-112)', () => {
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(csrfToken(secret, 'session')).toBe(token);
  expect(csrfToken(secret, 'other')).not.toBe(token);
  expect(csrfToken(new Uint8Array(32), 'session')).not.toBe(token);
});

describe('a request of a browser session', () => {
  const accepted: [string, Partial<SessionRequest>][] = [
    ['with cookie and header', {}],
    ['with the token in the form', { headerToken: null, formToken: async () => token }],
    ['of the own origin', { origin: own, secFetchSite: 'same-origin' }],
    ['typed by the user', { secFetchSite: 'none' }],
  ];
  test.each(accepted)('%s passes', async (_what, more) => {
    await checkCsrf(secret, request(more));
  });

  test.each(['GET', 'HEAD', 'OPTIONS'])('%s needs no token (DS-111)', async (method) => {
    const bare = { cookie: null, headerToken: null, secFetchSite: 'cross-site' };
    await checkCsrf(secret, request({ method, ...bare }));
  });

  const crossSite = 'CSRF check failed: cross-site request';
  const refused: [string, Partial<SessionRequest>, string][] = [
    ['from another site', { secFetchSite: 'cross-site', origin: own }, crossSite],
    ['of a foreign origin', { origin: 'https://evil.example' }, crossSite],
    ['of a look-alike origin', { origin: `${own}.evil.example` }, crossSite],
    ['of an opaque origin', { origin: 'null', isOwnOrigin: () => true }, crossSite],
    [
      'from another site without anything else',
      { secFetchSite: 'cross-site', cookie: null },
      crossSite,
    ],
    ['without the cookie', { cookie: null }, 'Missing CSRF cookie'],
    ['with an empty cookie', { cookie: '' }, 'Missing CSRF cookie'],
    ['without a token', { headerToken: null }, 'Missing CSRF token'],
    ['with an empty token', { headerToken: '' }, 'Missing CSRF token'],
    ['with a wrong token', { headerToken: 'x' }, 'Invalid CSRF token'],
    [
      'with a wrong token in the form',
      { headerToken: null, formToken: async () => 'x' },
      'Invalid CSRF token',
    ],
    ['with a planted pair', { cookie: 'x', headerToken: 'x' }, 'Invalid CSRF token'],
    [
      'with the cookie of another session',
      { cookie: csrfToken(secret, 'b') },
      'Invalid CSRF token',
    ],
    [
      'with a wrong header beside a right field',
      { headerToken: 'x', formToken: async () => token },
      'Invalid CSRF token',
    ],
  ];
  test.each(refused)('%s is refused (DS-114)', async (_what, more, message) => {
    await expect(checkCsrf(secret, request(more))).rejects.toMatchObject({
      code: 'csrf-failed',
      message,
    });
  });

  test('has its body read for the token only when the header lacks it', async () => {
    let reads = 0;
    const formToken = async () => {
      reads++;
      return token;
    };
    await checkCsrf(secret, request({ formToken }));
    expect(reads).toBe(0);
    await checkCsrf(secret, request({ formToken, headerToken: null }));
    expect(reads).toBe(1);
  });
});

test('signing in without a session asks for the origin only (DS-115)', () => {
  checkOrigin({ secFetchSite: null, origin: null, isOwnOrigin: () => false });
  checkOrigin({ secFetchSite: 'same-origin', origin: own, isOwnOrigin: (o) => o === own });
  expect(() =>
    checkOrigin({ secFetchSite: ' Cross-Site ', origin: null, isOwnOrigin: () => true }),
  ).toThrow('cross-site');
});

test('secrets are compared as wholes', () => {
  expect(secretsEqual('', '')).toBe(true);
  expect(secretsEqual('abc', 'abc')).toBe(true);
  expect(secretsEqual('abc', 'abd')).toBe(false);
  expect(secretsEqual('abc', 'abcd')).toBe(false);
});
