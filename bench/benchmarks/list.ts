/**
 * list: a filtered, sorted page against soul-cli, the fastest ready-made server of SQLite rows, with the same index.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { listLoads, startListed } from '../listed-products.ts';
import { requestsPerSecond } from '../load.ts';
import { soulVersion, startSoul } from '../peers/soul.ts';
import { productDatabase } from '../products.ts';
import { inTurns } from '../rounds.ts';

const ROWS = 100_000;

export const list: Benchmark = {
  name: 'list',
  work: '100 rows of a 100k × 8 CSV, filter price > 50, sort price, API key, 16 clients',
  async run(bench) {
    const database = join(bench.folder, 'soul.sqlite');
    copyFileSync(await productDatabase(ROWS), database);
    await using soul = await startSoul(database, bench.folder, bench.say);
    const soulLoads = await listLoads(
      {
        url: soul.url,
        pathOf: (price) =>
          `/api/tables/products/rows?_filters=price__gt:${price}&_ordering=price&_limit=100`,
        rowsOf: (answer) => (answer as { data: unknown[] }).data,
      },
      ROWS,
    );
    const { service, loads } = await startListed(bench, ROWS);
    await using _ = service;
    const rounds = await inTurns(bench, {
      svc: () => requestsPerSecond(loads.same),
      soul: () => requestsPerSecond(soulLoads.same),
      'svc varied': () => requestsPerSecond(loads.varied),
      'soul varied': () => requestsPerSecond(soulLoads.varied),
    });
    return [
      {
        part: '',
        subject: { name: 'svc', unit: 'requests/s', values: rounds.svc },
        reference: { name: soulVersion, unit: 'requests/s', values: rounds.soul },
        goal: { of: 'ratio', atLeast: 5 },
      },
      {
        part: 'another price with every request',
        subject: { name: 'svc', unit: 'requests/s', values: rounds['svc varied'] },
        reference: { name: soulVersion, unit: 'requests/s', values: rounds['soul varied'] },
        goal: { of: 'ratio', atLeast: 5 },
      },
    ];
  },
};
