/**
 * R5: the server is killed at the entry of a chosen system call in the middle of edits, restarted and looked at.
 *
 * Which call kills is drawn: the n-th of its kind in any thread, or in the threads that write files. What was hit is
 * counted by what it was about, so that the counts tell which instants were tried.
 */
import { AttachedStrace } from '../attached-strace.ts';
import { careless } from '../careless-subject.ts';
import { EditLoad, largeLoad, type LoadShape, smallLoad } from '../edit-load.ts';
import { startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { MakeSubject } from '../subject.ts';
import type { Trial } from '../trial.ts';
import { onSharedCores } from '../../support/patience.ts';

const CALLS = [
  'openat',
  'pwrite64',
  'fchmod',
  'fsync',
  'renameat2',
  'rename',
  'unlink',
  'close',
  'sendto',
] as const;
/** Never made in the threads that write files. */
const MAIN_ONLY: ReadonlySet<string> = new Set(['renameat2', 'sendto']);
/** Made more than once for a file past 1 MiB, or slow for one. */
const LARGE = ['pwrite64', 'fsync', 'renameat2'] as const;
/** The largest n of "the n-th call". */
const LATEST = 4;
/** A call that is not made this often in so much time is not made. Replaced versions are deleted after two seconds. */
const REACHED_WITHIN_MS = 4_000;

export const targetedKill: Recipe = {
  id: 'R5',
  faults: 'F2',
  title:
    'killed at a chosen system call, the file holds whole versions with every acknowledged edit',
  needs: ['strace'],
  run: async (trial) => {
    await killAtCalls(trial, startProduct, CALLS, { ...smallLoad, times: trial.times(1, 20) });
    await killAtCalls(trial, startProduct, LARGE, { ...largeLoad, times: trial.times(1, 20) });
  },
  control: {
    title: 'a writer in place is torn',
    run: (trial) =>
      killAtCalls(trial, careless('in-place'), ['pwrite64', 'ftruncate'], {
        ...largeLoad,
        times: trial.times(5, 20),
      }),
  },
};

async function killAtCalls(
  trial: Trial,
  make: MakeSubject,
  calls: readonly string[],
  { times, ...shape }: LoadShape & { readonly times: number },
): Promise<void> {
  const load = new EditLoad(shape);
  await using subject = await make(load);
  for (const call of calls) {
    for (let time = 0; time < times; time++) {
      const nth = trial.integer(1, LATEST);
      const threads = MAIN_ONLY.has(call) ? 'all' : trial.pick(['all', 'disk'] as const);
      await using strace = await AttachedStrace.attach(subject.pid, {
        injections: [`${call}:signal=SIGKILL:when=${nth}`],
        threads: make === startProduct ? threads : 'all',
      });
      const where = `${call} ${nth} (${threads})`;
      const late = setTimeout(() => load.stop(), onSharedCores(REACHED_WITHIN_MS));
      await load.run(subject.send);
      clearTimeout(late);
      trial.check(load.refused.length === 0, `${where}: edits were answered ${load.refused}`);
      if (load.isStopped) {
        trial.count(`${call} not reached`);
        continue;
      }
      await subject.kill('SIGKILL');
      await strace.ended();
      trial.count('kills');
      trial.count(`at ${placeOf(strace.lastCall())}`);
      const wrong = load.wrong(subject.text());
      for (const text of wrong) trial.fail(`${where}: ${text}`);
      if (wrong.length > 0) return;
      load.resume(subject.text());
      await subject.start();
      await subject.verify(trial, where);
    }
  }
  trial.count('acknowledged edits', load.answered);
}

/** What a call was about, in words. */
function placeOf(call: string): string {
  const name = /^\w+/.exec(call)?.[0] ?? 'unknown';
  const about = [
    ['temporary file', /\.tmp/],
    ['replaced version', /\/replaced\//],
    ['typed copy', /\/tables/],
    ['state database', /\/\.svc\/?(?:svc\.db[\w-]*)?[">]/],
    ['table', /t\.csv[">]/],
    ['folder', /\/docroot[">]/],
    ['connection', /socket:/],
  ].find(([, pattern]) => (pattern as RegExp).test(call));
  return `${name} of ${about?.[0] ?? 'something else'}`;
}
