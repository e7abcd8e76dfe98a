/**
 * F8: the server runs out of file descriptors, because it may have few or because too many clients connect. It refuses
 * what it cannot do, never does half of it, and is well again when descriptors are free, without a restart.
 */
import { readdirSync } from 'node:fs';
import { patienceFor } from '../../support/patience.ts';
import { careless } from '../careless-subject.ts';
import { EditLoad, smallLoad } from '../edit-load.ts';
import { type ProductSubject, startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { Subject } from '../subject.ts';
import type { Trial } from '../trial.ts';

/** Descriptors beyond those in use: none, or too few for an edit, or just enough for one. */
const SPARE = [0, 1, 2, 3, 4, 5, 6, 8, 12];
const REFUSED = 503;
const IDLE_CLIENTS = 100;
/** Long enough for a refused connection to be noticed, short enough for an answer that never comes. */
const PATIENCE_MS = 3_000;

export const descriptors: Recipe = {
  id: 'F8',
  faults: 'F8',
  title:
    'without free descriptors requests are refused, edits are whole or absent, and it recovers',
  needs: ['prlimit'],
  run: async (trial) => {
    const load = new EditLoad(smallLoad);
    await using subject = await startProduct(load);
    for (let round = 0; round < trial.times(1, 10); round++) {
      for (const spare of SPARE) await withFew(trial, subject, load, spare);
    }
    for (let round = 0; round < trial.times(1, 10); round++) {
      await starve(subject, 30, () => crowd(trial, subject, load, 'a crowd'));
      await recovered(trial, subject, load, 'after a crowd');
    }
    for (const most of [64, 96, 128]) {
      await subject.kill('SIGTERM');
      await subject.start(['prlimit', `--nofile=${most}`]);
      await crowd(trial, subject, load, `a crowd for ${most} descriptors`);
      await recovered(trial, subject, load, `after a crowd for ${most} descriptors`);
    }
    await subject.kill('SIGTERM');
    await subject.start();
    await subject.verify(trial, 'after a restart');
  },
  control: {
    title: 'a server that believes its calls acknowledges an edit it could not write',
    run: async (trial) => {
      const load = new EditLoad(smallLoad);
      await using subject = await careless('believing')(load);
      // The connection is there already, so only the file is out of reach.
      await load.step(subject.send);
      await starve(subject, 0, async () => editOnce(trial, subject, load, 'control'));
    },
  },
};

async function withFew(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  spare: number,
): Promise<void> {
  const where = `${spare} descriptors to spare`;
  await starve(subject, spare, async () => {
    await editOnce(trial, subject, load, where);
    const answer = await subject.client.fetch(subject.path).catch(() => null);
    await answer?.arrayBuffer();
    const isTrue = answer === null || [200, REFUSED].includes(answer.status);
    trial.check(isTrue, `${where}: a read answers ${answer?.status}`);
  });
  await recovered(trial, subject, load, where);
}

/** Leaves a running server only `spare` free descriptors while `work` runs. */
async function starve(subject: Subject, spare: number, work: () => Promise<void>): Promise<void> {
  const used = new Set(readdirSync(`/proc/${subject.pid}/fd`).map(Number));
  let limit = 0;
  // The limit is on the number a new one gets, which is the lowest free one.
  for (let free = 0; free <= spare; limit++) if (!used.has(limit)) free++;
  limitDescriptors(subject.pid, `${limit - 1}`);
  try {
    await work();
  } finally {
    limitDescriptors(subject.pid, '1024');
  }
}

/** More clients than descriptors; then they go. */
async function crowd(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  where: string,
): Promise<void> {
  const { hostname, port } = new URL(subject.service.url);
  const sockets: { end(): void }[] = [];
  for (let client = 0; client < IDLE_CLIENTS; client++) {
    const opened = Bun.connect({ hostname, port: Number(port), socket: { data() {} } });
    sockets.push(await opened);
  }
  await editOnce(trial, subject, load, where);
  trial.count('idle clients', IDLE_CLIENTS);
  for (const socket of sockets) socket.end();
}

async function editOnce(
  trial: Trial,
  subject: Subject,
  load: EditLoad,
  where: string,
): Promise<void> {
  const before = subject.text();
  const late = async (): Promise<never> => {
    await Bun.sleep(PATIENCE_MS);
    throw new Error('no answer');
  };
  const edit = load.step((row, value) => Promise.race([subject.send(row, value), late()]));
  const status = await edit.catch(() => 0);
  trial.count('edits');
  trial.count(status === 0 ? 'not answered' : `answered ${status}`);
  trial.check([0, 200, REFUSED].includes(status), `${where}: an edit answers ${status}`);
  const after = subject.text();
  if (status === REFUSED) {
    trial.check(after === before, `${where}: ${status}, but the file changed`);
  }
  for (const text of load.wrong(after)) trial.fail(`${where}: ${status}, but ${text}`);
}

/** With descriptors again, the same process edits and answers within the time a fault may last. */
async function recovered(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  where: string,
): Promise<void> {
  const started = performance.now();
  let status = 0;
  while (status !== 200 && performance.now() - started < patienceFor(PATIENCE_MS)) {
    // What was never answered may have happened.
    load.resume(subject.text());
    status = await load.step(subject.send).catch(() => 0);
  }
  trial.check(status === 200, `${where}: afterwards an edit answers ${status}`);
  trial.count('recoveries');
  await subject.verifyRows(trial, `${where}, afterwards`);
  const temporary = (await subject.leftovers()).filter((name) => name.endsWith('.tmp'));
  trial.check(temporary.length === 0, `${where}: left ${temporary}`);
}

function limitDescriptors(pid: number, most: string): void {
  const { success, stderr } = Bun.spawnSync(['prlimit', '--pid', `${pid}`, `--nofile=${most}:`], {
    stderr: 'pipe',
  });
  if (!success) throw new Error(stderr.toString());
}
