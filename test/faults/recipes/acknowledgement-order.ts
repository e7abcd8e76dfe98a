/**
 * R5b: read from a trace of system calls, not from what survived: between a request and its 2xx the new content is
 * synced, takes its name, and the folder is synced, in this order and each with success.
 */
import { dirname } from 'node:path';
import { AttachedStrace } from '../attached-strace.ts';
import { careless } from '../careless-subject.ts';
import { EditLoad, smallLoad } from '../edit-load.ts';
import { startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { MakeSubject } from '../subject.ts';
import type { Trial } from '../trial.ts';

const CALLS = ['recvfrom', 'sendto', 'fsync', 'fdatasync', 'rename', 'renameat2'];

export const acknowledgementOrder: Recipe = {
  id: 'R5b',
  faults: 'F2',
  title:
    'an edit is acknowledged after its content, its name and its folder are synced, in this order',
  needs: ['strace'],
  run: (trial) => traceEdits(trial, startProduct),
  control: {
    title: 'a server that syncs no folder is noticed',
    run: (trial) => traceEdits(trial, careless('believing')),
  },
};

/** Edits one after the other, then many at once, which share replacements. */
async function traceEdits(trial: Trial, make: MakeSubject): Promise<void> {
  for (const writers of [1, 8]) {
    const load = new EditLoad({ ...smallLoad, writers });
    await using subject = await make(load);
    await using strace = await AttachedStrace.attach(subject.pid, { calls: CALLS });
    const wanted = trial.times(25, 1_000);
    const running = load.run(subject.send);
    while (load.answered < wanted && load.refused.length === 0) await Bun.sleep(2);
    load.stop();
    await running;
    const answers = checkOrder(trial, strace.finishedCalls(), subject.file);
    trial.count('acknowledgements checked', answers);
    trial.check(answers >= wanted, `${answers} answers in the trace of ${load.answered} edits`);
  }
}

/** The steps of the replacements seen so far, each as the index of its call; a step counts only after the one before. */
interface Progress {
  content: number;
  name: number;
  /** Start of the newest replacement that is complete. */
  completeFrom: number;
}

function checkOrder(trial: Trial, calls: readonly string[], file: string): number {
  const requests = new Map<string, number>();
  const progress: Progress = { content: -1, name: -1, completeFrom: -1 };
  let answers = 0;
  for (const [at, call] of calls.entries()) {
    const connection = /^\w+\((\d+<socket:\[\d+\]>)/.exec(call)?.[1];
    if (connection === undefined) follow(progress, call, at, file);
    else if (/^recvfrom\(.*"PATCH /.test(call)) requests.set(connection, at);
    else if (/^sendto\(.*"HTTP\/1\.1 2/.test(call)) {
      const asked = requests.get(connection);
      // Answers to other requests, and those to edits sent before the trace began.
      if (asked === undefined) continue;
      requests.delete(connection);
      answers++;
      trial.check(
        progress.completeFrom > asked,
        `answer ${answers}: no complete replacement between request and answer`,
      );
    }
  }
  return answers;
}

function follow(progress: Progress, call: string, at: number, file: string): void {
  if (!/= 0$/.test(call)) return;
  if (/^f(?:data)?sync\(/.test(call)) {
    const synced = /<([^>]*)>/.exec(call)?.[1] ?? '';
    if (synced === dirname(file) && progress.name > progress.content) {
      progress.completeFrom = progress.content;
    } else if (synced.startsWith(`${dirname(file)}/`) && /\.(?:tmp|new)$/.test(synced)) {
      progress.content = at;
    }
  } else if (call.includes(`"${file}"`) && progress.content >= 0) {
    progress.name = at;
  }
}
