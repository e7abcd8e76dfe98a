/**
 * The pages of administration as requests (DS-132, DS-184): what read-only mode leaves, what programs get, filters of the audit.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Client, type Service, startService } from '../support/service.ts';

const HTML = { headers: { Accept: 'text/html' } };
const PAGES = ['users', 'users/1', 'groups', 'groups/1', 'permissions', 'explain', 'api-keys'];
const MORE = ['tokens', 'sessions', 'audit', 'resources', 'events', 'locks', 'cache'];

let svc: Service;
let root: Client;

beforeAll(async () => {
  svc = await startService({ files: { 'reports/sales.csv': 'n\n1\n' } });
  await svc.accounts.user('root', { superuser: true });
  await svc.accounts.grant('anna', 'reports/*', 'read');
  root = await svc.inBrowserAs('root');
});

afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
});

async function page(path: string, client = root): Promise<string> {
  const response = await client.fetch(path, HTML);
  expect([path, response.status]).toEqual([path, 200]);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return response.text();
}

function post(path: string, fields: Record<string, string>, init: RequestInit = HTML) {
  return root.fetch(path, { ...init, method: 'POST', body: new URLSearchParams(fields) });
}

describe('DS-22: read-only mode', () => {
  test('shows everything, offers no change, and takes none', async () => {
    await using readOnly = await startService({
      files: { 'a.csv': 'n\n1\n' },
      config: { readonly: true },
    });
    await readOnly.accounts.user('root', { superuser: true });
    await readOnly.accounts.grant('anna', 'a', 'read');
    const client = await readOnly.inBrowserAs('root');
    for (const name of [...PAGES, ...MORE]) {
      const text = await page(`/admin/ui/${name}`, client);
      expect(text).toContain('Read-only mode');
      const forms = [...text.matchAll(/<form[^>]* method="post" action="([^"]+)"/g)];
      expect(forms.map(([, action]) => action)).toEqual(['/auth/logout']);
    }
    const refused = await client.fetch('/admin/ui/groups', {
      method: 'POST',
      body: new URLSearchParams({ action: 'create-group', name: 'x' }),
    });
    expect(refused.status).toBe(405);
  });
});

describe('forms', () => {
  test('what takes something away asks first, and nothing has happened by then', async () => {
    const path = '/admin/ui/groups/1';
    const asked = await post(path, { action: 'delete-group' });
    expect(asked.status).toBe(200);
    const text = await asked.text();
    expect(text).toContain('Delete group only anna?');
    expect(text).toContain('1 member loses the 1 right it holds, unless another group gives it.');
    expect(text).toContain('name="confirmed" value="yes"');
    expect((await root.fetch('/admin/groups/1')).status).toBe(200);
  });

  test('come back to the page they stand on, filters and all', async () => {
    const done = await post('/admin/ui/groups?q=new', { action: 'create-group', name: 'new' });
    expect([done.status, done.headers.get('location')]).toEqual([
      303,
      '/admin/ui/groups?q=new&done=create-group',
    ]);
    expect(await page('/admin/ui/groups?q=new&done=create-group')).toContain('was created');
    expect(await page('/admin/ui/groups?done=__proto__')).not.toContain('role="status">undefined');
  });

  test.each([
    ['/admin/ui/groups', { action: 'constructor' }, 400],
    ['/admin/ui/groups', { action: 'create-group', name: 'only anna' }, 400],
    ['/admin/ui/groups/1', { action: 'give-right', resource: '/x', right: 'read' }, 422],
    ['/admin/ui/groups/1', { action: 'give-right', resource: 'x', right: 'own' }, 422],
    ['/admin/ui/groups/1', { action: 'add-member', username: 'nobody' }, 404],
    ['/admin/ui/groups/1', { action: 'remove-member', user_id: '999' }, 404],
    ['/admin/ui/groups/999', { action: 'delete-group' }, 404],
    ['/admin/ui/users/999', { action: 'delete-user', confirmed: 'yes' }, 404],
    ['/admin/ui/api-keys', { action: 'revoke-key', id: 'x', confirmed: 'yes' }, 400],
    ['/admin/ui/api-keys', { action: 'create-key', username: 'anna', expires_in_days: '900' }, 400],
    ['/admin/ui/cache', { action: 'delete-entry', key: '', resource: '', confirmed: 'yes' }, 400],
  ])('%s with %j is refused', async (path, fields: Record<string, string>, status) => {
    const answer = await post(path, fields);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      status,
      'text/html; charset=utf-8',
    ]);
    const program = await post(path, fields, { headers: { Accept: 'application/json' } });
    expect([program.status, program.headers.get('content-type')]).toEqual([
      status,
      'application/json',
    ]);
  });
});

describe('the audit', () => {
  test('is filtered by user, action, text and time; the exports ask for the same', async () => {
    await post('/admin/ui/groups', { action: 'create-group', name: 'night' });
    const count = async (query: string): Promise<string | undefined> => {
      const text = await page(`/admin/ui/audit?${query}`);
      return /<data class="count" value="(\d+)"/.exec(text)?.[1] ?? '0';
    };
    expect(await count('user=root&did=create_group&q=night')).toBe('1');
    expect(await count('q=night&from=2020-01-01T00:00')).toBe('1');
    expect(await count('q=night&to=2020-01-01T00:00')).toBe('0');
    expect(await count('user=nobody')).toBe('0');
    expect(await page('/admin/ui/audit?user=nobody')).toContain('There is no user nobody');
    const text = await page('/admin/ui/audit?user=root&q=night');
    const links = [...text.matchAll(/href="(\/admin\/audit-logs[^"]+)"/g)].map(([, href]) =>
      href!.replaceAll('&amp;', '&').replaceAll('&#34;', '"'),
    );
    const bodies = await Promise.all(links.map(async (href) => (await root.fetch(href)).text()));
    expect(bodies).toHaveLength(3);
    for (const body of bodies) expect(body).toContain('Created group night');
    const ndjson = bodies[links.findIndex((href) => href.includes('ndjson'))]!;
    expect(ndjson.trim().split('\n')).toHaveLength(1);
  });
});

test('who may and why: everybody, one user, with a key, and what does not exist', async () => {
  const ask = (query: Record<string, string>): Promise<string> =>
    page(`/admin/ui/explain?${new URLSearchParams(query)}`);
  const everybody = await ask({ resource: 'reports/sales', right: 'read' });
  expect(everybody).toContain('only anna');
  expect(everybody).toContain('superusers may do everything');
  expect(await ask({ resource: 'reports/sales', right: 'write' })).not.toContain('only anna');
  const missing = await ask({ resource: 'reports/later', right: 'read' });
  expect(missing).toContain('Nothing is published under that name now.');
  expect(missing).toContain('only anna');
  const why = await ask({ user: 'anna', resource: 'reports/sales', right: 'write' });
  expect(why).toContain('anna may not write reports/sales');
  expect(await ask({ user: 'nobody', resource: 'a', right: 'read' })).toContain('User not found');
  expect(await ask({ user: 'anna', resource: 'a', key: 'x' })).toContain('is a number');
  expect(await ask({ user: 'anna', resource: 'a', key: '999' })).toContain('API Key not found');
  expect(await ask({ resource: '', right: 'write' })).toContain('the document root (upload)');
});
