/**
 * The whole test run, also on a fresh machine: installs what is missing, checks, builds, tests.
 *
 * `--long` (`bun run test:long`) runs what every run leaves out: the fault recipes, releases and their upgrades, and properties
 * on many more cases. Every check and every test counts; the last line is `N passed, N failed`, and the exit code is 1 when one failed. What
 * failed is told again right before the sums.
 */
import { executable } from './build.ts';
import { checks } from './checks.ts';
import { describeFailures, lastWords } from './failures.ts';
import { bun, heardStep } from './step.ts';
import type { Ended } from './step.ts';
import { ensureTools } from './system-tools.ts';
import { runGroup } from './test-groups.ts';
import type { Counts, GroupName } from './test-groups.ts';

const isLong = process.argv.includes('--long');
const outcomes: (Counts & { readonly name: string })[] = [];

function record(name: string, counts: Counts): void {
  outcomes.push({ name, ...counts });
}

async function recordStep(name: string, run: () => Promise<Ended>): Promise<boolean> {
  const { code, output } = await run();
  record(
    name,
    code === 0
      ? { passed: 1, failed: 0, failures: [] }
      : { passed: 0, failed: 1, failures: [{ title: name, message: lastWords(output) }] },
  );
  return code === 0;
}

async function recordGroup(group: GroupName, env: Record<string, string> = {}): Promise<void> {
  record(`${group} tests`, await runGroup(group, env));
}

async function everything(): Promise<void> {
  const install = [bun, 'install', '--frozen-lockfile'];
  if (!(await recordStep('installation', () => heardStep(install)))) return;
  const tools = await ensureTools();
  for (const [name, command] of checks) await recordStep(name, () => heardStep(command));
  await recordGroup('architecture');
  const isBuilt = await recordStep('build', () => heardStep([bun, 'build/build.ts']));
  // The same cases every time, so that a red run is about the change; another SEED explores.
  const seed = { SEED: process.env['SEED'] ?? '20261121', LONG_TESTS: isLong ? '1' : '' };
  await recordGroup('unit', seed);
  // Empty, so that the tests run from source, when there is no executable; the failed build shows in the sum.
  const env = { ...seed, TEST_BINARY: isBuilt ? executable : '' };
  if (isLong) {
    await recordGroup('long', env);
    return;
  }
  await recordGroup('black box', env);
  if (tools.chromium) await recordGroup('browser', env);
  else console.log('\nBrowser tests are left out: there is no Chromium.');
}

function summarise(): void {
  const failures = describeFailures(outcomes.flatMap((outcome) => outcome.failures));
  if (failures !== '') console.log(`\nWhat failed:\n\n${failures}`);
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
  const failures = [{ title: 'test run', message: Bun.inspect(error) }];
  record('test run', { passed: 0, failed: 1, failures });
}
summarise();
