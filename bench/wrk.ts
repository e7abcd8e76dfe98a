/**
 * `wrk`, the load generator, from Debian's archive.
 */
import { step } from '../build/step.ts';

/** Installs it where that is possible; elsewhere says why not, and what needs it is left out. */
export async function ensureWrk(): Promise<void> {
  if (Bun.which('wrk') !== null) return;
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) {
    console.log('wrk is not installed, and only root can install it, with apt-get');
    return;
  }
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await step(['apt-get', 'update', '-q'], env);
  await step(['apt-get', 'install', '-qy', '--no-install-recommends', 'wrk'], env);
}
