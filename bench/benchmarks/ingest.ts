/**
 * ingest: bulk POST of events that are on disk at the answer, against bare SQLite inserts of the same events.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Benchmark } from '../benchmark.ts';
import { logEvents, postsPerSecond } from '../events.ts';
import { output, peer, workFolder } from '../processes.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const BULK = 1_000;
const CLIENTS = 4;
const SECONDS = 1;

export const ingest: Benchmark = {
  name: 'ingest',
  work: 'bulk POST /api/events/ of 1,000 events, 4 clients, on disk at 201',
  async run(bench) {
    await using service = await BenchService.start(bench, {}, ['@events']);
    const body = JSON.stringify(logEvents(BULK));
    await requireStored(service, body);
    const eventsPerSecond = async (headers: Record<string, string>): Promise<number> => {
      const url = `${service.url}/api/events/`;
      const load = { url, bodies: [body], connections: CLIENTS, seconds: SECONDS };
      return (
        BULK * (await postsPerSecond({ ...load, headers: { ...service.headers, ...headers } }))
      );
    };
    await eventsPerSecond({});
    const rounds = await inTurns(bench, {
      svc: () => eventsPerSecond({}),
      minimal: () => eventsPerSecond({ Prefer: 'return=minimal' }),
      sqlite: () => insertsPerSecond(bench, BULK),
    });
    const reference = {
      name: 'bare SQLite, one sync per 1,000',
      unit: 'rows/s',
      values: rounds.sqlite,
    } as const;
    const bytes = statSync(join(service.stateDir, 'events.sqlite')).size / 1e6;
    return [
      {
        part: 'events answered',
        subject: { name: 'svc', unit: 'rows/s', values: rounds.svc },
        reference,
        goal: { of: 'ratio', atLeast: 0.5 },
      },
      {
        part: 'return=minimal',
        subject: { name: 'svc', unit: 'rows/s', values: rounds.minimal },
        reference,
        goal: { of: 'ratio', atLeast: 0.5 },
      },
      {
        part: 'database afterwards',
        subject: { name: 'svc', unit: 'MB', values: [bytes] },
        reference: null,
        goal: null,
      },
    ];
  },
};

async function requireStored(service: BenchService, body: string): Promise<void> {
  const headers = { ...service.headers, 'Content-Type': 'application/json' };
  const response = await fetch(`${service.url}/api/events/`, { method: 'POST', body, headers });
  const events = (await response.json()) as unknown[];
  if (response.status !== 201 || events.length !== BULK)
    throw new Error('the events were not stored');
}

/** Rows a second of the bare loop. */
export async function insertsPerSecond(bench: Bench, batch: number): Promise<number> {
  const file = join(workFolder, 'events.json');
  await Bun.write(file, JSON.stringify(logEvents(1_000)));
  const database = join(bench.folder, `bare-${batch}.sqlite`);
  const text = await output(peer('insert-loop.ts', database, file, String(batch), String(SECONDS)));
  return (JSON.parse(text) as { perSecond: number }).perSecond;
}
