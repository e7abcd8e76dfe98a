/**
 * Read-only mode (DS-22): every change of every route is refused, after authentication, CSRF, permission and existence;
 * reading, signing in and out, and the service's own bookkeeping go on.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startService } from '../support/service.ts';
import type { Client, Service } from '../support/service.ts';
import { auditAfter, lastAuditId, writeState } from './changes.ts';
import { PASSWORD } from '../support/password.ts';

const FILES = {
  'a.csv': 'n,t\n1,x\n',
  'folder/deep name.csv': 'n\n1\n',
  'folder/é{x}.csv': 'n\n1\n',
  'a.txt': 'text',
};

interface Endpoint {
  readonly path: string;
  readonly methods: readonly string[];
  readonly resource: string;
  readonly type: string;
}

let service: Service;
let endpoints: Endpoint[] = [];
let writer: Client;
let stranger: Client;
beforeAll(async () => {
  service = await startService({ files: FILES, config: { readonly: true } });
  await service.accounts.user('writer', { password: PASSWORD });
  await service.accounts.grant('writer', '*', 'read', 'write');
  writer = await service.as('writer');
  stranger = await service.as('stranger');
  const { stdout } = await service.command(['list-endpoints', service.docroot, '--json']);
  endpoints = JSON.parse(stdout) as Endpoint[];
});
afterAll(() => service[Symbol.asyncDispose]());

const BODIES: Record<string, object> = {
  POST: { action: 'create', data: [{ n: 2 }] },
  PATCH: { action: 'update', data: { _row_id: 1, n: 2 } },
  DELETE: { action: 'delete', data: { _row_id: 1 } },
};

async function answerOf(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  const { detail } =
    text === '' ? { detail: undefined } : (JSON.parse(text) as { detail: unknown });
  return { status: response.status, detail, allow: response.headers.get('Allow') };
}

const REFUSED = {
  status: 405,
  detail: 'Server is in read-only mode',
  allow: 'GET, HEAD, OPTIONS',
};

describe('files', () => {
  test('every address of every dataset refuses every change, with any body (DS-8, DS-22)', async () => {
    const datasets = endpoints.filter(({ path }) => path.startsWith('/api/'));
    expect(datasets.length).toBe(6);
    const before = Object.keys(FILES).map((rel) => writeState(service, rel));
    for (const { path } of datasets) {
      for (const [method, body] of Object.entries(BODIES)) {
        for (const sent of [JSON.stringify(body), 'no JSON', '']) {
          for (const slash of ['', '/']) {
            const response = await writer.fetch(path + slash, { method, body: sent });
            expect({ path, method, ...(await answerOf(response)) }).toEqual({
              path,
              method,
              ...REFUSED,
            });
          }
        }
      }
    }
    expect(Object.keys(FILES).map((rel) => writeState(service, rel))).toEqual(before);
  });

  test('every address can still be read', async () => {
    for (const { path, type } of endpoints) {
      if (type === 'file') continue;
      for (const method of ['GET', 'HEAD']) {
        expect((await writer.fetch(path, { method })).status).toBe(200);
      }
      expect((await writer.fetch(path.replace('/api/', '/schema/'))).status).toBe(200);
    }
  });

  test('a method that the address lacks is named first: 405 with its own methods', async () => {
    const response = await writer.fetch('/api/a/', { method: 'PUT', body: '{}' });
    const { status, detail } = await answerOf(response);
    expect({ status, detail }).toEqual({ status: 405, detail: 'Method Not Allowed' });
  });

  test('who may not write learns nothing of the mode: 401, 403, 404 come first', async () => {
    const send = async (client: Client, path: string) =>
      answerOf(await client.fetch(path, { method: 'POST', body: '{}' }));
    expect(await send(service, '/api/a/')).toMatchObject({
      status: 401,
      detail: 'Not authenticated',
    });
    expect(await send(stranger, '/api/a/')).toMatchObject({
      status: 403,
      detail: 'Permission denied: write on a',
    });
    expect(await send(writer, '/api/nothing/')).toMatchObject({ status: 404, detail: 'Not Found' });
    const { cookie } = await service.accounts.session('writer');
    const browser = service.withHeaders({ Cookie: cookie });
    expect(await send(browser, '/api/a/')).toMatchObject({
      status: 403,
      detail: 'Missing CSRF token',
    });
  });
});

describe('own account', () => {
  test.each([
    ['POST', '/api/apikeys'],
    ['DELETE', '/api/apikeys/1'],
    ['PUT', '/auth/password'],
  ])('%s %s is refused, with and without a body that could be read', async (method, path) => {
    for (const client of [writer, await service.inBrowserAs('writer')]) {
      for (const body of ['{}', 'no JSON']) {
        for (const slash of ['', '/']) {
          const response = await client.fetch(path + slash, { method, body });
          expect(await answerOf(response)).toEqual(REFUSED);
        }
      }
    }
    const response = await service.fetch(path, { method });
    expect(await answerOf(response)).toMatchObject({ status: 401 });
  });

  test('DELETE /auth/sessions/{id} is refused for an own session, which stays', async () => {
    const browser = await service.inBrowserAs('writer');
    const sessions = (await (await browser.fetch('/auth/sessions')).json()) as { id: number }[];
    const { id } = sessions.at(-1)!;
    const response = await browser.fetch(`/auth/sessions/${id}`, { method: 'DELETE' });
    expect(await answerOf(response)).toEqual(REFUSED);
    expect((await browser.fetch('/auth/me')).status).toBe(200);
  });

  test('keys and sessions are still listed', async () => {
    expect((await writer.fetch('/api/apikeys')).status).toBe(200);
    expect((await writer.fetch('/auth/sessions')).status).toBe(200);
  });
});

test('signing in and out still works and is still audited; use is still noted (DS-22)', async () => {
  const audit = await lastAuditId(service);
  const failed = await service.fetch('/auth/login', {
    method: 'POST',
    body: JSON.stringify({ username: 'writer', password: 'wrong' }),
  });
  expect(failed.status).toBe(401);
  const login = await service.fetch('/auth/login', {
    method: 'POST',
    body: JSON.stringify({ username: 'writer', password: PASSWORD }),
  });
  expect(login.status).toBe(200);
  const cookies = login.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!);
  const csrf = cookies.find((cookie) => cookie.startsWith('svc_csrf='))!.slice('svc_csrf='.length);
  const browser = service.withHeaders({ Cookie: cookies.join('; '), 'X-CSRF-Token': csrf });
  expect((await browser.fetch('/auth/me')).status).toBe(200);
  expect((await browser.fetch('/auth/logout', { method: 'POST' })).status).toBe(302);
  expect((await browser.fetch('/auth/me')).status).toBe(401);
  const actions = (await auditAfter(service, audit)).map(({ action }) => action);
  expect(actions).toEqual(['login_failed', 'login', 'logout']);
});

test('a token is issued, as a form of signing in, and not taken back (DS-22, EV-15)', async () => {
  const body = JSON.stringify({ username: 'writer', password: PASSWORD });
  const headers = { 'Content-Type': 'application/json' };
  const ask = () => service.fetch('/api-token-auth/', { method: 'POST', headers, body });
  const answer = await ask();
  expect(answer.status).toBe(200);
  const { token } = (await answer.json()) as { token: string };
  expect(await (await ask()).json()).toEqual({ token });
  const client = service.withHeaders({ Authorization: `Token ${token}` });
  expect((await client.fetch('/auth/me')).status).toBe(200);
  const taken = await client.fetch('/api-token-auth/', { method: 'DELETE' });
  expect(await answerOf(taken)).toEqual(REFUSED);
});
