/**
 * The fault recipes at their short counts; `bun run faults` runs them at length.
 *
 * Each is tried on its control first, which must fail. `FAULTS_SEED` repeats a run; a failure names its seed.
 */
import { describe, expect, test } from 'bun:test';
import { isExcused, obstacleTo, type Recipe, tryOut } from './recipe.ts';
import { recipes } from './recipes/index.ts';

// The same faults every time; `bun run faults` draws others.
const seed = Number(process.env['FAULTS_SEED'] ?? 20_261_121);

describe.each(recipes.map((recipe) => [recipe.id, recipe] as const))('%s', (name, recipe) => {
  const obstacle = obstacleTo(recipe);
  if (obstacle === null) testRecipe(recipe);
  else if (isExcused()) {
    console.log(`${name} is left out: ${obstacle}`);
    test.skip(recipe.title, () => {});
  } else {
    test(recipe.title, () => {
      throw new Error(`cannot be tried: ${obstacle}`);
    });
  }
});

function testRecipe({ control, title, run }: Recipe): void {
  test(`control: ${control.title}`, async () => {
    const { failures } = await tryOut(control.run, 'short', seed);
    expect({ seed, isNoticed: failures.length > 0 }).toEqual({ seed, isNoticed: true });
  });
  test(title, async () => {
    const { failures } = await tryOut(run, 'short', seed);
    expect({ seed, failures }).toEqual({ seed, failures: [] });
  });
}
