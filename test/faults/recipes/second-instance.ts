/**
 * F14: one server per state directory. A second one refuses and says whose the directory is; what a killed one leaves
 * behind never keeps the next one out.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../../support/service.ts';
import { ServerProcess } from '../../support/server-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { EditLoad, smallLoad } from '../edit-load.ts';
import { startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

/** How many are started at the same moment. */
const RIVALS = 4;

export const secondInstance: Recipe = {
  id: 'F14',
  faults: 'F14',
  title: 'a second server on the same state refuses, and a killed one never keeps the next one out',
  needs: [],
  run: async (trial) => {
    const load = new EditLoad(smallLoad);
    await using subject = await startProduct(load);
    const { service } = subject;
    for (let round = 1; round <= trial.times(2, 20); round++) {
      await refuseSecond(trial, service.docroot, [], subject.pid, `round ${round}`);
      const status = await load.step(subject.send);
      trial.check(status === 200, `round ${round}: the first one answers ${status}`);
      await subject.kill('SIGKILL');
      trial.check(lockOf(service.docroot) !== '', `round ${round}: there is no lock to be stale`);
      await subject.start();
      await subject.verify(trial, `round ${round}, after a kill`);
      trial.count('stale locks');
    }
    await subject.kill('SIGTERM');
    for (let round = 1; round <= trial.times(2, 20); round++) {
      await race(trial, service.docroot, `race ${round}`);
      // All of them make the state.
      using folder = temporaryFolder({ 'a.csv': 'a\n1\n' });
      await race(trial, folder.path, `race ${round} for a new state`);
    }
    await subject.start();
    await subject.verify(trial, 'after the races');
  },
  control: {
    title: 'two servers with states of their own do start on one folder',
    run: async (trial) => {
      await using service = await startService({ files: { 'a.csv': 'a\n1\n' } });
      const other = join(service.docroot, '..', 'other-state');
      await refuseSecond(trial, service.docroot, ['--state-dir', other], service.pid, 'control');
    },
  },
};

async function refuseSecond(
  trial: Trial,
  docroot: string,
  args: readonly string[],
  holder: number,
  where: string,
): Promise<void> {
  await using second = ServerProcess.start(['serve', docroot, '--port', '0', ...args]);
  const outcome = await Promise.race([second.ended(), second.ready().catch(() => second.ended())]);
  trial.count('second instances');
  trial.check(outcome === 1, `${where}: the second one ended with ${outcome}`);
  const words = `State directory is in use by process ${holder}`;
  trial.check(second.err.text.includes(words), `${where}: it said ${second.err.text}`);
  trial.check(!second.out.text.includes('serving'), `${where}: it said ${second.out.text}`);
}

/** Several at once: exactly one gets the directory. */
async function race(trial: Trial, docroot: string, where: string): Promise<void> {
  const rivals = Array.from({ length: RIVALS }, () =>
    ServerProcess.start(['serve', docroot, '--port', '0']),
  );
  const outcomes = await Promise.all(
    rivals.map((rival) =>
      rival.ready().then(
        () => 'ready',
        () => rival.ended(),
      ),
    ),
  );
  trial.count('races');
  const winners = outcomes.filter((outcome) => outcome === 'ready').length;
  const losers = outcomes.filter((outcome) => outcome === 1).length;
  trial.check(winners === 1 && losers === RIVALS - 1, `${where}: ${outcomes.join(', ')}`);
  for (const rival of rivals) await rival[Symbol.asyncDispose]();
}

function lockOf(docroot: string): string {
  return readFileSync(join(docroot, '.svc', 'lock'), 'utf8').trim();
}
