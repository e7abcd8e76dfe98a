/** `bun run test:long` tries properties on more cases than every run can afford. */
const isLong = process.env['LONG_TESTS'] === '1';
const MOST_OF_EVERY_RUN = 2_000;

/** How many cases of a property to try: at most 2,000, or all of them in a long run. */
export function cases(wanted: number): number {
  return isLong ? wanted : Math.min(wanted, MOST_OF_EVERY_RUN);
}
