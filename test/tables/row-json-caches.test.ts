/**
 * Which tables keep their rows: as few as go into the memory there is for all of them.
 */
import { expect, test } from 'bun:test';
import { planQuery } from '../../src/tables/read/query-plan.ts';
import { RowJsonCaches } from '../../src/tables/copy/row-json-caches.ts';
import type { Table } from '../../src/tables/copy/table.ts';
import { type PreparedRead, TableCache } from '../../src/tables/copy/table-cache.ts';
import { parametersOf, typedCopy } from './typed-copy.ts';

test('tables of a million rows whose lists are empty take no more than all tables may', () => {
  const copy = typedCopy({
    columns: [{ name: 'n', type: 'integer' }],
    rows: [['1']],
    figures: { rowCount: 1_000_000, lastRowId: 1_000_000, bytes: 60_000_000 },
  });
  const plan = planQuery(
    copy.table,
    parametersOf({ filter: '{"_row_id":{"$gt":999999999}}', limit: 10 }),
  );
  const read: PreparedRead = { plan, format: 'json', representation: '' };
  const rows = new RowJsonCaches();
  const tables = Array.from({ length: 12 }, () => {
    const { columns, lastRowId } = copy.table;
    return { columns, state: { lastRowId }, cache: new TableCache() } as unknown as Table;
  });
  for (const table of tables) {
    for (let page = 0; page < 20; page++) rows.textsFor(table, read);
  }
  const kept = tables.filter(({ cache }) => cache.rowJson !== null);
  expect(kept).toContain(tables.at(-1)!);
  const bytes = kept.reduce((sum, { cache }) => sum + cache.rowJson!.bytes, 0);
  expect(bytes).toBeLessThanOrEqual(32 << 20);
});
