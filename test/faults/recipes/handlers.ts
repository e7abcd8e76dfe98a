/**
 * F12: handlers that throw, loop, block, eat memory, flood the log, end their process, never answer or stop half-way. The
 * request fails as it may, /health and the datasets answer meanwhile, and the handler comes back by itself.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Client, startService } from '../../support/service.ts';
import { onSharedCores } from '../../support/patience.ts';
import { FAILING_SCRIPT, FAILURES } from '../failing-handlers.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

const CARELESS = resolve(import.meta.dir, '../careless-handlers.ts');
const RECOVERY_MS = 40_000;
const NEIGHBOUR_LIMIT_MS = 4_000;
/** A short run tries those that differ most. */
const SHORT: readonly string[] = ['throws-in-timer', 'loops-for-ever', 'exits', 'stops-half-way'];

export const handlers: Recipe = {
  id: 'R11',
  faults: 'F12',
  title: 'a handler that goes wrong harms its own request, and comes back',
  needs: [],
  run: async (trial) => {
    const names = trial.size === 'short' ? SHORT : Object.keys(FAILURES);
    // A new server each time: the pause after a crash grows with their number (DS-170).
    for (let round = 0; round < trial.times(1, 5); round++) await failAll(trial, names);
  },
  control: {
    title: 'a server that runs handlers in its own process ends with one of them',
    run: async (trial) => {
      const folder = mkdtempSync(join(tmpdir(), 'svc-handlers-'));
      const file = join(folder, 'bad.ts');
      // Beside the packages of the project, which are not inside this one.
      const elysia = JSON.stringify(Bun.resolveSync('elysia', import.meta.dir));
      writeFileSync(file, FAILING_SCRIPT.replace("'elysia'", elysia));
      const child = Bun.spawn([process.execPath, CARELESS, file], {
        stdout: 'pipe',
        stderr: 'ignore',
      });
      try {
        const { value } = await child.stdout.getReader().read();
        const url = new TextDecoder().decode(value).trim();
        const client: Client = { fetch: (path, init) => fetch(url + path, init) };
        await client.fetch('/exits').catch(() => null);
        const health = await client.fetch('/health').catch(() => null);
        trial.check(health?.status === 200, 'the server does not answer any more');
      } finally {
        child.kill('SIGKILL');
        rmSync(folder, { recursive: true });
      }
    },
  },
};

async function failAll(trial: Trial, names: readonly string[]): Promise<void> {
  await using service = await startService({
    files: { 'bad.ts': FAILING_SCRIPT, 'rows.csv': 'a\n1\n2\n' },
    config: { limits: { handler_timeout_seconds: 1, child_memory_bytes: '512MiB' } },
  });
  await service.accounts.user('boss', { superuser: true });
  const boss = await service.as('boss');
  for (const name of names) await fail(trial, boss, name);
  await recovered(trial, boss, 'the end');
  trial.check(isRunning(service.pid), 'the server ended');
}

async function fail(trial: Trial, boss: Client, name: string): Promise<void> {
  await recovered(trial, boss, name);
  let isOver = false;
  const failing = statusOf(boss, `/api/bad/${name}`).finally(() => (isOver = true));
  while (!isOver) {
    for (const path of ['/health', '/api/rows/']) await neighbour(trial, boss, name, path);
    await Bun.sleep(20);
  }
  const status = await failing;
  trial.count(`${name}: ${status ?? 'cut off'}`);
  trial.check(FAILURES[name]!.includes(status), `${name}: the request ended in ${status}`);
}

async function neighbour(trial: Trial, boss: Client, name: string, path: string): Promise<void> {
  const started = performance.now();
  const status = await statusOf(boss, path);
  const took = performance.now() - started;
  trial.count('requests of others');
  trial.countMost('longest of others, ms', Math.round(took));
  trial.check(status === 200, `${name}: ${path} answered ${status} meanwhile`);
  trial.check(
    took < onSharedCores(NEIGHBOUR_LIMIT_MS),
    `${name}: ${path} took ${Math.round(took)} ms meanwhile`,
  );
}

async function recovered(trial: Trial, boss: Client, name: string): Promise<void> {
  const started = performance.now();
  let status: number | null = null;
  while (status !== 200 && performance.now() - started < onSharedCores(RECOVERY_MS)) {
    status = await statusOf(boss, '/api/bad/ok');
    if (status !== 200) await Bun.sleep(50);
  }
  trial.countMost('longest until it was back, ms', Math.round(performance.now() - started));
  trial.check(status === 200, `before ${name}: the handler is not back, but answers ${status}`);
}

async function statusOf(client: Client, path: string): Promise<number | null> {
  try {
    const response = await client.fetch(path);
    await response.arrayBuffer();
    return response.status;
  } catch {
    // A connection that was cut off is an outcome like any other.
    return null;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // ESRCH: nobody has this number.
    return false;
  }
}
