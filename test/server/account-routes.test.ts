/** A user's own account over HTTP: identity, sessions, password, API keys (DS-106 to DS-108, DS-116 to DS-118). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { listAudit } from '../support/audit.ts';
import { PASSWORD, startFixture } from './server-fixture.ts';
import type { Fixture } from './server-fixture.ts';

// Password hashes are slow by design, and slower on a busy machine.

const NEW_PASSWORD = 'Another-Horse-8';

let server: Fixture;
let anna: Record<string, string>;
beforeAll(async () => {
  server = await startFixture();
  anna = { 'X-API-Key': await server.apiKey('anna') };
});
afterAll(() => server[Symbol.asyncDispose]());

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers = anna,
): Promise<[number, unknown]> {
  const response = await server.fetch(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return [response.status, text === '' ? null : JSON.parse(text)];
}

async function lastAction(): Promise<Record<string, unknown>> {
  const { entries } = await listAudit(server.services.db, { limit: 1, offset: 0 });
  const { action, resource, details, userId, ipAddress } = entries[0]!;
  return { action, resource, details, userId, ipAddress };
}

test('DS-106: a caller learns who it is', async () => {
  const { id } = await server.user('anna');
  expect(await call('GET', '/auth/me')).toEqual([
    200,
    { id, username: 'anna', is_superuser: false },
  ]);
  expect((await call('GET', '/auth/me', undefined, {}))[0]).toBe(401);
});

describe('DS-107: sessions', () => {
  test('are listed with the one in use marked', async () => {
    const first = await server.session('carl');
    await server.session('carl');
    const [status, sessions] = await call('GET', '/auth/sessions', undefined, {
      Cookie: first.cookie,
    });
    expect(status).toBe(200);
    const shape = {
      id: expect.any(Number),
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      last_active_at: expect.any(String),
      expires_at: expect.any(String),
      ip_address: null,
      user_agent: null,
      strength: 'password',
    };
    expect(sessions).toEqual([
      { ...shape, current: true },
      { ...shape, current: false },
    ]);
  });

  test('end one by one; foreign and unknown ones are not found', async () => {
    const mine = await server.session('dora');
    const headers = { Cookie: mine.cookie, 'X-CSRF-Token': mine.csrf };
    const [, sessions] = await call('GET', '/auth/sessions', undefined, headers);
    const id = (sessions as { id: number }[])[0]?.id;
    const missing = [404, { detail: 'Session not found' }];
    expect(await call('DELETE', `/auth/sessions/${id}`)).toEqual(missing as [number, unknown]);
    expect((await call('DELETE', `/auth/sessions/${id}`, undefined, headers))[0]).toBe(204);
    expect(await lastAction()).toMatchObject({
      action: 'revoke_session',
      resource: 'auth',
      details: `Revoked session ${id}`,
      ipAddress: '127.0.0.1',
    });
    expect((await call('GET', '/auth/me', undefined, headers))[0]).toBe(401);
  });

  test('are named by an integer', async () => {
    const [status, body] = await call('DELETE', '/auth/sessions/abc');
    const [issue] = (body as { detail: { type: string; loc: string[] }[] }).detail;
    expect([status, issue?.type, issue?.loc]).toEqual([422, 'int_parsing', ['path', 'id']]);
  });
});

describe('DS-108: a password', () => {
  const change = (current: unknown, next: unknown, headers = anna): Promise<[number, unknown]> =>
    call('PUT', '/auth/password', { current_password: current, new_password: next }, headers);

  test.each([
    ['wrong before equal', 'no', 'no', 'Current password is incorrect'],
    ['equal before weak', PASSWORD, PASSWORD, 'New password must be different'],
    ['weak', PASSWORD, 'password1', 'New password is too weak'],
    ['made of the user name', PASSWORD, 'Anna-Anna-1', 'New password is too weak'],
    ['empty', PASSWORD, '', 'New password is too weak'],
  ])('is refused when it is %s', async (_, current, next, detail) => {
    expect(await change(current, next)).toEqual([
      400,
      detail.endsWith('weak') ? { detail, hint: expect.any(String) } : { detail },
    ]);
  });

  test('is text of at most 1024 characters', async () => {
    const issues = async (current: unknown, next: unknown): Promise<unknown> => {
      const [status, body] = await change(current, next);
      expect(status).toBe(422);
      return (body as { detail: { type: string; loc: string[] }[] }).detail.map(
        ({ type, loc }) => `${type} ${loc[1]}`,
      );
    };
    expect(await issues(1, undefined)).toEqual([
      'string_type current_password',
      'missing new_password',
    ]);
    expect(await issues(PASSWORD, 'x'.repeat(1025))).toEqual(['string_too_long new_password']);
  });

  test('changes; all sessions end, keys stay, the audit knows', async () => {
    const { cookie, csrf } = await server.session('emil');
    const key = { 'X-API-Key': await server.apiKey('emil') };
    const response = await server.fetch('/auth/password', {
      method: 'PUT',
      headers: { Cookie: cookie, 'X-CSRF-Token': csrf },
      body: JSON.stringify({ current_password: PASSWORD, new_password: NEW_PASSWORD }),
    });
    expect([response.status, await response.json()]).toEqual([
      200,
      { message: 'Password changed. Sign in again.' },
    ]);
    expect(response.headers.getSetCookie().every((one) => one.includes('Max-Age=0'))).toBe(true);
    expect(await lastAction()).toMatchObject({
      action: 'change_password',
      details: 'User changed password',
    });
    expect((await call('GET', '/auth/me', undefined, { Cookie: cookie }))[0]).toBe(401);
    expect((await call('GET', '/auth/me', undefined, key))[0]).toBe(200);
    const login = (password: string): Promise<[number, unknown]> =>
      call('POST', '/auth/login', { username: 'emil', password }, {});
    expect((await login(PASSWORD))[0]).toBe(401);
    expect((await login(NEW_PASSWORD))[0]).toBe(200);
  });
});

describe('DS-116: own API keys', () => {
  test('are made, shown once, listed and revoked', async () => {
    const headers = { 'X-API-Key': await server.apiKey('fred') };
    const input = { description: 'ci', expires_in_days: 30, scopes: ['read:reports/*'] };
    const [status, made] = await call('POST', '/api/apikeys/', input, headers);
    expect([status, made]).toEqual([
      201,
      {
        id: expect.any(Number),
        key: expect.stringMatching(/^ak_[\w-]{43}$/),
        description: 'ci',
        expires_at: '2026-12-20T12:00:00.000Z',
        created_at: '2026-11-20T12:00:00.000Z',
        scopes: ['read:reports/*'],
      },
    ]);
    expect(await lastAction()).toMatchObject({
      action: 'create_api_key',
      resource: 'apikey',
      details: 'Created API key for user fred',
    });
    const { id, key } = made as { id: number; key: string };
    const [, keys] = await call('GET', '/api/apikeys', undefined, headers);
    expect((keys as unknown[])[1]).toEqual({
      id,
      description: 'ci',
      created_at: '2026-11-20T12:00:00.000Z',
      expires_at: '2026-12-20T12:00:00.000Z',
      last_used_at: null,
      is_active: true,
      scopes: ['read:reports/*'],
    });
    expect(JSON.stringify(keys)).not.toContain(key);
    for (let time = 0; time < 2; time++) {
      expect((await call('DELETE', `/api/apikeys/${id}`, undefined, headers))[0]).toBe(204);
    }
    expect(await lastAction()).toMatchObject({
      details: `Revoked API key ${id} for user fred`,
    });
    const missing = [404, { detail: 'API key not found' }];
    expect(await call('DELETE', `/api/apikeys/${id}`)).toEqual(missing as [number, unknown]);
    expect((await call('GET', '/auth/me', undefined, { 'X-API-Key': key }))[0]).toBe(401);
  });

  test('have defaults for everything', async () => {
    const [status, made] = await call('POST', '/api/apikeys', {});
    expect([status, made]).toMatchObject([201, { description: null, expires_at: null }]);
    expect(made).not.toHaveProperty('scopes');
  });

  test.each([
    ['no body', undefined, 422],
    ['a list', [], 422],
    ['a description that is no text', { description: 1 }, 422],
    ['no days', { expires_in_days: 0 }, 422],
    ['half a day', { expires_in_days: 0.5 }, 422],
    ['more than a year', { expires_in_days: 366 }, 400],
    ['an unknown scope', { scopes: ['admin'] }, 422],
    ['an empty list of scopes', { scopes: [] }, 422],
  ])('are refused for %s', async (_, body, expected) => {
    expect((await call('POST', '/api/apikeys', body))[0]).toBe(expected);
  });
});
