/**
 * Versions of rows and schemas, conditional reads and compression (DS-6, DS-19, DS-20, DS-46, S-K).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Client } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { address, get, list } from './listing.ts';
import { rawRequest } from './raw-request.ts';
import type { RawAnswer } from './raw-request.ts';
import { sharedService } from './shared-service.ts';

const LARGE = `id,text\n${Array.from({ length: 200 }, (_, id) => `${id},a text that is long enough ${id}`).join('\n')}\n`;
const STRONG = /^"[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+"$/;

const shared = sharedService({
  files: {
    'small.csv': 'a,b\n1,x\n2,y\n3,z\n',
    'other.csv': 'a,b\n1,x\n2,y\n3,z\n',
    'large.csv': LARGE,
    'broken.csv': new Uint8Array([0x61, 0x0a, 0xff]),
  },
});

let key = '';
beforeAll(async () => {
  key = await shared.service.accounts.apiKey('reader');
});
afterAll(() => {
  key = '';
});

const raw = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  rawRequest(shared.service.url, { method, path, headers: { 'X-API-Key': key, ...headers } });

const etagOf = async (path: string, headers: Record<string, string> = {}) =>
  (await get(shared.reader, path, { headers: { 'Accept-Encoding': 'identity', ...headers } })).etag;

describe('the ETag of rows', () => {
  test('is strong, has two parts and repeats for the same question (DS-46)', async () => {
    const etag = await etagOf('/api/small/');
    expect(etag).toMatch(STRONG);
    expect(await etagOf('/api/small/')).toBe(etag);
    expect(await etagOf('/api/small')).toBe(etag);
    expect(await etagOf('/api/small.csv/')).toBe(etag);
  });

  test('shares the version part over all questions of one file, not the other part (DS-46)', async () => {
    const paths = [
      '/api/small/',
      '/api/small/?limit=1',
      '/api/small/?limit=2',
      '/api/small/?offset=1',
      '/api/small/?sort=a',
      '/api/small/?sort=-a',
      '/api/small/?sort=a&order=desc',
      '/api/small/?filter={"a":1}',
      '/api/small/?filter={"a":2}',
      '/api/small/?q=x',
      '/api/small/?columns=a',
      '/api/small/?columns=b',
      '/api/small/?format=ndjson',
      '/api/small/?format=csv',
    ];
    const etags = await Promise.all(paths.map((path) => etagOf(path)));
    expect(new Set(etags.map((etag) => etag.split('.')[0])).size).toBe(1);
    expect(new Set(etags).size).toBe(paths.length);
  });

  test('is the same for the same question put otherwise (DS-46)', async () => {
    const etag = await etagOf('/api/small/?limit=2&sort=a&format=csv');
    expect(await etagOf('/api/small/?format=csv&sort=a&limit=2&offset=0&x=1')).toBe(etag);
    expect(await etagOf('/api/small/?limit=9&limit=2&sort=a', { Accept: 'text/csv' })).toBe(etag);
  });

  test('tells nothing about the file (S-K4)', async () => {
    const { ino, mtimeMs, size } = statSync(join(shared.service.docroot, 'small.csv'));
    const etag = await etagOf('/api/small/');
    for (const number of [ino, Math.floor(mtimeMs), Math.floor(mtimeMs / 1000)]) {
      for (const radix of [10, 16, 36]) expect(etag).not.toContain(number.toString(radix));
    }
    expect(etag).not.toBe(await etagOf('/api/other/'));
    expect(size).toBeGreaterThan(0);
  });

  test('changes with the content, with a row written here and with companions (DS-46, DS-49)', async () => {
    const { service, writer } = shared;
    const path = '/api/versions/';
    service.write('versions.csv', 'a,b\n1,x\n');
    const seen = [await eventually(async () => notEmpty(await etagOf(path)))];
    const next = async () => {
      const etag = await etagOf(path);
      expect(seen).not.toContain(etag);
      expect(await etagOf(path)).toBe(etag);
      seen.push(etag);
    };
    service.write('versions.csv', 'a,b\n2,x\n');
    await next();
    const body = JSON.stringify({ action: 'create', data: [{ a: 5 }] });
    const { headers } = await writer.fetch(path, { method: 'POST', body });
    const version = headers.get('ETag')!.slice(1, -1);
    await next();
    expect(seen.at(-1)!.slice(1).split('.')[0]).toBe(version);
    service.write('.svc/versions.csv.options.json', '{"delimiter":";"}');
    await next();
    service.write('.svc/versions.csv.schema.json', '{"columns":{"a,b":{"type":"string"}}}');
    await next();
    rmSync(join(service.docroot, '.svc/versions.csv.options.json'));
    await next();
  });

  test('stays when only the times of the file change (DS-46)', async () => {
    const before = await etagOf('/api/small/');
    utimesSync(join(shared.service.docroot, 'small.csv'), 1_000_000, 1_000_000);
    expect(await etagOf('/api/small/')).toBe(before);
    expect((await list(shared.reader, 'small')).total).toBe(3);
  });
});

describe('If-None-Match', () => {
  const conditional = (path: string, value: string, client: Client = shared.reader) =>
    get(client, path, { headers: { 'If-None-Match': value } });

  test.each(['/api/small/', '/api/small/?format=csv', '/api/large/?limit=100', '/schema/small/'])(
    'with the version of %s answers 304 without a body (DS-46)',
    async (path) => {
      const full = await raw(path);
      const etag = full.headers['etag']!;
      const opaque = etag.slice(1, -1);
      const known = [
        etag,
        `W/${etag}`,
        `"x", ${etag}`,
        `${etag}, "y"`,
        `"a,b" ,W/"q",${etag}`,
        '*',
        `"${opaque}-gz"`,
        `W/"${opaque}-gz"`,
      ];
      for (const value of known) {
        const { status, body, headers } = await raw(path, { 'If-None-Match': value });
        expect({ value, status, size: body.length }).toEqual({ value, status: 304, size: 0 });
        expect(headers['etag']).toContain(opaque);
        expect(headers['vary']).toBe('Accept, Accept-Encoding');
        expect(headers['cache-control']).toBe('private, no-cache');
        expect(headers['x-content-type-options']).toBe('nosniff');
        expect(headers['x-request-id']).toBeDefined();
      }
    },
  );

  test.each(['"x"', '""', '"*"', 'garbage', '', '"unfinished', 'W/', `"${'x'.repeat(9_000)}"`])(
    'with another version (%s) answers in full (DS-46)',
    async (value) => {
      expect((await conditional('/api/small/', value)).status).toBe(200);
    },
  );

  test('takes the version of one question for no other (DS-46)', async () => {
    const etag = await etagOf('/api/small/?limit=1');
    expect((await conditional('/api/small/?limit=2', etag)).status).toBe(200);
    expect((await conditional('/api/other/?limit=1', etag)).status).toBe(200);
  });

  test('counts for HEAD as for GET (DS-6, DS-46)', async () => {
    const etag = await etagOf('/api/small/');
    const { status } = await raw('/api/small/', { 'If-None-Match': etag }, 'HEAD');
    expect(status).toBe(304);
  });

  test('comes after permission, existence and parameters (DS-8, S-K3)', async () => {
    const { service, reader } = shared;
    const stranger = await service.as('stranger');
    const etag = await etagOf('/api/small/');
    for (const value of ['*', etag]) {
      expect((await conditional('/api/small/', value, service)).status).toBe(401);
      expect((await conditional('/api/small/', value, stranger)).status).toBe(403);
      expect((await conditional('/schema/small/', value, stranger)).status).toBe(403);
      expect((await conditional('/api/nothing/', value, reader)).status).toBe(404);
      expect((await conditional('/api/small/?limit=0', value, reader)).status).toBe(422);
      expect((await conditional('/api/small/?sort=nope', value, reader)).status).toBe(422);
      expect((await conditional('/api/broken/', value, reader)).status).toBe(422);
    }
  });

  test('is of no use after the file has changed (DS-143)', async () => {
    const { service } = shared;
    service.write('changing.csv', 'a\n1\n');
    let etag = await eventually(async () => notEmpty(await etagOf('/api/changing/')));
    for (let value = 2; value < 12; value++) {
      service.write('changing.csv', `a\n${value}\n`);
      const { status, text, etag: next } = await conditional('/api/changing/', etag);
      expect({ status, text }).toEqual({ status: 200, text: `[{"_row_id":1,"a":${value}}]` });
      etag = next;
    }
  });
});

describe('compression', () => {
  const GZIP = { 'Accept-Encoding': 'gzip' };

  test.each([
    '/api/large/',
    '/api/large/?format=csv',
    '/api/large/?format=ndjson',
    '/api/large/?sort=text&limit=150',
  ])('%s is sent as gzip on request, with an ETag of its own (DS-19)', async (path) => {
    const plain = await raw(path);
    const packed = await raw(path, GZIP);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(packed.headers['etag']).toBe(plain.headers['etag']!.replace(/"$/, '-gz"'));
    expect(packed.body.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipSync(packed.body).equals(Buffer.from(plain.body))).toBe(true);
    expect(packed.headers['content-type']).toBe(plain.headers['content-type']!);
  });

  test.each([
    ['gzip;q=0', false],
    ['identity', false],
    ['br, deflate', false],
    ['', false],
    ['gzip;q=0.1', true],
    ['deflate, gzip;q=0.5, *;q=0', true],
    ['*', true],
    ['GZIP', true],
  ])('Accept-Encoding: %s means gzip: %p (DS-19)', async (value, isGzipped) => {
    const { headers } = await raw('/api/large/', { 'Accept-Encoding': value });
    expect(headers['content-encoding'] === 'gzip').toBe(isGzipped);
    expect(headers['vary']).toBe('Accept, Accept-Encoding');
  });

  test('either form of the ETag is known, whatever the request accepts (DS-19)', async () => {
    const { headers } = await raw('/api/large/', GZIP);
    const packed = headers['etag']!;
    const plain = packed.replace('-gz"', '"');
    for (const etag of [packed, plain]) {
      for (const accept of ['gzip', 'identity']) {
        const known = await raw('/api/large/', {
          'If-None-Match': etag,
          'Accept-Encoding': accept,
        });
        expect(known.status).toBe(304);
        expect(known.headers['content-encoding']).toBeUndefined();
      }
    }
  });

  test('nothing is compressed twice: a short answer stays as it is (DS-19)', async () => {
    const { headers, body } = await raw('/api/small/', GZIP);
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['etag']).toMatch(STRONG);
    expect(JSON.parse(Buffer.from(body).toString())).toHaveLength(3);
  });
});

describe('HEAD', () => {
  const NOT_COMPARED = new Set(['date', 'x-request-id', 'transfer-encoding']);
  const compared = ({ headers }: RawAnswer) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_COMPARED.has(name)));

  test.each([
    ['/api/small/', 'identity'],
    ['/api/small/', 'gzip'],
    ['/api/small/?limit=2&format=csv', 'gzip'],
    ['/api/large/', 'identity'],
    ['/api/large/', 'gzip'],
    ['/schema/small/', 'gzip'],
    ['/api/nothing/', 'gzip'],
    ['/api/broken/', 'gzip'],
    ['/api/small/?limit=0', 'gzip'],
    ['/', 'gzip'],
    ['/health', 'gzip'],
  ])('of %s (%s) has the status and headers of GET, and no body (DS-6)', async (path, encoding) => {
    const headers = { 'Accept-Encoding': encoding };
    const full = await raw(path, headers);
    const head = await raw(path, headers, 'HEAD');
    expect(head.body.length).toBe(0);
    expect({ status: head.status, ...compared(head) }).toEqual({
      status: full.status,
      ...compared(full),
    });
  });
});

test.each(['identity', 'gzip'])(
  'HEAD of a list that is streamed (%s) has all headers of GET but the length nobody knows yet (DS-6)',
  async (encoding) => {
    const path = '/api/large/?q=text&limit=150&filter={"text":{"$regex":"a+"}}';
    const full = await raw(path, { 'Accept-Encoding': encoding });
    const head = await raw(path, { 'Accept-Encoding': encoding }, 'HEAD');
    expect(full.status).toBe(200);
    expect(head.body.length).toBe(0);
    const compared = ({ headers }: RawAnswer) => ({
      ...headers,
      'content-length': '',
      'transfer-encoding': '',
      date: '',
      'x-request-id': '',
    });
    expect({ status: head.status, ...compared(head) }).toEqual({ status: 200, ...compared(full) });
  },
);

test('a range is nothing rows have: the whole list comes (DS-161)', async () => {
  const { status, body, headers } = await raw('/api/small/', { Range: 'bytes=0-1' });
  expect({ status, size: body.length }).toEqual({
    status: 200,
    size: Number(headers['content-length']),
  });
  expect(JSON.parse(Buffer.from(body).toString())).toHaveLength(3);
});

describe('headers for caches', () => {
  test.each(['/api/small/', '/schema/small/', '/api/small/?format=csv', '/'])(
    '%s is private and asked for again each time (DS-20, S-K1)',
    async (path) => {
      expect((await raw(path)).headers['cache-control']).toBe('private, no-cache');
    },
  );

  test('rows and schema depend on Accept and Accept-Encoding (DS-20)', async () => {
    for (const path of ['/api/small/', '/schema/small/']) {
      expect((await raw(path)).headers['vary']).toBe('Accept, Accept-Encoding');
    }
  });

  test.each(['/api/small.csv/foo.css', '/api/small/foo.css', '/api/small.css', '/api/small%2ejs'])(
    '%s is no other address of a dataset (S-K5)',
    async (path) => {
      const { status, headers } = await raw(path);
      expect(status).toBe(404);
      expect(headers['cache-control']).toMatch(/private|no-store/);
    },
  );
});

test('the version survives a restart (DS-46, DS-48)', async () => {
  const { service } = shared;
  const before = await etagOf(address('large', { limit: 5 }));
  await service.restart();
  expect(await etagOf(address('large', { limit: 5 }))).toBe(before);
});

function notEmpty(etag: string): string {
  if (etag === '') throw new Error('There is no ETag');
  return etag;
}
