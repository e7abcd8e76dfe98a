/** How long a connection may stand still: with half a body, between requests, while an answer is made (DS-18; reliability M11). */
import { expect, test } from 'bun:test';
import { jsonReply } from '../../src/http/reply/reply.ts';
import type { TestRoute } from './server-fixture.ts';
import { RawSocket } from '../http/raw-socket.ts';
import { startFixture } from './server-fixture.ts';
import type { Handler } from '../../src/http/context.ts';

/** Bun looks every 4 s: below 5 s a connection could be cut at once. */
const IDLE = { between: 5, body: 5, stream: 255 };
const BODY = '{"a":[1]}';

const readsJson: Handler = async (context) => jsonReply({ body: await context.json() });
const readsPieces: Handler = async ({ body }) => {
  let length = 0;
  for await (const piece of body.stream(1000)) length += piece.length;
  return jsonReply({ length });
};

function head(path: string, headers: Readonly<Record<string, string>>): string {
  const all = { Host: 'localhost', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

test('a connection is cut when its body or its next request does not come, and not while its answer is made', async () => {
  const others = Promise.withResolvers<void>();
  const isReached = Promise.withResolvers<void>();
  const waits: Handler = async (context) => {
    const body = await context.json();
    isReached.resolve();
    await others.promise;
    return jsonReply({ body });
  };
  const routes: TestRoute[] = [
    { pattern: '/page/anybody', access: 'public', methods: { POST: readsJson } },
    { pattern: '/page/user', access: 'user', methods: { POST: readsJson } },
    { pattern: '/page/pieces', access: 'user', methods: { POST: readsPieces } },
    { pattern: '/page/waits', access: 'public', methods: { POST: waits } },
  ];
  await using server = await startFixture({ routes, idle: IDLE });
  const key = { 'X-API-Key': await server.apiKey('anna') };
  const length = { 'Content-Length': String(BODY.length) };
  const chunked = { 'Transfer-Encoding': 'chunked' };

  const closed: string[] = [];
  const cut = async (name: string, bytes: string, status: number | null): Promise<void> => {
    using socket = await RawSocket.open(server.url);
    socket.send(bytes);
    if (status !== null)
      expect({ name, status: (await socket.head())?.status }).toEqual({ name, status });
    await socket.closed();
    closed.push(name);
  };

  using slow = await RawSocket.open(server.url);
  slow.send(head('/page/waits', length) + BODY);
  await isReached.promise;
  await Promise.all([
    cut('no body, anonymous', head('/page/anybody', length), null),
    cut('no body', head('/page/user', { ...key, ...length }), null),
    cut('half a body', head('/page/user', { ...key, ...length }) + BODY.slice(0, 4), null),
    cut('no piece', head('/page/pieces', { ...key, ...chunked }), null),
    cut('one piece', head('/page/pieces', { ...key, ...chunked }) + '2\r\nab\r\n', null),
    cut('answered, anonymous', head('/page/anybody', length) + BODY, 200),
    cut('answered', head('/page/user', { ...key, ...length }) + BODY, 200),
    cut(
      'pieces answered',
      `${head('/page/pieces', { ...key, ...chunked })}2\r\nab\r\n0\r\n\r\n`,
      200,
    ),
    cut('refused', head('/page/user', { ...key, 'Content-Length': '1' }) + '{', 422),
    cut('not signed in', head('/auth/login', length) + BODY, 422),
  ]);
  expect(closed).toHaveLength(10);
  others.resolve();
  expect((await slow.head())?.status).toBe(200);
  expect(slow.isOver).toBe(false);
  await slow.closed();
});
