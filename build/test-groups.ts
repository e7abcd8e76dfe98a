/**
 * The tests by what they need, found by where they stand, and one group's run with its counts.
 *
 * `architecture`: the files directly under test/. `black box`: folders that start the program, which runs them against
 * the executable. `browser`: needs Chromium. `long`: what takes long and rarely fails (`bun run test:long`). `unit`: everything
 * else, beside the plugins' own tests.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { failuresBetweenTests, failuresOfReport, lastWords } from './failures.ts';
import type { Failure } from './failures.ts';
import { bun, heardStep, root } from './step.ts';

const BLACK_BOX: readonly string[] = ['cli', 'guide', 'http', 'faults', 'mcp'];
const BROWSER: readonly string[] = ['browser'];
/** For a test that hangs; none needs a tenth of it on a machine of its own. */
const TEST_TIMEOUT_MS = 240_000;
/** One more than cores: tests wait for processes, disks and clocks more than they compute. */
const WORKERS = availableParallelism() + 1;
/** Files told as the slowest of a group. */
const TOLD_FILES = 10;

/** How many tests passed and failed, and why they failed. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
}

/** Names of the groups, in the order they run. */
export type GroupName = 'architecture' | 'unit' | 'black box' | 'browser' | 'long';

/** The test files of a group as paths for `bun test`; empty when there are none. */
function filesOf(group: GroupName): string[] {
  return [...new Bun.Glob('{test,plugins,src}/**/*.test.{ts,tsx}').scanSync({ cwd: root })]
    .filter((file) => groupOf(file) === group)
    .map((file) => `./${file}`)
    .sort();
}

function groupOf(file: string): GroupName {
  const [top, folder = '', ...rest] = file.split('/');
  if (top !== 'test') return 'unit';
  if (rest.length === 0) return 'architecture';
  if (BLACK_BOX.includes(folder)) return 'black box';
  if (folder === 'long') return 'long';
  return BROWSER.includes(folder) ? 'browser' : 'unit';
}

/** Runs the tests of a group. A run that ends badly without a failed test counts as one failure. */
export async function runGroup(
  group: GroupName,
  env: Readonly<Record<string, string>> = {},
): Promise<Counts> {
  const files = filesOf(group);
  if (files.length === 0) return { passed: 0, failed: 0, failures: [] };
  const folder = mkdtempSync(join(tmpdir(), 'svc-tests-'));
  const report = join(folder, 'report.xml');
  try {
    const flags = [
      `--timeout=${TEST_TIMEOUT_MS}`,
      `--parallel=${WORKERS}`,
      '--no-isolate',
      '--reporter=junit',
      `--reporter-outfile=${report}`,
    ];
    const { code, output } = await heardStep([bun, 'test', ...flags, ...files], env);
    const file = Bun.file(report);
    // Absent when the run died before its end; the exit code then says so.
    const told = (await file.exists()) ? await file.text() : '';
    console.log(slowestFiles(told));
    const counts = countsOf(told, output);
    if (code === 0 || counts.failed > 0) return counts;
    const died = { title: `${group} tests: exit code ${code}`, message: lastWords(output) };
    return { ...counts, failed: 1, failures: [died] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The files of a report that took longest, a line each. */
function slowestFiles(report: string): string {
  return [...report.matchAll(/<testsuite name="([^"]+)" file="\1"[^>]* time="([\d.]+)"/g)]
    .map(([, file = '', seconds = '']) => ({ file, seconds: Number(seconds) }))
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, TOLD_FILES)
    .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(8)} s ${file}`)
    .join('\n');
}

function countsOf(report: string, output: string): Counts {
  const head = /<testsuites [^>]*>/.exec(report)?.[0] ?? '';
  const number = (name: string): number =>
    Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const failed = number('failures') + number('errors');
  // Those are no tests, and the report leaves them out.
  const between = failuresBetweenTests(output);
  return {
    passed: number('tests') - failed - number('skipped'),
    failed: failed + between.length,
    failures: [...failuresOfReport(report), ...between],
  };
}
