/** In every run, because each new route may let one caller hold up the others. */
import { testRecipe } from './recipe-test.ts';
import { bystander } from './recipes/bystander.ts';

testRecipe(bystander);
