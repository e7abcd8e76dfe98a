/**
 * point: one row by its id, another id with every request.
 */
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { productCsv } from '../data.ts';
import { ID, requestsPerSecond } from '../load.ts';
import { peer, ServerProcess } from '../processes.ts';
import { idOf, productDatabase, requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const ROWS = 100_000;
const ROW_SQL = 'SELECT * FROM products WHERE _row_id = ?';
const pathOf = (id: string): string => `/api/products/?filter=%7B%22_row_id%22%3A${id}%7D`;

export const point: Benchmark = {
  name: 'point',
  work: 'one row of a 100k × 8 CSV by `_row_id` filter, API key, 64 clients',
  async run(bench) {
    await using floor = await ServerProcess.start({
      command: peer('floor-server.ts', await productDatabase(ROWS), ROW_SQL),
      cwd: bench.folder,
      logFile: join(bench.folder, 'floor.log'),
    });
    await using service = await BenchService.start(bench, {
      'products.csv': await productCsv(ROWS),
    });
    const sample = await (await fetch(`${floor.url}/?id=4711`)).json();
    requireEqual('the row of the floor', (sample as unknown[]).map(idOf), [4711]);
    const found = await (await service.get(pathOf('4711'))).json();
    requireEqual('the row', withNumbers(found as ProductRow[]), sample);
    const common = { connections: 64, seconds: 2, ids: ROWS, answerBytes: 100 };
    const floorLoad = { ...common, url: `${floor.url}/?id=${ID}` };
    const load = { ...common, url: service.url + pathOf(ID), headers: service.headers };
    await requestsPerSecond(floorLoad);
    await requestsPerSecond(load);
    const rounds = await inTurns(bench, {
      svc: () => requestsPerSecond(load),
      floor: () => requestsPerSecond(floorLoad),
    });
    return [
      {
        part: '',
        subject: { name: 'svc', unit: 'requests/s', values: rounds.svc },
        reference: { name: 'Bun.serve and SQLite', unit: 'requests/s', values: rounds.floor },
        goal: { of: 'ratio', atLeast: 0.5 },
      },
    ];
  },
};

interface ProductRow {
  readonly active: boolean;
}

/** SQLite has no booleans. */
function withNumbers(rows: readonly ProductRow[]): unknown {
  return rows.map((row) => ({ ...row, active: row.active ? 1 : 0 }));
}
