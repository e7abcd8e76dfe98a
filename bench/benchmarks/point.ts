/**
 * point: one row by its id, another id with every request; against the least work it can be, and against the least that a
 * server with the same duties can do.
 */
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { productCsv, randomSource } from '../data.ts';
import { requestsPerSecond } from '../load.ts';
import { peer, ServerProcess } from '../processes.ts';
import { BARE_DUTIES, idOf, productDatabase, requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const ROWS = 100_000;
const LOOKUPS = 10_000;
const ROW_SQL = 'SELECT * FROM products WHERE _row_id = ?';
const SAMPLE = 4711;

const pathOf = (id: number): string => `/api/products/?filter=%7B%22_row_id%22%3A${id}%7D`;
const floorPathOf = (id: number): string => `/?id=${id}`;

export const point: Benchmark = {
  name: 'point',
  work: 'one row of a 100k × 8 CSV by `_row_id` filter, API key, 64 clients',
  async run(bench) {
    await using floor = await ServerProcess.start({
      command: peer('floor-server.ts', await productDatabase(ROWS), ROW_SQL),
      cwd: bench.folder,
      logFile: join(bench.folder, 'floor.log'),
    });
    await using duties = await ServerProcess.start({
      command: peer('duty-server.ts', await productDatabase(ROWS), ROW_SQL),
      cwd: bench.folder,
      logFile: join(bench.folder, 'duties.log'),
    });
    await using service = await BenchService.start(bench, {
      'products.csv': await productCsv(ROWS),
    });
    const expected = await (await fetch(floor.url + floorPathOf(SAMPLE))).json();
    requireEqual('the row of the floor', (expected as unknown[]).map(idOf), [SAMPLE]);
    const found = await (await service.get(pathOf(SAMPLE))).json();
    requireEqual('the row', withNumbers(found as ProductRow[]), expected);
    const ids = someIds();
    const common = { connections: 64, seconds: 1, answerBytes: 100 };
    const floorLoad = { ...common, url: floor.url, paths: ids.map(floorPathOf) };
    const { url, headers } = service;
    const load = { ...common, url, headers, paths: ids.map(pathOf) };
    const dutyLoad = { ...floorLoad, url: duties.url, headers };
    for (const one of [floorLoad, dutyLoad, load]) await requestsPerSecond(one);
    const rounds = await inTurns(bench, {
      svc: () => requestsPerSecond(load),
      floor: () => requestsPerSecond(floorLoad),
      duties: () => requestsPerSecond(dutyLoad),
    });
    const subject = { name: 'svc', unit: 'requests/s', values: rounds.svc } as const;
    return [
      {
        part: '',
        subject,
        reference: { name: 'Bun.serve and SQLite', unit: 'requests/s', values: rounds.floor },
        goal: { of: 'ratio', atLeast: 0.5 },
      },
      {
        part: 'the same, to a bare server with the same duties',
        subject,
        reference: { name: BARE_DUTIES, unit: 'requests/s', values: rounds.duties },
        goal: null,
      },
    ];
  },
};

function someIds(): number[] {
  const random = randomSource();
  return Array.from({ length: LOOKUPS }, () => 1 + Math.floor(random() * ROWS));
}

interface ProductRow {
  readonly active: boolean;
}

/** SQLite has no booleans. */
function withNumbers(rows: readonly ProductRow[]): unknown {
  return rows.map((row) => ({ ...row, active: row.active ? 1 : 0 }));
}
