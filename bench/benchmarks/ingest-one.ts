/**
 * ingest-one: single events of many clients, whose writes share syncs, against one synced insert after another.
 */
import type { Benchmark } from '../benchmark.ts';
import { logEvents, postsPerSecond } from '../events.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';
import { insertsPerSecond } from './ingest.ts';

const CLIENTS = 64;
const SECONDS = 1;

export const ingestOne: Benchmark = {
  name: 'ingest-one',
  work: 'POST /api/events/ of one event, 64 clients, on disk at 201',
  async run(bench) {
    await using service = await BenchService.start(bench, {}, ['@events']);
    const body = JSON.stringify(logEvents(1)[0]);
    const requests = (): Promise<number> =>
      postsPerSecond({
        url: `${service.url}/api/events/`,
        bodies: [body],
        connections: CLIENTS,
        seconds: SECONDS,
        headers: service.headers,
      });
    await requests();
    const rounds = await inTurns(bench, {
      svc: requests,
      sqlite: () => insertsPerSecond(bench, 1),
    });
    return [
      {
        part: '',
        subject: { name: 'svc', unit: 'rows/s', values: rounds.svc },
        reference: { name: 'bare SQLite, one sync each', unit: 'rows/s', values: rounds.sqlite },
        goal: { of: 'ratio', atLeast: 10 },
      },
    ];
  },
};
