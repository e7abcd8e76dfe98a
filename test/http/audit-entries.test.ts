/**
 * What the audit says of each action (DS-140), what it leaves out, and how much outsiders can make it write (DS-141).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { auditAfter, change, create, lastAuditId, remove, update } from './changes.ts';
import type { AuditRow } from './changes.ts';
import { eventually } from './eventually.ts';
import { sharedService } from './shared-service.ts';
import { PASSWORD } from '../support/password.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SECRET_CELL = 'cell value that no audit may hold';

const shared = sharedService(
  {
    files: { 'a.csv': 'n,t\n1,x\n2,y\n', 'folder/b.csv': 'n\n1\n', 'b.txt': 'text' },
    // Each part of this file comes from an address of its own.
    config: { trusted_proxies: ['127.0.0.1'] },
  },
  /audit entry not written/,
);

let userId = 0;
beforeAll(async () => {
  const { accounts } = shared.service;
  ({ id: userId } = await accounts.user('anna', { password: PASSWORD }));
  await accounts.grant('anna', '*', 'read', 'write');
});

const from = (address: string) => ({ 'X-Forwarded-For': address });

/** What the work left in the audit, without ids and times, which are checked here. */
async function audited(
  work: () => Promise<unknown>,
): Promise<Omit<AuditRow, 'id' | 'timestamp'>[]> {
  const { service } = shared;
  const last = await lastAuditId(service);
  const start = Date.now();
  await work();
  const rows = await auditAfter(service, last);
  for (const { timestamp } of rows) {
    expect(timestamp).toMatch(TIME);
    expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(start);
    expect(Date.parse(timestamp)).toBeLessThanOrEqual(Date.now());
  }
  return rows.map(({ id: _id, timestamp: _timestamp, ...rest }) => rest);
}

async function signIn(address: string, password = PASSWORD): Promise<Response> {
  return shared.service.fetch('/auth/login', {
    method: 'POST',
    headers: from(address),
    body: JSON.stringify({ username: 'anna', password }),
  });
}

describe('an account leaves entries (DS-140)', () => {
  test('login, revoke_session, logout', async () => {
    const ip = '192.0.2.10';
    const entry = { user_id: userId, resource: 'auth', ip_address: ip };
    expect(await audited(() => signIn(ip))).toEqual([
      { ...entry, action: 'login', details: 'User logged in' },
    ]);
    const browser = await shared.service.inBrowserAs('anna');
    const sessions = (await (await browser.fetch('/auth/sessions')).json()) as { id: number }[];
    const { id } = sessions[0]!;
    const revoke = () =>
      browser.fetch(`/auth/sessions/${id}`, { method: 'DELETE', headers: from(ip) });
    expect(await audited(revoke)).toEqual([
      { ...entry, action: 'revoke_session', details: `Revoked session ${id}` },
    ]);
    expect(await audited(revoke)).toEqual([]);
    const logout = () => browser.fetch('/auth/logout', { method: 'POST', headers: from(ip) });
    expect(await audited(logout)).toEqual([
      { ...entry, action: 'logout', details: 'User logged out' },
    ]);
    expect(await audited(logout)).toEqual([]);
  });

  test('login_failed names whoever was tried, and nobody as the actor', async () => {
    const ip = '192.0.2.11';
    const attempt = (username: string) =>
      shared.service.fetch('/auth/login', {
        method: 'POST',
        headers: from(ip),
        body: JSON.stringify({ username, password: 'not the right one' }),
      });
    for (const username of ['anna', 'nobody', "o'hara <b>"]) {
      expect(await audited(() => attempt(username))).toEqual([
        {
          user_id: null,
          action: 'login_failed',
          resource: 'auth',
          details: `Failed login for user ${username}`,
          ip_address: ip,
        },
      ]);
    }
  });

  test('a wrong Basic header is a failed login too; a right one leaves nothing', async () => {
    const ip = '192.0.2.12';
    const ask = (password: string) =>
      shared.service.fetch('/auth/me', {
        headers: { ...from(ip), Authorization: `Basic ${btoa(`anna:${password}`)}` },
      });
    expect(await audited(() => ask('wrong'))).toMatchObject([
      { action: 'login_failed', details: 'Failed login for user anna', ip_address: ip },
    ]);
    expect(await audited(() => ask(PASSWORD))).toEqual([]);
  });

  test('create_api_key and revoke_api_key', async () => {
    const ip = '192.0.2.13';
    const entry = { user_id: userId, resource: 'apikey', ip_address: ip };
    const browser = await shared.service.inBrowserAs('anna');
    let created: { id?: number; key?: string } = {};
    const entries = await audited(async () => {
      const body = JSON.stringify({ description: 'secret label' });
      const response = await browser.fetch('/api/apikeys', {
        method: 'POST',
        headers: from(ip),
        body,
      });
      created = (await response.json()) as typeof created;
    });
    expect(entries).toEqual([
      { ...entry, action: 'create_api_key', details: 'Created API key for user anna' },
    ]);
    const revoke = () =>
      browser.fetch(`/api/apikeys/${created.id}`, { method: 'DELETE', headers: from(ip) });
    expect(await audited(revoke)).toEqual([
      {
        ...entry,
        action: 'revoke_api_key',
        details: `Revoked API key ${created.id} for user anna`,
      },
    ]);
  });

  test('change_password, and nothing for a change that was refused', async () => {
    const ip = '192.0.2.14';
    const { accounts } = shared.service;
    const { id } = await accounts.user('berta', { password: PASSWORD });
    const browser = await shared.service.inBrowserAs('berta');
    const put = (current_password: string, new_password: string) =>
      browser.fetch('/auth/password', {
        method: 'PUT',
        headers: from(ip),
        body: JSON.stringify({ current_password, new_password }),
      });
    expect(await audited(() => put(PASSWORD, 'short'))).toEqual([]);
    expect(await audited(() => put('wrong', 'Another-Horse 28 plug'))).toEqual([]);
    expect(await audited(() => put(PASSWORD, 'Another-Horse 28 plug'))).toEqual([
      {
        user_id: id,
        action: 'change_password',
        resource: 'auth',
        details: 'User changed password',
        ip_address: ip,
      },
    ]);
  });

  test('create_user of the command line has no actor and ends in (cli) (DS-141)', async () => {
    expect(await audited(() => shared.service.createSuperuser('by hand'))).toEqual([
      {
        user_id: null,
        action: 'create_user',
        resource: 'user',
        details: 'Created user by hand (cli)',
        ip_address: null,
      },
    ]);
  });
});

describe('changed rows leave entries (DS-83, DS-140)', () => {
  const ip = '192.0.2.20';
  const entry = () => ({ user_id: userId, ip_address: ip });
  const client = async () => {
    const key = await shared.service.accounts.apiKey('anna');
    return shared.service.withHeaders({ 'X-API-Key': key, ...from(ip) });
  };

  test('create_dataset_rows with their number, by the file whatever was typed', async () => {
    const anna = await client();
    expect(await audited(() => create(anna, 'a', [{ n: 3, t: SECRET_CELL }]))).toEqual([
      {
        ...entry(),
        action: 'create_dataset_rows',
        resource: 'a.csv',
        details: 'Created 1 dataset row',
      },
    ]);
    expect(await audited(() => create(anna, 'folder/b', [{ n: 1 }, { n: 2 }, {}]))).toEqual([
      {
        ...entry(),
        action: 'create_dataset_rows',
        resource: 'folder/b.csv',
        details: 'Created 3 dataset rows',
      },
    ]);
  });

  test('update_dataset_row and delete_dataset_row with the id', async () => {
    const anna = await client();
    expect(await audited(() => update(anna, 'a.csv', { _row_id: 2, t: SECRET_CELL }))).toEqual([
      {
        ...entry(),
        action: 'update_dataset_row',
        resource: 'a.csv',
        details: 'Updated dataset row 2',
      },
    ]);
    expect(await audited(() => remove(anna, 'a', 2))).toEqual([
      {
        ...entry(),
        action: 'delete_dataset_row',
        resource: 'a.csv',
        details: 'Deleted dataset row 2',
      },
    ]);
  });

  test('what was refused or changed nothing leaves none (DS-79, DS-80)', async () => {
    const anna = await client();
    const nothing = [
      () => create(anna, 'a', []),
      () => update(anna, 'a', { _row_id: 1 }),
      () => update(anna, 'a', { _row_id: 1, t: 'x' }),
      () => update(anna, 'a', { _row_id: 4711, t: 'x' }),
      () => update(anna, 'a', { _row_id: 1, n: 'x' }),
      () => update(anna, 'a', { _row_id: 1, n: 8 }, { 'If-Match': '"x"' }),
      () => change(anna, 'PUT', 'a', {}),
      () => create(anna, 'nothing', [{}]),
    ];
    for (const work of nothing) expect(await audited(work)).toEqual([]);
  });
});

describe('a denial leaves an entry (DS-140, DS-141)', () => {
  test('with the name as typed and the verb', async () => {
    const { service } = shared;
    const { id } = await service.accounts.user('stranger');
    const key = await service.accounts.apiKey('stranger');
    const stranger = service.withHeaders({ 'X-API-Key': key, ...from('192.0.2.30') });
    const entry = { user_id: id, action: 'permission_denied', ip_address: '192.0.2.30' };
    const asked: readonly (readonly [string, string, string, string])[] = [
      ['GET', '/api/a/', 'a', 'read'],
      ['GET', '/api/a.csv', 'a.csv', 'read'],
      ['POST', '/api/a', 'a', 'write'],
      ['GET', '/api/absent/x%20y', 'absent/x y', 'read'],
      ['GET', '/schema/folder/b/', 'folder/b', 'read'],
      ['GET', '/b.txt', 'b.txt', 'read'],
    ];
    for (const [method, path, resource, details] of asked) {
      const ask = () => stranger.fetch(path, { method });
      expect(await audited(ask)).toEqual([{ ...entry, resource, details }]);
      // The same doing again within a minute is not written again.
      expect(await audited(ask)).toEqual([]);
    }
    const elsewhere = service.withHeaders({ 'X-API-Key': key, ...from('192.0.2.31') });
    expect((await audited(() => elsewhere.fetch('/api/a/'))).length).toBe(1);
  });

  test('a hidden and an absent name leave the same entry', async () => {
    const { service } = shared;
    const key = await service.accounts.apiKey('stranger');
    const stranger = service.withHeaders({ 'X-API-Key': key, ...from('192.0.2.32') });
    const [hidden] = await audited(() => stranger.fetch('/api/folder/b'));
    const [absent] = await audited(() => stranger.fetch('/api/folder/c'));
    expect(hidden?.resource).toBe('folder/b');
    expect(absent).toEqual({ ...hidden!, resource: 'folder/c' });
  });

  test('nobody without an identity can write to the audit by asking', async () => {
    expect(await audited(() => shared.service.fetch('/api/a/'))).toEqual([]);
  });

  test('one caller causes at most 600 rows a minute, and more requests are still answered', async () => {
    const { service } = shared;
    const key = await service.accounts.apiKey('stranger');
    const stranger = service.withHeaders({ 'X-API-Key': key, ...from('192.0.2.33') });
    const entries = await audited(async () => {
      for (let batch = 0; batch < 50; batch++) {
        const requests = Array.from({ length: 16 }, (_, index) =>
          stranger.fetch(`/api/guess-${batch}-${index}`),
        );
        for (const { status } of await Promise.all(requests)) expect(status).toBe(403);
      }
    });
    expect(entries.length).toBeGreaterThan(0);
    expect(entries.length).toBeLessThanOrEqual(600);
  });

  test('that does not keep actions of users from being audited', async () => {
    expect(await audited(() => create(shared.writer, 'a', [{ n: 99 }]))).toMatchObject([
      { action: 'create_dataset_rows' },
    ]);
  });
});

test('an entry that cannot be written is logged and breaks nothing (DS-140)', async () => {
  const { service, writer } = shared;
  const { db } = service.accounts;
  await db.run("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END");
  try {
    const entries = await audited(async () => {
      expect((await create(writer, 'a', [{ n: 100 }])).status).toBe(200);
    });
    expect(entries).toEqual([]);
    await eventually(() => {
      const lines = service.stderr().split('\n');
      const found = lines.filter((line) => line.includes('audit entry not written'));
      expect(found).toEqual([expect.stringContaining('"create_dataset_rows"')]);
    });
  } finally {
    await db.run('DROP TRIGGER full');
  }
  expect((await audited(() => create(writer, 'a', [{ n: 101 }]))).length).toBe(1);
});

test('no cell value, password or key stands anywhere in the audit (DS-140)', async () => {
  const { db } = shared.service.accounts;
  const rows = JSON.stringify(await db.all('SELECT * FROM audit'));
  expect(rows).not.toContain(SECRET_CELL);
  expect(rows).not.toContain(PASSWORD);
  expect(rows).not.toContain('secret label');
  expect(rows).not.toContain('not the right one');
  expect(rows).not.toMatch(/ak_[\w-]{20}/);
});

test('entries of a deleted user stay, without an actor (DS-139)', async () => {
  const { accounts } = shared.service;
  const { id } = await accounts.user('carla');
  await accounts.grant('carla', 'a', 'read', 'write');
  const carla = await shared.service.as('carla');
  const last = await lastAuditId(shared.service);
  await create(carla, 'a', [{ n: 5 }]);
  await accounts.db.run('DELETE FROM users WHERE id = ?', [id]);
  expect(await auditAfter(shared.service, last)).toMatchObject([
    { action: 'create_dataset_rows', user_id: null },
  ]);
});

test('svc check names an entry that was changed behind our back', async () => {
  const { service } = shared;
  const { db } = service.accounts;
  const check = async () => {
    const { exitCode, stdout } = await service.command(['check', service.docroot]);
    return [exitCode, stdout.split('\n').filter((line) => line.startsWith('PROBLEM: audit'))];
  };
  expect(await check()).toEqual([0, []]);
  const entry = await lastAuditId(service);
  await db.run("UPDATE audit SET details = details || '!' WHERE id = ?", [entry]);
  expect(await check()).toEqual([
    1,
    [`PROBLEM: audit: entry ${entry} was changed after it was written, or one before it was`],
  ]);
});
