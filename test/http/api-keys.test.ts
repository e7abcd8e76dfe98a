/**
 * Own API keys: making, listing, revoking, expiry, scopes (DS-116 to DS-118, S-A12).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { timestamp } from '../../src/base/clock.ts';
import type { Client } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { sharedService } from './shared-service.ts';

const KEY = /^ak_[A-Za-z0-9_-]{43}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const DAY = 24 * 60 * 60 * 1000;
const DIGEST = /\b[0-9a-f]{64}\b/;

const shared = sharedService({
  files: { 'a.csv': 'n\n1\n', 'b.csv': 'n\n1\n', 'folder/c.csv': 'n\n1\n' },
});

let anna: Client;
beforeAll(async () => {
  const { accounts } = shared.service;
  await accounts.user('anna');
  await accounts.grant('anna', '*', 'read', 'write');
  anna = await shared.service.inBrowserAs('anna');
});

interface NewKey {
  readonly id: number;
  readonly key: string;
  readonly description: string | null;
  readonly expires_at: string | null;
  readonly created_at: string;
  readonly scopes?: string[];
}

async function make(body: object, client: Client = anna): Promise<NewKey> {
  const response = await client.fetch('/api/apikeys', {
    method: 'POST',
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
  return (await response.json()) as NewKey;
}

async function listed(client: Client = anna): Promise<Record<string, unknown>[]> {
  return (await (await client.fetch('/api/apikeys')).json()) as Record<string, unknown>[];
}

const withKey = (key: string) => shared.service.withHeaders({ 'X-API-Key': key });

async function statusWith(
  key: string,
  path = '/auth/me',
  method = 'GET',
  body?: string,
): Promise<number> {
  const response = await withKey(key).fetch(path, {
    method,
    ...(body === undefined ? {} : { body }),
  });
  await response.body?.cancel();
  return response.status;
}

describe('a new key (DS-116)', () => {
  test('is shown once, in the answer that makes it: 201', async () => {
    const before = Date.now();
    const response = await anna.fetch('/api/apikeys', {
      method: 'POST',
      body: '{"description":"for a script"}',
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    const key = (await response.json()) as NewKey;
    expect(Object.keys(key).sort()).toEqual([
      'created_at',
      'description',
      'expires_at',
      'id',
      'key',
    ]);
    expect(key.key).toMatch(KEY);
    expect(key.description).toBe('for a script');
    expect(key.expires_at).toBeNull();
    expect(key.created_at).toMatch(TIME);
    expect(Date.parse(key.created_at)).toBeGreaterThanOrEqual(before);
    expect(JSON.stringify(await listed())).not.toContain(key.key);
    expect(await statusWith(key.key)).toBe(200);
  });

  test('is stored as its SHA-256 only', async () => {
    const { key, id } = await make({});
    const { accounts, stateDir } = shared.service;
    const row = await accounts.db.get<{ key_hash: string }>('SELECT * FROM api_keys WHERE id = ?', [
      id,
    ]);
    expect(row?.key_hash).toBe(createHash('sha256').update(key).digest('hex'));
    for (const file of ['svc.db', 'svc.db-wal']) {
      expect(readFileSync(join(stateDir, file)).toString('latin1')).not.toContain(key);
    }
  });

  test('can be made with nothing said, and without any two being equal', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => make({})));
    expect(new Set(keys.map(({ key }) => key)).size).toBe(20);
    expect(keys.every(({ description }) => description === null)).toBe(true);
  });

  test.each([
    ['a null description', { description: null }, 201],
    ['an empty description', { description: '' }, 201],
    ['markup as a description', { description: '<img src=x onerror=alert(1)>' }, 201],
    ['a very long description', { description: 'x'.repeat(100_000) }, 422],
    ['1 day', { expires_in_days: 1 }, 201],
    ['365 days', { expires_in_days: 365 }, 201],
    ['no days', { expires_in_days: null }, 201],
    ['0 days', { expires_in_days: 0 }, 422],
    ['-1 days', { expires_in_days: -1 }, 422],
    ['1.5 days', { expires_in_days: 1.5 }, 422],
    ['days as a text', { expires_in_days: '30' }, 422],
    ['366 days', { expires_in_days: 366 }, 400],
    ['a million days', { expires_in_days: 1_000_000 }, 400],
  ])('%s: %j is %d (DS-117)', async (_, body, status) => {
    const response = await anna.fetch('/api/apikeys', {
      method: 'POST',
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(status);
    const text = await response.text();
    if (status === 400)
      expect(text).toBe('{"detail":"Expiration cannot exceed 1 year (365 days)"}');
    if (status === 422)
      expect(JSON.parse(text)).toMatchObject({ detail: [{ loc: ['body', expect.any(String)] }] });
  });

  test('expires to the day', async () => {
    const { created_at, expires_at } = await make({ expires_in_days: 30 });
    expect(Date.parse(expires_at!) - Date.parse(created_at)).toBe(30 * DAY);
  });
});

describe('the list (DS-116)', () => {
  test('has the own keys by id, revoked ones included, never a value or a digest', async () => {
    const berta = await shared.service.inBrowserAs('berta');
    const keys = [
      await make({ description: 'one' }, berta),
      await make({ description: 'two' }, berta),
    ];
    await berta.fetch(`/api/apikeys/${keys[0]!.id}`, { method: 'DELETE' });
    const list = await listed(berta);
    expect(list.map(({ id, description, is_active }) => [id, description, is_active])).toEqual([
      [keys[0]!.id, 'one', false],
      [keys[1]!.id, 'two', true],
    ]);
    for (const entry of list) {
      expect(Object.keys(entry).sort()).toEqual([
        'created_at',
        'description',
        'expires_at',
        'id',
        'is_active',
        'last_used_at',
      ]);
    }
    expect(JSON.stringify(list)).not.toMatch(DIGEST);
    const ids = (await listed()).map(({ id }) => id as number);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(ids).not.toContain(keys[0]!.id);
  });

  test('tells the last use, at most a minute old (DS-97)', async () => {
    const { id, key } = await make({});
    const entry = async () => (await listed()).find((one) => one['id'] === id)!;
    expect((await entry())['last_used_at']).toBeNull();
    await statusWith(key);
    await eventually(async () => expect((await entry())['last_used_at']).toMatch(TIME));
    const first = (await entry())['last_used_at'];
    await statusWith(key);
    expect((await entry())['last_used_at']).toBe(first);
  });
});

describe('revoking (DS-116)', () => {
  test('counts with the next request, and can be repeated', async () => {
    const { id, key } = await make({});
    expect(await statusWith(key)).toBe(200);
    for (let round = 0; round < 2; round++) {
      const response = await anna.fetch(`/api/apikeys/${id}`, { method: 'DELETE' });
      expect(response.status).toBe(204);
      expect(await response.text()).toBe('');
      expect(await statusWith(key)).toBe(401);
      expect(await statusWith(key, '/health')).toBe(401);
    }
  });

  test('a key can revoke itself', async () => {
    const { id, key } = await make({});
    expect(await statusWith(key, `/api/apikeys/${id}`, 'DELETE')).toBe(204);
    expect(await statusWith(key)).toBe(401);
  });

  test('of a foreign or missing key is 404, for superusers too; the key lives on', async () => {
    const { id, key } = await make({});
    const clients = [await shared.service.inBrowserAs('carla'), shared.superuser];
    for (const client of clients) {
      for (const one of [id, 999_999, 0, -5]) {
        const response = await client.fetch(`/api/apikeys/${one}`, { method: 'DELETE' });
        expect(response.status).toBe(404);
        expect(await response.text()).toBe('{"detail":"API key not found"}');
      }
    }
    expect(await statusWith(key)).toBe(200);
  });

  test('of something that is no id is 422', async () => {
    const response = await anna.fetch('/api/apikeys/x', { method: 'DELETE' });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      detail: [{ type: 'int_parsing', loc: ['path', 'key_id'] }],
    });
  });
});

test('an expired key is 401, whatever it was allowed before (S-A12)', async () => {
  const { id, key } = await make({ expires_in_days: 1 });
  const { db } = shared.service.accounts;
  const set = (epochMs: number) =>
    db.run('UPDATE api_keys SET expires_at = ? WHERE id = ?', [timestamp(epochMs), id]);
  expect(await statusWith(key)).toBe(200);
  await set(Date.now() + 60_000);
  expect(await statusWith(key)).toBe(200);
  for (const past of [Date.now(), Date.now() - 1_000, 0]) {
    await set(past);
    expect(await statusWith(key)).toBe(401);
  }
  expect((await listed()).find((entry) => entry['id'] === id)?.['is_active']).toBe(true);
});

describe('scopes (DS-118)', () => {
  const CREATE = '{"action":"create","data":[]}';

  test('are shown where they were set, and only there', async () => {
    const { id, scopes } = await make({ scopes: ['read', 'write:folder/*'] });
    expect(scopes).toEqual(['read', 'write:folder/*']);
    const entry = (await listed()).find((one) => one['id'] === id)!;
    expect(entry['scopes']).toEqual(['read', 'write:folder/*']);
    expect(await make({ scopes: null })).not.toHaveProperty('scopes');
  });

  test.each([
    ['an empty list', []],
    ['65 of them', Array.from({ length: 65 }, () => 'read')],
    ['an unknown verb', ['admin']],
    ['an empty text', ['']],
    ['an empty pattern', ['read:']],
    ['a leading slash', ['read:/a']],
    ['other letters', ['Read']],
    ['a number', [1]],
    ['a text', 'read'],
    ['an object', { read: true }],
  ])('%s: 422', async (_, scopes) => {
    const response = await anna.fetch('/api/apikeys', {
      method: 'POST',
      body: JSON.stringify({ scopes }),
    });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      detail: [{ loc: expect.arrayContaining(['body', 'scopes']) }],
    });
  });

  const cases: readonly (readonly [string[], Record<string, readonly [number, number]>])[] = [
    [['read'], { a: [200, 403], 'folder/c': [200, 403] }],
    [['write'], { a: [403, 200], 'folder/c': [403, 200] }],
    [['read', 'write'], { a: [200, 200], 'folder/c': [200, 200] }],
    [['read:a'], { a: [200, 403], b: [403, 403] }],
    [['read:a.csv'], { a: [200, 403], 'a.csv': [200, 403] }],
    [['read:a', 'write:b'], { a: [200, 403], b: [403, 200] }],
    [['read:folder/*'], { a: [403, 403], 'folder/c': [200, 403], folder: [403, 403] }],
    [['read:*', 'write:a'], { a: [200, 200], b: [200, 403] }],
    [['read:nothing'], { a: [403, 403], nothing: [404, 403] }],
  ];

  test.each(cases)('%j narrow the rights of the owner', async (scopes, expected) => {
    const { key } = await make({ scopes });
    for (const [name, [read, write]] of Object.entries(expected)) {
      const path = `/api/${name}/`;
      const statuses = [await statusWith(key, path), await statusWith(key, path, 'POST', CREATE)];
      expect({ name, statuses }).toEqual({ name, statuses: [read, write] });
      if (read !== 404) expect(await statusWith(key, `/schema/${name}/`)).toBe(read);
    }
  });

  test('narrow superusers too, and give nothing the owner lacks', async () => {
    const root = await shared.service.inBrowserAs('root');
    const { key } = await make({ scopes: ['read:a'] }, root);
    expect(await statusWith(key, '/api/a/')).toBe(200);
    expect(await statusWith(key, '/api/b/')).toBe(403);
    expect(await statusWith(key, '/api/a/', 'POST', CREATE)).toBe(403);
    const listing = await (await withKey(key).fetch('/')).json();
    expect(listing).toEqual({ resources: ['a.csv'] });
    const carla = await shared.service.inBrowserAs('carla');
    const wide = await make({ scopes: ['read', 'write'] }, carla);
    expect(await statusWith(wide.key, '/api/a/')).toBe(403);
  });

  test('close the routes of keys, sessions and passwords, even for reading', async () => {
    const { id, key } = await make({ scopes: ['read', 'write'] });
    const routes: readonly (readonly [string, string])[] = [
      ['GET', '/api/apikeys'],
      ['POST', '/api/apikeys'],
      ['DELETE', `/api/apikeys/${id}`],
      ['GET', '/auth/sessions'],
      ['DELETE', '/auth/sessions/1'],
      ['PUT', '/auth/password'],
    ];
    for (const [method, path] of routes) {
      const response = await withKey(key).fetch(path, {
        method,
        ...(method === 'GET' ? {} : { body: '{}' }),
      });
      expect(response.status).toBe(403);
      expect(await response.text()).toBe('{"detail":"API key scope does not permit this"}');
    }
    expect(await statusWith(key)).toBe(200);
  });
});

test('a key needs no CSRF token, whatever the browser says of its origin (DS-111, S-C9)', async () => {
  const { key } = await make({});
  const response = await withKey(key).fetch('/api/a/', {
    method: 'POST',
    headers: { Origin: 'https://elsewhere.example', 'Sec-Fetch-Site': 'cross-site' },
    body: '{"action":"create","data":[]}',
  });
  expect(response.status).toBe(200);
});
