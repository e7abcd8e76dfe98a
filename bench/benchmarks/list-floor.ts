/**
 * list-floor: the same page against the least work it can be: one prepared statement behind bare Bun.serve.
 */
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { startListed } from '../listed-products.ts';
import { requestsPerSecond } from '../load.ts';
import { peer, ServerProcess } from '../processes.ts';
import { expectedIds, idOf, LIST_SQL, productDatabase, requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';

const ROWS = 100_000;

export const listFloor: Benchmark = {
  name: 'list-floor',
  work: 'the same list',
  async run(bench) {
    await using floor = await ServerProcess.start({
      command: peer('floor-server.ts', await productDatabase(ROWS), LIST_SQL),
      cwd: bench.folder,
      logFile: join(bench.folder, 'floor.log'),
    });
    const answer = await (await fetch(floor.url)).text();
    requireEqual('the list of the floor', JSON.parse(answer).map(idOf), await expectedIds(ROWS));
    const floorLoad = {
      url: floor.url,
      connections: 16,
      seconds: 2,
      answerBytes: answer.length,
    };
    await requestsPerSecond(floorLoad);
    const { service, load } = await startListed(bench, ROWS);
    await using _ = service;
    const rounds = await inTurns(bench, {
      svc: () => requestsPerSecond(load),
      floor: () => requestsPerSecond(floorLoad),
    });
    return [
      {
        part: '',
        subject: { name: 'svc', unit: 'requests/s', values: rounds.svc },
        reference: {
          name: 'Bun.serve, prepared statement, JSON.stringify',
          unit: 'requests/s',
          values: rounds.floor,
        },
        goal: { of: 'ratio', atLeast: 0.5 },
      },
    ];
  },
};
