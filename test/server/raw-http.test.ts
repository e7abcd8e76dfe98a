/** Requests no client library sends: paths, hosts, methods and heads as bytes on a socket (DS-5, DS-6, DS-18). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { jsonReply } from '../../src/http/reply/reply.ts';
import { rawGet, sendRaw, startFixture, statusOf } from './server-fixture.ts';
import type { Fixture } from './server-fixture.ts';

let server: Fixture;
let key: string;
beforeAll(async () => {
  server = await startFixture({
    routes: [
      {
        pattern: '/page/echo',
        access: 'public',
        methods: {
          GET: ({ query }) => jsonReply({ length: query.get('x')?.length ?? 0 }),
          POST: async (context) => jsonReply({ body: await context.json() }),
        },
      },
    ],
  });
  key = await server.apiKey('anna');
});
afterAll(() => server[Symbol.asyncDispose]());

const send = (...pieces: (string | Uint8Array)[]): Promise<string> => sendRaw(server.port, pieces);
const bodyOf = (answer: string): string => answer.slice(answer.indexOf('\r\n\r\n') + 4);

describe('DS-5: a path', () => {
  test.each(['/health', '/health/', '/%68ealth', '/health?x=/../', '/page%2Fecho'])(
    '%p is a built-in route',
    async (path) => {
      expect(statusOf(await send(rawGet(path)))).toBe(200);
    },
  );

  test.each([
    '/a/../health',
    '/./health',
    '/health/.',
    '/health/..',
    '/%2e/health',
    '/x/%2E%2e/health',
    '//health',
    '/health//',
    '/health#fragment',
    '/\\health',
    '/health%00',
    '/%2e%2e%2fhealth',
    '/..%5chealth',
  ])('%p is none', async (path) => {
    expect(statusOf(await send(rawGet(path)))).toBe(401);
    const answer = await send(rawGet(path, { 'X-API-Key': key }));
    expect([path, JSON.parse(bodyOf(answer)).isMatchable]).toEqual([
      path,
      // A percent-encoded backslash is a character like any other.
      path === '/..%5chealth',
    ]);
  });

  test('of many segments, plain or with a trailing slash, arrives as it is', async () => {
    for (const depth of [1, 2, 5, 15, 16, 17, 40]) {
      for (const end of ['', '/']) {
        const path = `${'/a%20b'.repeat(depth)}${end}`;
        const { isMatchable, segments, ...rest } = JSON.parse(
          bodyOf(await send(rawGet(path, { 'X-API-Key': key }))),
        );
        expect([isMatchable, segments.length, rest.path]).toEqual([true, depth, path]);
      }
    }
  });
});

describe('DS-203: a Host', () => {
  const status = async (...lines: string[]): Promise<number> =>
    statusOf(
      await send(`GET /health HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`),
    );

  test.each([
    ['Host: localhost', 200],
    ['Host: LOCALHOST:1', 200],
    ['Host: evil.example', 400],
    ['Host: localhost/health?a=', 400],
    ['Host: user@localhost', 400],
    ['Host: localhost evil', 400],
    ['Host:', 400],
  ])('%p is %p', async (line, expected) => {
    expect(await status(line)).toBe(expected);
  });

  test('that is missing or comes twice is refused', async () => {
    expect(await status('Host: localhost', 'Host: localhost')).toBe(400);
    expect(await status('X: y')).toBe(400);
    expect(statusOf(await send('GET /health HTTP/1.0\r\n\r\n'))).toBe(400);
  });

  test('in an absolute target does not count: the header does', async () => {
    const answer = await send(
      'GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    );
    expect(statusOf(answer)).toBe(200);
  });
});

describe('DS-6: methods', () => {
  test.each(['TRACE /health', 'CONNECT localhost:80', 'TRACE /files/x', 'PROPFIND /health'])(
    '%p is 405',
    async (line) => {
      const answer = await send(`${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      expect(statusOf(answer)).toBe(405);
      expect(answer).toMatch(/\r\nAllow: GET, HEAD, OPTIONS\r\n/i);
    },
  );

  test('that are made up never reach anything', async () => {
    const answer = await send('FOO /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect([0, 400, 405, 501]).toContain(statusOf(answer));
  });
});

describe('DS-18: a request head', () => {
  test('of up to 256 KiB is taken, in a header and in the query', async () => {
    const filler = 'x'.repeat(255 * 1024);
    expect(statusOf(await send(rawGet('/health', { 'X-Filler': filler })))).toBe(200);
    const answer = await send(rawGet(`/page/echo?x=${filler}`));
    expect(JSON.parse(bodyOf(answer))).toEqual({ length: filler.length });
  });

  test('beyond that is 431', async () => {
    const filler = 'x'.repeat(300 * 1024);
    expect(statusOf(await send(rawGet('/health', { 'X-Filler': filler })))).toBe(431);
    expect(statusOf(await send(rawGet(`/health?${filler}`)))).toBe(431);
  });
});

describe('messages that could be read in two ways', () => {
  const post = (...headers: string[]): string =>
    `POST /page/echo HTTP/1.1\r\nHost: localhost\r\n${headers.join('\r\n')}\r\n\r\n`;

  test.each([
    ['two lengths', post('Content-Length: 2', 'Content-Length: 3')],
    ['a length and chunks', post('Content-Length: 2', 'Transfer-Encoding: chunked')],
    ['a negative length', post('Content-Length: -1')],
    ['an odd encoding', post('Transfer-Encoding: chunked, identity')],
    ['a space before the colon', post('Content-Length : 2')],
    ['a folded header', post('X-A: b\r\n c')],
    ['a bare line feed', 'GET /health HTTP/1.1\nHost: localhost\n\n'],
    ['HTTP/2 on this port', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('are refused: %s', async (_, head) => {
    const status = statusOf(await send(head, '{}', '0\r\n\r\n'));
    expect([400, 422, 431, 501, 505]).toContain(status);
  });

  test('a chunked body of a bad size is refused', async () => {
    const status = statusOf(await send(post('Transfer-Encoding: chunked'), 'zz\r\n{}\r\n'));
    expect(status).toBe(400);
  });

  test('a hundred requests sent at once are answered in order', async () => {
    const requests = Array.from(
      { length: 100 },
      (_, index) => `GET /page/echo?x=${'y'.repeat(index)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    );
    const answer = await send(...requests, rawGet('/health'));
    const lengths = [...answer.matchAll(/\{"length":(\d+)\}/g)].map(([, length]) => Number(length));
    expect(lengths).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });

  test('a body nobody reads does not spoil the next request', async () => {
    const body = 'x'.repeat(200_000);
    const answer = await send(
      `POST /auth/me HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`,
      body,
      rawGet('/health'),
    );
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) =>
      Number(status),
    );
    expect(statuses).toEqual([405, 200]);
  });

  test('header values that are repeated cannot start a new header', async () => {
    const headers = { Accept: 'text/html' };
    const answer = await send(rawGet('/x%0d%0aSet-Cookie:%20a=b?c=%0d%0aX-Evil:%20d', headers));
    expect(statusOf(answer)).toBe(302);
    expect(answer).not.toMatch(/\r\nX-Evil:/i);
    expect(answer).not.toContain('Set-Cookie: a=b');
  });
});
