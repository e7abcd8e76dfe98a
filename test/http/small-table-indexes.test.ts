/**
 * Tables of some thousand rows get their indexes in the server process: the same lists before and after, through edits
 * of indexed values too, and no worker is started for them.
 */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { list } from './listing.ts';
import { childrenOf } from './process-memory.ts';
import { sharedService } from './shared-service.ts';

interface Item {
  readonly _row_id: number;
  readonly id: number;
  readonly price: number;
  readonly name: string;
}

const items = (count: number): Item[] =>
  Array.from({ length: count }, (_, index) => ({
    _row_id: index + 1,
    id: index,
    price: ((index * 7_919) % 1_009) / 4,
    name: `item ${(index * 31) % 100}`,
  }));
const csvOf = (rows: readonly Item[]): string =>
  `id,price,name\n${rows.map(({ id, price, name }) => `${id},${price},${name}\n`).join('')}`;

const shared = sharedService({
  files: { 'some.csv': csvOf(items(3_000)), 'few.csv': csvOf(items(1_000)) },
});

const cheapest = (rows: readonly Item[], above: number, isDown: boolean): Item[] =>
  rows
    .filter(({ price }) => price > above)
    .sort((a, b) => (isDown ? b.price - a.price : a.price - b.price) || a._row_id - b._row_id);

/** The list from every bound, upwards and downwards, is what the rows say. */
async function check(name: string, rows: readonly Item[]): Promise<void> {
  for (const above of [0, 100.1, 200.25, 252]) {
    for (const isDown of [false, true]) {
      const expected = cheapest(rows, above, isDown);
      const offset = Math.floor(expected.length / 3);
      const answer = await list(shared.reader, name, {
        filter: { price: { $gt: above } },
        sort: isDown ? '-price' : 'price',
        limit: 20,
        offset,
      });
      expect([answer.status, answer.total]).toEqual([200, expected.length]);
      expect(answer.rows as unknown).toEqual(expected.slice(offset, offset + 20));
    }
  }
}

test('lists of a small table stay the same when it gets its indexes, and after edits (DS-38, DS-57)', async () => {
  const rows = items(3_000);
  await check('some', rows);
  await eventually(() => expect(indexesMade()).toEqual(['rows_c1', 'rows_c1_desc']));
  await check('some', rows);
  const workers = childrenOf(shared.service.pid).filter(({ command }) =>
    / query \S+$/.test(command),
  );
  expect(workers).toEqual([]);
  for (const [_row_id, price] of [
    [1, 252.5],
    [2_999, -1],
    [1_500, 100.1],
  ] as const) {
    const body = JSON.stringify({ action: 'update', data: { _row_id, price } });
    expect((await shared.writer.fetch('/api/some/', { method: 'PATCH', body })).status).toBe(200);
    rows[_row_id - 1] = { ...rows[_row_id - 1]!, price };
    await check('some', rows);
  }
});

test('tables of a thousand rows get none', async () => {
  const before = indexesMade();
  for (let round = 0; round < 3; round++) await check('few', items(1_000));
  expect(indexesMade()).toEqual(before);
});

/** Names of the indexes on columns in the typed copies of the service. */
function indexesMade(): string[] {
  const folder = join(shared.service.stateDir, 'tables');
  const copies = readdirSync(folder).filter((name) => name.endsWith('.sqlite'));
  const sql = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";
  return copies
    .flatMap((name) => {
      using db = new Database(join(folder, name), { readonly: true });
      return db.query<{ name: string }, []>(sql).all();
    })
    .map(({ name }) => name)
    .toSorted();
}
