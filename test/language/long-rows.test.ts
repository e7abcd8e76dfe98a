/** Rows with long texts are read a few at a time: a search holds what its stages keep, not hundreds of megabytes (EV-97, EV-98). */
import { afterAll, expect, test } from 'bun:test';
import { EventReader } from '../../src/events/store/reader.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { EventStore } from '../../src/events/store/store.ts';
import { eventSource } from '../../src/language/sources/events.ts';
import { draftEvent } from '../events/draft-event.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const EVENTS = 60;

test('events of a megabyte come one or two at a time', () => {
  const store = new EventStore(folder.at(EVENTS_FILE));
  store.begin();
  const data = 'lorem '.repeat(150_000);
  store.insert(
    Array.from({ length: EVENTS }, () => draftEvent({ data })),
    Date.now() * 1000,
  );
  store.commit();
  store.close();
  const reader = new EventReader(folder.at('.'));
  const ids = reader.snapshot(() => {
    const term = (text: string) => reader.term(text, 'data');
    const events = { db: reader.db, indexNames: () => reader.indexNames(), term };
    const grants = { isSuperuser: true, patterns: { read: [], write: [] }, scopes: null };
    const source = eventSource(events, grants, () => undefined);
    source.schema.useShown();
    const batches = [...source.read('forward')];
    expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(2);
    return batches.flat().map(([id]) => id);
  });
  reader.close();
  expect(ids).toEqual(Array.from({ length: EVENTS }, (_, at) => at + 1));
});
