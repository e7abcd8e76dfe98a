/**
 * A file is read for the first time, or in another order, while the disk of the state is full: the reader is told so,
 * nothing half-made stays, and the file is read when there is room (F4).
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { isExcused } from '../faults/recipe.ts';
import { SmallDisk } from '../faults/small-disk.ts';
import { parquetFile } from '../plugins/parquet-table.ts';
import { Service } from '../support/service.ts';
import { eventually } from './eventually.ts';

const MIB = 1024 * 1024;
const ROWS = 400_000;

test.skipIf(isExcused()).each(['csv', 'parquet'])(
  'a copy of a %s file that does not fit is a 507, and made once there is room',
  async (kind) => {
    await using service = new Service({});
    mkdirSync(service.stateDir, { mode: 0o700 });
    using disk = new SmallDisk(service.stateDir, 64 * MIB);
    await service.start();
    await service.accounts.grant('reader', '*', 'read');
    const reader = await service.as('reader');
    disk.fill(4 * MIB);
    const query = `SELECT range AS n, 'text number ' || range AS t FROM range(${ROWS})`;
    service.write(`big.${kind}`, kind === 'csv' ? csv() : await parquetFile(query));
    const answer = await eventually(async () => {
      const found = await reader.fetch('/api/big/?limit=1');
      expect(found.status).toBe(507);
      return found;
    });
    expect(await answer.json()).toEqual({ detail: 'Insufficient storage' });
    expect(readdirSync(join(service.stateDir, 'tables'))).toEqual([]);
    disk.free();
    const rows = await eventually(async () => {
      const found = await reader.fetch(`/api/big/?limit=1&offset=${ROWS - 1}`);
      expect(found.status).toBe(200);
      return found.json();
    });
    expect(rows).toMatchObject([{ n: ROWS - 1, t: `text number ${ROWS - 1}` }]);
  },
);

test.skipIf(isExcused())(
  'rows that find no room to be sorted are a 507, and sorted once there is room',
  async () => {
    await using service = new Service({ config: { events: { min_free_bytes: 1 } } });
    mkdirSync(service.stateDir, { mode: 0o700 });
    using disk = new SmallDisk(service.stateDir, 64 * MIB);
    service.write('big.csv', csv());
    await service.start();
    await service.accounts.grant('reader', '*', 'read');
    const reader = await service.as('reader');
    expect((await reader.fetch('/api/big/?limit=1')).status).toBe(200);
    const last = `text number ${ROWS - 1}`;
    const body = JSON.stringify({ query: 'from big | sort 0 -n | table t', format: 'ndjson' });
    const search = (): Promise<Response> =>
      reader.fetch('/search2/api/run/', { method: 'POST', body });
    const list = (): Promise<Response> => reader.fetch('/api/big/?sort=-n&columns=t&format=ndjson');
    for (const ask of [search, list]) {
      disk.fill(MIB);
      const answer = await ask();
      expect([answer.status, await answer.json()]).toEqual([
        507,
        { detail: 'Insufficient storage' },
      ]);
      disk.free();
      const rows = await (await ask()).text();
      expect(JSON.parse(rows.split('\n', 1)[0]!)).toMatchObject({ t: last });
    }
    expect(service.stderr()).not.toContain('"level":"error"');
  },
);

function csv(): string {
  const rows = Array.from({ length: ROWS }, (_, index) => `${index},text number ${index}`);
  return `n,t\n${rows.join('\n')}\n`;
}
