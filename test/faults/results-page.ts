/** The page that `bun run faults` writes: what was tried, how often, and what it proves and does not. */
import type { Recipe } from './recipe.ts';

/** How a recipe went. */
export interface Outcome {
  readonly recipe: Recipe;
  readonly counts: ReadonlyMap<string, number>;
  /** Failures that the control was found to have; none would mean that the check is blind. */
  readonly control: number;
  readonly failures: number;
  /** Why it was not run, else null. */
  readonly obstacle: string | null;
  readonly isGood: boolean;
}

interface Circumstances {
  readonly seed: number;
  readonly size: string;
  readonly version: string;
  readonly machine: string;
  readonly date: string;
}

/** The text of RESULTS.md. */
export function resultsPage(outcomes: readonly Outcome[], circumstances: Circumstances): string {
  const { seed, size, version, machine, date } = circumstances;
  return `# Faults survived

Written by \`bun run faults\`: ${version}, ${machine}, ${size} run of ${date}, seed ${seed}.
Every recipe acts on the compiled executable from outside: signals, strace, full and read-only file systems, limits of
the process, bytes changed on disk. Each is first run on a control that is wrong on purpose and must be found wrong.

| recipe | faults | what holds | control | result |
|---|---|---|---|---|
${outcomes.map(rowOf).join('\n')}

What was done:

${outcomes.map(countsOf).join('\n')}

What these runs do not show: a power loss (a killed process loses no write that the kernel has taken; that content, name
and folder are synced in this order before an answer is read from traces, R5b); file systems other than the one under the
temporary folder and tmpfs; bytes that rot in a typed copy or in the state database while they are in use.

Repeat a run with \`bun run faults --seed ${seed}\`, one recipe with its id in front. The order in which threads and
processes run is not part of the seed.
`;
}

function rowOf({ recipe, control, failures, obstacle }: Outcome): string {
  const result = obstacle ?? (failures === 0 ? 'passed' : `**${failures} failures**`);
  const noticed = control > 0 ? `${recipe.control.title}: noticed` : '**not noticed**';
  const cells = [recipe.id, recipe.faults, recipe.title, noticed, result];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function countsOf({ recipe, counts }: Outcome): string {
  const done = [...counts].map(([what, count]) => `${what}: ${count.toLocaleString('en')}`);
  return `- ${recipe.id}: ${done.join(' · ')}`;
}
