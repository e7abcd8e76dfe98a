/**
 * What is there and may not be seen looks like what is not there (DS-128 to DS-130, S-Z2, S-Z4, S-Z7).
 *
 * Every request is made for a pair of names, one that exists and one that does not; the answers must not differ but for
 * the name.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/service.ts';
import { get } from './listing.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  files: {
    'open.csv': 'n\n1\n',
    'hide.csv': 'secret-column\nsecret-cell\n',
    'folder/hide.csv': 'secret-column\nsecret-cell\n',
    'folder/open.csv': 'n\n1\n',
    'hide.txt': 'secret-text',
    'broken.csv': new Uint8Array([0x61, 0xff]),
    'own/a.csv': 'n\n1\n',
    'own/b.csv': 'n\n1\n',
  },
});

/** A name that exists and one of the same length that does not. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['hide', 'gone'],
  ['hide.csv', 'gone.csv'],
  ['folder/hide', 'folder/gone'],
  ['folder/hide.csv', 'folder/gone.csv'],
  ['folder', 'nofold'],
  ['broken', 'absent'],
  ['hide.txt', 'gone.txt'],
];

const clients: Record<string, Client> = {};
beforeAll(async () => {
  const { accounts } = shared.service;
  await accounts.user('stranger');
  await accounts.grant('reader of one', 'open', 'read');
  await accounts.grant('writer only', '*', 'write');
  await accounts.grant('owner', 'own/*', 'read', 'write');
  for (const name of ['stranger', 'reader of one', 'writer only', 'owner']) {
    clients[name] = await shared.service.as(name);
  }
  clients['a narrow key'] = shared.service.withHeaders({
    'X-API-Key': await accounts.apiKey('root', ['read:open', 'write:open']),
  });
  clients['a session'] = await shared.service.inBrowserAs('stranger');
});

const NOT_COMPARED = ['date', 'x-request-id', 'content-length'];

/** Everything an answer says, without the name and what is random in every answer. */
async function said(client: Client, path: string, name: string, init: RequestInit = {}) {
  const response = await client.fetch(path.replace('NAME', name), init);
  const text = await response.text();
  const requestId = response.headers.get('X-Request-Id') ?? '';
  const plain = (value: string) => {
    const anonymous = value.replaceAll(name, 'NAME').replaceAll(requestId, 'ID');
    return anonymous.replace(/^svc_csrf=[\w-]{43}/, 'svc_csrf=RANDOM');
  };
  const headers = Object.fromEntries(
    [...response.headers].map(([key, value]) => [key, plain(value)]),
  );
  for (const one of NOT_COMPARED) delete headers[one];
  return { status: response.status, headers, text: plain(text) };
}

const REQUESTS: readonly (readonly [string, string, RequestInit])[] = [
  ['GET', '/api/NAME/', {}],
  ['GET without a slash', '/api/NAME', {}],
  ['a page of rows', '/api/NAME/?limit=1&sort=secret-column', {}],
  ['a bad parameter', '/api/NAME/?limit=0', {}],
  ['a filter on its column', '/api/NAME/?filter={"secret-column":"secret-cell"}', {}],
  ['another format', '/api/NAME/?format=csv', {}],
  ['HEAD', '/api/NAME/', { method: 'HEAD' }],
  ['OPTIONS', '/api/NAME/', { method: 'OPTIONS' }],
  ['a range', '/api/NAME/', { headers: { Range: 'bytes=0-1' } }],
  ['If-None-Match', '/api/NAME/', { headers: { 'If-None-Match': '*' } }],
  ['gzip', '/api/NAME/', { headers: { 'Accept-Encoding': 'gzip' } }],
  ['the schema', '/schema/NAME/', {}],
  ['the schema of a method it lacks', '/schema/NAME/', { method: 'POST', body: '{}' }],
  ['the page', '/ui/NAME/', {}],
  ['the page for a browser', '/ui/NAME/', { headers: { Accept: 'text/html' } }],
  ['the media family', '/media/NAME', {}],
  ['the bare name', '/NAME', {}],
  ['the bare name as a download', '/NAME?download=true', {}],
  ['POST', '/api/NAME/', { method: 'POST', body: '{"action":"create","data":[]}' }],
  ['POST of garbage', '/api/NAME/', { method: 'POST', body: 'x' }],
  ['PATCH', '/api/NAME/', { method: 'PATCH', body: '{"action":"update","data":{"_row_id":1}}' }],
  ['DELETE', '/api/NAME/', { method: 'DELETE', headers: { 'If-Match': '"x"' }, body: '{}' }],
  ['PUT', '/api/NAME/', { method: 'PUT', body: 'x' }],
];

const WRITES = new Set(['POST', 'PATCH', 'DELETE', 'PUT']);

describe.each(REQUESTS)('%s', (_, path, init) => {
  const verb = WRITES.has(init.method ?? 'GET') ? 'write' : 'read';

  test.each(['stranger', 'reader of one', 'owner', 'a narrow key', 'a session'])(
    'of %s: 403, the same for what exists and what does not (DS-130)',
    async (who) => {
      for (const [hidden, absent] of PAIRS) {
        const denied = await said(clients[who]!, path, hidden, init);
        expect({ hidden, ...denied }).toEqual({
          hidden,
          ...(await said(clients[who]!, path, absent, init)),
        });
        expect(denied.status).toBe(403);
        expect(denied.text).not.toContain('secret');
        expect(denied.headers['etag']).toBeUndefined();
        expect(denied.headers['allow']).toBeUndefined();
        const isPage = denied.headers['content-type']?.startsWith('text/html');
        if (init.method !== 'HEAD' && !isPage) {
          expect(denied.text).toBe(`{"detail":"Permission denied: ${verb} on NAME"}`);
        }
      }
    },
  );

  test('of nobody: 401, the same for both', async () => {
    for (const [hidden, absent] of PAIRS) {
      const refused = await said(shared.service, path, hidden, init);
      expect(refused).toEqual(await said(shared.service, path, absent, init));
      expect([401, 302]).toContain(refused.status);
    }
  });

  test('of a superuser: what does not exist is 404', async () => {
    for (const [, absent] of PAIRS) {
      const { status, text } = await said(shared.superuser, path, absent, init);
      expect(status).toBe(404);
      if (init.method !== 'HEAD' && !text.startsWith('<'))
        expect(text).toBe('{"detail":"Not Found"}');
    }
  });
});

describe('a grant (DS-129)', () => {
  test('of one verb does not give the other (DS-128)', async () => {
    const reader = clients['reader of one']!;
    expect((await reader.fetch('/api/open/')).status).toBe(200);
    const body = '{"action":"create","data":[]}';
    const denied = await reader.fetch('/api/open/', { method: 'POST', body });
    expect(await denied.json()).toEqual({ detail: 'Permission denied: write on open' });
    const writer = clients['writer only']!;
    expect((await writer.fetch('/api/open/', { method: 'POST', body })).status).toBe(200);
    for (const path of ['/api/open/', '/schema/open/', '/api/gone/']) {
      expect((await writer.fetch(path)).status).toBe(403);
    }
    // For the verb it holds, it may know what is missing.
    expect((await writer.fetch('/api/gone/', { method: 'POST', body })).status).toBe(404);
  });

  test('of a folder opens what is in it, tells what is missing in it, and not the folder itself', async () => {
    const owner = clients['owner']!;
    expect((await owner.fetch('/api/own/a/')).status).toBe(200);
    expect((await owner.fetch('/api/own/gone/')).status).toBe(404);
    expect((await owner.fetch('/api/own/deeper/gone/')).status).toBe(404);
    expect((await owner.fetch('/api/own/')).status).toBe(403);
    expect((await owner.fetch('/api/ownx/')).status).toBe(403);
  });

  test('opens neither neighbours nor the listing of them (S-Z7)', async () => {
    const listing = await get(clients['reader of one']!, '/');
    expect(listing.text).toBe('{"resources":["open.csv"]}');
    expect((await get(clients['stranger']!, '/')).text).toBe('{"resources":[]}');
    expect((await get(clients['owner']!, '/')).text).toBe(
      '{"resources":["own/a.csv","own/b.csv"]}',
    );
    const page = await get(clients['reader of one']!, '/', { headers: { Accept: 'text/html' } });
    expect(page.text).toContain('open');
    expect(page.text).not.toMatch(/hide|folder\/|broken|own\//);
  });

  test('taken away counts with the next request, also against a known ETag (S-K3)', async () => {
    const { accounts } = shared.service;
    await accounts.grant('short-lived', 'hide', 'read', 'write');
    const client = await shared.service.as('short-lived');
    const { status, etag } = await get(client, '/api/hide/');
    expect(status).toBe(200);
    await accounts.db.run("DELETE FROM permissions WHERE resource = 'hide'");
    const after = await get(client, '/api/hide/', { headers: { 'If-None-Match': etag } });
    expect(after.status).toBe(403);
    const body = '{"action":"create","data":[]}';
    const headers = { 'If-Match': etag };
    expect((await client.fetch('/api/hide/', { method: 'POST', headers, body })).status).toBe(403);
  });

  test('of an odd text is literal, never a pattern of another kind', async () => {
    const { accounts } = shared.service;
    const texts = [
      'hid*',
      '*de',
      'folder*',
      'fold?r/hide',
      '[h]ide',
      'hide%',
      '%',
      '_ide',
      '..',
      'HIDE',
      'hide/',
    ];
    for (const [index, text] of texts.entries()) {
      const name = `odd ${index}`;
      await accounts.grant(name, text, 'read', 'write');
      const client = await shared.service.as(name);
      expect((await client.fetch('/api/hide/')).status).toBe(403);
      expect((await client.fetch('/api/folder/hide/')).status).toBe(403);
    }
  });
});

test('a cursor or tag of somebody who may read is of no use to others (S-Z5)', async () => {
  const { headers, next } = await get(shared.superuser, '/api/own/a/?limit=1');
  expect(headers.get('ETag')).not.toBeNull();
  const path = next ?? '/api/own/a/?cursor=x';
  expect((await clients['stranger']!.fetch(path)).status).toBe(403);
});

test.each(['/metrics', '/api/apikeys', '/auth/sessions', '/auth/me'])(
  '%s shows no hash and no secret of anybody (S-Z6)',
  async (path) => {
    const text = await (await shared.superuser.fetch(path)).text();
    expect(text).not.toMatch(/argon2|\b[0-9a-f]{64}\b|ak_[\w-]{20}/);
  },
);
