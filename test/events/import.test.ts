/**
 * Lines of a file are stored or told as left out, however few events a request may hold (EV-108).
 */
import { afterAll, expect, test } from 'bun:test';
import { DirectStore } from '../../src/events/direct-store.ts';
import { importFile } from '../../src/events/import.ts';
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
  const { store, writer } = direct;
  const parts = {
    store,
    writer,
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
