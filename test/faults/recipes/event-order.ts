/**
 * The order of system calls behind an acknowledged event (EV-48): whoever writes the store answers only when nothing that
 * it wrote to the log is unsynced, and after a sync of its own.
 */
import { join } from 'node:path';
import { AttachedStrace } from '../attached-strace.ts';
import { type EventSubject, startCarelessEvents, startEventProduct } from '../event-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

const CALLS = ['recvfrom', 'sendto', 'pwrite64', 'fsync', 'fdatasync'];

export const eventOrder: Recipe = {
  id: 'R5g',
  faults: 'F2',
  title: 'an event is acknowledged after the log that holds it is synced',
  needs: ['strace'],
  run: (trial) => traceEvents(trial, startEventProduct),
  control: {
    title: 'a store that never syncs is noticed',
    run: (trial) => traceEvents(trial, () => startCarelessEvents('unsynced')),
  },
};

async function traceEvents(trial: Trial, make: () => Promise<EventSubject>): Promise<void> {
  for (const clients of [1, 8]) {
    await using subject = await make();
    await subject.send('first');
    await using strace = await AttachedStrace.attach(await subject.writer(), { calls: CALLS });
    const wanted = trial.times(40, 1_000);
    let answered = 0;
    const client = async (): Promise<void> => {
      while (answered < wanted) {
        if ((await subject.send(`event ${answered}`)) === 201) answered++;
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    const answers = checkOrder(trial, strace.finishedCalls(), subject.stateDir);
    trial.count('events acknowledged', answered);
    trial.count('answers of the writer checked', answers);
    // Events of a moment share a batch.
    trial.check(answers >= answered / clients - 1, `${answers} answers for ${answered} events`);
  }
}

function checkOrder(trial: Trial, calls: readonly string[], stateDir: string): number {
  const log = `<${join(stateDir, 'events.sqlite-wal')}>`;
  const asked = new Set<string>();
  let hasUnsynced = false;
  let syncs = 0;
  let answers = 0;
  for (const call of calls) {
    const connection = /^\w+\((\d+<socket:\[\d+\]>)/.exec(call)?.[1];
    if (connection === undefined) {
      if (!call.includes(log)) continue;
      if (call.startsWith('pwrite64(')) hasUnsynced = true;
      else if (/= 0$/.test(call)) {
        hasUnsynced = false;
        syncs++;
      }
    } else if (/^recvfrom\(.*"POST \/(?:run|api\/events\/)/.test(call)) asked.add(connection);
    else if (/^sendto\(.*"HTTP\/1\.1 2/.test(call) && asked.delete(connection)) {
      answers++;
      trial.check(!hasUnsynced, `answer ${answers}: the log holds unsynced bytes`);
      trial.check(syncs > 0, `answer ${answers}: no sync since the one before`);
      syncs = 0;
    }
  }
  return answers;
}
