/**
 * Who may read which dataset, and what everybody else is told (DS-12, DS-13, DS-96, DS-118, DS-128 to DS-131, S-Z).
 */
import { describe, expect, test } from 'bun:test';
import type { Client } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { get } from './listing.ts';
import { rawRequest } from './raw-request.ts';
import { scenarios } from '../support/scenarios.ts';
import { sharedService } from './shared-service.ts';

const FILES = {
  'open.csv': 'mark\nopen\n',
  'reports/2024/sales.csv': 'mark\nsales\n',
  'reports/plan.csv': 'mark\nplan\n',
  'reports.csv': 'mark\nreports itself\n',
  'secret/pay.csv': 'mark\npay\n',
  'secrets.csv': 'mark\nsecrets\n',
  'rep.v2.csv': 'mark\nv2\n',
  'literal*.csv': 'mark\nstar\n',
  'literalX.csv': 'mark\nno star\n',
  'folder*/x.csv': 'mark\nin star\n',
  'folderX/x.csv': 'mark\nnot in star\n',
};

const ROUTES = ['/api/open/', '/api/open.csv', '/schema/open/', '/schema/open.csv'];
const MISSES = ['/api/nothing/', '/schema/nothing/', '/api/secret/', '/nothing'];
const HTML = { Accept: 'text/html,application/xhtml+xml' };

scenarios('reading datasets', { files: FILES }, [
  ...ROUTES.flatMap((path) => [
    {
      name: `GET ${path} needs an identity`,
      actor: 'anonymous' as const,
      path,
      status: 401,
      json: { detail: 'Not authenticated' },
      answerHeaders: { 'WWW-Authenticate': /^Bearer realm="svc"$/ },
      lacks: 'mark',
    },
    {
      name: `GET ${path} needs the right to read`,
      actor: 'stranger' as const,
      path,
      status: 403,
      json: {
        detail: `Permission denied: read on ${path.includes('.csv') ? 'open.csv' : 'open'}`,
      },
      lacks: 'mark',
    },
    {
      name: `GET ${path} answers those who may`,
      actor: ['reader', 'writer', 'superuser'] as const,
      path,
      status: 200,
      contains: 'mark',
    },
  ]),
  ...MISSES.flatMap((path) => [
    {
      name: `GET ${path} tells the anonymous nothing`,
      actor: 'anonymous' as const,
      path,
      status: 401,
      json: { detail: 'Not authenticated' },
    },
    {
      name: `GET ${path} tells a stranger nothing`,
      actor: 'stranger' as const,
      path,
      status: 403,
      json: {
        detail: `Permission denied: read on ${path.replace(/^\/(api|schema)?\/?|\/$/g, '')}`,
      },
    },
    {
      name: `GET ${path} is a miss for those who may know`,
      actor: ['writer', 'superuser'] as const,
      path,
      status: 404,
      json: { detail: 'Not Found' },
    },
  ]),
  {
    name: 'writing needs more than reading',
    actor: 'reader',
    method: 'POST',
    path: '/api/open/',
    body: { action: 'create', data: [] },
    status: 403,
    json: { detail: 'Permission denied: write on open' },
  },
  {
    name: 'writing to what does not exist needs the right, too',
    actor: 'reader',
    method: 'DELETE',
    path: '/api/nothing/',
    status: 403,
    json: { detail: 'Permission denied: write on nothing' },
  },
  {
    name: 'writing to what does not exist is a miss for those who may',
    actor: ['writer', 'superuser'],
    method: 'DELETE',
    path: '/api/nothing/',
    status: 404,
    json: { detail: 'Not Found' },
  },
  {
    name: 'the list is empty for the anonymous',
    actor: 'anonymous',
    path: '/',
    status: 200,
    json: { resources: [] },
  },
  {
    name: 'the list is empty for a stranger',
    actor: 'stranger',
    path: '/',
    status: 200,
    json: { resources: [] },
  },
  {
    name: 'the list is everything for those who may read everything',
    actor: ['reader', 'writer', 'superuser'],
    path: '/',
    status: 200,
    json: { resources: Object.keys(FILES).sort() },
  },
  {
    name: 'a browser is sent to sign in, and comes back',
    actor: 'anonymous',
    path: '/api/open/?limit=1&sort=a',
    headers: HTML,
    status: 302,
    answerHeaders: { Location: /^\/auth\/login\?next=\/api\/open\/%3Flimit%3D1%26sort%3Da$/ },
  },
  {
    name: 'a browser is told in JSON under /api and /schema',
    actor: 'stranger',
    path: '/schema/open/',
    headers: HTML,
    status: 403,
    json: { detail: 'Permission denied: read on open' },
  },
  {
    name: 'a miss is JSON for a browser under /api',
    actor: 'superuser',
    path: '/api/nothing/',
    headers: HTML,
    status: 404,
    json: { detail: 'Not Found' },
  },
  {
    name: 'a parameter that is wrong is JSON for a browser under /api',
    actor: 'superuser',
    path: '/api/open/?limit=x',
    headers: HTML,
    status: 422,
    contains: '"int_parsing"',
  },
  {
    name: 'a miss elsewhere is a page for a browser, without what was asked for',
    actor: 'superuser',
    path: '/%3Cimg%20src=x%20onerror=alert(1)%3E',
    headers: HTML,
    status: 404,
    contains: ['<!doctype html>', 'Not Found'],
    lacks: '<img src=x',
  },
]);

const shared = sharedService({ files: FILES });

let users = 0;

/** A new user with just these rights. */
async function userWith(
  ...rights: [resource: string, ...verbs: ('read' | 'write')[]][]
): Promise<Client> {
  const name = `user ${++users}`;
  await shared.service.accounts.user(name);
  for (const [resource, ...verbs] of rights)
    await shared.service.accounts.grant(name, resource, ...verbs);
  return shared.service.as(name);
}

/** The mark of a dataset, or status and detail. */
async function seen(client: Client, path: string): Promise<unknown> {
  const { status, rows, detail } = await get(client, path);
  return status === 200 ? rows[0]?.['mark'] : `${status} ${String(detail)}`;
}

const denied = (name: string, verb = 'read') => `403 Permission denied: ${verb} on ${name}`;
const MISS = '404 Not Found';

describe('what a grant opens', () => {
  test('a canonical name and an extension form open both addresses (DS-25, DS-129)', async () => {
    for (const resource of ['rep.v2', 'rep.v2.csv']) {
      const client = await userWith([resource, 'read']);
      expect(await seen(client, '/api/rep.v2/')).toBe('v2');
      expect(await seen(client, '/api/rep.v2.csv/')).toBe('v2');
      expect((await get(client, '/schema/rep.v2/')).status).toBe(200);
      expect(await seen(client, '/api/rep/')).toBe(denied('rep'));
      expect(await seen(client, '/api/open/')).toBe(denied('open'));
      expect((await get(client, '/')).body).toEqual({ resources: ['rep.v2.csv'] });
    }
  });

  test('a folder pattern opens all below, at any depth, not the folder itself (DS-129)', async () => {
    const client = await userWith(['reports/*', 'read']);
    expect(await seen(client, '/api/reports/plan/')).toBe('plan');
    expect(await seen(client, '/api/reports/2024/sales/')).toBe('sales');
    expect(await seen(client, '/api/reports/')).toBe(denied('reports'));
    expect(await seen(client, '/api/reports.csv/')).toBe(denied('reports.csv'));
    expect((await get(client, '/')).body).toEqual({
      resources: ['reports/2024/sales.csv', 'reports/plan.csv'],
    });
  });

  test('a star elsewhere is a letter (DS-31, DS-129)', async () => {
    const client = await userWith(['literal*', 'read'], ['folder*/x', 'read']);
    expect(await seen(client, '/api/literal%2A/')).toBe('star');
    expect(await seen(client, '/api/literalX/')).toBe(denied('literalX'));
    expect(await seen(client, '/api/folder%2A/x/')).toBe('in star');
    expect(await seen(client, '/api/folderX/x/')).toBe(denied('folderX/x'));
    const prefix = await userWith(['secret*', 'read']);
    expect(await seen(prefix, '/api/secret/pay/')).toBe(denied('secret/pay'));
    expect(await seen(prefix, '/api/secrets/')).toBe(denied('secrets'));
  });

  test.each([
    '',
    '/',
    'OPEN',
    'Open',
    'open/',
    'open/*',
    'ope',
    'open.',
    'open.cs',
    './open',
    '@events',
  ])('the resource text %p does not open the file open.csv (DS-129)', async (resource) => {
    const client = await userWith([resource, 'read', 'write']);
    expect(await seen(client, '/api/open/')).toBe(denied('open'));
  });

  test('writing is no reading, and reading no writing (DS-128)', async () => {
    const client = await userWith(['open', 'write']);
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      expect((await client.fetch('/api/open/', { method })).status).toBe(403);
    }
    expect(await seen(client, '/api/open/')).toBe(denied('open'));
    expect(await seen(client, '/schema/open/')).toBe(denied('open'));
    expect((await get(client, '/')).body).toEqual({ resources: [] });
    const body = JSON.stringify({ action: 'create', data: [] });
    expect((await client.fetch('/api/open/', { method: 'POST', body })).status).toBe(200);
  });

  test('rights come and go with the next request (DS-97, DS-128)', async () => {
    const { service } = shared;
    const client = await userWith();
    const name = `user ${users}`;
    expect(await seen(client, '/api/open/')).toBe(denied('open'));
    await service.accounts.grant(name, 'open', 'read');
    expect(await seen(client, '/api/open/')).toBe('open');
    await service.accounts.db.run(
      'DELETE FROM group_members WHERE user_id = (SELECT id FROM users WHERE username = ?)',
      [name],
    );
    expect(await seen(client, '/api/open/')).toBe(denied('open'));
  });
});

describe('permission before existence', () => {
  test('those without a grant hear the same of what is there and what is not (DS-130)', async () => {
    const client = await userWith(['open', 'read']);
    const key = await shared.service.accounts.apiKey(`user ${users}`);
    const answer = async (path: string) => {
      const { status, headers, body } = await rawRequest(shared.service.url, {
        path,
        headers: { 'X-API-Key': key },
      });
      const { date: _date, 'x-request-id': _id, 'content-length': _length, ...rest } = headers;
      return { status, headers: rest, body: Buffer.from(body).toString() };
    };
    for (const family of ['api', 'schema']) {
      const real = await answer(`/${family}/secret/pay/`);
      const made = await answer(`/${family}/secret/way/`);
      expect(real.status).toBe(403);
      expect({ ...made, body: made.body.replace('way', 'pay') }).toEqual(real);
    }
    expect(await seen(client, '/api/nothing/')).toBe(denied('nothing'));
  });

  test('a grant for a name that is not there tells so (DS-130, DS-131)', async () => {
    const client = await userWith(['coming', 'read'], ['later/*', 'read']);
    expect(await seen(client, '/api/coming/')).toBe(MISS);
    expect(await seen(client, '/schema/coming/')).toBe(MISS);
    expect(await seen(client, '/api/later/a/b/')).toBe(MISS);
    expect(await seen(client, '/api/later/')).toBe(denied('later'));
    expect(await seen(client, '/api/coming.csv/')).toBe(denied('coming.csv'));
    expect(await seen(client, '/api/other/')).toBe(denied('other'));
    shared.service.write('coming.csv', 'mark\ncame\n');
    await eventually(async () => expect(await seen(client, '/api/coming/')).toBe('came'));
    expect(await seen(client, '/api/coming.csv/')).toBe('came');
  });

  test('the action must be the one that is needed (DS-130)', async () => {
    const client = await userWith(['ghost', 'read']);
    expect(await seen(client, '/api/ghost/')).toBe(MISS);
    const answer = await client.fetch('/api/ghost/', { method: 'POST', body: '{}' });
    expect(`${answer.status} ${((await answer.json()) as { detail: string }).detail}`).toBe(
      denied('ghost', 'write'),
    );
  });

  test.each([
    '/api/Secret/Pay/',
    '/api/SECRET/PAY.CSV/',
    '/api/secret//pay/',
    '/api/secret/./pay/',
    '/api/./secret/pay/',
    '/api/secret/pay;a=b/',
    '/api/secret%2Fpay/',
    '/api/secret/pay.csv',
    '/api/secret/pay/x/',
    '/api/open/../secret/pay/',
    '/api/open%2F..%2Fsecret%2Fpay/',
    '/schema/secret/pay.csv/',
    '/secret/pay.csv',
  ])('%s is the same closed door (S-P10)', async (path) => {
    await userWith(['open', 'read']);
    const key = await shared.service.accounts.apiKey(`user ${users}`);
    const { status, body } = await rawRequest(shared.service.url, {
      path,
      headers: { 'X-API-Key': key },
    });
    expect([400, 403, 404]).toContain(status);
    expect(Buffer.from(body).toString()).not.toMatch(/"mark"|"pay":/);
  });

  test('nothing about a closed file comes through side doors (S-Z4, S-K3)', async () => {
    const client = await userWith(['open', 'read']);
    const { etag } = await get(shared.reader, '/api/secret/pay/');
    const asks: RequestInit[] = [
      { method: 'HEAD' },
      { headers: { 'If-None-Match': '*' } },
      { headers: { 'If-None-Match': etag } },
      { headers: { Range: 'bytes=0-1' } },
      { headers: { Accept: 'text/csv' } },
      { method: 'OPTIONS' },
    ];
    const closed = '/api/secret/pay/?filter={"nope":1}&format=csv&columns=nope&limit=0';
    for (const init of asks) {
      const { status, headers } = await get(client, closed, init);
      expect(status).toBe(403);
      for (const name of ['ETag', 'X-Total-Count', 'Link', 'Content-Disposition']) {
        expect(headers.get(name)).toBeNull();
      }
    }
    const { next } = await get(shared.reader, '/api/reports/plan/?limit=1');
    expect(next).toBeNull();
  });

  test('a denial is written down, an answer to those who may know is not (DS-140)', async () => {
    const client = await userWith(['open', 'read']);
    await get(client, '/api/secret/pay/');
    await get(shared.superuser, '/api/nothing at all/');
    const entries = await shared.service.accounts.db.all<{ action: string; resource: string }>(
      "SELECT action, resource FROM audit WHERE resource IN ('secret/pay', 'nothing at all')",
    );
    expect(entries.every(({ action }) => action === 'permission_denied')).toBe(true);
    expect(entries.map(({ resource }) => resource)).toContain('secret/pay');
    expect(entries.map(({ resource }) => resource)).not.toContain('nothing at all');
  });
});

describe('an API key with scopes', () => {
  const keyed = async (username: string, scopes: string[]) => {
    const key = await shared.service.accounts.apiKey(username, scopes);
    return shared.service.withHeaders({ 'X-API-Key': key });
  };

  test.each([
    ['reader', ['read'], 'open', 'plan'],
    ['reader', ['read:*'], 'open', 'plan'],
    ['reader', ['read:open'], 'open', denied('reports/plan')],
    ['reader', ['read:open.csv'], 'open', denied('reports/plan')],
    ['reader', ['read:reports/*'], denied('open'), 'plan'],
    ['reader', ['read:open', 'read:reports/*'], 'open', 'plan'],
    ['reader', ['write'], denied('open'), denied('reports/plan')],
    ['reader', ['write:open'], denied('open'), denied('reports/plan')],
    ['root', ['read:open'], 'open', denied('reports/plan')],
    ['root', ['write'], denied('open'), denied('reports/plan')],
    ['root', ['read'], 'open', 'plan'],
  ])('of %s with %j reads what both allow (DS-118)', async (username, scopes, open, plan) => {
    const client = await keyed(username, scopes);
    expect(await seen(client, '/api/open/')).toBe(open);
    expect(await seen(client, '/api/reports/plan/')).toBe(plan);
    expect((await get(client, '/schema/open/')).status).toBe(open === 'open' ? 200 : 403);
  });

  test('lists only what it may read (DS-118, DS-182)', async () => {
    expect((await get(await keyed('root', ['read:reports/*']), '/')).body).toEqual({
      resources: ['reports/2024/sales.csv', 'reports/plan.csv'],
    });
    expect((await get(await keyed('root', ['write']), '/')).body).toEqual({ resources: [] });
  });

  test('never adds a right (DS-118)', async () => {
    const client = await keyed('nobody', ['read', 'write', 'read:*']);
    expect(await seen(client, '/api/open/')).toBe(denied('open'));
    const writing = await keyed('reader', ['write']);
    expect((await writing.fetch('/api/open/', { method: 'POST', body: '{}' })).status).toBe(403);
  });

  test('hears of a miss only within its scopes (DS-118, DS-130)', async () => {
    const client = await keyed('root', ['read:reports/*']);
    expect(await seen(client, '/api/reports/nothing/')).toBe(MISS);
    expect(await seen(client, '/api/nothing/')).toBe(denied('nothing'));
  });
});

describe('every way to sign in', () => {
  test('reads the same rows (DS-93)', async () => {
    const { service } = shared;
    await service.accounts.user('paul', { password: 'Correct-Horse-7' });
    await service.accounts.grant('paul', 'open', 'read');
    const key = await service.accounts.apiKey('paul');
    const basic = btoa('paul:Correct-Horse-7');
    const clients = [
      await service.inBrowserAs('paul'),
      service.withHeaders({ 'X-API-Key': key }),
      service.withHeaders({ Authorization: `Bearer ${key}` }),
      service.withHeaders({ Authorization: `Basic ${basic}` }),
    ];
    for (const client of clients) {
      expect(await seen(client, '/api/open/')).toBe('open');
      expect(await seen(client, '/api/reports/plan/')).toBe(denied('reports/plan'));
    }
  });

  test('and none with a bad credential beside a good one (DS-94)', async () => {
    const { service } = shared;
    const { cookie } = await service.accounts.session('reader');
    const client = service.withHeaders({ Cookie: cookie, Authorization: 'Bearer ak_wrong' });
    expect(await seen(client, '/api/open/')).toBe('401 Not authenticated');
  });
});

test('a form of somebody who may write but not read shows no row (DS-128)', async () => {
  const { service } = shared;
  await service.accounts.grant('blind', 'open', 'write');
  const client = service.withHeaders({ 'X-API-Key': await service.accounts.apiKey('blind') });
  for (const form of [
    'action=delete&version=x',
    'action=update&version=x&to%3Amark=1',
    'action=create',
  ]) {
    const response = await client.fetch('/ui/open/?row=1', {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: form,
    });
    expect([form, response.status]).toEqual([form, 403]);
    expect(await response.text()).toContain('Permission denied: read on open');
  }
  expect((await get(await service.as('root'), '/api/open/')).rows).toHaveLength(1);
});
