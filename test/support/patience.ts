/** Limits of time on machines that others use too. */
import { cpus, loadavg } from 'node:os';

/**
 * The time that takes so many ms on a machine with nothing else to do, longer by as much as its cores are shared now: a limit of time is
 * about the product, not about its neighbours.
 */
export function onSharedCores(ms: number): number {
  return ms * Math.max(1, loadavg()[0]! / cpus().length);
}
