import { expect, test } from 'bun:test';
import { isExcused, obstacleTo, type Recipe, tryOut } from './recipe.ts';

// The same faults every time; `bun run faults` draws others.
const seed = Number(process.env['FAULTS_SEED'] ?? 20_261_121);

/** A recipe at its short count, and its control, which must fail. `FAULTS_SEED` repeats a run; a failure names its seed. */
export function testRecipe(recipe: Recipe): void {
  const { control, id, run, title } = recipe;
  const obstacle = obstacleTo(recipe);
  if (obstacle !== null) {
    if (isExcused()) {
      console.log(`${id} is left out: ${obstacle}`);
      test.skip(title, () => {});
      return;
    }
    test(title, () => {
      throw new Error(`cannot be tried: ${obstacle}`);
    });
    return;
  }
  test(`control: ${control.title}`, async () => {
    const { failures } = await tryOut(control.run, 'short', seed);
    expect({ seed, isNoticed: failures.length > 0 }).toEqual({ seed, isNoticed: true });
  });
  test(title, async () => {
    const { failures } = await tryOut(run, 'short', seed);
    expect({ seed, failures }).toEqual({ seed, failures: [] });
  });
}
