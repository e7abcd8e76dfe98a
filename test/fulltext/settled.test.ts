/** Who waits for a resource to be found as it is now waits for its last reading, not for the one under way (DS-152). */
import { expect, test } from 'bun:test';
import { createLog } from '../../src/base/log.ts';
import type { IndexClient } from '../../src/fulltext/index-client.ts';
import { Indexer } from '../../src/fulltext/indexer.ts';
import type { Published, PublishedResource } from '../../src/fulltext/publisher.ts';

const PAGE: PublishedResource = {
  ...{ type: 'markdown', rel: 'a.md', sheet: null, canonical: 'a', extensionForm: 'a.md' },
  kind: {},
};

test('a change during a reading is waited for as well', async () => {
  const readings: PromiseWithResolvers<{ no: number; documents: number }>[] = [];
  const client = ((_document: string) => {
    const reading = Promise.withResolvers<{ no: number; documents: number }>();
    readings.push(reading);
    return reading.promise;
  }) as IndexClient;
  const published = {
    get: () => PAGE,
    stampOf: () => ({ size: 1, mtimeNs: BigInt(readings.length), ctimeNs: 1n, inode: 1n }),
  } as unknown as Published;
  const indexer = new Indexer({
    ...{ client, published, path: '', temporary: '', snapshot: '' },
    contents: {
      table: () => Promise.reject(new Error()),
      release: () => undefined,
      sections: async () => undefined,
    },
    limits: () => ({ maxBytes: 100, maxRows: 100 }),
    log: createLog({ level: 'error', format: 'text', write: () => undefined }),
  });
  const first = indexer.follow(PAGE);
  const second = indexer.follow(PAGE);
  let isSettled = false;
  const settled = indexer.settled(PAGE).then(() => (isSettled = true));
  readings[0]!.resolve({ no: 1, documents: 1 });
  await first;
  await Bun.sleep(1);
  expect([isSettled, readings.length]).toEqual([false, 2]);
  readings[1]!.resolve({ no: 2, documents: 1 });
  await second;
  await settled;
  indexer.close();
});
