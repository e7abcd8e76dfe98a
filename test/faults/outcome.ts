/**
 * How a recipe went, kept in a file of its own: a run of all recipes takes an hour or more, so it may be made in pieces.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recipe } from './recipe.ts';

/** What a run was made with. */
export interface Circumstances {
  readonly seed: number;
  readonly size: string;
  readonly version: string;
  readonly machine: string;
  readonly date: string;
  /** Processes that wanted a core, of this run and of everybody else, at its end. */
  readonly load: number;
}

/** One recipe at one time. */
export interface Outcome extends Circumstances {
  readonly recipe: Recipe;
  readonly counts: Readonly<Record<string, number>>;
  /** Failures that the control was found to have; none would mean that the check is blind. */
  readonly control: number;
  /** The first of them, in words. */
  readonly failures: readonly string[];
  /** Why it was not run, else null. */
  readonly obstacle: string | null;
  readonly isGood: boolean;
}

/** Keeps the outcome in the folder, in place of an earlier one of the recipe. */
export function keepOutcome(folder: string, { recipe, ...rest }: Outcome): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${recipe.id}.json`), `${JSON.stringify(rest, null, 2)}\n`);
}

/** The kept outcomes of a size, in the order of the recipes; those of recipes that were not run yet are missing. */
export function keptOutcomes(folder: string, recipes: readonly Recipe[], size: string): Outcome[] {
  return recipes.flatMap((recipe) => {
    const file = join(folder, `${recipe.id}.json`);
    if (!existsSync(file)) return [];
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Omit<Outcome, 'recipe'>;
    return kept.size === size ? [{ ...kept, recipe }] : [];
  });
}
