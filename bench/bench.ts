/**
 * `bun run bench [names...]`: measures `svc` against the references, and rewrites RESULTS.md when all of it was run.
 *
 *     --rounds <n>   how often each side is measured at most; 5 unless given
 *
 * Exit code 1 when an answer was wrong or a benchmark broke; a missed goal is a result, not a failure.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Benchmark, NotMeasurable } from './benchmark.ts';
import { benchmarks } from './benchmarks/index.ts';
import { SEED } from './data.ts';
import { curvesOf, growthPlot } from './growth-plot.ts';
import { busyCores, machineFacts } from './machine.ts';
import { projectFolder, workFolder } from './processes.ts';
import { type Outcome, resultTable, roundList } from './results.ts';
import { ensureWrk } from './wrk.ts';

const RESULTS = join(import.meta.dir, 'RESULTS.md');
const PLOT = 'growth.svg';
const ROUNDS = 5;
/** What stands below this line was written by a person and stays. */
const NOTES = '## Notes';

const { names, rounds } = readArguments(process.argv.slice(2));
const chosen = names.length === 0 ? benchmarks : names.map(benchmarkNamed);
const startedAt = new Date();
rmSync(workFolder, { recursive: true, force: true });
mkdirSync(workFolder, { recursive: true });
const executable = await privateExecutable();
await ensureWrk();
const outcomes: Outcome[] = [];
for (const benchmark of chosen) outcomes.push(await measure(benchmark));
console.log(`\n${resultTable(outcomes)}\n\nRounds:\n${roundList(outcomes)}`);
if (names.length === 0) await writeResults();
rmSync(workFolder, { recursive: true, force: true });
console.log(`\n${seconds(startedAt)} s in total`);
process.exit(outcomes.some(({ isFailure }) => isFailure) ? 1 : 0);

function readArguments(words: readonly string[]): { names: string[]; rounds: number } {
  const at = words.indexOf('--rounds');
  if (at < 0) return { names: [...words], rounds: ROUNDS };
  const rounds = Number(words[at + 1]);
  if (!Number.isInteger(rounds) || rounds < 1) fail('--rounds takes a whole number from 1 on');
  return { names: words.toSpliced(at, 2), rounds };
}

function benchmarkNamed(name: string): Benchmark {
  const found = benchmarks.find((benchmark) => benchmark.name === name);
  return (
    found ??
    fail(`No benchmark '${name}'; there are ${benchmarks.map((one) => one.name).join(', ')}`)
  );
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

/** A copy of the executable under test. */
async function privateExecutable(): Promise<string> {
  const given = process.env['SVC_BINARY'];
  const built = join(projectFolder, 'build', 'out', 'svc');
  const source = given === undefined ? built : resolve(given);
  const path = join(workFolder, 'svc');
  copyFileSync(source, path);
  chmodSync(path, 0o755);
  return path;
}

async function measure(benchmark: Benchmark): Promise<Outcome> {
  const begunAt = new Date();
  const busy = await busyCores();
  console.log(`\n${benchmark.name}: ${benchmark.work} (others: ${busy.toFixed(1)} cores busy)`);
  const folder = join(workFolder, benchmark.name);
  mkdirSync(folder, { recursive: true });
  const say = (line: string): void => console.log(`  ${line}`);
  try {
    const findings = await benchmark.run({ executable, rounds, folder, say });
    say(`${seconds(begunAt)} s`);
    rmSync(folder, { recursive: true, force: true });
    return { benchmark, findings, problem: null, isFailure: false, busyCores: busy };
  } catch (error) {
    const isFailure = !(error instanceof NotMeasurable);
    const problem = error instanceof Error ? error.message : String(error);
    if (isFailure) console.error(error);
    say(`not measured: ${problem}`);
    return { benchmark, findings: [], problem, isFailure, busyCores: busy };
  }
}

function seconds(since: Date): string {
  return ((Date.now() - since.getTime()) / 1000).toFixed(0);
}

async function writeResults(): Promise<void> {
  const curves = curvesOf(outcomes.flatMap(({ findings }) => findings));
  if (curves.length > 0) await Bun.write(join(import.meta.dir, PLOT), growthPlot(curves));
  await Bun.write(RESULTS, await report());
}

async function report(): Promise<string> {
  const facts = await machineFacts(executable);
  return `# Results

Written by \`bun run bench\` on ${startedAt.toISOString()} in ${seconds(startedAt)} s. Every figure is the median of
${rounds} rounds in which the sides take turns, or of the first three or four where no side's were more than 15 % apart; of three
without a goal. Only the ratio counts. *Noisy*: the rounds were more than 30 % apart, or others kept more than 0.3 cores busy
right before.

${facts.map(([name, value]) => `- ${name}: ${value}`).join('\n')}
- data: made by bench/data.ts with seed ${SEED}; row ids and prices that are asked for come from the same seed

${resultTable(outcomes)}

![Growth of the time of lists, edits and searches from 10,000 to a million rows](${PLOT})

## Rounds

${roundList(outcomes)}

${notes()}`;
}

function notes(): string {
  const text = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : '';
  const at = text.indexOf(NOTES);
  return at < 0 ? `${NOTES}\n\nNone yet.\n` : text.slice(at);
}
