/**
 * The order of checks (DS-8): a request that breaks several rules hears of the first one. And the body is not read
 * before the caller is known to be allowed.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { timestamp } from '../../src/base/clock.ts';
import { startService } from '../support/service.ts';
import type { Client, Service } from '../support/service.ts';
import { RawSocket } from './raw-socket.ts';
import { sharedService } from './shared-service.ts';

const MAX_BODY = 64 * 1024;

const shared = sharedService({
  files: {
    'a.csv': 'n,t\n1,x\n',
    'locked.csv': 'n\n1\n',
    'broken.csv': new Uint8Array([0x61, 0x0a, 0xff, 0x0a]),
  },
  config: { limits: { max_body_bytes: MAX_BODY }, locks: { timeout_seconds: 0 } },
});

let readOnly: Service;
let readOnlyWriter: Client;
beforeAll(async () => {
  readOnly = await startService({ files: { 'a.csv': 'n\n1\n' }, config: { readonly: true } });
  await readOnly.accounts.grant('writer', '*', 'read', 'write');
  readOnlyWriter = await readOnly.as('writer');
  const now = Date.now();
  await shared.service.accounts.db.run(
    'INSERT INTO locks (resource, owner, acquired_at, expires_at, reason) VALUES (?, ?, ?, ?, ?)',
    ['locked.csv', 'mallory', timestamp(now), timestamp(now + 600_000), 'upload'],
  );
});
afterAll(() => readOnly[Symbol.asyncDispose]());

const BAD_KEY = { 'X-API-Key': `ak_${'x'.repeat(43)}` };
const TOO_LARGE = 'x'.repeat(MAX_BODY + 1);

interface Asked {
  readonly client?: Client;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

async function ask({ client = shared.writer, method = 'POST', path, headers = {}, body }: Asked) {
  const response = await client.fetch(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const { detail } = text === '' ? { detail: '' } : (JSON.parse(text) as { detail: unknown });
  return { status: response.status, detail: typeof detail === 'string' ? detail : 'a list' };
}

/** A browser with a session and without its CSRF token. */
async function browser(username: string, headers: Record<string, string> = {}): Promise<Client> {
  const { cookie } = await shared.service.accounts.session(username);
  return shared.service.withHeaders({ Cookie: cookie, ...headers });
}

describe('the first of two broken rules is named (DS-8)', () => {
  test('host before everything', async () => {
    const headers = { Host: 'evil.example', ...BAD_KEY };
    for (const path of ['/', '/health', '/api/a/', '/api/nothing/', '/auth/login', '/_svc/x']) {
      for (const method of ['GET', 'POST', 'PUT', 'OPTIONS']) {
        const answer = await ask({ client: shared.service, method, path, headers });
        expect(answer).toEqual({ status: 400, detail: 'Invalid host header' });
      }
    }
  });

  test('a wrong method of a built-in route before a bad credential', async () => {
    for (const path of ['/health', '/auth/me', '/api/apikeys', '/metrics']) {
      const answer = await ask({ client: shared.service, method: 'PATCH', path, headers: BAD_KEY });
      expect(answer).toEqual({ status: 405, detail: 'Method Not Allowed' });
    }
  });

  test('a built-in route before a file of its name (DS-29)', async () => {
    shared.service.write('health.csv', 'n\n1\n');
    shared.service.write('apikeys.csv', 'n\n1\n');
    expect((await ask({ method: 'POST', path: '/health' })).status).toBe(405);
    expect((await ask({ method: 'DELETE', path: '/api/apikeys' })).status).toBe(405);
  });

  test('a bad credential before no identity, beside a good session too, on public routes too', async () => {
    const clients = [shared.service, shared.writer, await browser('writer')];
    for (const client of clients) {
      for (const path of ['/', '/health', '/api/a/', '/api/nothing/', '/auth/me']) {
        const answer = await ask({ client, method: 'GET', path, headers: BASIC_NONSENSE });
        expect(answer).toEqual({ status: 401, detail: 'Not authenticated' });
      }
    }
  });

  const BASIC_NONSENSE = { Authorization: 'Nonsense abc' };

  test('a bad credential before CSRF', async () => {
    const client = await browser('writer', BAD_KEY);
    expect((await ask({ client, path: '/api/a/', body: '{}' })).status).toBe(401);
  });

  test('no identity before CSRF, permission, existence and method', async () => {
    const client = shared.service;
    const headers = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' };
    for (const path of ['/api/a/', '/api/nothing/', '/nothing', '/schema/a']) {
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const answer = await ask({ client, method, path, headers, body: 'x' });
        expect(answer).toEqual({ status: 401, detail: 'Not authenticated' });
      }
    }
  });

  test('CSRF before permission, existence and method', async () => {
    for (const client of [await browser('writer'), await browser('stranger')]) {
      for (const path of ['/api/a/', '/api/nothing/', '/schema/a', '/api/apikeys']) {
        const method = path === '/api/apikeys' ? 'POST' : 'PUT';
        const answer = await ask({ client, method, path, body: 'x' });
        expect(answer).toEqual({ status: 403, detail: 'Missing CSRF token' });
      }
    }
  });

  test('permission before existence, method, body, lock and precondition', async () => {
    const client = await shared.service.as('stranger');
    for (const name of ['a', 'nothing', 'locked', 'broken']) {
      for (const method of ['POST', 'PATCH', 'DELETE', 'PUT']) {
        const headers = { 'If-Match': '"x"' };
        const answer = await ask({ client, method, path: `/api/${name}/`, headers, body: 'x' });
        expect(answer).toEqual({ status: 403, detail: `Permission denied: write on ${name}` });
      }
      const read = await ask({ client, method: 'GET', path: `/api/${name}/?limit=0` });
      expect(read).toEqual({ status: 403, detail: `Permission denied: read on ${name}` });
    }
  });

  test('existence before method, parameters and body', async () => {
    for (const method of ['POST', 'PUT', 'GET']) {
      const body = method === 'GET' ? undefined : TOO_LARGE;
      const answer = await ask({ method, path: '/api/nothing/?limit=0', ...(body && { body }) });
      expect(answer).toEqual({ status: 404, detail: 'Not Found' });
    }
  });

  test('method before read-only mode, read-only mode before the body', async () => {
    const client = readOnlyWriter;
    const put = await ask({ client, method: 'PUT', path: '/api/a/', body: 'x' });
    expect(put).toEqual({ status: 405, detail: 'Method Not Allowed' });
    const post = await ask({ client, path: '/api/a/', body: 'no JSON' });
    expect(post).toEqual({ status: 405, detail: 'Server is in read-only mode' });
    const missing = await ask({ client, path: '/api/nothing/', body: 'no JSON' });
    expect(missing).toEqual({ status: 404, detail: 'Not Found' });
  });

  test('method before the body', async () => {
    const answer = await ask({ method: 'PUT', path: '/api/a/', body: TOO_LARGE });
    expect(answer).toEqual({ status: 405, detail: 'Method Not Allowed' });
  });

  test('the body before the lock', async () => {
    const path = '/api/locked/';
    expect(await ask({ path, body: TOO_LARGE })).toEqual({
      status: 413,
      detail: 'Request body too large',
    });
    expect((await ask({ path, body: 'no JSON' })).status).toBe(422);
    expect((await ask({ path, body: '{"action":"create","data":[{"nope":1}]}' })).status).toBe(422);
  });

  test('the lock before the precondition, the precondition before the row', async () => {
    const locked = await ask({
      method: 'PATCH',
      path: '/api/locked/',
      headers: { 'If-Match': '"x"' },
      body: '{"action":"update","data":{"_row_id":99,"n":5}}',
    });
    expect(locked).toEqual({ status: 409, detail: "Resource 'locked.csv' is locked by mallory" });
    const body = '{"action":"update","data":{"_row_id":99,"n":5}}';
    const stale = { method: 'PATCH', path: '/api/a/', headers: { 'If-Match': '"x"' }, body };
    expect((await ask(stale)).status).toBe(412);
    const missing = { method: 'PATCH', path: '/api/a/', headers: { 'If-Match': '*' }, body };
    expect(await ask(missing)).toEqual({ status: 404, detail: 'Row 99 not found' });
  });
});

describe('a refusal does not wait for the body (DS-8)', () => {
  /** The answer to a head that announces a large body, of which nothing is ever sent. */
  async function answerToHead(method: string, path: string, headers: Record<string, string>) {
    const { url } = shared.service;
    using socket = await RawSocket.open(url);
    const lines = { Host: new URL(url).host, 'Content-Length': '60000', ...headers };
    const text = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.send(`${method} ${path} HTTP/1.1\r\n${text.join('')}\r\n`);
    return (await socket.head())?.status;
  }

  test.each([
    ['a foreign host', 'POST', '/api/a/', { Host: 'evil.example' }, 400],
    ['a wrong method of a built-in route', 'POST', '/health', {}, 405],
    ['a bad credential', 'POST', '/api/a/', BAD_KEY, 401],
    ['no credential', 'POST', '/api/a/', {}, 401],
    ['no credential on a built-in route', 'PUT', '/auth/password', {}, 401],
    ['a sign-in from another site', 'POST', '/auth/login', { 'Sec-Fetch-Site': 'cross-site' }, 403],
  ])('%s', async (_, method, path, headers, status) => {
    expect(await answerToHead(method, path, headers as Record<string, string>)).toBe(status);
  });

  test.each([
    ['stranger', 'POST', '/api/a/', 403],
    ['stranger', 'POST', '/api/nothing/', 403],
    ['writer', 'POST', '/api/nothing/', 404],
    ['writer', 'PUT', '/api/a/', 405],
  ])('%s: %s %s', async (username, method, path, status) => {
    const headers = { 'X-API-Key': await shared.service.accounts.apiKey(username) };
    expect(await answerToHead(method, path, headers)).toBe(status);
  });

  test('a session without its CSRF token, when the body is no form', async () => {
    const { cookie } = await shared.service.accounts.session('writer');
    const headers = { Cookie: cookie, 'Content-Type': 'application/json' };
    expect(await answerToHead('POST', '/api/a/', headers)).toBe(403);
  });

  test('a body that is announced as too large', async () => {
    const headers = {
      'X-API-Key': await shared.service.accounts.apiKey('writer'),
      'Content-Length': String(MAX_BODY + 1),
    };
    expect(await answerToHead('POST', '/api/a/', headers)).toBe(413);
  });
});
