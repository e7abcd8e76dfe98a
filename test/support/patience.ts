/**
 * Limits of time on machines of any speed, that others use too.
 *
 * A limit is there to tell what does not come from what does: it is wide, and wider where work takes longer.
 */
import { availableParallelism, loadavg } from 'node:os';

/** Longest time of a test, as in build/test-groups.ts. */
export const LONGEST_TEST_MS = 240_000;

/** What is waited for at least: a wait that ends well costs what it takes, not its limit. */
const LEAST_PATIENCE_MS = 40_000;
/** Below the limit of a test, so that the failure tells what did not come. */
const MOST_PATIENCE_MS = 120_000;

/**
 * The time that takes so many ms on a machine with nothing else to do, longer by as much as its cores are shared now: a limit of time is
 * about the product, not about its neighbours.
 */
export function onSharedCores(ms: number): number {
  // Whole, as limits of processes have to be.
  return Math.ceil(ms * Math.max(1, loadavg()[0]! / availableParallelism()));
}

/** Processor time of this process since then, in ms: unlike a clock it does not count what other programs do meanwhile. */
export function workSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/**
 * How many times slower the pages of the browser tests are made than they would be: `BROWSER_SLOWDOWN=4` finds checks that come too
 * early. Every limit of time is longer by as much; give `--timeout` as much more, too.
 */
export const BROWSER_SLOWDOWN = Math.max(1, Number(process.env['BROWSER_SLOWDOWN'] ?? 1));

/** How long to wait for what takes so many ms on a machine of its own: generous, and within the limit of a test; 0 for 0. */
export function patienceFor(ms: number): number {
  if (ms === 0) return 0;
  const shared = Math.min(onSharedCores(Math.max(ms, LEAST_PATIENCE_MS)), MOST_PATIENCE_MS);
  return Math.ceil(shared * BROWSER_SLOWDOWN);
}
