/** A body that ends with the right to it lets go of what it is made from, however early it is given up (S-Z10). */
import { expect, test } from 'bun:test';
import { AppError } from '../../src/base/errors.ts';
import { byteStream, discardBody, whileAllowed } from '../../src/http/reply/outgoing-stream.ts';

function source(): {
  readonly body: ReadableStream<Uint8Array>;
  readonly isCancelled: () => boolean;
} {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => void (isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  return { body, isCancelled: () => isCancelled };
}

test('given up before, at or after its first piece, its source is cancelled', async () => {
  for (const pieces of [0, 1, 2]) {
    const { body, isCancelled } = source();
    const reader = byteStream(whileAllowed(body, async () => true)).getReader();
    for (let read = 0; read < pieces; read++) expect((await reader.read()).value).toHaveLength(10);
    await reader.cancel();
    expect({ pieces, isCancelled: isCancelled() }).toEqual({ pieces, isCancelled: true });
  }
  const { body, isCancelled } = source();
  await discardBody(whileAllowed(body, async () => true));
  expect(isCancelled()).toBe(true);
});

test('ended by the loss of the right, or by a look that fails, its source is cancelled', async () => {
  const failing = new AppError('unavailable', 'The state database is busy');
  for (const look of [async () => false, () => Promise.reject(failing)]) {
    const { body, isCancelled } = source();
    const reader = byteStream(whileAllowed(body, look, 0)).getReader();
    await expect(reader.read()).rejects.toBeInstanceOf(AppError);
    expect(isCancelled()).toBe(true);
  }
});

test('a piece that came after the right was lost is not handed out', async () => {
  const { promise: piece, resolve: send } = Promise.withResolvers<Uint8Array>();
  let isAllowed = true;
  const body = new ReadableStream<Uint8Array>(
    { pull: async (controller) => controller.enqueue(await piece) },
    { highWaterMark: 0 },
  );
  const reader = byteStream(whileAllowed(body, async () => isAllowed, 0)).getReader();
  const read = reader.read();
  isAllowed = false;
  send(new Uint8Array(10));
  await expect(read).rejects.toMatchObject({ code: 'permission-denied' });
});
