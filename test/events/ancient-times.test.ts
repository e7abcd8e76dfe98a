/**
 * Times of programs that have none, such as the first of January of the year 1, are counted as others (EV-30, EV-80).
 */
import { afterAll, expect, test } from 'bun:test';
import { parseTime } from '../../src/events/event-time.ts';
import { eventReadJobs } from '../../src/events/read/read-jobs.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { ALL_EVENTS } from '../../src/events/read/selection.ts';
import { EventStore } from '../../src/events/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { draftEvent } from './draft-event.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test('a histogram by months of the first century', async () => {
  const store = new EventStore(folder.at(EVENTS_FILE));
  const times = ['0001-01-01T00:00:00Z', '0001-02-03T00:00:00Z', '0001-02-04T00:00:00Z'];
  store.begin();
  store.insert(
    times.map((time) => draftEvent({ eventTime: parseTime(time) })),
    Date.now() * 1000,
  );
  store.commit();
  store.close();
  const bounds = { earliest: parseTime('0001-01-01'), latest: parseTime('0001-04-01') };
  const response = await eventReadJobs(() => () => [])['events-histogram']!({
    ...{ stateDir: folder.at('.'), selection: { ...ALL_EVENTS, ...bounds }, interval: '1mon' },
    ...{ by: null, limit: 10, budgetMs: 60_000, query: null },
  });
  const { buckets } = (await response.json()) as { buckets: unknown };
  expect(buckets).toEqual([
    { t: '0001-01-01T00:00:00.000000Z', count: 1 },
    { t: '0001-02-01T00:00:00.000000Z', count: 2 },
    { t: '0001-03-01T00:00:00.000000Z', count: 0 },
  ]);
});
