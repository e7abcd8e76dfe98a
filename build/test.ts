/**
 * The whole test run, also on a fresh machine: installs what is missing, checks, builds, tests.
 *
 * Every check and every test counts; the last line is `N passed, N failed`, and the exit code is 1 when one failed.
 */
import { build } from './build.ts';
import { checks } from './checks.ts';
import { bun, step } from './step.ts';
import { ensureTools } from './system-tools.ts';
import { runGroup } from './test-groups.ts';
import type { Counts, GroupName } from './test-groups.ts';

const outcomes: (Counts & { readonly name: string })[] = [];

function record(name: string, counts: Counts): void {
  outcomes.push({ name, ...counts });
}

async function recordStep(name: string, run: () => Promise<number>): Promise<boolean> {
  const ok = (await run()) === 0;
  record(name, { passed: ok ? 1 : 0, failed: ok ? 0 : 1 });
  return ok;
}

async function recordGroup(group: GroupName, env: Record<string, string> = {}): Promise<void> {
  record(`${group} tests`, await runGroup(group, env));
}

async function everything(): Promise<void> {
  const install = [bun, 'install', '--frozen-lockfile'];
  if (!(await recordStep('installation', () => step(install)))) return;
  const tools = await ensureTools();
  for (const [name, command] of checks) await recordStep(name, () => step(command));
  await recordGroup('architecture');
  let executable = '';
  await recordStep('build', async () => {
    try {
      executable = await build();
      return 0;
    } catch (error) {
      console.error(error);
      return 1;
    }
  });
  await recordGroup('unit');
  // Empty, so that the tests run from source, when there is no executable; the failed build shows in the sum.
  // The same cases every time, so that a red run is about the change; another SEED explores.
  const env = { TEST_BINARY: executable, SEED: process.env['SEED'] ?? '20261121' };
  await recordGroup('black box', env);
  if (tools.chromium) await recordGroup('browser', env);
  else console.log('\nBrowser tests are left out: there is no Chromium.');
}

function summarise(): void {
  const total = (count: 'passed' | 'failed'): number =>
    outcomes.reduce((sum, outcome) => sum + outcome[count], 0);
  console.log();
  for (const { name, passed, failed } of outcomes) {
    console.log(
      `${name.padEnd(20)} ${String(passed).padStart(6)} passed ${String(failed).padStart(4)} failed`,
    );
  }
  console.log(`${total('passed')} passed, ${total('failed')} failed`);
  process.exitCode = total('failed') === 0 ? 0 : 1;
}

try {
  await everything();
} catch (error) {
  console.error(error);
  record('test run', { passed: 0, failed: 1 });
}
summarise();
