/**
 * Who may not write the index an event would be moved to is refused, and the audit names that index (EV-24, EV-105).
 */
import { afterAll, expect, test } from 'bun:test';
import { DirectStore } from '../../src/events/store/direct-store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { draftEvent } from './draft-event.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const LIMITS = {
  ...{ maxDecodedBytes: 2 ** 20, maxEventBytes: 2 ** 20, maxEvents: 10 },
  ...{ maxDepth: 32, maxFields: 1000 },
};

test('a move to an index that may not be written', async () => {
  const extraction = { extractors: [], syslogTimezone: 'UTC' };
  const direct = new DirectStore(folder.at('state'), { limits: LIMITS, extraction });
  direct.store.begin();
  direct.store.insert([draftEvent({ index: 'web' })], Date.now() * 1000);
  direct.store.commit();
  const patterns = { read: [], write: ['@events/web'] };
  const { result } = await direct.ingest.submit(
    {
      ...{ kind: 'update', id: 1, isPartial: true, isForm: false, ifMatch: null, indexes: null },
      grants: { isSuperuser: false, patterns, scopes: null },
    },
    Buffer.from('{"index":"secret"}'),
  );
  const stored = direct.store.get(1)?.index;
  direct.close();
  expect([result.status, result.indexes, stored]).toEqual([403, ['secret'], 'web']);
});
