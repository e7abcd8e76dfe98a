/** A tail that ends while it catches up leaves the worker that reads for it (EV-78). */
import { expect, jest, test } from 'bun:test';
import { LoopShare } from '../../src/base/scheduling/loop-share.ts';
import type { Events } from '../../src/events/events.ts';
import type { TailEvent } from '../../src/events/tail/tail-event.ts';
import { TailStream } from '../../src/events/tail/tail-stream.ts';

const READY = { turn: async () => undefined, spend: () => undefined } as unknown as LoopShare;

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
  const text = async () => Buffer.from((await reader.read()).value!).toString();
  expect(await text()).toBe('id: 0\n\n');
  expect(await text()).toContain('id: 1');
  await reader.cancel();
  await Bun.sleep(0);
  expect([seen.wasCancelled, seen.signal?.aborted]).toEqual([true, true]);
});

test('what it still waits for is called off', async () => {
  const { stream, seen, asked } = slowTail(false);
  const reading = stream.body.getReader().read();
  await asked;
  stream.end();
  expect(seen.signal?.aborted).toBe(true);
  reading.catch(() => undefined);
});

test.each([
  ['of a query', { text: 'x' } as TailStream['order']['query']],
  ['of a list', null],
])(
  'a tail %s with a backlog begins before it, or where it is when there is none (EV-78)',
  async (_, query) => {
    const startOf = async (lines: string, total: number) => {
      const events = {
        indexNames: () => ['main'],
        request: async () => new Response(lines, { headers: { 'X-Total': String(total) } }),
      } as unknown as Events;
      const stream = tailOf({ query, backlog: 2 }, 9, events);
      stream.catchUp();
      const { value } = await stream.body.getReader().read();
      stream.end();
      return Buffer.from(value!).toString();
    };
    expect(await startOf('{"id":5}\n{"id":8}\n', 4)).toBe('id: 4\n\n');
    expect(await startOf('', 0)).toBe('id: 9\n\n');
  },
);

test('a heartbeat tells the last event looked at, but none while a backlog is still to come (EV-78)', async () => {
  jest.useFakeTimers();
  try {
    const missed = Promise.withResolvers<Response>();
    const events = { indexNames: () => [], request: () => missed.promise } as unknown as Events;
    const stream = tailOf({}, 9, events);
    stream.offer({ row: { id: 12, index: 'hidden' } } as TailEvent);
    const late = tailOf({ lastId: 3 }, 9, events);
    late.catchUp();
    jest.advanceTimersByTime(15_000);
    jest.useRealTimers();
    missed.resolve(new Response('', { headers: { 'X-Total': '0' } }));
    stream.end();
    expect(await new Response(stream.body).text()).toBe('id: 9\n\n: hb\nid: 12\n\n');
    const reader = late.body.getReader();
    const text = async () => Buffer.from((await reader.read()).value!).toString();
    expect([await text(), await text()]).toEqual(['id: 3\n\n', ': hb\n\n']);
    late.end();
  } finally {
    jest.useRealTimers();
  }
});

function tailOf(order: Partial<TailStream['order']>, position: number, events: Events): TailStream {
  const selection = { terms: [], members: {} } as unknown as TailStream['order']['selection'];
  const rights = async () => () => true;
  return new TailStream(
    {
      userId: 1,
      mostOfUser: 1,
      selection,
      query: null,
      lastId: null,
      backlog: 0,
      rights,
      ...order,
    },
    (index) => index !== 'hidden',
    position,
    { events, share: READY, onEnd: () => undefined },
  );
}

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
        share: READY,
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
