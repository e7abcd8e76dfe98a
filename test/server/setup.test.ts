/** The first superuser (DS-211). */
import { describe, expect, test } from 'bun:test';
import { listAudit } from '../support/audit.ts';
import { PASSWORD, startFixture } from './server-fixture.ts';
import type { Fixture } from './server-fixture.ts';

// Password hashes are slow by design, and slower on a busy machine.

const HTML = { Accept: 'text/html' };

async function fresh(config = {}): Promise<Fixture & { token: string }> {
  const server = await startFixture({ config });
  return Object.assign(server, { token: (await server.services.firstRun.issueToken()) ?? '' });
}

function post(server: Fixture, body: Record<string, unknown>): Promise<Response> {
  return server.fetch('/auth/setup', { method: 'POST', body: JSON.stringify(body) });
}

const person = { username: 'root', password: PASSWORD };

describe('DS-211: while there is no superuser', () => {
  test('the token makes one, once, and signs it in', async () => {
    await using server = await fresh();
    const { token } = server;
    expect(token).toMatch(/^[\w-]{43}$/);
    const response = await post(server, { token, ...person });
    expect([response.status, await response.json()]).toEqual([200, { message: 'Logged in' }]);
    const [cookie] = response.headers.getSetCookie();
    const me = await server.fetch('/auth/me', { headers: { Cookie: cookie!.split(';')[0]! } });
    expect(await me.json()).toMatchObject({ username: 'root', is_superuser: true });
    const { entries } = await listAudit(server.services.db, { order: 'asc', limit: 9, offset: 0 });
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['create_user', 'Created user root'],
      ['login', 'User logged in'],
    ]);
    for (const method of ['GET', 'POST']) {
      const gone = await server.fetch('/auth/setup', { method });
      expect([gone.status, await gone.json()]).toEqual([404, { detail: 'Not Found' }]);
    }
    expect(await server.services.firstRun.issueToken()).toBeNull();
  });

  test('a browser gets a form, its faults in place, and then the start page', async () => {
    await using server = await fresh();
    const { token } = server;
    const page = await (await server.fetch(`/auth/setup?token=${token}`, { headers: HTML })).text();
    expect(page).toContain(`name="token" value="${token}"`);
    const submit = (fields: Record<string, string>): Promise<Response> =>
      server.fetch('/auth/setup/', {
        method: 'POST',
        headers: HTML,
        body: new URLSearchParams({ token, ...fields }),
      });
    const weak = await submit({ username: 'root', password: 'root-root-root' });
    expect(weak.status).toBe(400);
    expect(await weak.text()).toContain('New password is too weak. It repeats itself. ');
    expect((await submit({ username: ' ', password: PASSWORD })).status).toBe(422);
    const done = await submit(person);
    expect([done.status, done.headers.get('location')]).toEqual([303, '/']);
  });

  test('a wrong or late token is refused', async () => {
    await using server = await fresh();
    const { token } = server;
    const refusal = [403, { detail: 'Setup token is not valid' }];
    const attempt = async (given: unknown): Promise<unknown> => {
      const response = await post(server, { token: given, ...person });
      return [response.status, await response.json()];
    };
    expect(await attempt('x'.repeat(43))).toEqual(refusal);
    expect(await attempt('')).toEqual(refusal);
    expect(await attempt(undefined)).toEqual(refusal);
    server.clock.pass(15 * 60 * 1000);
    expect(await attempt(token)).toEqual(refusal);
    expect((await server.fetch(`/auth/setup?token=${token}`)).status).toBe(403);
  });

  test('two at once make one account', async () => {
    await using server = await fresh();
    const { token } = server;
    const answers = await Promise.all(
      ['one', 'two'].map((username) => post(server, { token, username, password: PASSWORD })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  });

  test('a name that is taken is refused, and the token stays good', async () => {
    await using server = await fresh();
    await server.user('root');
    const { token } = server;
    const taken = await post(server, { token, ...person });
    expect([taken.status, await taken.json()]).toEqual([400, { detail: 'User already exists' }]);
    expect((await post(server, { token, username: 'boss', password: PASSWORD })).status).toBe(200);
  });
});

test('DS-211: there is no setup where other machines reach the server', async () => {
  await using server = await fresh({ host: '0.0.0.0' });
  expect(server.token).toBe('');
  expect((await server.fetch('/auth/setup')).status).toBe(404);
});
