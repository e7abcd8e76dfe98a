/** Requests that arrive together: the many of one person do not go before the one of another (S-D1). */
import { expect, test } from 'bun:test';
import { jsonReply } from '../../src/http/reply/reply.ts';
import type { TestRoute } from './server-fixture.ts';
import { RawSocket } from '../http/raw-socket.ts';
import { startFixture } from './server-fixture.ts';
import type { Handler } from '../../src/http/context.ts';

const MANY = 40;
const ANSWER_MS = 40;

test('another person is answered among the first, and /health at once', async () => {
  const begun: string[] = [];
  const takesLong: Handler = ({ caller }) => {
    begun.push(caller!.username);
    Bun.sleepSync(ANSWER_MS);
    return jsonReply({});
  };
  const routes: TestRoute[] = [
    { pattern: '/page/long', access: 'user', methods: { GET: takesLong } },
  ];
  await using server = await startFixture({ routes });
  using open = new DisposableStack();
  const anna = await server.apiKey('anna');
  const ben = await server.apiKey('ben');
  const asked = [
    ...Array.from({ length: MANY }, () => ['/page/long', anna] as const),
    ['/page/long', ben],
    ['/health', anna],
  ] as const;
  const sockets: RawSocket[] = [];
  for (const _ of asked) sockets.push(open.use(await RawSocket.open(server.url)));
  for (const [at, [path, key]] of asked.entries()) {
    sockets[at]!.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n\r\n`);
  }
  const last = sockets.pop()!;
  const health = last.head().then((head) => [head?.status, begun.length] as const);
  const heads = await Promise.all(sockets.map((socket) => socket.head()));
  expect(heads.map((head) => head?.status)).toEqual(heads.map(() => 200));
  expect(begun.length).toBe(MANY + 1);
  expect(begun.indexOf('ben')).toBeLessThan(MANY / 2);
  const [status, before] = await health;
  expect(status).toBe(200);
  expect(before).toBeLessThan(MANY / 2);
});

test('the many short requests of another person do not each wait for one that takes long', async () => {
  const begun: string[] = [];
  const handler: Handler = ({ caller }) => {
    begun.push(caller!.username);
    if (caller!.username === 'anna') Bun.sleepSync(ANSWER_MS);
    return jsonReply({});
  };
  const routes: TestRoute[] = [{ pattern: '/page/any', access: 'user', methods: { GET: handler } }];
  await using server = await startFixture({ routes });
  using open = new DisposableStack();
  const keys = [await server.apiKey('anna'), await server.apiKey('ben')];
  const asked = keys.flatMap((key) => Array.from({ length: MANY }, () => key));
  const sockets: RawSocket[] = [];
  for (const _ of asked) sockets.push(open.use(await RawSocket.open(server.url)));
  for (const [at, key] of asked.entries()) {
    sockets[at]!.send(`GET /page/any HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n\r\n`);
  }
  const heads = await Promise.all(sockets.map((socket) => socket.head()));
  expect(heads.map((head) => head?.status)).toEqual(heads.map(() => 200));
  expect(
    begun.slice(0, begun.lastIndexOf('ben')).filter((one) => one === 'anna').length,
  ).toBeLessThan(MANY / 2);
});
