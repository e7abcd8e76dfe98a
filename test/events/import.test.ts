/**
 * Lines of a file are stored or told as left out, however few events a request may hold (EV-108).
 */
import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { DirectStore } from '../../src/events/store/direct-store.ts';
import { importFile } from '../../src/events/intake/import.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const MAX_EVENTS = 3;
const SETTINGS = {
  limits: {
    maxDecodedBytes: 2 ** 20,
    maxEventBytes: 2 ** 20,
    maxEvents: MAX_EVENTS,
    maxDepth: 32,
    maxFields: 1000,
  },
  extraction: { extractors: [], syslogTimezone: 'UTC' },
};

test('a file of more lines than a request may hold events comes in whole', async () => {
  const lines = ['a', 'b', '', 'c', 'd', 'e', 'f', 'g'];
  const path = folder.write('events.log', `${lines.join('\n')}\n`);
  const direct = new DirectStore(folder.at('state'), SETTINGS);
  const order = { path, defaults: {}, isPlain: true, resumes: false };
  const { store } = direct;
  const parts = {
    store,
    writer: direct,
    stateDir: folder.at('state'),
    minFreeBytes: 1,
    maxEvents: MAX_EVENTS,
  };
  let last = null;
  for await (const progress of importFile(order, parts)) last = progress;
  const stored = store.db.query('SELECT data FROM events ORDER BY id').values().flat();
  direct.close();
  expect(stored).toEqual(lines.filter((line) => line !== ''));
  expect(last).toMatchObject({ accepted: 7, rejected: 0, lines: 8 });
});

test('a store that cannot be written is told as such, with what is stored', async () => {
  const path = folder.write('busy.log', 'a\n'.repeat(2 * MAX_EVENTS));
  const direct = new DirectStore(folder.at('busy'), SETTINGS);
  const { store } = direct;
  const stateDir = folder.at('busy');
  const parts = { store, writer: direct, stateDir, minFreeBytes: 1, maxEvents: MAX_EVENTS };
  const order = { path, defaults: {}, isPlain: true, resumes: false };
  using other = new Database(folder.at(`busy/${EVENTS_FILE}`));
  const progress = importFile(order, parts);
  expect((await progress.next()).value).toMatchObject({ accepted: MAX_EVENTS });
  other.run('BEGIN IMMEDIATE');
  store.db.run('PRAGMA busy_timeout = 10');
  await expect(progress.next()).rejects.toMatchObject({ code: 'unavailable' });
  direct.close();
});
