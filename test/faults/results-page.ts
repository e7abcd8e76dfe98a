/** The page that `bun run faults` writes: what was tried, how often, and what it proves and does not. */
import { findings } from './findings.ts';
import type { Outcome } from './outcome.ts';

/** The text of RESULTS.md. */
export function resultsPage(outcomes: readonly Outcome[]): string {
  const [first] = outcomes;
  const passed = outcomes.filter(({ isGood }) => isGood).length;
  return `# Faults survived

Written by \`bun run faults\`, ${first?.size ?? 'no'} form, on ${first?.machine ?? 'no machine'}. ${passed} of ${outcomes.length} recipes passed.

Every recipe acts on the compiled executable from outside: signals, strace, full and read-only file systems, limits of
the process, bytes changed on disk, hostile files and clients. Each is first run on a **control** that is wrong on purpose and
must be found wrong; a recipe whose control passes proves nothing and counts as failed.

## In figures

${totals(outcomes)}

## Recipes

| recipe | faults | what holds | control | seed | build | day | load | result |
|---|---|---|---|---|---|---|---|---|
${outcomes.map(rowOf).join('\n')}

Load: processes that wanted one of the cores at the end of the recipe, others than it and the product among them. Limits of time (a
restart within two seconds) count for a machine of its own and are longer by as much as the cores are shared.

## What was done

${outcomes.map(countsOf).join('\n')}
${foundIn(outcomes)}
## What was found, and the test that stays

| found by | what | test below \`test/\` |
|---|---|---|
${findings.map((finding) => `| ${finding.join(' | ')} |`).join('\n')}

## Where the recipes of the plan are

| plan | covered by |
|---|---|
| R0 | the tables \`test/http/security-*.test.ts\`, \`test/http/route-matrix.test.ts\`; every promise with its tests: \`test/promises.ts\` |
| R1 | L8 (loads without refusals), \`bun run bench\` (rates) |
| R2 to R7, R10 to R13, R15 | the recipes of these names |
| R8 | \`test/faults/external-edits-http.test.ts\` (F10), \`test/http/command-line-and-server.test.ts\` (F18) |
| R9 | F17, F17c, F17d; the corpora \`csv\`, \`binary\` and \`document-corpus.test.ts\` |
| R14 | \`test/mcp/*.test.ts\`, \`test/http/event-services.test.ts\`, \`test/http/security-data.test.ts\` (S-M, S-W) |

## What these runs do not show

- A power loss: a killed process loses no write that the kernel has taken. That content, name and folder are synced in this order
  before an answer is read from traces (R5b); R5e also zeroes whatever a trace shows as written and not synced.
- File systems other than the one under the temporary folder and tmpfs.
- Bytes that rot in a typed copy or in the state database while they are in use.
- A file of more than 256 KiB that another program cuts short and fills again *in place* while it is being sent: the kernel sends
  it from the open file, so the answer may hold bytes of both, under the length and tag of the first. It cannot be prevented
  without copying the file or giving up \`Content-Length\`; programs that replace a file (rename) are safe, and a file that only shrinks
  leaves the answer shorter than announced, which clients notice.
- Handlers are trusted code: their faults are contained (R11), their intentions are not.
- Days of work: the soak (L8) lasts six minutes, or as long as \`bun run faults soak --hours 1\` says; at 1,500 reads a second its
  figures tell which.

Repeat a recipe with \`bun run faults <recipe> --seed <seed>\`. The order in which threads and processes run is not part of the seed.
`;
}

/** Sums of what is counted under one name in several recipes. */
function totals(outcomes: readonly Outcome[]): string {
  const sums = new Map<string, number>();
  for (const { counts } of outcomes) {
    for (const [what, count] of Object.entries(counts)) {
      const name = TOTALS.find(([, pattern]) => pattern.test(what))?.[0];
      if (name !== undefined) sums.set(name, (sums.get(name) ?? 0) + count);
    }
  }
  const lines = [...sums].map(([name, sum]) => `- ${sum.toLocaleString('en')} ${name}`);
  return lines.join('\n');
}

const TOTALS: readonly (readonly [name: string, pattern: RegExp])[] = [
  [
    'processes killed at a chosen or random moment',
    /^(?:kills|kills in .*|starts killed|readers killed)$/,
  ],
  ['acknowledged changes checked afterwards', /^acknowledged/],
  ['reads while files were edited', /^reads$/],
  ['damaged files, copies and states', /^(?:damages|flips|mutants)/],
  ['requests cut off by their clients', /cut off/],
];

function rowOf({
  recipe,
  control,
  failures,
  obstacle,
  seed,
  version,
  date,
  load,
}: Outcome): string {
  const result = obstacle ?? (failures.length === 0 ? 'passed' : `**failed: ${failures.length}**`);
  const noticed = control > 0 ? `${recipe.control.title}: noticed` : '**not noticed**';
  const build = version.replace(/^.*\+/, '');
  const cells = [recipe.id, recipe.faults, recipe.title, noticed, seed, build, date, load, result];
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}

function countsOf({ recipe, counts }: Outcome): string {
  const done = Object.entries(counts).map(
    ([what, count]) => `${what}: ${count.toLocaleString('en')}`,
  );
  return `- **${recipe.id}** ${done.join(' · ')}`;
}

function foundIn(outcomes: readonly Outcome[]): string {
  const lines = outcomes.flatMap(({ recipe, failures }) =>
    failures.map((failure) => `- ${recipe.id}: ${failure.split('\n')[0]!.slice(0, 200)}`),
  );
  return lines.length === 0 ? '' : `\n## What failed\n\n${lines.join('\n')}\n`;
}
