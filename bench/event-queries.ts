/**
 * Asking an event store: queries of `svc`, the same in hand-written SQL, and how long each takes.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from './benchmark.ts';
import { ASSETS_CSV, type EventData, LAST_DAY, placeStore } from './event-data.ts';
import { peer, ServerProcess } from './processes.ts';
import { BenchService } from './service.ts';

const LIMIT_MS = 30_000;

/** `svc` on a copy of the store, its substring index ready, and a user who may read all events. All stay rows. */
export async function startWithEvents(bench: Bench, data: EventData): Promise<BenchService> {
  const stateDir = stateOf(bench);
  placeStore(data, stateDir);
  return startOn(bench, stateDir);
}

/** The same events, all of them sealed. */
export async function startWithSealed(bench: Bench, folder: string): Promise<BenchService> {
  const stateDir = stateOf(bench);
  cpSync(folder, stateDir, { recursive: true });
  return startOn(bench, stateDir);
}

function stateOf(bench: Bench): string {
  return join(bench.folder, 'docroot', '.svc');
}

async function startOn(bench: Bench, stateDir: string): Promise<BenchService> {
  // More queries than a user may run a minute.
  await Bun.write(
    join(stateDir, 'config.yaml'),
    "events:\n  seal_after_minutes: 0\n  throttle:\n    search: ''\n",
  );
  await Bun.write(join(bench.folder, 'assets.csv'), ASSETS_CSV);
  return BenchService.start(bench, { 'assets.csv': join(bench.folder, 'assets.csv') }, [
    '@events',
    'assets',
  ]);
}

/** The hand-written side. */
export async function startSql(bench: Bench, data: EventData): Promise<ServerProcess> {
  return ServerProcess.start({
    command: peer('sql-server.ts', data.store, ASSETS_CSV),
    cwd: bench.folder,
    logFile: join(bench.folder, 'sql.log'),
  });
}

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Rows of a query and the milliseconds until all of them were here. Throws for anything but rows. */
export async function asked(
  service: BenchService,
  query: string,
): Promise<{ rows: Rows; ms: number }> {
  const body = JSON.stringify({ query, params: { last_day: LAST_DAY }, timeout_ms: LIMIT_MS });
  // The other side does not compress either.
  const own = { 'Content-Type': 'application/json', 'Accept-Encoding': 'identity' };
  const headers = { ...service.headers, ...own };
  return timed(`${service.url}/search2/api/run/`, { method: 'POST', headers, body });
}

/** As {@link asked}, for SQL. */
export async function selected(
  server: ServerProcess,
  sql: string,
): Promise<{ rows: Rows; ms: number }> {
  return timed(server.url, { method: 'POST', body: sql });
}

async function timed(url: string, request: RequestInit): Promise<{ rows: Rows; ms: number }> {
  const startedAt = performance.now();
  const response = await fetch(url, request);
  const text = await response.text();
  const ms = performance.now() - startedAt;
  if (response.status !== 200) throw new Error(`${String(request.body)}: ${text.slice(0, 500)}`);
  const answer = JSON.parse(text) as Rows | { readonly rows: Rows };
  return { rows: 'rows' in answer ? answer.rows : answer, ms };
}
