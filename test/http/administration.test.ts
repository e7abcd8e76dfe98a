/**
 * The administration routes: shapes, statuses, texts and audit entries of every call (DS-132 to DS-140).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { timestamp } from '../../src/base/clock.ts';
import type { Client } from '../support/service.ts';
import { auditAfter, lastAuditId } from './changes.ts';
import { sharedService } from './shared-service.ts';
import { PASSWORD } from '../support/password.ts';
import { answered } from '../support/send.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const DONE = { success: true };

const shared = sharedService({ files: { 'a.csv': 'n\n1\n', 'folder/b.csv': 'n\n1\n' } });

let rootId = 0;
beforeAll(async () => {
  ({ id: rootId } = await shared.service.accounts.user('root'));
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const ask = (method: string, path: string, body?: unknown, client: Client = shared.superuser) =>
  answered(client, method, path, body);

const ok = (body: unknown): Answer => ({ status: 200, body });
const refused = (status: number, detail: string): Answer => ({ status, body: { detail } });

/** The issues of a 422 as `type loc`. */
async function issues(method: string, path: string, body?: unknown): Promise<string[]> {
  const answer = await ask(method, path, body);
  expect(answer.status).toBe(422);
  const { detail } = answer.body as { detail: { type: string; loc: unknown[] }[] };
  return detail.map(({ type, loc }) => `${type} ${loc.join('.')}`);
}

/** What `work` left in the audit: action, resource, details. */
async function audited(work: () => Promise<unknown>): Promise<(string | null)[][]> {
  const last = await lastAuditId(shared.service);
  await work();
  // Those who try their rights meanwhile leave entries of their own.
  const rows = (await auditAfter(shared.service, last)).filter(
    ({ action }) => action !== 'permission_denied',
  );
  for (const row of rows) {
    expect(row.user_id).toBe(rootId);
    expect(row.ip_address).toBe('127.0.0.1');
    expect(JSON.stringify(row)).not.toContain(PASSWORD);
  }
  return rows.map(({ action, resource, details }) => [action, resource, details]);
}

async function madeUser(username: string, isSuperuser = false): Promise<number> {
  const body = { username, password: PASSWORD, is_superuser: isSuperuser };
  return ((await ask('POST', '/admin/users', body)).body as { id: number }).id;
}

async function madeGroup(name: string): Promise<number> {
  return ((await ask('POST', '/admin/groups', { name })).body as { id: number }).id;
}

async function madePermission(resource: string, action = 'read'): Promise<number> {
  const { body } = await ask('POST', '/admin/permissions', { resource, action });
  return (body as { id: number }).id;
}

describe('users', () => {
  test('are made, signed in, reset, deactivated, activated and deleted, each with its entry (DS-135, DS-140)', async () => {
    let id = 0;
    const entries = await audited(async () => {
      const made = await ask('POST', '/admin/users', { username: ' bea ', password: PASSWORD });
      expect(made.status).toBe(200);
      const user = made.body as { id: number; created_at: string };
      ({ id } = user);
      expect(user.created_at).toMatch(TIME);
      expect(made.body).toEqual({
        id,
        username: 'bea',
        is_active: true,
        is_superuser: false,
        created_at: user.created_at,
      });
      expect(
        await ask('PUT', `/admin/users/${id}/password`, { new_password: `${PASSWORD}!` }),
      ).toEqual(ok({ success: true, sessions_revoked: true }));
      const status = (is_active: boolean) => ask('PUT', `/admin/users/${id}/status`, { is_active });
      await shared.service.accounts.session('bea');
      await shared.service.accounts.session('bea');
      expect(await status(false)).toEqual(
        ok({ success: true, is_active: false, sessions_revoked: 2 }),
      );
      expect(await status(true)).toEqual(
        ok({ success: true, is_active: true, sessions_revoked: 0 }),
      );
      expect(await ask('DELETE', `/admin/users/${id}`)).toEqual(ok(DONE));
    });
    expect(entries).toEqual([
      ['create_user', 'user', 'Created user bea'],
      ['reset_password', 'user', 'Reset password for user bea'],
      ['deactivate_user', 'user', 'Deactivated user bea'],
      ['activate_user', 'user', 'Activated user bea'],
      ['delete_user', 'user', 'Deleted user bea'],
    ]);
    expect(await ask('DELETE', `/admin/users/${id}`)).toEqual(refused(404, 'User not found'));
  });

  test('refusals leave nothing behind', async () => {
    const id = await madeUser('taken');
    const entries = await audited(async () => {
      const WEAK = {
        status: 400,
        body: { detail: 'New password is too weak', hint: expect.stringMatching(/^It is .*words/) },
      };
      const create = (username: string, password: string) =>
        ask('POST', '/admin/users', { username, password });
      expect(await create('taken', PASSWORD)).toEqual(refused(400, 'User already exists'));
      expect(await create('taken', 'short')).toEqual(refused(400, 'User already exists'));
      expect(await create('new', 'short')).toEqual(WEAK);
      expect(await create('horse-of-anna', 'Horse-of-Anna')).toEqual(WEAK);
      const reset = (to: number, body: unknown) => ask('PUT', `/admin/users/${to}/password`, body);
      expect(await reset(id, { new_password: 'x' })).toEqual(WEAK);
      // Existence comes before the body (DS-8).
      expect(await reset(99_999, 'no JSON')).toEqual(refused(404, 'User not found'));
      expect(await ask('PUT', '/admin/users/99999/status', '{')).toEqual(
        refused(404, 'User not found'),
      );
      expect(await ask('DELETE', `/admin/users/${rootId}`)).toEqual(
        refused(400, 'Cannot delete yourself'),
      );
      expect(await ask('PUT', `/admin/users/${rootId}/status`, { is_active: false })).toEqual(
        refused(400, 'Cannot deactivate yourself'),
      );
    });
    expect(entries).toEqual([]);
  });

  test.each([
    ['POST', '/admin/users', {}, ['missing body.username', 'missing body.password']],
    [
      'POST',
      '/admin/users',
      { username: 1, password: null },
      ['string_type body.username', 'string_type body.password'],
    ],
    [
      'POST',
      '/admin/users',
      { username: ' ', password: PASSWORD },
      ['string_too_short body.username'],
    ],
    [
      'POST',
      '/admin/users',
      { username: 'x'.repeat(151), password: PASSWORD },
      ['string_too_long body.username'],
    ],
    [
      'POST',
      '/admin/users',
      { username: 'a\u0000b', password: PASSWORD },
      ['value_error body.username'],
    ],
    [
      'POST',
      '/admin/users',
      { username: 'a\ud800', password: PASSWORD },
      ['value_error body.username'],
    ],
    [
      'POST',
      '/admin/users',
      { username: 'x', password: 'x'.repeat(1025) },
      ['string_too_long body.password'],
    ],
    [
      'POST',
      '/admin/users',
      { username: 'x', password: PASSWORD, is_superuser: 1 },
      ['bool_type body.is_superuser'],
    ],
    [
      'POST',
      '/admin/users',
      { username: 'x', password: PASSWORD, is_superuser: null },
      ['bool_type body.is_superuser'],
    ],
    ['PUT', '/admin/users/1/status', {}, ['missing body.is_active']],
    ['PUT', '/admin/users/1/status', { is_active: 'false' }, ['bool_type body.is_active']],
    ['PUT', '/admin/users/1/password', { password: PASSWORD }, ['missing body.new_password']],
    ['POST', '/admin/users', '', ['missing body']],
    ['POST', '/admin/users', '[]', ['dict_type body']],
    ['POST', '/admin/users', 'null', ['dict_type body']],
    ['POST', '/admin/users', '{"username":', ['json_invalid body.12']],
    [
      'POST',
      '/admin/users',
      '{"__proto__":{"username":"x","password":"y"}}',
      ['missing body.username', 'missing body.password'],
    ],
    ['DELETE', '/admin/users/abc', undefined, ['int_parsing path.user_id']],
    ['DELETE', '/admin/users/1.5', undefined, ['int_parsing path.user_id']],
    ['DELETE', '/admin/users/9007199254740993', undefined, ['int_parsing path.user_id']],
    ['PUT', '/admin/users/x/status', { is_active: true }, ['int_parsing path.user_id']],
    [
      'POST',
      '/admin/groups',
      { name: '', description: 'x'.repeat(1025) },
      ['string_too_long body.description'],
    ],
    ['POST', '/admin/groups', { name: '' }, ['string_too_short body.name']],
    ['POST', '/admin/groups', { name: 'g', description: 3 }, ['string_type body.description']],
    [
      'POST',
      '/admin/groups',
      { name: 'g', description: '\udfff' },
      ['value_error body.description'],
    ],
    ['GET', '/admin/groups/x', undefined, ['int_parsing path.group_id']],
    ['POST', '/admin/groups/1/users/x', undefined, ['int_parsing path.user_id']],
    ['DELETE', '/admin/groups/1/permissions/-', undefined, ['int_parsing path.perm_id']],
    ['POST', '/admin/permissions', {}, ['missing body.resource', 'missing body.action']],
    ['POST', '/admin/permissions', { resource: 'a', action: 'Read' }, ['enum body.action']],
    ['POST', '/admin/permissions', { resource: 'a', action: ['read'] }, ['enum body.action']],
    [
      'POST',
      '/admin/permissions',
      { resource: '/a', action: 'read' },
      ['value_error body.resource'],
    ],
    [
      'POST',
      '/admin/permissions',
      { resource: 'x'.repeat(4097), action: 'read' },
      ['string_too_long body.resource'],
    ],
    ['DELETE', '/admin/permissions/x', undefined, ['int_parsing path.perm_id']],
    ['DELETE', '/admin/locks/x', undefined, ['int_parsing path.lock_id']],
    ['DELETE', '/admin/sessions/x', undefined, ['int_parsing path.session_id']],
    ['DELETE', '/admin/api-keys/x', undefined, ['int_parsing path.key_id']],
    ['POST', '/admin/api-keys', {}, ['missing body.user_id']],
    ['POST', '/admin/api-keys', { user_id: '1' }, ['int_type body.user_id']],
    ['POST', '/admin/api-keys', { user_id: true }, ['int_type body.user_id']],
    ['POST', '/admin/api-keys', '{"user_id":1e400}', ['int_type body.user_id']],
    ['POST', '/admin/api-keys', { user_id: 0 }, ['greater_than_equal body.user_id']],
    [
      'POST',
      '/admin/api-keys',
      { user_id: 1, expires_in_days: 0 },
      ['greater_than_equal body.expires_in_days'],
    ],
    ['POST', '/admin/api-keys', { user_id: 1, scopes: [] }, ['value_error body.scopes']],
    ['DELETE', '/admin/cache/data:a.csv', undefined, ['missing query.resource']],
    [
      'GET',
      '/admin/explain',
      undefined,
      ['missing query.user', 'missing query.resource', 'missing query.action'],
    ],
    [
      'GET',
      '/admin/explain?user=root&resource=a&action=see',
      undefined,
      ['string_pattern_mismatch query.action'],
    ],
    [
      'GET',
      '/admin/explain?user=root&resource=a&action=read&key_id=x',
      undefined,
      ['int_parsing query.key_id'],
    ],
  ])(
    '%s %s with %j is refused member by member (DS-10, DS-136, DS-137)',
    async (method, path, body, expected) => {
      expect(await issues(method, path, body)).toEqual(expected);
    },
  );

  test('a deactivated or deleted user is out with the next request, by session and by key (DS-97, DS-139)', async () => {
    const id = await madeUser('gone');
    const clients = [await shared.service.as('gone'), await shared.service.inBrowserAs('gone')];
    const statuses = () =>
      Promise.all(clients.map(async (client) => (await client.fetch('/auth/me')).status));
    expect(await statuses()).toEqual([200, 200]);
    await ask('PUT', `/admin/users/${id}/status`, { is_active: false });
    expect(await statuses()).toEqual([401, 401]);
    await ask('PUT', `/admin/users/${id}/status`, { is_active: true });
    expect(await statuses()).toEqual([200, 401]);
    await ask('PUT', `/admin/users/${id}/password`, { new_password: `${PASSWORD}+` });
    expect(await statuses()).toEqual([200, 401]);
    await ask('DELETE', `/admin/users/${id}`);
    expect(await statuses()).toEqual([401, 401]);
  });

  test('rows of the audit outlive the user, without a name (DS-139)', async () => {
    const id = await madeUser('actor', true);
    const actor = await shared.service.as('actor');
    expect((await ask('POST', '/admin/groups', { name: 'left' }, actor)).status).toBe(200);
    const find = async () => {
      const filter = encodeURIComponent('{"details":"Created group left"}');
      const { body } = await ask('GET', `/admin/audit-logs?filter=${filter}`);
      return (body as { user_id: number | null }[]).map(({ user_id }) => user_id);
    };
    expect(await find()).toEqual([id]);
    await ask('DELETE', `/admin/users/${id}`);
    expect(await find()).toEqual([null]);
  });

  test('two administrators who remove each other at once: one stays (DS-138)', async () => {
    const { accounts } = shared.service;
    for (let round = 0; round < 8; round++) {
      const names = [`left ${round}`, `right ${round}`];
      const ids = await Promise.all(
        names.map(async (name) => (await accounts.user(name, { superuser: true })).id),
      );
      // Nobody else may stand in as the last one.
      await accounts.db.run("UPDATE users SET is_superuser = 0 WHERE username = 'root'");
      const clients = await Promise.all(names.map((name) => shared.service.as(name)));
      const [method, path, body] =
        round % 2 === 0
          ? (['DELETE', '', undefined] as const)
          : (['PUT', '/status', { is_active: false }] as const);
      const answers = await Promise.all(
        clients.map((client, at) =>
          ask(method, `/admin/users/${ids[1 - at]}${path}`, body, client),
        ),
      );
      const { n } = (await accounts.db.get<{ n: number }>(
        'SELECT count(*) AS n FROM users WHERE is_superuser = 1 AND is_active = 1',
      ))!;
      await accounts.db.run("UPDATE users SET is_superuser = 1 WHERE username = 'root'");
      await accounts.db.run('DELETE FROM users WHERE username IN (?, ?)', names);
      expect(n).toBe(1);
      expect(answers.filter(({ status }) => status === 200).length).toBe(1);
      const other = answers.find(({ status }) => status !== 200)!;
      // Removed before its request was let in, or refused by the rule.
      expect([400, 401]).toContain(other.status);
    }
  });
});

describe('groups and permissions', () => {
  test('every call and its entry (DS-135, DS-140)', async () => {
    const user = await madeUser('member');
    const entries = await audited(async () => {
      const made = await ask('POST', '/admin/groups', { name: 'staff', description: 'us' });
      const { id: group } = made.body as { id: number };
      expect(made).toEqual(ok({ id: group, name: 'staff', description: 'us' }));
      expect(await ask('POST', '/admin/groups', { name: 'staff' })).toEqual(
        refused(400, 'Group already exists'),
      );
      const right = await ask('POST', '/admin/permissions', {
        resource: ' folder/* ',
        action: 'read',
      });
      const { id: permission } = right.body as { id: number };
      expect(right).toEqual(
        ok({ id: permission, resource: 'folder/*', action: 'read', description: null }),
      );
      expect(
        await ask('POST', '/admin/permissions', { resource: 'folder/*', action: 'read' }),
      ).toEqual(refused(400, 'Permission already exists'));
      const membership = `/admin/groups/${group}/users/${user}`;
      expect(await ask('POST', membership)).toEqual(ok(DONE));
      expect(await ask('POST', membership)).toEqual(ok(DONE));
      const { body } = await ask('GET', `/admin/groups/${group}`);
      expect(body).toMatchObject({ id: group, name: 'staff', description: 'us' });
      expect((body as { users: object[] }).users).toEqual([
        expect.objectContaining({ id: user, username: 'member', is_superuser: false }),
      ]);
      const grant = `/admin/groups/${group}/permissions/${permission}`;
      const member = await shared.service.as('member');
      expect((await member.fetch('/api/folder/b')).status).toBe(403);
      expect(await ask('POST', grant)).toEqual(ok(DONE));
      // Again, which is no change and no entry.
      expect(await ask('POST', grant)).toEqual(ok(DONE));
      expect((await member.fetch('/api/folder/b')).status).toBe(200);
      expect(await ask('GET', `/admin/groups/${group}/permissions`)).toEqual(
        ok([{ id: permission, resource: 'folder/*', action: 'read', description: null }]),
      );
      expect(await ask('DELETE', grant)).toEqual(ok(DONE));
      expect((await member.fetch('/api/folder/b')).status).toBe(403);
      expect(await ask('DELETE', grant)).toEqual(refused(404, 'Permission not assigned to group'));
      expect(await ask('DELETE', membership)).toEqual(ok(DONE));
      expect(await ask('DELETE', membership)).toEqual(ok(DONE));
      expect(await ask('DELETE', `/admin/permissions/${permission}`)).toEqual(ok(DONE));
      expect(await ask('DELETE', `/admin/groups/${group}`)).toEqual(ok(DONE));
    });
    expect(entries).toEqual([
      ['create_group', 'group', 'Created group staff'],
      ['create_permission', 'permission', 'Created permission read on folder/*'],
      ['add_user_to_group', 'group', 'Added user member to group staff'],
      [
        'add_permission_to_group',
        'group_permission',
        'Added permission read on folder/* to group staff',
      ],
      [
        'remove_permission_from_group',
        'group_permission',
        'Removed permission read on folder/* from group staff',
      ],
      ['remove_user_from_group', 'group', 'Removed user member from group staff'],
      ['delete_permission', 'permission', 'Deleted permission read on folder/*'],
      ['delete_group', 'group', 'Deleted group staff'],
    ]);
  });

  test('the docroot boundary has three spellings and one permission (DS-137)', async () => {
    const id = await madePermission('__root__', 'write');
    for (const resource of ['', '<root>', ' __root__ ']) {
      expect(await ask('POST', '/admin/permissions', { resource, action: 'write' })).toEqual(
        refused(400, 'Permission already exists'),
      );
    }
    await ask('DELETE', `/admin/permissions/${id}`);
  });

  test('what is missing is named (DS-135)', async () => {
    const [group, user] = [await madeGroup('lonely'), await madeUser('lonely')];
    const permission = await madePermission('lonely');
    const calls: [string, string, string][] = [
      ['GET', '/admin/groups/99999', 'Group not found'],
      ['DELETE', '/admin/groups/99999', 'Group not found'],
      ['DELETE', '/admin/groups/-1', 'Group not found'],
      ['POST', `/admin/groups/99999/users/${user}`, 'User or Group not found'],
      ['POST', `/admin/groups/${group}/users/99999`, 'User or Group not found'],
      ['DELETE', `/admin/groups/99999/users/${user}`, 'User or Group not found'],
      ['DELETE', `/admin/groups/${group}/users/99999`, 'User or Group not found'],
      ['GET', '/admin/groups/99999/permissions', 'Group not found'],
      ['POST', `/admin/groups/99999/permissions/${permission}`, 'Group or Permission not found'],
      ['POST', `/admin/groups/${group}/permissions/99999`, 'Group or Permission not found'],
      ['DELETE', `/admin/groups/${group}/permissions/99999`, 'Group or Permission not found'],
      [
        'DELETE',
        `/admin/groups/${group}/permissions/${permission}`,
        'Permission not assigned to group',
      ],
      ['DELETE', '/admin/permissions/99999', 'Permission not found'],
      ['DELETE', '/admin/locks/99999', 'Lock not found'],
      ['DELETE', '/admin/api-keys/99999', 'API Key not found'],
      ['DELETE', '/admin/sessions/99999', 'Session not found'],
      ['GET', '/admin/explain?user=nobody&resource=a&action=read', 'User not found'],
      ['GET', '/admin/explain?user=root&resource=a&action=read&key_id=99999', 'API Key not found'],
    ];
    for (const [method, path, detail] of calls) {
      expect({ path, ...(await ask(method, path)) }).toEqual({ path, ...refused(404, detail) });
    }
  });

  test('adding to a group that is being deleted is 200 or 404, never a failure', async () => {
    const user = await madeUser('racer');
    const permission = await madePermission('race');
    for (let round = 0; round < 10; round++) {
      const group = await madeGroup(`race ${round}`);
      const answers = await Promise.all([
        ask('POST', `/admin/groups/${group}/users/${user}`),
        ask('DELETE', `/admin/groups/${group}`),
        ask('POST', `/admin/groups/${group}/permissions/${permission}`),
      ]);
      for (const { status } of answers) expect([200, 404]).toContain(status);
    }
  });
});

describe('API keys and sessions', () => {
  test('a key is made for a user, listed with its hash, and revoked as often as one likes (DS-116)', async () => {
    const user = await madeUser('keeper');
    const entries = await audited(async () => {
      const made = await ask('POST', '/admin/api-keys', {
        user_id: user,
        description: 'd',
        expires_in_days: 3,
      });
      const { id, key, expires_at, created_at } = made.body as Record<string, string>;
      expect(made).toEqual(
        ok({ id, key, user_id: user, description: 'd', expires_at, created_at }),
      );
      expect(key).toMatch(/^ak_[\w-]{43}$/);
      const owner = shared.service.withHeaders({ 'X-API-Key': key! });
      expect((await owner.fetch('/auth/me')).status).toBe(200);
      const { body } = await ask('GET', `/admin/api-keys?user_id=${user}`);
      expect(body).toEqual([
        {
          id,
          key_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
          user_id: user,
          description: 'd',
          created_at,
          expires_at,
          last_used_at: expect.stringMatching(TIME),
          is_active: true,
        },
      ]);
      expect(await ask('DELETE', `/admin/api-keys/${id}`)).toEqual(ok(DONE));
      expect(await ask('DELETE', `/admin/api-keys/${id}`)).toEqual(ok(DONE));
      expect((await owner.fetch('/auth/me')).status).toBe(401);
      expect((await ask('GET', `/admin/api-keys?user_id=${user}&is_active=true`)).body).toEqual([]);
      expect((await ask('GET', `/admin/api-keys?user_id=${user}&is_active=0`)).body).toHaveLength(
        1,
      );
    });
    const revoked = ['revoke_api_key', 'apikey', expect.stringMatching(/^Revoked API key \d+$/)];
    expect(entries).toEqual([
      ['create_api_key', 'apikey', 'Created API key for user keeper'],
      revoked as unknown as string[],
      revoked as unknown as string[],
    ]);
  });

  test('scopes are shown only when set; over a year and unknown users are refused', async () => {
    const user = await madeUser('scoped');
    const made = await ask('POST', '/admin/api-keys', {
      user_id: user,
      scopes: ['read:a', 'write'],
    });
    expect((made.body as { scopes: string[] }).scopes).toEqual(['read:a', 'write']);
    const { body } = await ask('GET', `/admin/api-keys?user_id=${user}`);
    expect(body).toEqual([expect.objectContaining({ scopes: ['read:a', 'write'] })]);
    expect(await ask('POST', '/admin/api-keys', { user_id: user, expires_in_days: 366 })).toEqual(
      refused(400, 'Expiration cannot exceed 1 year (365 days)'),
    );
    expect(await ask('POST', '/admin/api-keys', { user_id: 99_999 })).toEqual(
      refused(404, 'User not found'),
    );
  });

  test('sessions of all users are listed without their tokens, and ended', async () => {
    const user = await madeUser('sitting');
    const browser = await shared.service.inBrowserAs('sitting');
    const { body } = await ask('GET', `/admin/sessions?user_id=${user}`);
    const [session] = body as Record<string, unknown>[];
    expect(Object.keys(session!)).toEqual([
      'id',
      'user_id',
      'created_at',
      'last_active_at',
      'expires_at',
      'ip_address',
      'user_agent',
      'strength',
    ]);
    const id = Number(session!['id']);
    expect(await audited(() => ask('DELETE', `/admin/sessions/${id}`))).toEqual([
      ['revoke_session', 'auth', `Revoked session ${id}`],
    ]);
    expect((await browser.fetch('/auth/me')).status).toBe(401);
  });
});

describe('locks', () => {
  async function lock(resource: string, expiresInMs: number, ageMs = 0): Promise<number> {
    const now = Date.now();
    const { lastId } = await shared.service.accounts.db.run(
      "INSERT INTO locks (resource, owner, acquired_at, expires_at, reason) VALUES (?, 'root', ?, ?, 'upload')",
      [resource, timestamp(now - ageMs), timestamp(now + expiresInMs)],
    );
    return lastId;
  }

  test('are listed, released one by one, and cleaned when stale (DS-135)', async () => {
    const id = await lock('x.csv', 60_000);
    await lock('expired.csv', -1);
    await lock('old.csv', 60_000, 25 * 60 * 60 * 1000);
    const { body } = await ask('GET', '/admin/locks?sort=resource&order=desc');
    const locks = body as Record<string, unknown>[];
    expect(locks.map(({ resource }) => resource)).toEqual(['x.csv', 'old.csv', 'expired.csv']);
    expect(locks[0]).toEqual({
      id,
      resource: 'x.csv',
      owner: 'root',
      acquired_at: expect.stringMatching(TIME),
      expires_at: expect.stringMatching(TIME),
      reason: 'upload',
    });
    const entries = await audited(async () => {
      expect(await ask('POST', '/admin/locks/clean')).toEqual(ok({ released: 2 }));
      expect(await ask('DELETE', `/admin/locks/${id}`)).toEqual(ok(DONE));
      expect(await ask('DELETE', `/admin/locks/${id}`)).toEqual(refused(404, 'Lock not found'));
    });
    expect(entries).toEqual([
      ['clean_stale_locks', 'lock', 'Released 2 stale locks'],
      ['release_lock', 'lock', `Released lock ${id}`],
    ]);
    expect((await ask('GET', '/admin/locks')).body).toEqual([]);
  });
});

describe('cache', () => {
  const keys = async (query = '') =>
    ((await ask('GET', `/admin/cache${query}`)).body as { key: string }[]).map(({ key }) => key);
  const read = async (path: string) => void (await (await shared.reader.fetch(path)).text());

  test('holds what was read, until it is deleted, cleared or changed (DS-142 to DS-144)', async () => {
    await ask('DELETE', '/admin/cache');
    expect(await keys()).toEqual([]);
    await read('/api/a/');
    await read('/schema/a/');
    await read('/api/folder/b/');
    expect(await keys()).toEqual(['data:a.csv', 'schema:a.csv:', 'data:folder/b.csv']);
    const { body } = await ask('GET', '/admin/cache?resource=folder/b.csv');
    expect(body).toEqual([
      {
        key: 'data:folder/b.csv',
        expires_at: expect.stringMatching(TIME),
        resource: 'folder/b.csv',
        user: null,
      },
    ]);
    const entries = await audited(async () => {
      for (const path of ['data:folder/b.csv', 'data:folder%2Fb.csv/', 'nothing']) {
        const answer = await ask('DELETE', `/admin/cache/${path}?resource=folder/b.csv`);
        expect(answer).toEqual(ok(DONE));
      }
      expect(await keys()).toEqual(['data:a.csv', 'schema:a.csv:']);
      expect(await ask('DELETE', '/admin/cache?resource=a.csv')).toEqual(ok(DONE));
      expect(await keys()).toEqual([]);
      expect(await ask('DELETE', '/admin/cache')).toEqual(ok(DONE));
    });
    expect(entries).toEqual([
      ['delete_cache_entry', 'cache', 'Deleted cache entry data:folder/b.csv for folder/b.csv'],
      ['delete_cache_entry', 'cache', 'Deleted cache entry data:folder/b.csv/ for folder/b.csv'],
      ['delete_cache_entry', 'cache', 'Deleted cache entry nothing for folder/b.csv'],
      ['clear_cache', 'cache', 'Cleared cache for resource a.csv'],
      ['clear_cache', 'cache', 'Cleared cache for resource all'],
    ]);
  });

  test('clearing it keeps the ids of rows (DS-48)', async () => {
    const send = (method: string, body: object) => ask(method, '/api/folder/b/', body);
    await send('POST', { action: 'create', data: [{ n: 2 }, { n: 3 }] });
    await send('DELETE', { action: 'delete', data: { _row_id: 1 } });
    const before = await ask('GET', '/api/folder/b/');
    expect(await ask('DELETE', '/admin/cache')).toEqual(ok(DONE));
    expect(await ask('GET', '/api/folder/b/')).toEqual(before);
    expect(before.body).toEqual([
      { _row_id: 2, n: 2 },
      { _row_id: 3, n: 3 },
    ]);
  });
});
