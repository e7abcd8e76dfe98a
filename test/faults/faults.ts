/**
 * `bun run faults [<recipe id>...] [--short] [--seed <n>] [--hours <n>]`: the fault recipes at length, against the
 * compiled executable. `soak` is L8, which takes six minutes unless hours are given.
 *
 * Prints each recipe with what it counted and its seed. A run of all recipes writes its table to RESULTS.md. Exit code 1
 * when a recipe fails, when a control passes, or when a recipe cannot be run here.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Recipe } from './recipe.ts';
import { type Outcome, resultsPage } from './results-page.ts';

const root = resolve(import.meta.dir, '../..');
const { values, positionals } = parseArgs({
  options: { short: { type: 'boolean' }, seed: { type: 'string' }, hours: { type: 'string' } },
  allowPositionals: true,
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const size = values.short === true ? 'short' : 'long';
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
for (const recipe of chosen) outcomes.push(await outcomeOf(recipe));
if (chosen.length === recipes.length) {
  const page = resultsPage(outcomes, {
    seed,
    size,
    version: Bun.spawnSync([executable, '--version']).stdout.toString().trim(),
    machine: `${cpus().length} cores, Linux ${Bun.spawnSync(['uname', '-r']).stdout.toString().trim()}`,
    date: new Date().toISOString().slice(0, 10),
  });
  const file = join(import.meta.dir, 'RESULTS.md');
  writeFileSync(file, page);
  Bun.spawnSync([process.execPath, 'fmt', file]);
}
process.exitCode = outcomes.every(({ isGood }) => isGood) ? 0 : 1;

async function outcomeOf(recipe: Recipe): Promise<Outcome> {
  const obstacle = obstacleTo(recipe);
  console.log(`\n${recipe.id} (${recipe.faults}) ${recipe.title}`);
  if (obstacle !== null) {
    console.log(`  not run: ${obstacle}`);
    return { recipe, counts: new Map(), control: 0, failures: 0, obstacle, isGood: false };
  }
  const started = performance.now();
  const control = await tryOut(recipe.control.run, size, seed);
  const { counts, failures } = await tryOut(recipe.run, size, seed, lengthening);
  const seconds = Math.round((performance.now() - started) / 1000);
  for (const [what, count] of counts) console.log(`  ${what}: ${count}`);
  for (const text of failures.slice(0, 20)) console.log(`  FAILED ${text}`);
  if (control.failures.length === 0) console.log(`  the control passed: ${recipe.control.title}`);
  const isGood = failures.length === 0 && control.failures.length > 0;
  console.log(`  ${isGood ? 'passed' : 'FAILED'} in ${seconds} s`);
  return {
    recipe,
    counts,
    control: control.failures.length,
    failures: failures.length,
    obstacle,
    isGood,
  };
}
