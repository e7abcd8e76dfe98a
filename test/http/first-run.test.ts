/**
 * The first superuser (DS-211): a link that works once, on loopback only, as long as there is none.
 */
import { describe, expect, test } from 'bun:test';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { auditAfter } from './changes.ts';
import { Browser, cookieOf, cookiesOf } from './cookies.ts';
import { eventually } from './eventually.ts';
import { PASSWORD } from '../support/password.ts';

const HTML = { Accept: 'text/html' };
const LINK =
  /^Create the first superuser: (http:\/\/\S+)\/auth\/setup\?token=([A-Za-z0-9_-]{43})$/m;
const INVALID = { status: 403, text: '{"detail":"Setup token is not valid"}' };

/** The token of the newest link; it is printed right after the line that says the server is ready. */
function tokenOf(service: Service, start = 1): Promise<string> {
  return eventually(() => {
    const links = [...service.stdout().matchAll(new RegExp(LINK, 'gm'))];
    expect(links.length).toBe(start);
    return links.at(-1)![2]!;
  });
}

async function answer(response: Response) {
  return { status: response.status, text: await response.text() };
}

function post(
  service: Service,
  fields: Record<string, unknown>,
  headers: Record<string, string> = {},
) {
  return service.fetch('/auth/setup', { method: 'POST', headers, body: JSON.stringify(fields) });
}

test('the second line of the start holds the link; the page and the form work once (DS-211)', async () => {
  await using service = await startService({ files: { 'a.csv': 'n\n1\n' } });
  const token = await tokenOf(service);
  const [, second = ''] = service.stdout().split('\n');
  expect(LINK.exec(second)?.[1]).toBe(service.url);
  await eventually(() => expect(service.stderr()).toContain('svc addsuperuser'));

  const page = await service.fetch(`/auth/setup?token=${token}`, { headers: HTML });
  expect(page.status).toBe(200);
  expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('Cache-Control')).toBe('no-store');
  expect(await page.text()).toContain(`value="${token}"`);

  const wrong = ['', 'x', 'A'.repeat(43), token.slice(0, -1), `${token}A`];
  for (const one of wrong) {
    const fields = { token: one, username: 'root', password: PASSWORD };
    expect(await answer(await post(service, fields))).toEqual(INVALID);
    if (one === '') continue;
    expect(await answer(await service.fetch(`/auth/setup?token=${one}`))).toEqual(INVALID);
  }
  expect(await answer(await post(service, { username: 'root', password: PASSWORD }))).toEqual(
    INVALID,
  );

  // Refused input leaves the token good.
  const refused: readonly (readonly [Record<string, unknown>, number])[] = [
    [{ token }, 422],
    [{ token, username: 'root' }, 422],
    [{ token, username: '', password: PASSWORD }, 422],
    [{ token, username: 'x'.repeat(151), password: PASSWORD }, 422],
    [{ token, username: 'a\u0007b', password: PASSWORD }, 422],
    [{ token, username: 'root', password: '' }, 422],
    [{ token, username: 'root', password: 'x'.repeat(1025) }, 422],
    [{ token, username: 'root', password: 'password123' }, 400],
    [{ token, username: 'horse-2024', password: 'Horse-2024' }, 400],
  ];
  for (const [fields, status] of refused) {
    const { status: found, text } = await answer(await post(service, fields));
    expect({ fields, status: found }).toEqual({ fields, status });
    if (status !== 400) continue;
    expect(text).toStartWith('{"detail":"New password is too weak","hint":"It is made of ');
  }
  expect(await service.accounts.db.all('SELECT * FROM users')).toEqual([]);

  const done = await service.fetch('/auth/setup', {
    method: 'POST',
    headers: HTML,
    body: new URLSearchParams({ token, username: ' root ', password: PASSWORD }),
  });
  expect(done.status).toBe(303);
  expect(done.headers.get('Location')).toBe('/');
  expect(cookiesOf(done).map(({ name, attributes }) => [name, attributes])).toEqual([
    ['svc_session', 'HttpOnly; Max-Age=604800; Path=/; SameSite=Lax'],
    ['svc_csrf', 'Max-Age=604800; Path=/; SameSite=Lax'],
  ]);
  const headers = { Cookie: `svc_session=${cookieOf(done, 'svc_session')}` };
  expect(await (await service.fetch('/auth/me', { headers })).json()).toMatchObject({
    username: 'root',
    is_superuser: true,
  });

  // From now on the path does not exist, for anybody and any method.
  for (const client of [service, service.withHeaders(headers)]) {
    for (const path of ['/auth/setup', `/auth/setup?token=${token}`, '/auth/setup/']) {
      expect(await answer(await client.fetch(path))).toEqual({
        status: 404,
        text: '{"detail":"Not Found"}',
      });
      expect((await client.fetch(path, { method: 'OPTIONS' })).status).toBe(404);
    }
  }
  const again = await post(service, { token, username: 'second', password: PASSWORD });
  expect(again.status).toBe(404);

  const rows = await auditAfter(service, 0);
  expect(
    rows.map(({ action, resource, details, ip_address }) => [
      action,
      resource,
      details,
      ip_address,
    ]),
  ).toEqual([
    ['create_user', 'user', 'Created user root', '127.0.0.1'],
    ['login', 'auth', 'User logged in', '127.0.0.1'],
  ]);
  const browser = new Browser(service);
  expect((await browser.signIn('root', PASSWORD)).status).toBe(200);

  // Neither password nor token is anywhere in the log; the link is on stdout alone.
  expect(service.stderr()).not.toContain(token);
  expect(service.stderr()).not.toContain(PASSWORD);

  await service.restart();
  expect(service.stdout().match(new RegExp(LINK, 'gm'))?.length).toBe(1);
  expect((await service.fetch('/auth/setup')).status).toBe(404);
});

describe('the token', () => {
  test('takes JSON too: 200; of ten at once one succeeds', async () => {
    await using service = await startService();
    const token = await tokenOf(service);
    const attempts = Array.from({ length: 10 }, (_, index) =>
      post(service, { token, username: `root${index}`, password: PASSWORD }),
    );
    const answers = await Promise.all(attempts.map(async (attempt) => answer(await attempt)));
    const good = answers.filter(({ status }) => status === 200);
    expect(good).toEqual([{ status: 200, text: '{"message":"Logged in"}' }]);
    for (const { status } of answers) expect([200, 403, 404]).toContain(status);
    const users = await service.accounts.db.all(
      'SELECT username FROM users WHERE is_superuser = 1',
    );
    expect(users.length).toBe(1);
  });

  test('is a new one with each start; an old one is worth nothing', async () => {
    await using service = await startService();
    const first = await tokenOf(service);
    await service.restart();
    const second = await tokenOf(service, 2);
    expect(second).not.toBe(first);
    expect(await answer(await service.fetch(`/auth/setup?token=${first}`))).toEqual(INVALID);
    expect((await service.fetch(`/auth/setup?token=${second}`)).status).toBe(200);
  });

  test('dies when a superuser is made in another way', async () => {
    await using service = await startService();
    const token = await tokenOf(service);
    await service.createSuperuser('by hand');
    expect((await service.fetch(`/auth/setup?token=${token}`)).status).toBe(404);
    expect((await post(service, { token, username: 'x', password: PASSWORD })).status).toBe(404);
  });

  test('works in read-only mode, which is about files', async () => {
    await using service = await startService({ config: { readonly: true } });
    const fields = { token: await tokenOf(service), username: 'root', password: PASSWORD };
    expect((await post(service, fields)).status).toBe(200);
  });
});

test('a server that others can reach has no setup, with or without an account (DS-211, S-A2, F15)', async () => {
  await using service = await startService({ args: ['--host', '0.0.0.0'] });
  await eventually(() => expect(service.stderr()).toContain('svc addsuperuser'));
  expect(service.stdout()).not.toContain('setup');
  for (const method of ['GET', 'POST', 'OPTIONS']) {
    const local = service.url.replace('0.0.0.0', '127.0.0.1');
    const response = await fetch(`${local}/auth/setup?token=x`, { method });
    expect(response.status).toBe(404);
  }
});

test('setup reached under a foreign name is refused like everything else (DS-203)', async () => {
  await using service = await startService();
  const headers = { Host: 'rebound.example' };
  const response = await service.fetch(`/auth/setup?token=${await tokenOf(service)}`, { headers });
  expect(await answer(response)).toEqual({ status: 400, text: '{"detail":"Invalid host header"}' });
});
