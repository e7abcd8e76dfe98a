/**
 * The example document root: every file of every kind in it is served without a problem, and is what its README says.
 */
import { beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { filesBelow } from '../../build/example-files.ts';
import { eventually } from './eventually.ts';
import { hasPythonHandlers } from './handler-files.ts';
import { address, get, list } from './listing.ts';
import { unzip } from '../plugins/workbook-files.ts';
import { sharedService } from './shared-service.ts';

const files = filesBelow(resolve(import.meta.dir, '../../examples/docroot'));
const shared = sharedService({ files });

/** Parts of the listing of the start page. */
interface Listing {
  readonly resources: readonly string[];
  readonly problems: readonly { readonly resource: string; readonly problem: string }[];
}

const KINDS = ['.csv', '.xlsx', '.parquet', '.ts', '.py', '.html', '.md', '.svg', '.mp3'];

const addressOf = (name: string): string => {
  const bare = name.replace(/\.[^./]+$/, '');
  if (name.endsWith('.dashboard.yaml')) return `/${name}`;
  if (/\.mp3$/.test(name)) return `/media/${bare}`;
  return /\.(html|md|svg)$/.test(name) ? `/${bare}` : `/api/${name}/`;
};

let listing: Listing;

beforeAll(async () => {
  // Sheets are known once their workbook was opened.
  listing = await eventually(async () => {
    const { body } = await get(shared.reader, '/');
    expect((body as Listing).resources).toContain('energy/iowa-electricity.xlsx');
    return body as Listing;
  }, 20_000);
});

test('there is a file of every kind', () => {
  for (const kind of KINDS) {
    expect([kind, Object.keys(files).some((name) => name.endsWith(kind))]).toEqual([kind, true]);
  }
});

test('every resource opens, and the listing has no problem (DS-182)', async () => {
  expect(listing.problems).toBeUndefined();
  for (const name of listing.resources) {
    // Questions of their own: sheets, a runtime of its own.
    if (name.endsWith('.xlsx') || name.endsWith('.py')) continue;
    const answer = await eventually(async () => {
      const found = await get(shared.reader, addressOf(name));
      expect([name, found.status]).toEqual([name, 200]);
      return found;
    }, 20_000);
    expect([name, answer.text.length > 0]).toEqual([name, true]);
    if (/\.(csv|parquet)$/.test(name)) {
      expect([name, answer.rows.length > 0]).toEqual([name, true]);
      expect((await get(shared.reader, address(name, {}, 'schema'))).status).toBe(200);
    }
  }
});

test('the workbook has its sheets, dates, results of formulas, and keeps its chart through an edit', async () => {
  const book = 'energy/iowa-electricity';
  const generation = await list(shared.reader, `${book}/Generation`);
  expect(generation.total).toBe(17);
  expect(generation.rows[0]).toMatchObject({ year: '2001-01-01 00:00:00', total: 40_651 });
  const change = await list(shared.reader, `${book}/Change`, { columns: 'source,best_year' });
  expect(change.rows[2]).toMatchObject({ source: 'Renewables', best_year: '2017-01-01 00:00:00' });
  expect((await list(shared.reader, `${book}/About`)).total).toBe(4);
  const path = join(shared.service.docroot, `${book}.xlsx`);
  const chartOf = (): string =>
    unzip(readFileSync(path)).get('xl/charts/chart1.xml')!.raw.toString('hex');
  const before = chartOf();
  const edited = await get(shared.writer, address(`${book}/About`), {
    method: 'PATCH',
    body: JSON.stringify({ action: 'update', data: { _row_id: 1, text: 'Edited' } }),
  });
  expect(edited.status).toBe(200);
  expect(chartOf()).toBe(before);
});

test('the Parquet file has decimals, timestamps, nested values and lists', async () => {
  const { rows, total } = await list(shared.reader, 'earth/earthquakes', {
    sort: '-magnitude',
    limit: 1,
  });
  expect(total).toBe(1707);
  expect(rows[0]).toMatchObject({
    time: '2018-02-06T15:50:42.400',
    magnitude: 6.4,
    networks: expect.any(Array),
    position: { longitude: expect.any(Number), latitude: expect.any(Number) },
  });
});

test.skipIf(!hasPythonHandlers())('the Python handler answers', async () => {
  const path = '/api/transport/nearest/?latitude=47.45&longitude=-122.31';
  await eventually(async () => expect((await get(shared.reader, path)).status).toBe(200), 20_000);
});
