/** A body that ends with the right to it lets go of what it is made from, however early it is given up (S-Z10). */
import { expect, test } from 'bun:test';
import { byteStream, discardBody } from '../../src/server/outgoing-stream.ts';
import { whileAllowed } from '../../src/server/standing-body.ts';

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
