import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPool, until } from './pool-fixture.ts';

/** Gone, or a corpse that nobody collects (a container without an init). */
function isGone(pid: number): boolean {
  try {
    return / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return true;
  }
}

test('children, idle or in an endless loop, die with a parent that is killed', async () => {
  const socketDir = mkdtempSync(join(tmpdir(), 'svc-orphans-'));
  const parent = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'fixture-parent.ts'), socketDir],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  const { value } = await parent.stdout.getReader().read();
  const pids = new TextDecoder().decode(value).trim().split(' ').map(Number);
  expect(pids.length).toBe(2);
  expect(pids.some(isGone)).toBe(false);
  parent.kill('SIGKILL');
  await parent.exited;
  await until(() => pids.every(isGone), 1_000);

  // Killed with their parent, they could not tidy up; the next pool of the role does.
  await using next = startPool({ socketDir, role: 'idle' });
  await using other = startPool({ socketDir, role: 'busy' });
  expect([next, other].map(({ pool }) => pool.stats().running)).toEqual([0, 0]);
  expect(readdirSync(socketDir)).toEqual([]);
  rmSync(socketDir, { recursive: true });
});
