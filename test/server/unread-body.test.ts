/** Refused bodies: a client that closes its connection with the request can send it all and then reads why (DS-18). */
import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { once } from 'node:events';
import { jsonReply } from '../../src/http/reply/reply.ts';
import type { TestRoute } from './server-fixture.ts';
import { sendRaw, startFixture, statusOf } from './server-fixture.ts';
import type { Handler } from '../../src/http/context.ts';

const MIB = 1024 * 1024;
/** More than the buffers of both sides of a connection hold. */
const LENGTH = 64 * MIB;
const LIMIT = MIB;

const readsWhole: Handler = async ({ body }) =>
  jsonReply({ length: (await body.bytes(LIMIT)).length });
const readsPieces: Handler = async ({ body }) => {
  let length = 0;
  for await (const piece of body.stream(LIMIT)) length += piece.length;
  return jsonReply({ length });
};
const ROUTES: TestRoute[] = [
  { pattern: '/page/whole', access: 'public', methods: { POST: readsWhole } },
  { pattern: '/page/pieces', access: 'public', methods: { POST: readsPieces } },
  { pattern: '/page/user', access: 'user', methods: { POST: readsWhole } },
];

function head(path: string, more: Readonly<Record<string, string>>): string {
  const all = { Host: 'localhost', Connection: 'close', ...more };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Sends a long body before it reads anything, as a proxy does; the status of the answer and what broke meanwhile. */
async function sendAll(port: number, path: string): Promise<unknown> {
  const socket = connect(port, '127.0.0.1');
  const broken: string[] = [];
  socket.on('error', (error: NodeJS.ErrnoException) => broken.push(error.code ?? error.message));
  let answer = '';
  socket.on('data', (bytes: Uint8Array) => (answer += Buffer.from(bytes).toString('latin1')));
  const closed = once(socket, 'close');
  socket.write(head(path, { 'Content-Length': String(LENGTH) }));
  const piece = Buffer.alloc(MIB);
  let sent = 0;
  while (sent < LENGTH && !socket.destroyed) {
    await new Promise((resolve) => socket.write(piece, resolve));
    sent += piece.length;
  }
  await closed;
  return { status: statusOf(answer), sent, broken };
}

test('an unwanted body is taken in before the answer when the client closes the connection with it', async () => {
  await using server = await startFixture({ routes: ROUTES });
  const port = Number(new URL(server.url).port);
  const whole = { sent: LENGTH, broken: [] };
  for (const [path, status] of [
    ['/page/whole', 413],
    ['/page/pieces', 413],
    ['/page/user', 401],
    ['/nothing', 401],
  ] as const) {
    expect({ path, outcome: await sendAll(port, path) }).toEqual({
      path,
      outcome: { status, ...whole },
    });
  }
});

test('a client that waits for the answer before its body, or sends none of it, is answered all the same', async () => {
  await using server = await startFixture({ routes: ROUTES });
  const port = Number(new URL(server.url).port);
  const declared = { 'Content-Length': String(LENGTH) };
  const answers = await Promise.all([
    sendRaw(port, head('/page/whole', { ...declared, Expect: '100-continue' })),
    sendRaw(port, head('/page/whole', declared)),
  ]);
  expect(answers.map((answer) => / 413 /.test(answer))).toEqual([true, true]);
});
