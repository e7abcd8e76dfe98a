/**
 * A store that is put in the place of another one under a running server is the one that is read (EV-51).
 */
import { afterAll, expect, test } from 'bun:test';
import { renameSync } from 'node:fs';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import type { ChildPool } from '../../src/processes/child-pool.ts';
import type { Config } from '../../src/config/settings.ts';
import { Events } from '../../src/events/events.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { EventStore } from '../../src/events/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { draftEvent } from './draft-event.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test('a new store in the place of a damaged one is read without a restart', async () => {
  const path = folder.at(EVENTS_FILE);
  const log = createLog({ level: 'error', format: 'text', write: () => undefined });
  const events = new Events({
    ...{ clock: systemClock, log, command: () => [], socketDir: folder.at('run') },
    config: () => ({ state_dir: folder.at('.') }) as Config,
    readers: {} as ChildPool,
  });
  put(path, ['old', 'older']);
  expect([(await events.get(1))?.data, events.newestId()]).toEqual(['old', 2]);
  for (const end of ['', '-wal', '-shm']) renameSync(path + end, `${path}-damaged${end}`);
  // As a writer does that finds none.
  put(path, ['new']);
  expect([(await events.get(1))?.data, events.newestId()]).toEqual(['new', 1]);
  await events.close();
});

/** Stays open, as the writer of a server does. */
function put(path: string, texts: readonly string[]): void {
  const store = new EventStore(path);
  store.begin();
  const drafts = texts.map((data) => draftEvent({ data }));
  store.insert(drafts, Date.now() * 1000);
  store.commit();
}
