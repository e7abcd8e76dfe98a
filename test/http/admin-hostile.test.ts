/**
 * Hostile and simultaneous requests to every route of administration: refused or answered, never a failure (B-J, B-Q, B-H).
 * The shared service checks its own log for answers of 500 and above.
 */
import { describe, expect, test } from 'bun:test';
import { rawRequest } from './raw-request.ts';
import { EXPECTATIONS } from './route-matrix.ts';
import { sharedService } from './shared-service.ts';
import { PASSWORD } from '../support/password.ts';

const shared = sharedService({ files: { 'a.csv': 'n\n1\n' } });

const routes = Object.entries(EXPECTATIONS)
  .filter(([name]) => name.includes(' /admin/'))
  .map(([name, { path }]) => ({ method: name.split(' ')[0]!, path: path.split('?')[0]! }));

const BODIES: readonly (string | Uint8Array)[] = [
  '',
  ' ',
  'null',
  'true',
  '1',
  '"x"',
  '[]',
  '[{}]',
  '{',
  '{"a":1,}',
  '// c\n{}',
  "{'username':'x'}",
  '\ufeff{}',
  new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
  new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  '{"username":{"$ne":null},"password":["x"],"name":{},"resource":[],"action":{},"user_id":{},"is_active":{}}',
  '{"username":"x\\u0000","password":"\\ud800","name":"\\u0000","resource":"\\ud800","action":"read","description":"\\udc00"}',
  '{"__proto__":{"is_superuser":true},"constructor":{"prototype":{"x":1}},"prototype":1}',
  '{"user_id":9007199254740993,"expires_in_days":1e400,"is_active":-0,"is_superuser":1.0}',
  '{"user_id":-1,"expires_in_days":-1,"scopes":["__proto__","read:\\u0000"]}',
  `{"name":"${'x'.repeat(100_000)}","username":"${'x'.repeat(100_000)}","resource":"${'x'.repeat(100_000)}","action":"read","password":"${'x'.repeat(100_000)}"}`,
  '['.repeat(200_000),
  `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`,
];

const QUERIES = [
  'filter=%00',
  'filter=%ff%fe',
  'filter=%zz',
  'filter[$ne]=1',
  'filter={"id":{"$gt":{"$gt":1}}}',
  'filter={"id":1e400}',
  'filter={"id":-0}',
  'filter={"id":{"$in":[[]]}}',
  'filter={"id":"1\' OR \'1\'=\'1"}',
  'filter={"created_at":"9999-99-99T99:99:99Z"}',
  'filter={"created_at":{"$gt":"0000-01-01T00:00:00-23:59"}}',
  'filter={"id":{"$regex":"(a%2B)%2B$"}}',
  'filter={"id":{"$regex":"\\\\C"}}',
  'filter={"description":{"$regex":"((a{100}){100}){100}"}}',
  'filter={"description":{"$contains":"\\u0000"}}',
  'filter={"description":"\\ud800"}',
  `sort=${Array(200).fill('id').join(',')}`,
  'sort=id desc; --',
  'sort=%22id%22%22',
  'sort=,,,',
  'order=asc;drop table users',
  'limit=99999999999999999999999999',
  'offset=99999999999999999999999999',
  'limit=%31%00',
  'limit[]=1',
  'cursor=%00',
  'cursor=W10',
  `cursor=${'A'.repeat(10_000)}`,
  'user_id=1e9',
  'user_id=99999999999999999999',
  'user=%00&resource=%00&action=read',
  'user=%ff&resource=..%2f..%2fetc&action=write',
  `user=${'x'.repeat(10_000)}&resource=${'y/'.repeat(5_000)}&action=read`,
  'resource=%00',
  'resource=..%2F..%2Fetc%2Fpasswd',
  '__proto__[x]=1&constructor.prototype.x=1',
];

async function statusOf(path: string, init: RequestInit): Promise<number> {
  const response = await shared.superuser.fetch(path, init);
  const text = await response.text();
  expect(text).not.toMatch(/SQLITE|SELECT|syntax error|\/tmp\/|at \w+ \(/);
  return response.status;
}

describe.each(routes)('$method $path', ({ method, path }) => {
  test('takes no hostile body for a failure of its own', async () => {
    for (const body of method === 'GET' ? [] : BODIES) {
      const status = await statusOf(path, { method, body: body as Bun.BodyInit });
      expect([200, 400, 404, 422]).toContain(status);
    }
  });

  test('takes no hostile query for a failure of its own', async () => {
    for (const query of QUERIES) {
      const status = await statusOf(`${path}?${query}`, { method });
      expect([200, 400, 404, 422]).toContain(status);
    }
  });
});

test('paths that are no paths', async () => {
  const key = await shared.service.accounts.apiKey('root');
  for (const path of [
    '/admin/users/%00',
    '/admin/users/%ff',
    '/admin/users/%zz',
    '/admin/users/1%2F..%2F2',
    '/admin/users/../users',
    '/admin//users',
    '/admin/users/%2e%2e/groups',
    '/admin/cache/%00?resource=a.csv',
    '/admin/cache/%c0%af?resource=a.csv',
    `/admin/cache/${'x'.repeat(9_000)}?resource=a.csv`,
    '/admin/groups/1/users/2/3',
    '/ADMIN/users',
    '/%61dmin/users',
  ]) {
    for (const method of ['GET', 'DELETE', 'POST']) {
      const { status } = await rawRequest(shared.service.url, {
        method,
        path,
        headers: { 'X-API-Key': key },
      });
      expect({ path, ok: status < 500 }).toEqual({ path, ok: true });
    }
  }
});

test('members nobody asked for change nothing: no privilege by mass assignment (S-Z8)', async () => {
  const body = JSON.stringify({
    username: 'modest',
    password: PASSWORD,
    is_active: false,
    id: 1,
    isSuperuser: true,
    admin: true,
    groups: [1],
    __proto__: { is_superuser: true },
  });
  const response = await shared.superuser.fetch('/admin/users', { method: 'POST', body });
  expect(await response.json()).toMatchObject({
    username: 'modest',
    is_active: true,
    is_superuser: false,
  });
});

test('of two who make the same thing at once, one does', async () => {
  const post = async (path: string, body: object) =>
    (await shared.superuser.fetch(path, { method: 'POST', body: JSON.stringify(body) })).status;
  const password = PASSWORD;
  for (const [path, body] of [
    ['/admin/users', { username: 'twin', password }],
    ['/admin/groups', { name: 'twin' }],
    ['/admin/permissions', { resource: 'twin', action: 'read' }],
  ] as const) {
    const statuses = await Promise.all([1, 2, 3, 4].map(() => post(path, body)));
    expect(statuses.toSorted()).toEqual([200, 400, 400, 400]);
  }
});

test('a user who is deleted while keys, memberships and passwords are made for him', async () => {
  const { accounts } = shared.service;
  const group = await accounts.group('crowd');
  for (let round = 0; round < 8; round++) {
    const { id } = await accounts.user(`passing ${round}`);
    const ask = async (method: string, path: string, body?: object) =>
      (
        await shared.superuser.fetch(path, {
          method,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
      ).status;
    const statuses = await Promise.all([
      ask('POST', '/admin/api-keys', { user_id: id }),
      ask('POST', `/admin/groups/${group}/users/${id}`),
      ask('DELETE', `/admin/users/${id}`),
      ask('PUT', `/admin/users/${id}/status`, { is_active: false }),
      ask('POST', `/admin/groups/${group}/users/${id}`),
      ask('POST', '/admin/api-keys', { user_id: id }),
    ]);
    for (const status of statuses) expect([200, 404]).toContain(status);
    const left = await accounts.db.get<{ n: number }>(
      `SELECT (SELECT count(*) FROM api_keys WHERE user_id = ?) +
         (SELECT count(*) FROM group_members WHERE user_id = ?) AS n`,
      [id, id],
    );
    expect(left?.n).toBe(0);
  }
});
