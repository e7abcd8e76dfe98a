/**
 * list-floor: the same page against the least work it can be: one prepared statement behind bare Bun.serve. With another
 * price every time `svc` also counts the matches, some ten thousands of index entries, which the floor does not.
 */
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { listLoads, startListed } from '../listed-products.ts';
import { requestsPerSecond } from '../load.ts';
import { peer, ServerProcess } from '../processes.ts';
import { LIST_SQL, productDatabase } from '../products.ts';
import { inTurns } from '../rounds.ts';

const ROWS = 100_000;
const FLOOR = 'Bun.serve, prepared statement, JSON.stringify';

export const listFloor: Benchmark = {
  name: 'list-floor',
  work: 'the same list',
  async run(bench) {
    await using floor = await ServerProcess.start({
      command: peer('floor-server.ts', await productDatabase(ROWS), LIST_SQL),
      cwd: bench.folder,
      logFile: join(bench.folder, 'floor.log'),
    });
    const floorLoads = await listLoads(
      { url: floor.url, pathOf: (price) => `/?price=${price}` },
      ROWS,
    );
    const { service, loads } = await startListed(bench, ROWS);
    await using _ = service;
    const rounds = await inTurns(bench, {
      svc: () => requestsPerSecond(loads.same),
      floor: () => requestsPerSecond(floorLoads.same),
      'svc varied': () => requestsPerSecond(loads.varied),
      'floor varied': () => requestsPerSecond(floorLoads.varied),
    });
    return [
      {
        part: '',
        subject: { name: 'svc', unit: 'requests/s', values: rounds.svc },
        reference: { name: FLOOR, unit: 'requests/s', values: rounds.floor },
        goal: { of: 'ratio', atLeast: 0.5 },
      },
      {
        part: 'another price with every request',
        subject: { name: 'svc', unit: 'requests/s', values: rounds['svc varied'] },
        reference: { name: FLOOR, unit: 'requests/s', values: rounds['floor varied'] },
        goal: null,
      },
    ];
  },
};
