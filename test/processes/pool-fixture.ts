/** A pool of fixture children in a temporary folder, with its log lines, for the tests of this folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../src/base/log.ts';
import { ChildPool } from '../../src/processes/child-pool.ts';
import type { ChildPoolOptions } from '../../src/processes/child-pool.ts';
import { patienceFor } from '../support/patience.ts';

export const FIXTURE_CHILD = join(import.meta.dir, 'fixture-child.ts');

interface PoolFixture extends AsyncDisposable {
  readonly pool: ChildPool;
  readonly socketDir: string;
  readonly lines: readonly string[];
}

/** A pool of one child, 10 s idle, 1 GB, unless told otherwise; disposing it stops it and removes the folder. */
export function startPool(options: Partial<ChildPoolOptions> = {}): PoolFixture {
  const dir = mkdtempSync(join(tmpdir(), 'svc-children-'));
  const lines: string[] = [];
  const socketDir = options.socketDir ?? join(dir, 'run');
  const pool = new ChildPool({
    role: 'test',
    size: 1,
    command: (socketPath) => [process.execPath, FIXTURE_CHILD, socketPath],
    log: createLog({ level: 'debug', format: 'text', write: (line) => lines.push(line) }),
    maxRssBytes: 1e9,
    idleMs: 10_000,
    ...options,
    socketDir,
  });
  return {
    pool,
    socketDir,
    lines,
    async [Symbol.asyncDispose]() {
      await pool.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The process id of the child that answers next. */
export async function childPid(pool: ChildPool): Promise<number> {
  const response = await pool.request('identity', null, { timeoutMs: 60_000 });
  return ((await response.json()) as { pid: number }).pid;
}

/** Resolves as soon as `condition` holds; throws after `limitMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  limitMs = 5_000,
): Promise<void> {
  const deadline = performance.now() + patienceFor(limitMs);
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not so within ${limitMs} ms: ${condition}`);
    await Bun.sleep(5);
  }
}
