/**
 * R3: another process reads the file in a loop while several writers edit it through the server.
 *
 * Every read must hold one state that the edits went through: at least what was acknowledged when the read began, at
 * most what had been sent when it ended, and never less than the read before it.
 */
import { careless } from '../careless-subject.ts';
import { EditLoad, smallLoad } from '../edit-load.ts';
import { startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { MakeSubject } from '../subject.ts';
import type { Trial } from '../trial.ts';
import { patienceFor } from '../../support/patience.ts';

const READS_PER_TURN = 4;
/** What so many reads take where edits are slow. */
const ENOUGH_MS = 20_000;
/** More tell nothing new. */
const MOST_FAILURES = 20;

export const externalReader: Recipe = {
  id: 'R3',
  faults: 'F3',
  title: 'a program that reads the file while it is edited finds one generation, whole',
  needs: [],
  run: (trial) => readAlong(trial, startProduct, trial.times(3_000, 60_000)),
  control: {
    title: 'a writer in place is seen half done',
    run: (trial) => readAlong(trial, careless('in-place'), trial.times(3_000, 20_000)),
  },
};

async function readAlong(trial: Trial, make: MakeSubject, reads: number): Promise<void> {
  const load = new EditLoad(smallLoad);
  await using subject = await make(load);
  const running = load.run(subject.send);
  let states = 0;
  let seen = load.marks();
  const deadline = performance.now() + patienceFor(ENOUGH_MS);
  // On a slow disk few edits are done in so many reads.
  const isShort = (): boolean => states <= reads / 100 && performance.now() < deadline;
  let read = 1;
  for (; (read <= reads || isShort()) && trial.failures.length < MOST_FAILURES; read++) {
    const least = load.marks().map((acked, writer) => Math.max(acked, seen[writer]!));
    const text = subject.text();
    for (const wrong of load.wrong(text, least)) trial.fail(`read ${read}: ${wrong}`);
    const steps = load.steps(text);
    if (typeof steps !== 'string') {
      if (steps.some((step, writer) => step !== seen[writer])) states++;
      seen = steps;
    }
    // A turn for the writers, who live in this process too.
    if (read % READS_PER_TURN === 0) await Bun.sleep(1);
  }
  load.stop();
  await running;
  trial.count('reads', read - 1);
  trial.count('states seen', states);
  trial.count('acknowledged edits', load.answered);
  trial.check(states > reads / 100, `only ${states} states seen in ${read - 1} reads`);
  for (const status of load.refused) trial.fail(`an edit was answered ${status}`);
  for (const wrong of load.wrong(subject.text())) trial.fail(`at the end: ${wrong}`);
}
