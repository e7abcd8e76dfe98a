/**
 * Seeds of property tests: printed, and taken from `SEED` to repeat a run.
 */

/** Longest time for a property with its shrinking; the tests of a file have 30 s each. */
const TIME_LIMIT_MS = 20_000;

interface Run {
  readonly seed: number;
  readonly numRuns: number;
  readonly interruptAfterTimeLimit: number;
}

/** Settings of `fc.assert` for a property of that name. */
export function seeded(name: string, numRuns: number): Run {
  const given = process.env['SEED'];
  const seed = given === undefined ? Date.now() % 2 ** 31 : Number(given);
  console.log(`seed of "${name}": SEED=${seed}`);
  return { seed, numRuns, interruptAfterTimeLimit: TIME_LIMIT_MS };
}
