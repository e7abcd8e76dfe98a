/**
 * A step of the substring index is short also where events are long: one past its limits is stopped, and begun again for ever
 * (EV-35).
 */
import { afterAll, expect, test } from 'bun:test';
import { Indexer } from '../../src/events/read/indexer.ts';
import { EventReader } from '../../src/events/store/reader.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { EventStore } from '../../src/events/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { draftEvent } from './draft-event.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const EVENTS = 24;

test('long events are taken in a few at a time', () => {
  const store = new EventStore(folder.at(EVENTS_FILE));
  store.begin();
  const long = 'lorem '.repeat(150_000);
  const drafts = Array.from({ length: EVENTS }, (_, at) => draftEvent({ data: `${long} n${at}n` }));
  store.insert(drafts, Date.now() * 1000);
  store.commit();
  const indexer = new Indexer(folder.at('.'));
  const reached: number[] = [];
  for (let hasMore = true; hasMore;) {
    hasMore = indexer.step();
    const reader = new EventReader(folder.at('.'));
    reached.push(reader.snapshot(() => reader.indexedTo));
    if (!hasMore) reader.snapshot(() => expect(reader.term('n23n', 'data').usesIndex).toBe(true));
    reader.close();
  }
  indexer.close();
  store.close();
  expect(reached[0]).toBeLessThan(EVENTS / 2);
  expect(reached.at(-1)).toBe(EVENTS);
});
