/**
 * Seeds of property tests: printed, and taken from `SEED` to repeat a run.
 */

/** Settings of `fc.assert` for this run. */
export function seeded(name: string, numRuns: number): { seed: number; numRuns: number } {
  const given = process.env['SEED'];
  const seed = given === undefined ? Date.now() % 2 ** 31 : Number(given);
  console.log(`seed of "${name}": SEED=${seed}`);
  return { seed, numRuns, ...(process.env['NO_SHRINK'] && { endOnFailure: true }) };
}
