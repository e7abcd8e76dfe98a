/** What goes out on the wire: conditional answers, compression, streams (DS-6, DS-19, DS-20, DS-39, DS-46). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { bodyReply, emptyReply, jsonReply } from '../../src/http/reply/reply.ts';
import type { TestRoute } from './server-fixture.ts';
import { until } from '../support/database.ts';
import { startFixture } from './server-fixture.ts';
import type { Fixture } from './server-fixture.ts';
import type { Handler } from '../../src/http/context.ts';

const LONG = JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id, name: `name ${id}` })));
const ended: string[] = [];
let produced = 0;

async function* chunks(count: number): AsyncGenerator<string> {
  try {
    for (let index = 0; index < count; index++) {
      produced++;
      yield 'x'.repeat(10_000);
    }
  } finally {
    ended.push(`${count}`);
  }
}

const failing = Promise.withResolvers<string>();
/** Breaks off when the test says so. */
async function* failingChunks(): AsyncGenerator<string> {
  yield 'x'.repeat(10_000);
  yield failing.promise;
}

const late = Promise.withResolvers<string>();
/** Has its second piece when the test says so. */
async function* lateChunks(): AsyncGenerator<string> {
  try {
    yield 'x'.repeat(10_000);
    yield late.promise;
  } finally {
    ended.push('late');
  }
}

const get = (pattern: string, handler: Handler): TestRoute => ({
  pattern,
  access: 'public',
  methods: { GET: handler },
});

const kept = {
  ...bodyReply(LONG, 'application/json', { etag: 'v1.r5', headers: { 'X-Total-Count': '200' } }),
  isKept: true,
};

const routes: TestRoute[] = [
  get('/kept', (context) => {
    if (context.search === '?cookie') context.setCookie('svc_csrf', '1');
    return kept;
  }),
  get('/text/long', () => bodyReply(LONG, 'application/json', { etag: 'v1.r1' })),
  get('/text/short', () => jsonReply({ a: 1 }, { etag: 'v1.r2' })),
  get('/text/huge', () => bodyReply('häuser '.repeat(100_000), 'text/plain; charset=utf-8')),
  get('/text/stream', () => bodyReply(chunks(5), 'text/csv; charset=utf-8', { etag: 'v1.r3' })),
  get('/text/events', () => bodyReply(chunks(2), 'text/event-stream')),
  get('/binary', () => bodyReply(new Uint8Array(5000).fill(7), 'application/octet-stream')),
  get('/encoded', () =>
    bodyReply(LONG, 'text/plain', { headers: { 'Content-Encoding': 'identity' } }),
  ),
  get('/known', (context) =>
    context.isNotModified('v2')
      ? { ...emptyReply(304, { Vary: 'Accept' }), etag: 'v2' }
      : jsonReply({}, { etag: 'v2', headers: { Vary: 'Accept' } }),
  ),
  get('/breaks', () => bodyReply(failingChunks(), 'application/octet-stream')),
  get('/late', () => bodyReply(lateChunks(), 'application/octet-stream')),
  get('/endless', () => bodyReply(chunks(1_000_000), 'application/octet-stream')),
  get('/left-out', ({ method }) =>
    bodyReply(method === 'HEAD' ? null : chunks(3), 'text/csv', { etag: 'v1.r4' }),
  ),
];

let server: Fixture;
beforeAll(async () => {
  server = await startFixture({ routes });
});
afterAll(() => server[Symbol.asyncDispose]());

/** As a client that does not unpack by itself. */
async function packed(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: Uint8Array }> {
  const init: RequestInit & { decompress: boolean } = {
    headers: { 'Accept-Encoding': 'gzip', ...headers },
    decompress: false,
  };
  const response = await server.fetch(path, init);
  return { status: response.status, headers: response.headers, body: await response.bytes() };
}

describe('DS-19: gzip', () => {
  test.each(['/text/long', '/text/huge', '/text/stream'])('packs %s', async (path) => {
    const { headers, body } = await packed(path);
    expect(headers.get('content-encoding')).toBe('gzip');
    expect(headers.get('vary')).toContain('Accept-Encoding');
    const plain = await server.fetch(path, { headers: { 'Accept-Encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(plain.headers.get('vary')).toContain('Accept-Encoding');
    expect(Buffer.from(Bun.gunzipSync(body as Uint8Array<ArrayBuffer>)).toString()).toBe(
      await plain.text(),
    );
  });

  test.each(['/text/short', '/binary', '/encoded', '/text/events'])(
    'leaves %s alone',
    async (path) => {
      const { headers } = await packed(path);
      expect(headers.get('content-encoding') ?? 'identity').toBe('identity');
    },
  );
});

describe('DS-46: a version the client has', () => {
  test('has a tag of its own when packed, and both mean the same', async () => {
    const plain = await server.fetch('/text/long', { headers: { 'Accept-Encoding': 'identity' } });
    const gzip = await packed('/text/long');
    expect(plain.headers.get('etag')).toBe('"v1.r1"');
    expect(gzip.headers.get('etag')).toBe('"v1.r1-gz"');
    for (const tag of ['"v1.r1"', '"v1.r1-gz"', '"x", "v1.r1"', '*']) {
      const { status, headers, body } = await packed('/text/long', { 'If-None-Match': tag });
      expect([status, body.length]).toEqual([304, 0]);
      expect(headers.get('etag')).toBe(tag.includes('gz') ? tag : '"v1.r1"');
      expect(headers.get('x-frame-options')).toBe('DENY');
    }
    expect((await packed('/text/long', { 'If-None-Match': '"v1.r2"' })).status).toBe(200);
  });

  test('needs no body made when the handler asks first', async () => {
    const { status, headers } = await packed('/known', { 'If-None-Match': 'W/"v2"' });
    expect([status, headers.get('etag'), headers.get('vary')]).toEqual([304, '"v2"', 'Accept']);
  });

  test('gives up a stream that was begun', async () => {
    const response = await packed('/text/stream', { 'If-None-Match': '"v1.r3"' });
    expect(response.status).toBe(304);
  });
});

test('an answer that is kept has the headers of each request and no other', async () => {
  const plain = async (search = '') => {
    const asked = { headers: { 'Accept-Encoding': 'identity' } };
    const response = await server.fetch(`/kept${search}`, asked);
    expect(await response.text()).toBe(LONG);
    return response.headers;
  };
  const first = await plain('?cookie');
  const gzip = await packed('/kept');
  const known = await packed('/kept', { 'If-None-Match': '"v1.r5"' });
  const last = await plain();
  expect([first.get('set-cookie'), last.get('set-cookie')]).toEqual([
    expect.stringMatching(/^svc_csrf=1; /),
    null,
  ]);
  expect([first, gzip.headers, known.headers, last].map((one) => one.get('etag'))).toEqual([
    '"v1.r5"',
    '"v1.r5-gz"',
    '"v1.r5"',
    '"v1.r5"',
  ]);
  expect(last.get('content-encoding')).toBeNull();
  expect([known.status, known.headers.get('content-type')]).toEqual([304, null]);
  const ids = [first, gzip.headers, known.headers, last].map((one) => one.get('x-request-id'));
  expect(new Set(ids).size).toBe(4);
  for (const name of ['date', 'set-cookie', 'x-request-id']) {
    first.delete(name);
    last.delete(name);
  }
  expect(last.toJSON()).toEqual(first.toJSON());
});

describe('streams', () => {
  test('DS-39: a failure after the first byte breaks the connection', async () => {
    const response = await server.fetch('/breaks');
    const reader = response.body!.getReader();
    await reader.read();
    failing.reject(new Error('disk gone'));
    const rest = (async () => {
      while (!(await reader.read()).done) continue;
    })();
    await expect(rest).rejects.toThrow();
    await until(() => server.log.some((text) => text.includes('"path":"/breaks"')));
    const line = server.log.find((text) => text.includes('"path":"/breaks"'));
    expect(JSON.parse(line!)).toMatchObject({ cut: 'failed', error: { message: 'disk gone' } });
  });

  test('are made no faster than they are taken, and end when the client goes', async () => {
    produced = 0;
    const leave = new AbortController();
    const response = await server.fetch('/endless', { signal: leave.signal });
    await response.body!.getReader().read();
    // As long as the client takes nothing, the server soon stops making more.
    let ahead = -1;
    await until(async () => {
      const isStill = ahead === produced;
      ahead = produced;
      await Bun.sleep(20);
      return isStill;
    });
    expect(ahead).toBeLessThan(10_000);
    leave.abort();
    await until(() => ended.includes('1000000'));
    await until(() => server.log.some((text) => text.includes('client left')));
  });

  test('are one line in the log, also when a piece is ready after the client has left (DS-189)', async () => {
    const leave = new AbortController();
    const response = await server.fetch('/late', { signal: leave.signal });
    await response.body!.getReader().read();
    leave.abort();
    const lines = () => server.log.filter((text) => text.includes('"path":"/late"'));
    await until(() => lines().length === 1);
    expect(lines()[0]).toContain('client left');
    late.resolve('x');
    await until(() => ended.includes('late'));
    await (await server.fetch('/text/short')).text();
    expect(lines()).toHaveLength(1);
  });

  test('DS-6: are not made for HEAD, which has the same headers', async () => {
    produced = 0;
    for (const path of ['/text/stream', '/left-out']) {
      const [head, full] = [
        await server.fetch(path, { method: 'HEAD', headers: { 'Accept-Encoding': 'gzip' } }),
        await packed(path),
      ];
      const shown = ({ headers }: { headers: Headers }) => ({
        etag: headers.get('etag'),
        encoding: headers.get('content-encoding'),
        vary: headers.get('vary'),
        type: headers.get('content-type'),
      });
      expect([path, shown(head)]).toEqual([path, shown(full)]);
      expect(head.headers.get('content-length')).not.toBe('0');
    }
    const lines = server.log.filter((text) => text.includes('"method":"HEAD"'));
    expect(lines.some((text) => text.includes('client left'))).toBe(false);
  });
});

test('DS-20: embedded assets are kept for ever, under a name that follows their content', async () => {
  const page = await (await server.fetch('/', { headers: { Accept: 'text/html' } })).text();
  const [stylesheet] = /\/_svc\/site\.[0-9a-f]{16}\.css/.exec(page)!;
  const response = await server.fetch(stylesheet);
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(response.headers.get('content-type')).toBe('text/css; charset=utf-8');
  const etag = response.headers.get('etag')!;
  const again = await server.fetch(stylesheet, { headers: { 'If-None-Match': etag } });
  expect(again.status).toBe(304);
  expect((await server.fetch('/_svc/site.0000000000000000.css')).status).toBe(404);
  const cached = (await server.fetch('/')).headers.get('cache-control');
  expect(cached).toBe('private, no-cache');
});
