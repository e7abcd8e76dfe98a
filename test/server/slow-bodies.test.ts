/**
 * Requests whose body comes in slowly: who loses the credential meanwhile does not get done what the request wants (DS-97). A body
 * can be made to last for hours, and what it asks for, such as a key, to last for ever.
 */
import { expect, test } from 'bun:test';
import { listApiKeys } from '../../src/accounts/identity/api-keys.ts';
import { RawSocket } from '../http/raw-socket.ts';
import { startFixture } from './server-fixture.ts';

const BODY = JSON.stringify({ description: 'mine for ever' });
/** A look at the credential every two seconds, from when the server got the head on. */
const LOOK_MS = 3_500;

/** The status of a request for a key in whose middle `change` is made, and how many keys there are then. */
async function askSlowly(
  form: 'whole' | 'chunked',
  change: string,
): Promise<{ status: number | undefined; keys: number }> {
  await using at = await startFixture();
  const { db } = at.services;
  const { cookie, csrf } = await at.session('ada');
  using socket = await RawSocket.open(at.url);
  const length = form === 'whole' ? `Content-Length: ${BODY.length}` : 'Transfer-Encoding: chunked';
  const pieces = [BODY.slice(0, 5), BODY.slice(5)].map((piece) =>
    form === 'whole' ? piece : `${piece.length.toString(16)}\r\n${piece}\r\n`,
  );
  socket.send(
    'POST /api/apikeys HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n' +
      `Cookie: ${cookie}\r\nX-CSRF-Token: ${csrf}\r\n${length}\r\n\r\n${pieces[0]}`,
  );
  await Bun.sleep(LOOK_MS);
  await db.run(change);
  socket.send(pieces[1]! + (form === 'whole' ? '' : '0\r\n\r\n'));
  const head = await socket.head();
  return { status: head?.status, keys: (await listApiKeys(db)).length };
}

test.each(['whole', 'chunked'] as const)('a %s body', async (form) => {
  const outcomes = await Promise.all([
    askSlowly(form, 'UPDATE users SET is_active = 1'),
    askSlowly(form, 'DELETE FROM sessions'),
    askSlowly(form, 'UPDATE users SET is_active = 0'),
  ]);
  expect(outcomes).toEqual([
    { status: 201, keys: 1 },
    { status: 401, keys: 0 },
    { status: 401, keys: 0 },
  ]);
});
