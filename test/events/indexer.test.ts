/**
 * The substring index is derived: whatever is found in its place, searches have a whole one in the end (EV-35).
 */
import { afterAll, expect, test } from 'bun:test';
import { Database } from 'bun:sqlite';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Indexer } from '../../src/events/read/indexer.ts';
import { EventReader } from '../../src/events/store/reader.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { EventStore } from '../../src/events/store/store.ts';
import { INDEX_FILE } from '../../src/events/read/text-index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { draftEvent } from './draft-event.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const EVENTS = 3_000;
const found: Record<string, (path: string) => void> = {
  nothing: () => undefined,
  'an empty file': (path) => writeFileSync(path, ''),
  'a database without tables, as a process leaves it that was killed': (path) => {
    using index = new Database(path, { create: true });
    index.run('PRAGMA journal_mode = WAL');
  },
  'a file that is no database': (path) => writeFileSync(path, 'x'.repeat(10_000)),
  'the index of another store': (path) => {
    using index = new Database(path, { create: true });
    index.run('CREATE TABLE state (store TEXT, indexed_to INTEGER, changes_from INTEGER)');
    index.run("INSERT INTO state VALUES ('another', 7, 0)");
  },
};

for (const [what, put] of Object.entries(found)) {
  test(`in place of the index: ${what}`, () => {
    using store = storeWithEvents(what);
    put(join(store.dir, INDEX_FILE));
    const indexer = new Indexer(store.dir);
    while (indexer.step());
    indexer.close();
    const reader = new EventReader(store.dir);
    reader.snapshot(() => {
      expect(reader.indexedTo).toBe(EVENTS);
      expect(reader.term('rare777end', 'data').usesIndex).toBe(true);
    });
    reader.close();
  });
}

function storeWithEvents(name: string): Disposable & { readonly dir: string } {
  const path = folder.write(`${name}/x`, '');
  const dir = join(path, '..');
  const store = new EventStore(join(dir, EVENTS_FILE));
  store.begin();
  const drafts = Array.from({ length: EVENTS }, (_, at) => draftEvent({ data: `rare${at}end` }));
  store.insert(drafts, Date.now() * 1000);
  store.commit();
  return { dir, [Symbol.dispose]: () => store.close() };
}
