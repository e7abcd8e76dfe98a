/**
 * R6, second half: the system takes a part of a write and says so only in the number of bytes it took.
 *
 * The limit on the size of files is set on the running server, somewhere between the size of the file as it is and the
 * size an edit would give it, and taken off again.
 */
import { statSync } from 'node:fs';
import { careless } from '../careless-subject.ts';
import { EditLoad, type LoadShape } from '../edit-load.ts';
import { type ProductSubject, startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { Subject } from '../subject.ts';
import type { Trial } from '../trial.ts';

/** 4 MB: the part that is refused may begin in a later write than the first. */
const SHAPE: LoadShape = { writers: 1, rowsEach: 40, padBytes: 100_000 };
/** Above what the databases of the state grow to meanwhile. */
const LEAST_LIMIT = 2 << 20;
/** What an edit of the first, odd generation adds to a row. */
const GROWTH_BYTES = 40;

export const shortWrite: Recipe = {
  id: 'R6b',
  faults: 'F5',
  title: 'a write that is taken in part is never acknowledged',
  needs: ['prlimit'],
  run: async (trial) => {
    const load = new EditLoad(SHAPE);
    await using subject = await startProduct(load);
    const times = trial.times(20, 400);
    for (let time = 1; time <= times; time++) {
      // The limit is for the table: no other file may be near it.
      if (largestIn(subject.service.stateDir) > LEAST_LIMIT / 2) {
        await subject.kill('SIGTERM');
        await subject.start();
      }
      await cutShort(trial, subject, load, `edit ${time}`);
    }
    await afterwards(trial, subject);
  },
  control: {
    title: 'a server that believes its writes acknowledges a cut file',
    run: async (trial) => {
      const load = new EditLoad(SHAPE);
      await using subject = await careless('believing')(load);
      for (let time = 1; time <= 5 && trial.failures.length === 0; time++) {
        await cutShort(trial, subject, load, `edit ${time}`);
      }
    },
  },
};

async function cutShort(
  trial: Trial,
  subject: Subject,
  load: EditLoad,
  where: string,
): Promise<void> {
  const before = subject.text();
  const { size } = statSync(subject.file);
  // Often right behind the old size: then all but a few bytes are taken.
  const limit = trial.random() < 0.5 ? size + GROWTH_BYTES - 2 : trial.integer(LEAST_LIMIT, size);
  limitFileSize(subject.pid, `${limit}`);
  const status = await load.step(subject.send);
  limitFileSize(subject.pid, 'unlimited');
  trial.count('edits');
  const after = subject.text();
  // An even generation makes the file shorter and may fit.
  const mayFit = after.length <= limit;
  trial.check(status === 507 || (status === 200 && mayFit), `${where}: answered ${status}`);
  if (status !== 200) {
    trial.count('refused');
    trial.check(after === before, `${where}: ${status}, but the file changed`);
  }
  for (const text of load.wrong(after)) trial.fail(`${where}: ${status}, but ${text}`);
  const next = await load.step(subject.send);
  trial.check(next === 200, `${where}: the edit after it is answered ${next}`);
}

async function afterwards(trial: Trial, subject: ProductSubject): Promise<void> {
  await subject.verifyRows(trial, 'at the end');
  const temporary = (await subject.leftovers()).filter((name) => name.endsWith('.tmp'));
  trial.check(temporary.length === 0, `left ${temporary}`);
  trial.check((await subject.client.fetch('/health')).status === 200, 'not well at the end');
}

/** Bytes of the largest log of a database in a folder. The file of the table's copy is as large as the table. */
function largestIn(stateDir: string): number {
  const logs = new Bun.Glob('**/*-wal').scanSync({ cwd: stateDir, dot: true, absolute: true });
  return Math.max(0, ...[...logs].map((path) => statSync(path).size));
}

function limitFileSize(pid: number, bytes: string): void {
  const { success, stderr } = Bun.spawnSync(['prlimit', '--pid', `${pid}`, `--fsize=${bytes}:`], {
    stderr: 'pipe',
  });
  if (!success) throw new Error(stderr.toString());
}
