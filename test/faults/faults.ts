/**
 * `bun run faults [<recipe id>...] [--short] [--seed <n>] [--hours <n>] [--only <expression>]`: the fault recipes at
 * length, against the compiled executable. `soak` is L8, which takes six minutes unless hours are given. `--only` takes
 * the parts of `bystander` whose names match: `--only '^sender, .*digits'`; such a run is not kept.
 *
 * Prints each recipe with what it counted and its seed, and keeps that in build/out/faults. When every recipe has a result of
 * this size there, whether of one run or of several, RESULTS.md is written from them. Exit code 1
 * when a recipe fails, when a control passes, or when a recipe cannot be run here.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Recipe } from './recipe.ts';
import { type Circumstances, keepOutcome, keptOutcomes, type Outcome } from './outcome.ts';
import { resultsPage } from './results-page.ts';

const root = resolve(import.meta.dir, '../..');
const { values, positionals } = parseArgs({
  options: {
    short: { type: 'boolean' },
    seed: { type: 'string' },
    hours: { type: 'string' },
    only: { type: 'string' },
  },
  allowPositionals: true,
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const size = values.short === true ? 'short' : 'long';
/** Failures of one recipe that are kept with its result. */
const MAX_FAILURES = 20;
/** The soak is six minutes long by itself. */
const lengthening = values.hours === undefined ? 1 : Number(values.hours) * 10;

const executable = resolve(root, process.env['SVC_BINARY'] ?? 'build/out/svc');
if (!existsSync(executable)) throw new Error(`${executable} does not exist: run \`bun run build\``);
// Both ways in which tests find the program lead to the same one.
process.env['SVC_BINARY'] = executable;
process.env['TEST_BINARY'] = executable;
const { obstacleTo, tryOut } = await import('./recipe.ts');
const { recipes } = await import('./recipes/index.ts');

const names = positionals.map((name) => (name === 'soak' ? 'L8' : name));
const chosen = recipes.filter(({ id }) => names.length === 0 || names.includes(id));
if (chosen.length < Math.max(1, names.length)) {
  throw new Error(`the recipes are ${recipes.map(({ id }) => id).join(', ')}`);
}
console.log(`Seed ${seed}, ${executable}`);
const outcomes: Outcome[] = [];
for (const recipe of chosen) {
  const outcome = await outcomeOf(recipe);
  outcomes.push(outcome);
  if (values.only === undefined) keepOutcome(join(root, 'build/out/faults'), outcome);
}
const kept = keptOutcomes(join(root, 'build/out/faults'), recipes, size);
if (kept.length === recipes.length) {
  const file = join(import.meta.dir, 'RESULTS.md');
  writeFileSync(file, resultsPage(kept));
  Bun.spawnSync([process.execPath, 'fmt', file]);
}
process.exitCode = outcomes.every(({ isGood }) => isGood) ? 0 : 1;

async function outcomeOf(recipe: Recipe): Promise<Outcome> {
  const obstacle = obstacleTo(recipe);
  console.log(`\n${recipe.id} (${recipe.faults}) ${recipe.title}`);
  if (obstacle !== null) {
    console.log(`  not run: ${obstacle}`);
    return {
      ...circumstances(),
      recipe,
      counts: {},
      control: 0,
      failures: [],
      obstacle,
      isGood: false,
    };
  }
  const started = performance.now();
  const control = await tryOut(recipe.control.run, size, seed);
  const { counts, failures } = await tryOut(recipe.run, size, seed, lengthening, values.only);
  const seconds = Math.round((performance.now() - started) / 1000);
  for (const [what, count] of counts) console.log(`  ${what}: ${count}`);
  for (const text of failures.slice(0, 20)) console.log(`  FAILED ${text}`);
  if (control.failures.length === 0) console.log(`  the control passed: ${recipe.control.title}`);
  const isGood = failures.length === 0 && control.failures.length > 0;
  console.log(`  ${isGood ? 'passed' : 'FAILED'} in ${seconds} s`);
  return {
    ...circumstances(),
    recipe,
    counts: Object.fromEntries(counts),
    control: control.failures.length,
    failures: failures.slice(0, MAX_FAILURES),
    obstacle,
    isGood,
  };
}

function circumstances(): Circumstances {
  return {
    seed,
    size,
    version: Bun.spawnSync([executable, '--version']).stdout.toString().trim(),
    machine: `${cpus().length} cores, Linux ${Bun.spawnSync(['uname', '-r']).stdout.toString().trim()}`,
    date: new Date().toISOString().slice(0, 10),
    load: Math.round(loadavg()[0]!),
  };
}
