/** A copy that is closed to make room for others while its rows are read for the index is opened again (DS-152). */
import { expect, test } from 'bun:test';
import { createLog } from '../../src/base/log.ts';
import type { Table } from '../../src/tables/copy/table.ts';
import type { IndexClient } from '../../src/fulltext/index-client.ts';
import { Indexer } from '../../src/fulltext/indexer.ts';
import type { Published, PublishedResource } from '../../src/fulltext/publisher.ts';

const RESOURCE: PublishedResource = {
  ...{ type: 'csv', rel: 'a.csv', sheet: null, canonical: 'a', extensionForm: 'a.csv' },
  kind: { dataset: {} },
} as PublishedResource;
const SLICES = 12;

/** Counts the rows of a table whose copy is closed after each slice and is at `pathOf(n)` when opened for the n-th time. */
async function indexed(pathOf: (opened: number) => string): Promise<unknown> {
  let opened = 0;
  let slices = 0;
  let present = { isClosed: true };
  const open = () => {
    opened++;
    const head = { generation: 'g', columns: [] };
    const state = { sequence: 0, rowCount: SLICES };
    const table = { path: pathOf(opened), isClosed: false, head, state };
    present = table;
    return Promise.resolve(table as unknown as Table);
  };
  const jobs: Partial<Record<string, () => Promise<unknown>>> = {
    begin: async () => {
      slices = 0;
      return 1;
    },
    rows: async () => {
      present.isClosed = true;
      slices++;
      return { last: slices, count: 1, isDone: slices === SLICES };
    },
    finish: async () => undefined,
    abandon: async () => undefined,
  };
  const client = ((job: string) => jobs[job]!()) as IndexClient;
  const published = { get: () => RESOURCE, stampOf: () => ({ size: 1 }) } as unknown as Published;
  const indexer = new Indexer({
    ...{ client, published, path: '', temporary: '', snapshot: '' },
    contents: { table: open, release: () => undefined, sections: async () => undefined },
    limits: () => ({ maxBytes: 100, maxRows: 100 }),
    log: createLog({ level: 'error', format: 'text', write: () => undefined }),
  });
  const count = await indexer.follow(RESOURCE);
  indexer.close();
  return count;
}

test('rows of a copy that is closed again and again are all indexed, of the one copy only', async () => {
  expect(await indexed(() => 'copy')).toEqual({ documents: SLICES + 1 });
  expect(await indexed((opened) => `copy ${opened}`)).toBeNull();
});
