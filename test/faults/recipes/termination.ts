/**
 * F13: SIGTERM while several writers edit. Requests that were taken are answered, nothing acknowledged is lost, the
 * process ends with 0 in time and leaves nothing to tidy up.
 */
import { onSharedCores } from '../../support/patience.ts';
import { careless } from '../careless-subject.ts';
import { EditLoad, smallLoad } from '../edit-load.ts';
import { type ProductSubject, startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { Subject } from '../subject.ts';
import type { Trial } from '../trial.ts';

/** DS-21, and a moment for the process to go. */
const LONGEST_MS = 10_500;
const MOST_EDITS = 60;

export const termination: Recipe = {
  id: 'F13',
  faults: 'F13',
  title:
    'told to end under load, it loses no acknowledged edit, ends with 0 in time, and leaves nothing',
  needs: [],
  run: async (trial) => {
    const load = new EditLoad({ ...smallLoad, writers: 8 });
    await using subject = await startProduct(load);
    for (let round = 1; round <= trial.times(5, 60); round++) {
      const { service } = subject;
      const url = service.url;
      await endUnderLoad(trial, subject, load, `round ${round}`);
      const late = await fetch(`${url}/health`).then(
        ({ status }) => status,
        () => 'refused',
      );
      trial.check(late === 'refused', `round ${round}: after its end it answers ${late}`);
      await nothingLeft(trial, subject, `round ${round}`);
      await subject.start();
      await subject.verify(trial, `round ${round}`);
    }
  },
  control: {
    title: 'a server that answers before it writes loses edits, and ends by the signal',
    run: async (trial) => {
      const load = new EditLoad({ ...smallLoad, writers: 8 });
      await using subject = await careless('write-behind')(load);
      await endUnderLoad(trial, subject, load, 'control');
    },
  },
};

async function endUnderLoad(
  trial: Trial,
  subject: Subject,
  load: EditLoad,
  where: string,
): Promise<void> {
  const goal = load.answered + trial.integer(20, MOST_EDITS);
  const running = load.run(subject.send);
  while (load.answered < goal && load.refused.length === 0) await Bun.sleep(1);
  const toldAt = performance.now();
  const exitCode = await subject.kill('SIGTERM');
  const tookMs = Math.round(performance.now() - toldAt);
  await running;
  trial.count('ends');
  trial.countMost('slowest end, ms', tookMs);
  trial.check(exitCode === 0, `${where}: ended with ${exitCode}`);
  trial.check(tookMs <= onSharedCores(LONGEST_MS), `${where}: ended after ${tookMs} ms`);
  for (const status of load.refused) {
    trial.check(status === 503, `${where}: an edit was answered ${status}`);
  }
  const wrong = load.wrong(subject.text());
  for (const text of wrong) trial.fail(`${where}: ${text}`);
  if (wrong.length === 0) load.resume(subject.text());
}

/** Before the next start has a chance to tidy up. */
async function nothingLeft(trial: Trial, subject: ProductSubject, where: string): Promise<void> {
  for (const name of await subject.leftovers()) trial.fail(`${where}: left ${name}`);
  const { stateDir } = subject.service;
  const open = [...new Bun.Glob('**/*-{wal,shm}').scanSync({ cwd: stateDir, dot: true })];
  for (const name of open) trial.fail(`${where}: ${name} was not folded into its database`);
}
