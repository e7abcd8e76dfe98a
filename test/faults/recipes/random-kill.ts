/**
 * R4: the server is killed at a random moment while several writers edit one table, again and again.
 */
import { careless } from '../careless-subject.ts';
import { EditLoad, smallLoad } from '../edit-load.ts';
import { startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { MakeSubject } from '../subject.ts';
import type { Trial } from '../trial.ts';

/** Edits before the kill; the control answers before it writes, 25 ms later. */
const MOST_EDITS = 60;
const LONGEST_DELAY_MS = 12;

export const randomKill: Recipe = {
  id: 'R4',
  faults: 'F1',
  title: 'killed at random moments, no acknowledged edit and no row id is lost',
  needs: [],
  run: (trial) => killAtRandom(trial, startProduct, trial.times(10, 300)),
  control: {
    title: 'a server that answers before it writes loses edits',
    run: (trial) => killAtRandom(trial, careless('write-behind'), trial.times(5, 20)),
  },
};

async function killAtRandom(trial: Trial, make: MakeSubject, times: number): Promise<void> {
  const load = new EditLoad({ ...smallLoad, writers: 8 });
  await using subject = await make(load);
  for (let time = 1; time <= times; time++) {
    const goal = load.answered + trial.integer(1, MOST_EDITS);
    const running = load.run(subject.send);
    while (load.answered < goal && load.refused.length === 0) await Bun.sleep(1);
    await Bun.sleep(trial.random() * LONGEST_DELAY_MS);
    await subject.kill('SIGKILL');
    await running;
    trial.count('kills');
    for (const status of load.refused) trial.fail(`kill ${time}: an edit was answered ${status}`);
    const wrong = load.wrong(subject.text());
    for (const text of wrong) trial.fail(`kill ${time}: ${text}`);
    if (wrong.length > 0) break;
    load.resume(subject.text());
    await subject.start();
    await subject.verify(trial, `kill ${time}`);
  }
  trial.count('acknowledged edits', load.answered);
}
