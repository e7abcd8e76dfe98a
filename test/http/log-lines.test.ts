/**
 * The log: one line for each request, and no secret in any of them (DS-209, S-L1, S-L3).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { startService } from '../support/service.ts';
import { change, create, update } from './changes.ts';
import { Browser, cookieOf } from './cookies.ts';
import { eventually } from './eventually.ts';
import { RawSocket } from './raw-socket.ts';
import { sharedService } from './shared-service.ts';
import { PASSWORD } from '../support/password.ts';

const NEXT_PASSWORD = 'Another-Horse 28 plug';
const WRONG_PASSWORD = 'wr0ng-but-still-nobodys-business';
const CELL = 'cell-value-that-no-log-may-hold';

const shared = sharedService({
  files: { 'a.csv': 'n,t\n1,x\n', 'folder/b.csv': 'n\n1\n' },
  config: { trusted_proxies: ['127.0.0.1'], logging: { level: 'debug' } },
});

type Line = Record<string, unknown>;

const lines = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

/** The line of the request with that id. */
function lineOf(response: Response): Promise<Line> {
  const id = response.headers.get('X-Request-Id');
  return eventually(() => {
    const found = lines(shared.service.stderr()).filter((line) => line['id'] === id);
    expect(found.length).toBe(1);
    return found[0]!;
  });
}

let userId = 0;
beforeAll(async () => {
  const { accounts } = shared.service;
  ({ id: userId } = await accounts.user('anna', { password: PASSWORD }));
  await accounts.grant('anna', '*', 'read', 'write');
});

describe('a request is one line (DS-209)', () => {
  test('with time, id, client, user, method, path, status, time taken and bytes', async () => {
    const key = await shared.service.accounts.apiKey('anna');
    const response = await shared.service.fetch('/api/a/?limit=1&q=x', {
      headers: { 'X-API-Key': key, 'X-Forwarded-For': '192.0.2.7', 'Accept-Encoding': 'identity' },
    });
    const body = await response.arrayBuffer();
    const { time, ms, ...rest } = await lineOf(response);
    expect(rest).toEqual({
      level: 'info',
      message: 'request',
      id: response.headers.get('X-Request-Id'),
      client: '192.0.2.7',
      user_id: userId,
      method: 'GET',
      path: '/api/a/',
      status: 200,
      bytes: body.byteLength,
    });
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(ms).toBeNumber();
  });

  test('whatever its end', async () => {
    const anna = await shared.service.as('anna');
    const asked: readonly (readonly [Promise<Response>, number])[] = [
      [shared.service.fetch('/health'), 200],
      [shared.service.fetch('/health', { method: 'HEAD' }), 200],
      [shared.service.fetch('/auth/me', { method: 'OPTIONS' }), 204],
      [shared.service.fetch('/x', { headers: { Accept: 'text/html' } }), 302],
      [shared.service.fetch('/health', { headers: { Host: 'evil.example' } }), 400],
      [shared.service.fetch('/auth/me'), 401],
      [anna.fetch('/nothing'), 404],
      [shared.service.fetch('/health', { method: 'PUT' }), 405],
      [anna.fetch('/api/a/', { method: 'POST', body: 'x' }), 422],
    ];
    for (const [promise, status] of asked) {
      const response = await promise;
      await response.arrayBuffer();
      expect(response.status).toBe(status);
      expect(await lineOf(response)).toMatchObject({ status, message: 'request' });
    }
  });

  test('control characters cannot start another or steer a terminal (S-L1)', async () => {
    const forged = '{"level":"info","message":"forged"}';
    const odd = ['%0d%0a', '%0a', '%1b[2J', '%00', '%e2%80%a8', '%c2%9b31m', '%7f'].map(
      (part) => `/x${part}${encodeURIComponent(forged)}`,
    );
    const { url } = shared.service;
    for (const path of [...odd, `/raw\x1b[2J${forged.replaceAll('"', '%22')}`, `/high\xe9\x9b`]) {
      using socket = await RawSocket.open(url);
      socket.send(
        `GET ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nUser-Agent: a\x1b[2J\r\n\r\n`,
      );
      await socket.head();
    }
    const name = 'x\r\n{"message":"forged"}\u001b[2J\u2028';
    const body = JSON.stringify({ username: name, password: 'x' });
    await shared.service.fetch('/auth/login', { method: 'POST', body });
    // The line of a later request: all before it have arrived.
    await lineOf(await shared.service.fetch('/health'));
    const printed = shared.service.stderr();
    const text = printed.slice(0, printed.lastIndexOf('\n') + 1);
    expect(text).not.toMatch(/^\{"level":"info","message":"forged"\}$/m);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/);
    for (const line of text.trimEnd().split('\n')) {
      if (line.startsWith('{')) expect(() => JSON.parse(line) as unknown).not.toThrow();
      else expect(line).toStartWith('No active superuser');
    }
  });
});

test('no secret of a whole day of use stands in the log or on stdout (S-L3)', async () => {
  const { service } = shared;
  const secrets = new Set<string>([PASSWORD, NEXT_PASSWORD, WRONG_PASSWORD, CELL]);
  const remember = (value: string | null | undefined) => {
    expect(value).toBeTruthy();
    secrets.add(value!);
    return value!;
  };

  const browser = new Browser(service);
  await browser.signIn('anna', PASSWORD);
  remember(browser.cookies.get('svc_session'));
  remember(browser.cookies.get('svc_csrf'));
  await new Browser(service, { 'X-Forwarded-For': '192.0.2.1' }).signIn('anna', WRONG_PASSWORD);
  const form = await service.fetch('/auth/login', {
    method: 'POST',
    headers: { Accept: 'text/html' },
    body: new URLSearchParams({ username: 'anna', password: PASSWORD, next: '/a?token=x' }),
  });
  remember(cookieOf(form, 'svc_session'));
  // A name typed into the wrong field is a password.
  await service.fetch('/auth/login', {
    method: 'POST',
    headers: { 'X-Forwarded-For': '192.0.2.2' },
    body: new URLSearchParams({ password: WRONG_PASSWORD }),
  });

  const made = await browser.fetch('/api/apikeys', { method: 'POST', body: '{"description":"x"}' });
  const key = remember(((await made.json()) as { key: string }).key);
  const credentials: readonly Record<string, string>[] = [
    { 'X-API-Key': key },
    { Authorization: `Bearer ${key}` },
    { 'X-API-Key': `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}` },
    { Authorization: `Basic ${btoa(`anna:${PASSWORD}`)}` },
    { Authorization: `Basic ${btoa(`anna:${WRONG_PASSWORD}`)}`, 'X-Forwarded-For': '192.0.2.3' },
    { Cookie: `svc_session=${'S'.repeat(43)}` },
    { Authorization: 'Nonsense secret-in-authorization' },
  ];
  for (const headers of credentials) await service.fetch('/auth/me', { headers });
  secrets
    .add('S'.repeat(43))
    .add('secret-in-authorization')
    .add(btoa(`anna:${PASSWORD}`))
    .add(key.slice(3, -1));
  for (const name of [
    'token',
    'api_key',
    'password',
    'access_token',
    'code',
    'state',
    'csrf_token',
    'secret',
  ]) {
    await service.fetch(`/api/a/?${name}=${remember(`query-value-of-${name}`)}`);
  }

  const anna = service.withHeaders({ 'X-API-Key': key });
  await create(anna, 'a', [{ t: CELL }]);
  await update(anna, 'a', { _row_id: 1, t: CELL });
  await change(anna, 'POST', 'a', { action: 'create', data: [{ n: CELL }] });
  await change(anna, 'POST', 'a', `{"action":"create","data":[{"t":"${CELL}`);
  await anna.fetch(`/api/a/?q=${CELL}&filter=${encodeURIComponent(JSON.stringify({ t: CELL }))}`);
  await anna.fetch(`/api/a/?sort=${CELL}`);

  const weak = await browser.fetch('/auth/password', {
    method: 'PUT',
    body: JSON.stringify({ current_password: PASSWORD, new_password: 'weak-secret' }),
  });
  expect(weak.status).toBe(400);
  secrets.add('weak-secret');
  const changed = await browser.fetch('/auth/password', {
    method: 'PUT',
    body: JSON.stringify({ current_password: PASSWORD, new_password: NEXT_PASSWORD }),
  });
  expect(changed.status).toBe(200);
  const last = await service.fetch('/health');
  await lineOf(last);

  const { db } = service.accounts;
  for (const { password_hash } of await db.all<{ password_hash: string }>(
    'SELECT password_hash FROM users WHERE password_hash IS NOT NULL',
  )) {
    secrets.add(password_hash);
  }
  const printed = service.stderr() + service.stdout();
  const found = [...secrets].filter((secret) => printed.includes(secret));
  expect(found).toEqual([]);
  expect(printed).not.toMatch(/ak_[\w-]{20}|argon2/);
  expect(secrets.size).toBeGreaterThan(15);
});

test('the text format keeps all of this (DS-196)', async () => {
  await using service = await startService({
    files: { 'a.csv': 'n\n1\n' },
    config: { logging: { format: 'text' } },
  });
  const key = await service.accounts.apiKey('root');
  const response = await service.fetch('/nothing%0d%0aforged%20line?token=secret-token', {
    headers: { 'X-API-Key': key },
  });
  expect(response.status).toBe(403);
  const id = response.headers.get('X-Request-Id')!;
  const line = await eventually(() => {
    const found = service
      .stderr()
      .split('\n')
      .find((one) => one.includes(id));
    expect(found).toBeDefined();
    return found!;
  });
  expect(line).toContain('403');
  expect(line).toContain('127.0.0.1');
  expect(service.stderr()).not.toContain(key);
  expect(service.stderr()).not.toContain('secret-token');
  expect(service.stderr()).not.toMatch(/^forged/m);
});

test('level warning leaves the lines of requests out (DS-196)', async () => {
  await using service = await startService({ config: { logging: { level: 'warning' } } });
  const id = (await service.fetch('/health')).headers.get('X-Request-Id')!;
  await service.kill('SIGTERM');
  expect(service.stderr()).not.toContain(id);
});
