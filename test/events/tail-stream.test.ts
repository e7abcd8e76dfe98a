/** A tail that ends while it catches up leaves the worker that reads for it (EV-78). */
import { expect, jest, test } from 'bun:test';
import { LoopShare } from '../../src/base/work/loop-share.ts';
import type { Events } from '../../src/events/events.ts';
import { TailStream } from '../../src/events/tail/tail-stream.ts';

/** A tail of five events, whose worker sends one of them and waits. */
function slowTail(isAnswered: boolean) {
  const seen: { signal: AbortSignal | null; wasCancelled: boolean } = {
    signal: null,
    wasCancelled: false,
  };
  const asked = Promise.withResolvers<void>();
  const events = {
    indexNames: () => ['main'],
    request: async (_: string, order: { limit: number }, signal?: AbortSignal) => {
      if (order.limit === 1) return new Response('', { headers: { 'X-Total': '5' } });
      seen.signal = signal ?? null;
      asked.resolve();
      const body = new ReadableStream({
        start: (controller) => {
          if (isAnswered) controller.enqueue(Buffer.from('{"id":1,"data":"x"}\n{"id":2'));
        },
        cancel: () => {
          seen.wasCancelled = true;
        },
      });
      return new Response(body);
    },
  };
  const selection = { terms: [] } as unknown as TailStream['order']['selection'];
  const rights = async () => () => true;
  const stream = new TailStream(
    { userId: 1, mostOfUser: 1, selection, query: null, lastId: null, backlog: 5, rights },
    () => true,
    5,
    { events: events as unknown as Events, share: new LoopShare(), onEnd: () => undefined },
  );
  stream.catchUp();
  return { stream, seen, asked: asked.promise };
}

test('what it was being sent is cancelled', async () => {
  const { stream, seen } = slowTail(true);
  const reader = stream.body.getReader();
  // Where it starts.
  await reader.read();
  expect(Buffer.from((await reader.read()).value!).toString()).toContain('id: 1');
  await reader.cancel();
  await Bun.sleep(0);
  expect([seen.wasCancelled, seen.signal?.aborted]).toEqual([true, true]);
});

test('what it still waits for is called off', async () => {
  const { stream, seen, asked } = slowTail(false);
  const reader = stream.body.getReader();
  await reader.read();
  const reading = reader.read();
  await asked;
  stream.end();
  expect(seen.signal?.aborted).toBe(true);
  reading.catch(() => undefined);
});

test('a tail ends when nobody can tell for long whether its reader still has the right', async () => {
  jest.useFakeTimers();
  try {
    let looks = 0;
    const rights = async (): Promise<never> => {
      looks += 1;
      throw new Error('too many hashes are waiting');
    };
    const ended = Promise.withResolvers<void>();
    const selection = { terms: [] } as unknown as TailStream['order']['selection'];
    void new TailStream(
      { userId: 1, mostOfUser: 1, selection, query: null, lastId: null, backlog: 0, rights },
      () => true,
      0,
      {
        events: {} as unknown as Events,
        share: { turn: async () => undefined } as unknown as LoopShare,
        onEnd: ended.resolve,
      },
    );
    jest.advanceTimersByTime(6_000);
    await ended.promise;
    expect(looks).toBe(2);
  } finally {
    jest.useRealTimers();
  }
});
