/**
 * A tail misses nothing in silence: what it cannot send it counts, what it cannot tell ends it (EV-77 to EV-79).
 */
import { afterAll, expect, test } from 'bun:test';
import { LoopShare } from '../../src/base/scheduling/loop-share.ts';
import { makeEventFilter } from '../../src/event-queries.ts';
import type { Events } from '../../src/events/events.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { type FilterQuery, QUERY_PROBLEM_HEADER } from '../../src/events/read/query-filter.ts';
import { eventReadJobs } from '../../src/events/read/read-jobs.ts';
import { ALL_EVENTS } from '../../src/events/read/selection.ts';
import { EventStore } from '../../src/events/store/store.ts';
import { TailEvent } from '../../src/events/tail/tail-event.ts';
import { type TailOrder, TailStream } from '../../src/events/tail/tail-stream.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { draftEvent } from './draft-event.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const QUERY: FilterQuery = {
  ...{ text: 'where match(data, host)', now: '2026-11-20T10:15:00.000000Z', implicitTerms: true },
  ...{ timeoutMs: 30_000, memoryBytes: 2 ** 28 },
};

test('of more matches than are read at once the others count as dropped', async () => {
  const matches = 25_000;
  const { stream } = tail(QUERY, async ({ most }) => {
    const lines = Array.from({ length: most }, (_, at) => `{"id":${matches - most + at + 1}}\n`);
    return new Response(lines.join(''), { headers: { 'x-total': String(matches) } });
  });
  const text = new Response(stream.body).text();
  await stream.look(matches);
  stream.end();
  const told = await text;
  const dropped = [...told.matchAll(/^data: \{"count":(\d+)\}/gm)].map(([, n]) => Number(n));
  const sent = [...told.matchAll(/^event: event/gm)].length;
  expect(sent + dropped.reduce((sum, n) => sum + n, 0)).toBe(matches);
});

test('an event that the query fails on is none it chooses, and takes no others along', async () => {
  folder.write('state/x', '');
  const stateDir = folder.at('state');
  const store = new EventStore(`${stateDir}/${EVENTS_FILE}`);
  store.begin();
  const drafts = ['h', '(', 'h'].map((host) => draftEvent({ data: 'hi', host }));
  store.insert(drafts, Date.now() * 1000);
  store.commit();
  store.close();
  const bounds = { aboveId: 0, highestId: 3, most: 10 };
  const order = { stateDir, selection: ALL_EVENTS, query: QUERY, ...bounds };
  const response = await eventReadJobs(makeEventFilter)['events-matching']!(order);
  const ids = (await response.text()).match(/"id":\d+/g);
  expect([response.headers.get(QUERY_PROBLEM_HEADER), ids]).toEqual([null, ['"id":1', '"id":3']]);
});

test('a query that cannot be run to its end ends the tail: its reader resumes', async () => {
  const problem = Response.json(
    { error: 'Query exceeded its time budget', code: 'time_budget' },
    { headers: { [QUERY_PROBLEM_HEADER]: '1' } },
  );
  const { stream } = tail(QUERY, async () => problem);
  const text = new Response(stream.body).text();
  await stream.look(5).catch(() => undefined);
  expect(stream.wantsLook(10)).toBe(false);
  expect(await text).toBe('id: 0\n\n');
});

test('what comes at the moment in which a reader begins to wait wakes it', async () => {
  for (let ticks = 0; ticks < 8; ticks++) {
    const { stream, share } = tail(null, () => Promise.reject(new Error('not asked')));
    const reader = stream.body.getReader();
    await reader.read();
    // The reader waits for its turn; a moment later there is something for it.
    share.spend(1_000);
    const next = reader.read();
    await share.turn();
    for (let tick = 0; tick < ticks; tick++) await null;
    stream.offer(eventOf(1));
    const came = await Promise.race([next, Bun.sleep(10_000)]);
    stream.end();
    expect([ticks, came?.value?.length]).toEqual([ticks, expect.any(Number)]);
  }
});

test('a tail that ends while it catches up sends nothing behind what is still missed', async () => {
  const { stream } = tail(
    null,
    async () => {
      const lines = [1, 2, 3].map((id) => `{"id":${id}}\n`);
      return new Response(lines.join(''), { headers: { 'x-total': '3' } });
    },
    3,
  );
  stream.catchUp();
  const reader = stream.body.getReader();
  // Where it starts.
  await reader.read();
  expect(Buffer.from((await reader.read()).value!).toString()).toContain('id: 1');
  // Its reader is slow: the others wait, and so does what comes meanwhile.
  stream.offer(eventOf(10));
  stream.end();
  const rest: string[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    rest.push(Buffer.from(value).toString());
  }
  expect(rest.join('')).not.toContain('id: 10');
});

type Asked = (order: { readonly most: number }) => Promise<Response>;

/** A tail, and the time it shares with others. */
function tail(query: TailOrder['query'], asked: Asked, backlog = 0) {
  const events = {
    indexNames: () => ['default'],
    request: (_job: string, order: { readonly most: number }) => asked(order),
  } as unknown as Events;
  const share = new LoopShare();
  const order: TailOrder = {
    ...{ userId: 1, mostOfUser: 1, selection: ALL_EVENTS, query, lastId: null, backlog },
    rights: async () => () => true,
  };
  const stream = new TailStream(order, () => true, 0, { events, share, onEnd: () => undefined });
  return { stream, share };
}

function eventOf(id: number): TailEvent {
  const { index, sourcetype, source, host, data, fields } = draftEvent({});
  return new TailEvent({
    ...{ id, index, sourcetype, source, host, data, fields },
    ...{ created: id, updated: id },
  });
}
