/** Limits of time on machines that others use too. */
import { cpus, loadavg } from 'node:os';

/**
 * The time that takes so many ms on a machine with nothing else to do, longer by as much as its cores are shared now: a limit of time is
 * about the product, not about its neighbours.
 */
export function onSharedCores(ms: number): number {
  return ms * Math.max(1, loadavg()[0]! / cpus().length);
}

/** Below the limit of a test, so that the failure tells what did not come. */
const MOST_PATIENCE_MS = 40_000;

/** How long to wait for what takes so many ms on a machine of its own: never shorter, and within the limit of a test. */
export function patienceFor(ms: number): number {
  return Math.max(ms, Math.min(onSharedCores(ms), MOST_PATIENCE_MS));
}
