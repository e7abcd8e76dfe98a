/**
 * A Parquet file without rows, as pyarrow and pandas write an empty table: one row group, whose columns have no pages
 * and 0 for the place of the first (DS-34, DS-67, DS-88).
 */
import { expect, test } from 'bun:test';
import { startService } from '../support/service.ts';

/** `pq.write_table(pa.table({'ok': [], 's': [], 'n': []}))` with a boolean, a string and a double. */
const EMPTY = Buffer.from(
  'UEFSMRUEFQAVAkwVABUAEgAAABUEFQAVAkwVABUAEgAAABUEGUw1ABgGc2NoZW1hFQYAFQAlAhgCb2sAFQwlAhgBcyUATBwAAAAV' +
    'CiUCGAFuABYAGRwZPCYAHBUAGRUGGRgCb2sVAhYAFgAWACYASQwAACYAHBUMGSUABhkYAXMVAhYAFhwWHiYAJggpHBUEFQAVAgAA' +
    'ACYAHBUKGSUABhkYAW4VAhYAFhwWHiYAJiYpHBUEFQAVAgAAABY4FgAmABY8ACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAy' +
    'NS4wLjEZPBwAABwAABwAAADQAAAAUEFSMQ==',
  'base64',
);

test('a Parquet file without rows is read, and takes its first (DS-67, DS-88)', async () => {
  await using svc = await startService({ files: { 'empty.parquet': EMPTY } });
  await svc.accounts.grant('anna', 'empty', 'read', 'write');
  const anna = await svc.as('anna');
  const rows = async () => (await anna.fetch('/api/empty/')).json();

  expect(await rows()).toEqual([]);
  const { columns } = (await (await anna.fetch('/schema/empty/')).json()) as { columns: unknown };
  expect(columns).toEqual({
    ok: { type: 'boolean' },
    s: { type: 'string' },
    n: { type: 'number' },
  });

  const created = await anna.fetch('/api/empty/', {
    method: 'POST',
    body: JSON.stringify({ action: 'create', data: [{ ok: true, s: 'first' }] }),
  });
  expect(created.status).toBe(200);
  expect(await rows()).toEqual([{ _row_id: 1, ok: true, s: 'first', n: null }]);
});
