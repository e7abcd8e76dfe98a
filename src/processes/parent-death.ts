/**
 * A child never outlives its parent.
 *
 * Two mechanisms: on Linux the kernel kills the child when the parent ends, even in an endless native call (prctl(2),
 * PR_SET_PDEATHSIG); everywhere the end of standard input, a pipe only the parent holds open, ends a child that
 * returns to its event loop.
 */
import { openLibc } from '../base/files/libc.ts';

const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

/** Resolves when the parent has ended. */
export async function parentGone(): Promise<void> {
  if (process.platform === 'linux') askKernel();
  try {
    for await (const _ of Bun.stdin.stream());
  } catch {
    // Unreadable standard input means the same as closed.
  }
}

/** Another C library relies on standard input. */
function askKernel(): void {
  const libc = openLibc({
    prctl: { args: ['i32', 'u64', 'u64', 'u64', 'u64'], returns: 'i32' },
  });
  libc?.symbols.prctl(PR_SET_PDEATHSIG, BigInt(SIGKILL), 0n, 0n, 0n);
}
