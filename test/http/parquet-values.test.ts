/**
 * What Parquet has that text has not: moments in UTC sort as they filter, on both sides of the size from which columns get
 * indexes (DS-58), and exports have a column of texts where a cell is not of its declared type (DS-44).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { STRATEGY } from '../../src/tables/limits.ts';
import { duckRows, parquetFile } from '../plugins/parquet-table.ts';
import { startService, type Client, type Service } from '../support/service.ts';
import { address, columnOf, list, walk } from './listing.ts';

let service: Service;
let client: Client;
const SIZES = { few: 50, many: STRATEGY.indexFromRows * 2 };

beforeAll(async () => {
  const files: Record<string, string | Uint8Array> = {
    'typed.csv': 'i,n,b,t\n1,1.5,true,a\nmany,half,perhaps,b\n3,2,false,c\n',
    '.svc/typed.csv.schema.json': JSON.stringify({
      columns: {
        i: { type: 'integer' },
        n: { type: 'number' },
        b: { type: 'boolean' },
        t: { type: 'string' },
      },
    }),
    'fitting.csv': 'i\n1\n2\n',
    '.svc/fitting.csv.schema.json': '{"columns":{"i":{"type":"integer"}}}',
  };
  for (const [name, rows] of Object.entries(SIZES)) {
    // Half and quarter seconds stand beside whole ones.
    files[`${name}.parquet`] = await parquetFile(
      `SELECT i, TIMESTAMPTZ '2024-01-01 00:00:00+00' + to_milliseconds((i * 7919 % ${rows}) * 250) AS t
       FROM range(${rows}) AS r(i)`,
    );
  }
  service = await startService({ files });
  await service.accounts.user('boss', { superuser: true });
  client = await service.as('boss');
});
afterAll(() => service[Symbol.asyncDispose]());

test.each(Object.entries(SIZES))('moments in UTC are sorted by time: %s', async (name, rows) => {
  for (let time = 0; time < 4; time++) {
    for (const sort of ['t', '-t']) {
      const moments = columnOf((await list(client, name, { sort })).rows, 't').map(String);
      const times = moments.map((text) => Date.parse(text));
      expect(new Set(moments.map((text) => text.length)).size).toBeGreaterThan(1);
      expect(times).toHaveLength(rows);
      expect(times).toEqual(times.toSorted((a, b) => (sort === 't' ? a - b : b - a)));
      const first = address(name, { sort, limit: Math.ceil(rows / 7) });
      const walked = (await walk(client, first)).flatMap((page) => page.rows);
      expect(columnOf(walked, 't').map(String)).toEqual(moments);
    }
  }
});

test('an export has texts where a cell does not fit its declared type, and numbers where all do', async () => {
  const rowsOf = async (name: string): Promise<unknown> => {
    const answer = await client.fetch(`/api/${name}?format=parquet`);
    expect(answer.status).toBe(200);
    return duckRows(new Uint8Array(await answer.arrayBuffer()));
  };
  expect(await rowsOf('typed')).toEqual([
    ['1', '1.5', 'true', 'a'],
    ['many', 'half', 'perhaps', 'b'],
    ['3', '2', 'false', 'c'],
  ]);
  expect(String(JSON.stringify(await rowsOf('fitting')))).toMatch(/^\[\[("?)1\1\],\[("?)2\2\]\]$/);
  const row = { action: 'update', data: { _row_id: 2, i: 2, n: 2.5, b: false } };
  const body = JSON.stringify(row);
  const answer = await client.fetch('/api/typed/', { method: 'PATCH', body });
  expect(await answer.text()).toContain('success');
  expect(await rowsOf('typed')).not.toEqual(expect.arrayContaining([['1', '1.5', 'true', 'a']]));
});
