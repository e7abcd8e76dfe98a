/**
 * `PUT /auth/password`: what is refused in which order, and what a change ends (DS-108 to DS-110).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/service.ts';
import { Browser, cookiesOf } from './cookies.ts';
import { sharedService } from './shared-service.ts';
import { PASSWORD } from '../support/password.ts';

const shared = sharedService({
  files: { 'a.csv': 'n\n1\n' },
  config: { trusted_proxies: ['127.0.0.1'] },
});

let addresses = 0;
function freshAddress(): Record<string, string> {
  addresses++;
  return { 'X-Forwarded-For': `198.51.${addresses >> 8}.${addresses & 255}` };
}

let anna: Client;
beforeAll(async () => {
  await shared.service.accounts.user('anna', { password: PASSWORD });
  anna = await shared.service.inBrowserAs('anna');
});

async function put(current_password: unknown, new_password: unknown, client: Client = anna) {
  const response = await client.fetch('/auth/password', {
    method: 'PUT',
    headers: freshAddress(),
    body: JSON.stringify({ current_password, new_password }),
  });
  const text = await response.text();
  return { status: response.status, text, response };
}

const refusal = (detail: string) => ({ status: 400, text: JSON.stringify({ detail }) });
const WRONG = refusal('Current password is incorrect');
const EQUAL = refusal('New password must be different');
const WEAK = {
  status: 400,
  text: expect.stringMatching(/^{"detail":"New password is too weak","hint":"It /),
};

describe('is refused (DS-108)', () => {
  test('in this order: wrong current, equal, weak', async () => {
    expect(await put('wrong', 'wrong')).toMatchObject(WRONG);
    expect(await put('wrong', 'weak')).toMatchObject(WRONG);
    expect(await put('', '')).toMatchObject(WRONG);
    expect(await put('', 'Another-Horse 28 plug')).toMatchObject(WRONG);
    expect(await put(PASSWORD, PASSWORD)).toMatchObject(EQUAL);
    expect(await put(PASSWORD, 'weak')).toMatchObject(WEAK);
  });

  test('as equal before it is weak', async () => {
    await shared.service.accounts.user('weakling', { password: 'weak' });
    const client = await shared.service.inBrowserAs('weakling');
    expect(await put('weak', 'weak', client)).toMatchObject(EQUAL);
  });

  test('with 422 past 1024 characters, and for missing members', async () => {
    expect(await put(PASSWORD, 'x'.repeat(1025))).toMatchObject({ status: 422 });
    expect(await put('x'.repeat(1025), 'Another-Horse 28 plug')).toMatchObject({ status: 422 });
    expect(await put(undefined, 'Another-Horse 28 plug')).toMatchObject({ status: 422 });
    expect(await put(PASSWORD, null)).toMatchObject({ status: 422 });
  });

  // One hash each: only a few of DS-110 here, all of them have tests of their own.
  test.each([
    'Short-1x!',
    'password123',
    'P@ssw0rd123',
    'aaaaaaaaaaaaB',
    'qwertyuiop123',
    'Anna-Anna-1',
    '24.12.2024.',
  ])('%j is too weak (DS-110)', async (weak) => {
    expect(await put(PASSWORD, weak)).toMatchObject(WEAK);
  });

  test('anonymously with 401, and nothing has changed by all this', async () => {
    expect(await put(PASSWORD, 'Another-Horse 28 plug', shared.service)).toMatchObject({
      status: 401,
    });
    expect((await anna.fetch('/auth/me')).status).toBe(200);
    expect(
      (await new Browser(shared.service, freshAddress()).signIn('anna', PASSWORD)).status,
    ).toBe(200);
  });
});

describe('a change (DS-108)', () => {
  test('ends all sessions of the user and clears the cookies; keys stay valid (S-A6)', async () => {
    const next = 'Another-Horse 28 plug';
    const { accounts } = shared.service;
    await accounts.user('berta', { password: PASSWORD });
    const browsers = [new Browser(shared.service), new Browser(shared.service)];
    for (const browser of browsers) await browser.signIn('berta', PASSWORD);
    const tokens = browsers.map((browser) => browser.cookies.get('svc_session')!);
    const key = await shared.service.as('berta');
    const other = await shared.service.inBrowserAs('anna');

    const { status, text, response } = await put(PASSWORD, next, browsers[0]);
    expect({ status, text }).toEqual({
      status: 200,
      text: '{"message":"Password changed. Sign in again."}',
    });
    expect(cookiesOf(response).map(({ name, value }) => `${name}=${value}`)).toEqual([
      'svc_session=',
      'svc_csrf=',
    ]);
    for (const token of tokens) {
      const headers = { Cookie: `svc_session=${token}` };
      expect((await shared.service.fetch('/auth/me', { headers })).status).toBe(401);
    }
    expect((await key.fetch('/auth/me')).status).toBe(200);
    expect((await other.fetch('/auth/me')).status).toBe(200);
    const signIn = (password: string) =>
      new Browser(shared.service, freshAddress()).signIn('berta', password);
    expect((await signIn(PASSWORD)).status).toBe(401);
    expect((await signIn(next)).status).toBe(200);
  });

  test('can be asked for with a key or Basic as well; Basic with the old password is out at once', async () => {
    const { accounts } = shared.service;
    await accounts.user('carla', { password: PASSWORD });
    const basic = (password: string) =>
      shared.service.withHeaders({
        ...freshAddress(),
        Authorization: `Basic ${btoa(`carla:${password}`)}`,
      });
    const old = basic(PASSWORD);
    expect((await old.fetch('/auth/me')).status).toBe(200);
    expect((await put(PASSWORD, 'Another-Horse 28 plug', old)).status).toBe(200);
    expect((await old.fetch('/auth/me')).status).toBe(401);
    const key = await shared.service.as('carla');
    expect((await put('Another-Horse 28 plug', 'Third-Horse 29 plug', key)).status).toBe(200);
    expect((await basic('Third-Horse 29 plug').fetch('/auth/me')).status).toBe(200);
  });

  test('stores a PHC string of argon2id, and neither password anywhere (DS-109)', async () => {
    const { db } = shared.service.accounts;
    const rows = await db.all<{ password_hash: string }>(
      'SELECT password_hash FROM users WHERE password_hash IS NOT NULL',
    );
    for (const { password_hash } of rows) {
      expect(password_hash).toMatch(/^\$argon2id\$v=19\$m=(\d{5,}),t=([2-9]),p=1\$/);
    }
    const all = JSON.stringify([rows, await db.all('SELECT * FROM audit')]);
    expect(all).not.toContain('Horse');
    expect(shared.service.stderr()).not.toContain('Horse');
  });
});
