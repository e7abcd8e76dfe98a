/**
 * Pages of a list fit together while events are deleted (EV-33).
 */
import { afterAll, expect, test } from 'bun:test';
import { eventReadJobs, LIST_HEADERS, type ListOrder } from '../../src/events/read/read-jobs.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { ALL_EVENTS } from '../../src/events/read/selection.ts';
import { EventStore } from '../../src/events/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { draftEvent } from './draft-event.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const LIMIT = 2_000;

for (const isDescending of [false, true]) {
  test(`what is deleted while a page is sent makes it no longer${isDescending ? ', newest first' : ''}`, async () => {
    const stateDir = folder.at(String(isDescending));
    folder.write(`${isDescending}/x`, '');
    const store = new EventStore(`${stateDir}/${EVENTS_FILE}`);
    const inTransaction = (work: () => void): void => {
      store.begin();
      work();
      store.commit();
    };
    const drafts = Array.from({ length: 3 * LIMIT }, () => draftEvent({ data: 'x'.repeat(200) }));
    inTransaction(() => store.insert(drafts, Date.now() * 1000));
    const page = (afterId: number | null): Response => {
      const order: ListOrder = {
        ...{ stateDir, selection: ALL_EVENTS, isDescending, limit: LIMIT, offset: 0 },
        ...{ afterId, counts: false, format: 'ndjson' },
      };
      return eventReadJobs(() => () => [])['events-list']!(order) as Response;
    };
    const first = page(null);
    const reader = first.body!.getReader();
    const pieces = [(await reader.read()).value!];
    // Among those that are still to be sent.
    const from = isDescending ? 2 * LIMIT + 300 : LIMIT - 300;
    inTransaction(() => store.delete(Array.from({ length: 100 }, (_, at) => from + at)));
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
    }
    const second = await page(Number(first.headers.get(LIST_HEADERS.next))).text();
    const ids = [Buffer.concat(pieces).toString(), second].map((text) =>
      [...text.matchAll(/^\{"id":(\d+)/gm)].map(([, id]) => Number(id)),
    );
    const all = ids.flat();
    store.close();
    expect(all).toHaveLength(new Set(all).size);
    expect(all).toHaveLength(2 * LIMIT - 100);
  });
}

test('long events are read a few at a time, each once', async () => {
  folder.write('long/x', '');
  const stateDir = folder.at('long');
  const store = new EventStore(`${stateDir}/${EVENTS_FILE}`);
  store.begin();
  const data = 'lorem '.repeat(150_000);
  store.insert(
    Array.from({ length: 24 }, () => draftEvent({ data })),
    Date.now() * 1000,
  );
  store.commit();
  store.close();
  const idsOf = async (asked: Partial<ListOrder>): Promise<{ ids: number[]; most: number }> => {
    const order: ListOrder = {
      ...{ stateDir, selection: ALL_EVENTS, isDescending: false, limit: null, offset: 0 },
      ...{ afterId: null, counts: false, format: 'ndjson' },
      ...asked,
    };
    const response = (await eventReadJobs(() => () => [])['events-list']!(order)) as Response;
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body!) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    return {
      ids: [...text.matchAll(/^\{"id":(\d+)/gm)].map(([, id]) => Number(id)),
      most: Math.max(...pieces.map(({ length }) => length)),
    };
  };
  const all = Array.from({ length: 24 }, (_, at) => at + 1);
  const whole = await idsOf({});
  expect(whole.ids).toEqual(all);
  expect(whole.most).toBeLessThan(8 * 2 ** 20);
  expect((await idsOf({ isDescending: true })).ids).toEqual(all.toReversed());
  expect((await idsOf({ limit: 12, offset: 3 })).ids).toEqual(all.slice(3, 15));
  expect((await idsOf({ limit: 5, afterId: 17 })).ids).toEqual(all.slice(17, 22));
});
