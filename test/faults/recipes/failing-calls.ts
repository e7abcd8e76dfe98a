/**
 * R7: system calls of an edit fail. The answer tells of it, the file is as it was, and the next edit of the same process
 * passes.
 *
 * strace can only answer for the kernel, so the failing call has no effect at all; `fsync` on every path, one after the
 * other, also meets the state database and the typed copy, after which the edit may be done: 200 then needs the edit in
 * the file.
 */
import { dirname } from 'node:path';
import { AttachedStrace } from '../attached-strace.ts';
import { careless } from '../careless-subject.ts';
import { EditLoad, smallLoad } from '../edit-load.ts';
import { type ProductSubject, startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { Subject } from '../subject.ts';
import type { Trial } from '../trial.ts';

interface Failure {
  readonly injection: string;
  readonly about: 'folder' | 'file' | 'all';
  readonly threads?: 'all' | 'disk';
  /** Statuses that are true answers to an edit meanwhile. */
  readonly statuses: readonly number[];
}

/** What fails about the table, every time, and the only true answer. */
const FAILURES: readonly Failure[] = [
  { injection: 'fsync:error=EIO', about: 'folder', statuses: [500] },
  { injection: 'fsync:error=EIO', about: 'all', threads: 'disk', statuses: [500] },
  { injection: 'fsync:error=ENOSPC', about: 'all', threads: 'disk', statuses: [507] },
  { injection: 'fsync:error=EDQUOT', about: 'all', threads: 'disk', statuses: [507] },
  { injection: 'pwrite64:error=EIO', about: 'all', threads: 'disk', statuses: [500] },
  { injection: 'pwrite64:error=ENOSPC', about: 'all', threads: 'disk', statuses: [507] },
  { injection: 'pwrite64:retval=0', about: 'all', threads: 'disk', statuses: [507] },
  { injection: 'renameat2:error=EIO', about: 'file', statuses: [500] },
  { injection: 'renameat2:error=EXDEV', about: 'file', statuses: [500] },
  { injection: 'renameat2:error=EACCES', about: 'file', statuses: [403] },
  { injection: 'renameat2:error=EPERM', about: 'file', statuses: [403] },
  { injection: 'renameat2:error=EROFS', about: 'file', statuses: [403] },
  { injection: 'renameat2:error=ENOSPC', about: 'file', statuses: [507] },
  { injection: 'access:error=EACCES', about: 'file', statuses: [403] },
  { injection: 'openat:error=EMFILE', about: 'folder', statuses: [503] },
  { injection: 'openat:error=ENFILE', about: 'folder', statuses: [503] },
  { injection: 'openat:error=EMFILE', about: 'file', statuses: [503] },
  { injection: 'openat:error=EACCES', about: 'folder', threads: 'disk', statuses: [403] },
  { injection: 'openat:error=EROFS', about: 'all', threads: 'disk', statuses: [403] },
  { injection: 'fchmod:error=EPERM', about: 'all', threads: 'disk', statuses: [403] },
];
/** Calls of which the n-th of the whole process fails, whatever it is about. */
const SWEPT = [
  'fsync:error=EIO',
  'pwrite64:error=EIO',
  'pwrite64:error=ENOSPC',
  'openat:error=EMFILE',
];
const TRUE_WHEN_SWEPT = [200, 500, 503, 507];

export const failingCalls: Recipe = {
  id: 'R7',
  faults: 'F6, F7',
  title: 'a failing system call is answered as failed, changes nothing, and is over with it',
  needs: ['strace'],
  run: async (trial) => {
    const load = new EditLoad(smallLoad);
    await using subject = await startProduct(load);
    for (const failure of FAILURES) {
      for (let time = 0; time < trial.times(1, 5); time++) {
        await failOnce(trial, subject, load, failure);
      }
    }
    for (const call of SWEPT) {
      for (let nth = 1; nth <= trial.times(4, 20); nth++) {
        const injection = `${call}:when=${nth}`;
        await failOnce(trial, subject, load, {
          injection,
          about: 'all',
          statuses: TRUE_WHEN_SWEPT,
        });
      }
    }
    await afterwards(trial, subject);
  },
  control: {
    title: 'a server that believes its calls answers 200',
    run: async (trial) => {
      const load = new EditLoad(smallLoad);
      await using subject = await careless('believing')(load);
      for (const injection of ['fsync:error=EIO', 'rename:error=EXDEV', 'pwrite64:error=ENOSPC']) {
        await failOnce(trial, subject, load, {
          injection,
          about: 'all',
          statuses: [403, 500, 507],
        });
      }
    },
  },
};

async function failOnce(
  trial: Trial,
  subject: Subject,
  load: EditLoad,
  { injection, about, threads = 'all', statuses }: Failure,
): Promise<void> {
  const where = `${injection} (${about}, ${threads})`;
  const before = subject.text();
  const paths = { folder: [dirname(subject.file)], file: [subject.file], all: [] }[about];
  const status = await withFailure(subject, { injections: [injection], paths, threads }, () =>
    load.step(subject.send),
  );
  trial.count('edits');
  if (status !== 200) trial.count(`answered ${status}`);
  trial.check(statuses.includes(status), `${where}: answered ${status}, not ${statuses}`);
  const after = subject.text();
  if (status !== 200) trial.check(after === before, `${where}: ${status}, but the file changed`);
  for (const text of load.wrong(after)) trial.fail(`${where}: ${status}, but ${text}`);
  const next = await load.step(subject.send);
  trial.check(next === 200, `${where}: the next edit is answered ${next}`);
  for (const text of load.wrong(subject.text())) trial.fail(`${where}: the next edit: ${text}`);
}

async function withFailure<T>(
  subject: Subject,
  options: Parameters<typeof AttachedStrace.attach>[1],
  work: () => Promise<T>,
): Promise<T> {
  await using _ = await AttachedStrace.attach(subject.pid, options);
  return await work();
}

async function afterwards(trial: Trial, subject: ProductSubject): Promise<void> {
  await subject.verifyRows(trial, 'at the end');
  const temporary = (await subject.leftovers()).filter((name) => name.endsWith('.tmp'));
  trial.check(temporary.length === 0, `left ${temporary}`);
  trial.check((await subject.client.fetch('/health')).status === 200, 'not well at the end');
  await subject.kill('SIGTERM');
  await subject.start();
  await subject.verify(trial, 'after a restart');
}
