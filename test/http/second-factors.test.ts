/** Second factors of local accounts: an app's codes, recovery codes, and groups that must have one (DS-310 to DS-312). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Secret, TOTP } from 'otpauth';
import { PASSWORD } from '../support/password.ts';
import { type Client, type Service, startService } from '../support/service.ts';

let svc: Service;

beforeAll(async () => {
  svc = await startService({
    files: { 'a.csv': 'n\n1\n' },
    config: { second_factor: { groups: ['staff'] } },
  });
  await svc.accounts.user('root', { superuser: true });
  for (const name of ['ada', 'bea', 'cyd', 'dan', 'eve']) {
    await svc.accounts.grant(name, 'a', 'read');
    const { exitCode } = await svc.command(
      ['admin', 'change-password', svc.docroot, '--username', name, '--password-stdin'],
      `${PASSWORD}\n`,
    );
    expect(exitCode).toBe(0);
  }
  await svc.accounts.group('staff', ['bea']);
});
afterAll(() => svc[Symbol.asyncDispose]());

const post = (who: Client, path: string, body: object): Promise<Response> =>
  who.fetch(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' },
  });
async function json<T = Record<string, unknown>>(response: Promise<Response>, status = 200) {
  const found = await response;
  const text = await found.text();
  expect({ status: found.status, text }).toMatchObject({ status });
  return JSON.parse(text) as T;
}
/** Now and, where a code of now was used, of the next half minute, which is right too. */
const codeOf = (secret: string, later = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: Date.now() + later * 30_000,
  });
const login = (username: string, rest: object = {}, password = PASSWORD): Promise<Response> =>
  post(svc, '/auth/login', { username, password, ...rest });
const basic = (name: string): Client =>
  svc.withHeaders({ Authorization: `Basic ${btoa(`${name}:${PASSWORD}`)}` });

/** The key of an app that was added with the code of now, and the recovery codes. */
async function enrol(who: Client): Promise<{ secret: string; codes: string[] }> {
  const begun = post(who, '/auth/factors/app', { password: PASSWORD, name: 'phone' });
  const { secret } = await json<{ secret: string }>(begun);
  const confirmed = post(who, '/auth/factors/app/confirm', { code: codeOf(secret) });
  const { recovery_codes: codes } = await json<{ recovery_codes: string[] }>(confirmed);
  return { secret, codes };
}

test('an app is added with the password and a code, and is asked for from then on', async () => {
  const ada = await svc.inBrowserAs('ada');
  await json(post(ada, '/auth/factors/app', { password: 'wrong', name: '' }), 400);
  const begun = post(ada, '/auth/factors/app', { password: PASSWORD, name: 'phone' });
  const { secret, uri } = await json<{ secret: string; uri: string }>(begun);
  expect(uri).toStartWith('otpauth://totp/svc:ada?issuer=svc&secret=');
  // Nothing is asked for before it is confirmed.
  expect((await login('ada')).status).toBe(200);
  await json(post(ada, '/auth/factors/app/confirm', { code: '000000' }), 400);
  const confirmed = post(ada, '/auth/factors/app/confirm', { code: codeOf(secret) });
  const { recovery_codes: codes } = await json<{ recovery_codes: string[] }>(confirmed);
  expect(codes).toHaveLength(10);
  expect(await json(ada.fetch('/auth/factors'))).toMatchObject({
    factors: [{ kind: 'totp', name: 'phone' }],
    recovery_codes_left: 10,
    required: false,
  });

  expect(await json(login('ada'), 401)).toEqual({
    detail: 'This account has a second factor: send its code as `code`',
  });
  await json(login('ada', { code: '000000' }), 401);
  // Its code was used when it was added.
  await json(login('ada', { code: codeOf(secret) }), 401);
  expect((await login('ada', { code: codeOf(secret, 1) })).status).toBe(200);
  await json(login('ada', { code: codeOf(secret, 1) }), 401);
  expect((await login('ada', { code: codes[0]!.toUpperCase() })).status).toBe(200);
  await json(login('ada', { code: codes[0] }), 401);
  await json(login('ada', { code: codes[1] }, 'wrong'), 401);
  const sessions = await json<{ strength: string }[]>(ada.fetch('/auth/sessions'));
  expect(sessions.map(({ strength }) => strength)).toEqual([
    'two-factors',
    'password',
    'two-factors',
    'two-factors',
  ]);
  // Programs use keys.
  expect((await basic('ada').fetch('/api/a/')).status).toBe(401);
  expect((await basic('cyd').fetch('/api/a/')).status).toBe(200);
  expect((await (await svc.as('ada')).fetch('/api/a/')).status).toBe(200);
  const credentials = { username: 'ada', password: PASSWORD };
  expect(await json(post(svc, '/api-token-auth/', credentials), 400)).toHaveProperty('code');
  await json(post(svc, '/api-token-auth/', { ...credentials, code: codes[2] }));

  const renewed = post(ada, '/auth/factors/recovery-codes', { password: PASSWORD });
  const { recovery_codes: fresh } = await json<{ recovery_codes: string[] }>(renewed);
  await json(login('ada', { code: codes[3] }), 401);
  expect((await login('ada', { code: fresh[0] })).status).toBe(200);
  const { factors } = await json<{ factors: { id: number }[] }>(ada.fetch('/auth/factors'));
  const remove = `/auth/factors/${factors[0]!.id}/remove`;
  await json(post(ada, remove, { password: 'wrong' }), 400);
  const mallory = await svc.inBrowserAs('cyd');
  await json(post(mallory, remove, { password: PASSWORD }), 404);
  expect((await post(ada, remove, { password: PASSWORD })).status).toBe(204);
  expect((await login('ada')).status).toBe(200);
});

test('the page asks for the code after the password, and for the password first', async () => {
  const { codes } = await enrol(await svc.inBrowserAs('dan'));
  const form = (path: string, fields: Record<string, string>, cookie = ''): Promise<Response> =>
    svc.fetch(path, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { Accept: 'text/html', ...(cookie !== '' && { Cookie: cookie }) },
    });
  const fields = { username: 'dan', password: PASSWORD, next: '/ui/a/' };
  const first = await form('/auth/login', fields);
  expect([first.status, first.headers.get('location')]).toEqual([
    303,
    '/auth/second?next=%2Fui%2Fa%2F',
  ]);
  const cookie = first.headers.getSetCookie().find((one) => one.startsWith('svc_second='))!;
  expect(cookie).toContain('HttpOnly');
  expect(first.headers.getSetCookie().join()).not.toContain('svc_session=');
  const step = cookie.split(';')[0]!;
  const wrong = await form('/auth/second', { code: '123456', next: '/ui/a/' }, step);
  expect([wrong.status, await wrong.text()]).toEqual([401, expect.stringContaining('wrong')]);
  const done = await form('/auth/second', { code: codes[0]!, next: '/ui/a/' }, step);
  expect([done.status, done.headers.get('location')]).toEqual([303, '/ui/a/']);
  expect(done.headers.getSetCookie().join()).toContain('svc_session=');
  for (const bad of ['', 'svc_second=x.1.1.y.z', `${step}x`]) {
    expect((await form('/auth/second', { code: codes[1]!, next: '/' }, bad)).status).not.toBe(303);
  }
  // Another password ends what was begun with the old one.
  await svc.command(
    ['admin', 'change-password', svc.docroot, '--username', 'dan', '--password-stdin'],
    'Another-Horse-4242\n',
  );
  expect((await form('/auth/second', { code: codes[2]!, next: '/' }, step)).status).toBe(401);
});

describe('a group that must have one', () => {
  test('is led to where it is added, and may do nothing else before', async () => {
    const bea = await svc.inBrowserAs('bea');
    const page = (path: string): Promise<Response> =>
      bea.fetch(path, { headers: { Accept: 'text/html' } });
    for (const path of ['/', '/ui/a/', '/search']) {
      const answer = await page(path);
      expect([path, answer.status, answer.headers.get('location')]).toEqual([
        path,
        302,
        '/profile#second-factor',
      ]);
    }
    expect((await page('/profile')).status).toBe(200);
    expect(await json(bea.fetch('/api/a/'), 403)).toEqual({
      detail: 'This account needs a second factor: add one in your profile',
    });
    const keys = await post(bea, '/api/apikeys/', { description: 'x' });
    expect(keys.status).toBe(403);
    expect(await json(bea.fetch('/'))).toEqual({ resources: [] });
    expect((await basic('bea').fetch('/api/a/')).status).toBe(401);
    await enrol(bea);
    expect((await bea.fetch('/api/a/')).status).toBe(200);
    expect((await page('/ui/a/')).status).toBe(200);
    const found = await json<{ factors: { id: number }[] }>(bea.fetch('/auth/factors'));
    const remove = `/auth/factors/${found.factors[0]!.id}/remove`;
    await json(post(bea, remove, { password: PASSWORD }), 409);
  });

  test('whoever lost it is let in again by an administrator', async () => {
    await svc.accounts.group('lost', ['cyd']);
    await enrol(await svc.inBrowserAs('cyd'));
    await json(login('cyd'), 401);
    const reset = await svc.command([
      ...['admin', 'reset-second-factors', svc.docroot],
      ...['--username', 'cyd'],
    ]);
    expect(reset.stdout).toBe("Removed 1 second factor(s) of 'cyd'\n");
    expect((await login('cyd')).status).toBe(200);
  });
});

test('codes are not guessed: a right password in between frees nothing', async () => {
  await enrol(await svc.inBrowserAs('eve'));
  const statuses: number[] = [];
  for (let at = 0; at < 11; at += 1) {
    statuses.push((await login('eve', { code: '000000' })).status);
    statuses.push((await login('eve')).status);
  }
  expect(statuses.slice(0, 20).every((status) => status === 401)).toBe(true);
  expect(statuses.at(-2)).toBe(429);
});
