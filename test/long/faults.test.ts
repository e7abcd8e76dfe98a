/** The fault recipes at their short counts; `bun run faults` runs them at length. The one of bystanders is in every run. */
import { describe } from 'bun:test';
import { testRecipe } from '../faults/recipe-test.ts';
import { bystander } from '../faults/recipes/bystander.ts';
import { recipes } from '../faults/recipes/index.ts';

const long = recipes.filter((recipe) => recipe !== bystander);
describe.each(long.map((recipe) => [recipe.id, recipe] as const))('%s', (_name, recipe) => {
  testRecipe(recipe);
});
