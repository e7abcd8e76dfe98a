/**
 * HTTP as no library sends it (reliability B-H): refused or answered, never a crash, never a second request smuggled in.
 *
 * What is broken below HTTP's own rules is refused by the runtime itself; those answers are bare (no security headers).
 */
import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { bytesOf } from './changes.ts';
import { RawSocket } from './raw-socket.ts';
import { sharedService } from './shared-service.ts';
import { onSharedCores } from '../support/patience.ts';

const shared = sharedService({ files: { 'a.csv': 'n\n1\n' } });

const EMPTY_CHANGE = '{"action":"create","data":[]}';
const WRITE = '{"action":"create","data":[{"n":666}]}';
/** A request that would show in the file if it were ever taken for one of its own. */
let smuggled = '';
let key = '';
let pid = 0;
beforeAll(async () => {
  key = await shared.service.accounts.apiKey('root');
  pid = shared.service.pid;
  smuggled = `POST /api/a/ HTTP/1.1\r\n${host()}${auth()}Content-Length: ${WRITE.length}\r\n\r\n${WRITE}`;
});
afterEach(async () => {
  expect(shared.service.pid).toBe(pid);
  expect((await shared.service.fetch('/health')).status).toBe(200);
  expect(bytesOf(shared.service, 'a.csv')).toBe('n\n1\n');
});

const host = () => `Host: ${new URL(shared.service.url).host}\r\n`;
const auth = () => `X-API-Key: ${key}\r\n`;

/** The status of the first answer; null when the connection ends without one. */
async function statusOf(bytes: string): Promise<number | null> {
  using socket = await RawSocket.open(shared.service.url);
  socket.send(bytes);
  return (await socket.head())?.status ?? null;
}

describe('a body with two lengths, or none that is clear, is refused and the connection closed', () => {
  const bodies: Record<string, readonly string[]> = {
    'Content-Length and Transfer-Encoding': ['Content-Length: 5', 'Transfer-Encoding: chunked'],
    'the same the other way round': ['Transfer-Encoding: chunked', 'Content-Length: 5'],
    'two lengths': ['Content-Length: 0', 'Content-Length: 5'],
    'a list of lengths': ['Content-Length: 0, 5'],
    'a negative length': ['Content-Length: -1'],
    'a signed length': ['Content-Length: +0'],
    'a hexadecimal length': ['Content-Length: 0x0'],
    'a length with a space': ['Content-Length: 1 0'],
    'an endless length': ['Content-Length: 99999999999999999999999'],
    'an unknown coding': ['Transfer-Encoding: xchunked'],
    identity: ['Transfer-Encoding: identity'],
    'chunked, but not last': ['Transfer-Encoding: chunked, identity'],
    'two codings': ['Transfer-Encoding: gzip, chunked'],
    'two lines of codings': ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
    'a space before the colon': ['Transfer-Encoding : chunked'],
    'a vertical tab before the coding': ['Transfer-Encoding:\x0bchunked'],
  };

  test.each(Object.entries(bodies))('%s', async (_, lines) => {
    using socket = await RawSocket.open(shared.service.url);
    const head = lines.map((line) => `${line}\r\n`).join('');
    socket.send(`POST /api/a/ HTTP/1.1\r\n${host()}${auth()}${head}\r\n0\r\n\r\n${smuggled}`);
    expect((await socket.head())?.status).toBe(400);
    await socket.closed();
    expect(socket.received).not.toContain('HTTP/1.1 2');
  });

  const chunks: Record<string, string> = {
    'a size that is no number': 'zz\r\n{}\r\n0\r\n\r\n',
    'a negative size': '-1\r\n{}\r\n0\r\n\r\n',
    'a size past all numbers': 'FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n',
    'a chunk longer than its size': '2\r\n{}XX0\r\n\r\n',
  };

  test.each(Object.entries(chunks))('chunks: %s', async (_, body) => {
    using socket = await RawSocket.open(shared.service.url);
    const head = `${host()}${auth()}Transfer-Encoding: chunked\r\n`;
    socket.send(`POST /api/a/ HTTP/1.1\r\n${head}\r\n${body}${smuggled}`);
    expect((await socket.head())?.status).toBe(400);
    await socket.closed();
    expect(socket.received).not.toContain('HTTP/1.1 2');
  });

  test('chunk extensions are passed over, trailers end the connection at most', async () => {
    const head = () =>
      `POST /api/a/ HTTP/1.1\r\n${host()}${auth()}Transfer-Encoding: chunked\r\n\r\n`;
    const size = EMPTY_CHANGE.length.toString(16);
    expect(await statusOf(`${head()}${size};name="value"\r\n${EMPTY_CHANGE}\r\n0\r\n\r\n`)).toBe(
      200,
    );
    expect(await statusOf(`${head()}${size}\r\n${EMPTY_CHANGE}\r\n0\r\nX-Trailer: y\r\n\r\n`)).toBe(
      200,
    );
  });
});

describe('a malformed head is refused', () => {
  const heads: Record<string, () => string> = {
    'a folded header': () => `GET /health HTTP/1.1\r\n${host()}X: a\r\n b\r\n\r\n`,
    'a space before a colon': () => `GET /health HTTP/1.1\r\n${host()}X : a\r\n\r\n`,
    'bare line feeds': () => `GET /health HTTP/1.1\n${host().replace('\r', '')}\n`,
    'a bare line feed in between': () => `GET /health HTTP/1.1\r\n${host()}X: a\nY: b\r\n\r\n`,
    'a bare carriage return': () => `GET /health HTTP/1.1\r\n${host()}X: a\rb\r\n\r\n`,
    'NUL in a value': () => `GET /health HTTP/1.1\r\n${host()}X: a\0b\r\n\r\n`,
    'NUL in the path': () => `GET /a\0b HTTP/1.1\r\n${host()}\r\n`,
    'a header without a colon': () => `GET /health HTTP/1.1\r\n${host()}Nonsense\r\n\r\n`,
    'a header without a name': () => `GET /health HTTP/1.1\r\n${host()}: value\r\n\r\n`,
    'two spaces': () => `GET  /health HTTP/1.1\r\n${host()}\r\n`,
    'HTTP/0.9': () => 'GET /health\r\n\r\n',
    'HTTP/1.2': () => `GET /health HTTP/1.2\r\n${host()}\r\n`,
    'HTTP/2 without TLS': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    TLS: () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
    'no path': () => `GET HTTP/1.1\r\n${host()}\r\n`,
    'an authority as path': () => `GET ${host().slice(6, -2)} HTTP/1.1\r\n${host()}\r\n`,
    'a star': () => `OPTIONS * HTTP/1.1\r\n${host()}\r\n`,
  };

  test.each(Object.entries(heads))('%s', async (_, make) => {
    const status = await statusOf(make());
    expect(status === null || [400, 404, 405, 501, 505].includes(status)).toBe(true);
  });

  test.each(['FOO', 'get', 'GE T', 'PROPFIND', 'M-SEARCH'])(
    'the method %s is not taken for another one (DS-7)',
    async (method) => {
      for (const path of ['/health', '/api/a/']) {
        const status = await statusOf(`${method} ${path} HTTP/1.1\r\n${host()}${auth()}\r\n`);
        expect(status === null || [400, 405, 501].includes(status)).toBe(true);
      }
    },
  );
});

describe('Host (DS-203)', () => {
  const hosts: Record<string, () => string> = {
    'none in HTTP/1.1': () => '',
    'an empty one': () => 'Host: \r\n',
    'two of our own': () => host() + host(),
    'ours and another': () => `${host()}Host: evil.example\r\n`,
    another: () => 'Host: evil.example\r\n',
    'with a path': () => `${host().slice(0, -2)}/x\r\n`,
    'with a user': () => `Host: root@${host().slice(6)}`,
    'with a query': () => 'Host: localhost?x=\r\n',
    'with a space': () => 'Host: local host\r\n',
    'with a port that is none': () => 'Host: localhost:80x\r\n',
    'ours as a prefix': () => 'Host: localhost.evil.example\r\n',
    'ours as a suffix': () => 'Host: evil-localhost\r\n',
    'ours in numbers': () => 'Host: 2130706433\r\n',
  };

  test.each(Object.entries(hosts))('%s: 400', async (_, make) => {
    expect(await statusOf(`GET /health HTTP/1.1\r\n${make()}\r\n`)).toBe(400);
  });

  test('none in HTTP/1.0: 400', async () => {
    expect(await statusOf('GET /health HTTP/1.0\r\n\r\n')).toBe(400);
  });

  test.each([
    'localhost',
    '127.0.0.1',
    '[::1]',
    'LOCALHOST',
    'localhost.',
    'localhost:9',
    '127.0.0.1:65535',
  ])('%s is ours, with any port', async (name) => {
    expect(await statusOf(`GET /health HTTP/1.1\r\nHost: ${name}\r\n\r\n`)).toBe(200);
  });
});

describe('sizes of the head (DS-18)', () => {
  const withHeader = (bytes: number) =>
    `GET /health HTTP/1.1\r\n${host()}X-Long: ${'a'.repeat(bytes)}\r\n\r\n`;
  const KIB = 1024;

  test.each([16, 64, 250])('%d KiB are taken', async (kib) => {
    expect(await statusOf(withHeader(kib * KIB))).toBe(200);
  });

  test.each([260, 1024])('%d KiB are 431', async (kib) => {
    expect(await statusOf(withHeader(kib * KIB))).toBe(431);
  });

  test('a path of 8 KiB and more is looked up like any other', async () => {
    const path = `/api/${'a'.repeat(9 * KIB)}`;
    expect(await statusOf(`GET ${path} HTTP/1.1\r\n${host()}${auth()}\r\n`)).toBe(404);
    expect(await statusOf(`GET ${path} HTTP/1.1\r\n${host()}\r\n`)).toBe(401);
  });

  test('a filter of many kilobytes in the query is taken', async () => {
    const filter = encodeURIComponent(
      JSON.stringify({ n: { $in: Array.from({ length: 900 }, () => 123456) } }),
    );
    const bytes = `GET /api/a/?filter=${filter} HTTP/1.1\r\n${host()}${auth()}\r\n`;
    expect(await statusOf(bytes)).toBe(200);
  });
});

describe('connections', () => {
  test('100 pipelined requests get 100 answers in order', async () => {
    using socket = await RawSocket.open(shared.service.url);
    const requests = Array.from(
      { length: 100 },
      (_, index) => `GET ${index % 2 === 0 ? '/health' : '/auth/me'} HTTP/1.1\r\n${host()}\r\n`,
    );
    socket.send(requests.join(''));
    for (let index = 0; index < 100; index++) {
      const head = await socket.head();
      expect(head?.status).toBe(index % 2 === 0 ? 200 : 401);
      await socket.body(Number(head?.headers['content-length']));
    }
  });

  test('a request in single bytes is a request', async () => {
    using socket = await RawSocket.open(shared.service.url);
    for (const byte of `GET /health HTTP/1.1\r\n${host()}\r\n`) socket.send(byte);
    expect((await socket.head())?.status).toBe(200);
  });

  test('many half-open connections keep nobody from being served (S-D1)', async () => {
    using open = new DisposableStack();
    for (let count = 0; count < 300; count++) {
      const socket = open.use(await RawSocket.open(shared.service.url));
      socket.send(`GET /health HTTP/1.1\r\n${host()}X-Slow: `);
    }
    const start = performance.now();
    expect((await shared.service.fetch('/health')).status).toBe(200);
    expect(performance.now() - start).toBeLessThan(onSharedCores(10_000));
  });

  test('Expect: 100-continue, h2c and WebSocket upgrades end in an ordinary answer', async () => {
    const upgrades = [
      'Expect: 100-continue\r\n',
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n',
    ];
    for (const upgrade of upgrades) {
      expect(await statusOf(`GET /health HTTP/1.1\r\n${host()}${upgrade}\r\n`)).toBe(200);
    }
    const head = `${host()}${auth()}Expect: 100-continue\r\nContent-Length: ${EMPTY_CHANGE.length}\r\n`;
    expect(await statusOf(`POST /api/a/ HTTP/1.1\r\n${head}\r\n${EMPTY_CHANGE}`)).toBe(200);
  });

  test('a Range of a thousand parts on a list is passed over', async () => {
    const range = `Range: bytes=${'0-1,'.repeat(1_000)}9-1\r\n`;
    expect(await statusOf(`GET /api/a/ HTTP/1.1\r\n${host()}${auth()}${range}\r\n`)).toBe(200);
  });
});

describe('paths that look like other sites or files (S-H6, S-P1 to S-P3)', () => {
  const paths = [
    '//evil.example/',
    '///evil.example',
    '/\\evil.example',
    '/%5cevil.example',
    '/%2f%2fevil.example',
    '/..//evil.example',
    '/.%2e/.%2e/etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/api/..%2f..%2f..%2fetc%2fpasswd',
    '/_svc/..%2f..%2f.svc%2fsvc.db',
    '/_svc/../.svc/svc.db',
    '/.svc/svc.db',
    '/.svc/secret.key',
    '/api/.svc/svc',
    '/%252e%252e/etc/passwd',
    '/api/a%00.csv',
    '/api/%zz',
    '/%c0%ae%c0%ae/etc/passwd',
    '/%c0%afetc/passwd',
    '/api/a;x=1',
    '/api/A',
    '/API/a',
    '/bunfig.toml',
    '/.git/config',
  ];

  test.each(paths)('%s', async (path) => {
    for (const headers of ['', auth(), 'Accept: text/html\r\n', `${auth()}Accept: text/html\r\n`]) {
      using socket = await RawSocket.open(shared.service.url);
      socket.send(`GET ${path} HTTP/1.1\r\n${host()}${headers}\r\n`);
      const head = await socket.head();
      const isSignedIn = headers.includes('X-API-Key');
      const isPage = headers.includes('text/html');
      expect(head?.status).toBe(isSignedIn ? 404 : isPage ? 302 : 401);
      const location = head?.headers['location'];
      if (isPage && !isSignedIn) expect(location).toStartWith('/auth/login?next=/');
      else expect(location).toBeUndefined();
      const body = await socket.body(Number(head?.headers['content-length']));
      expect(body).not.toMatch(/root:|SQLite|\/tmp\/|svc-test/);
    }
  });

  test.each([
    '%0d%0aX-Injected:%20yes',
    '%0d%0a%0d%0a<script>',
    '%E5%98%8D%E5%98%8AX-Injected:yes',
  ])('no header is split by %s (S-X10)', async (text) => {
    const asked = [
      `GET /nothing/${text} HTTP/1.1\r\n${host()}Accept: text/html\r\n`,
      `GET /auth/login?next=/${text} HTTP/1.1\r\n${host()}Accept: text/html\r\n`,
      `GET /api/a/?limit=1&x=${text} HTTP/1.1\r\n${host()}${auth()}`,
      `GET /api/${text}/ HTTP/1.1\r\n${host()}${auth()}`,
    ];
    for (const request of asked) {
      using socket = await RawSocket.open(shared.service.url);
      socket.send(`${request}\r\n`);
      const head = await socket.head();
      expect(head).not.toBeNull();
      expect(head?.headers['x-injected']).toBeUndefined();
      expect(head?.headers['location'] ?? '').not.toMatch(/[\r\n]/);
    }
  });
});
