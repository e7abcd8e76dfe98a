/**
 * F19: the server is killed while it starts: tidying up after an earlier kill, or reading the table for the first time.
 * So is the process that reads for it; and the disk is full while it recovers.
 *
 * Whatever was going on, a later start finds the edits, the ids and a tidy folder.
 */
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { patienceFor } from '../../support/patience.ts';
import { EditLoad, largeLoad } from '../edit-load.ts';
import { type ProductSubject, startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import { SmallDisk } from '../small-disk.ts';
import type { Trial } from '../trial.ts';

const CALLS = ['unlink', 'openat', 'pwrite64', 'fsync', 'rename', 'mkdir', 'fcntl', 'socket'];
/** A start makes hundreds of some calls, a handful of others. */
const MOST_CALLS = { openat: 60, fcntl: 60, pwrite64: 6, socket: 6, unlink: 12 } as const;
const START_MS = 150;
const READING_MS = 60;
const DISK_BYTES = 24 << 20;
/** A first reading that broke off is tried again; this long it may keep failing. */
const READABLE_WITHIN_MS = 5_000;

export const startUpKill: Recipe = {
  id: 'F19',
  faults: 'F19',
  title: 'killed while it starts or first reads, it loses nothing and tidies up at the next start',
  needs: ['root', 'strace'],
  run: async (trial) => {
    const load = new EditLoad(largeLoad);
    await using subject = await startProduct(load);
    for (let time = 0; time < trial.times(4, 160); time++) {
      await killAtStart(trial, subject, load, trial.pick(CALLS));
    }
    for (const kind of ['next', 'first'] as const) {
      for (let time = 1; time <= trial.times(2, 60); time++) {
        await killInReading(trial, subject, load, kind, `kill ${time} in a ${kind} reading`);
      }
    }
    for (let time = 1; time <= trial.times(2, 60); time++) {
      await killReader(trial, subject, load, `kill ${time} of the reader`);
    }
    for (let time = 1; time <= trial.times(1, 10); time++) {
      await recoverOnFullDisk(trial, `full disk ${time}`);
    }
  },
  control: {
    title: 'what a kill left is noticed before the start that removes it',
    run: async (trial) => {
      const load = new EditLoad(largeLoad);
      await using subject = await startProduct(load);
      await makeMess(subject, load);
      for (const name of await subject.leftovers()) trial.fail(`left ${name}`);
      await subject.start();
    },
  },
};

async function killAtStart(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  call: string,
): Promise<void> {
  await makeMess(subject, load);
  const most = (MOST_CALLS as Record<string, number>)[call] ?? 2;
  const nth = trial.integer(1, most);
  const injection = `inject=${call}:signal=SIGKILL:when=${nth}`;
  const where = `start, ${call} ${nth}`;
  const strace = ['strace', '-D', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`];
  const isReady = await subject.start([...strace, '-e', injection]).then(
    () => true,
    () => false,
  );
  await subject.kill('SIGKILL');
  trial.count(isReady ? 'starts that got ready' : 'starts killed');
  await subject.start();
  await comesBack(trial, subject, load, where);
}

/** Kills a server in the middle of edits and adds what older kills may have left. */
async function makeMess(subject: ProductSubject, load: EditLoad): Promise<void> {
  const goal = load.answered + 5;
  const running = load.run(subject.send);
  while (load.answered < goal && load.refused.length === 0) await Bun.sleep(1);
  await subject.kill('SIGKILL');
  await running;
  load.resume(subject.text());
  const { docroot, stateDir } = subject.service;
  const copy = readdirSync(join(stateDir, 'tables')).find((name) => name.endsWith('.sqlite')) ?? '';
  const id = copy.split('.')[0];
  const leftovers = [
    ...Array.from({ length: 5 }, (_, at) => `.t.csv.svc-${at}123456789abcdef.tmp`),
    ...Array.from({ length: 5 }, (_, at) => `.svc/replaced/t.csv.${at}123456789abcdef`),
    `.svc/tables/${id}.half-made.sqlite`,
    '.svc/tables/0123456789abcdef0123456789abcdef.unknown.sqlite',
    '.svc/tables/0123456789abcdef0123456789abcdef.unknown.sqlite-wal',
    '.svc/svc.db.new-0123456789abcdef',
    '.svc/secret.key.new-0123456789abcdef',
  ];
  const anHourAgo = Date.now() / 1000 - 3600;
  for (const name of leftovers) {
    writeFileSync(join(docroot, name), 'leftover');
    utimesSync(join(docroot, name), anHourAgo, anHourAgo);
  }
  // Leftovers count as such when they are older than the process that finds them.
  await Bun.sleep(20);
}

/** Kills the server while its copies are made: for the first time, or anew with the ids of those before. */
async function killInReading(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  kind: 'first' | 'next',
  where: string,
): Promise<void> {
  await subject.kill('SIGTERM');
  if (kind === 'first') subject.forgetCopies();
  else writeCompanion(subject, where);
  const starting = subject.start().catch(() => null);
  await Bun.sleep(trial.random() * START_MS);
  await subject.kill('SIGKILL');
  await starting;
  trial.count(`kills in a ${kind} reading`);
  await subject.start();
  await comesBack(trial, subject, load, where);
}

/** Kills the processes that read for the server while a request waits for them. */
async function killReader(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  where: string,
): Promise<void> {
  writeCompanion(subject, where);
  const reading = subject.client.fetch(subject.path);
  await Bun.sleep(trial.random() * READING_MS);
  const readers = childrenOf(subject.pid);
  for (const child of readers) process.kill(child, 'SIGKILL');
  const answer = await reading;
  await answer.arrayBuffer();
  trial.count('readers killed', readers.length);
  const { status } = answer;
  trial.check(status === 200 || status === 503, `${where}: a read answers ${status}`);
  if (status === 503) trial.count('reads answered 503');
  await readable(trial, subject, where);
  await subject.verifyRows(trial, where);
  const edit = await load.step(subject.send);
  trial.check(edit === 200, `${where}: then an edit answers ${edit}`);
}

/** A new companion makes the copy be built anew; it declares what would be inferred. */
function writeCompanion({ service }: ProductSubject, note: string): void {
  const string = { type: 'string' };
  const columns = { key: string, value: string, pad: string };
  const schema = { type: 'object', description: note, columns };
  writeFileSync(join(service.stateDir, 't.schema.json'), JSON.stringify(schema));
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

async function recoverOnFullDisk(trial: Trial, where: string): Promise<void> {
  const disks: SmallDisk[] = [];
  const load = new EditLoad(largeLoad);
  await using subject = await startProduct(load, {
    prepare: (docroot) => disks.push(new SmallDisk(docroot, DISK_BYTES)),
  });
  using disk = disks[0]!;
  const running = load.run(subject.send);
  while (load.answered < 10 && load.refused.length === 0) await Bun.sleep(1);
  await subject.kill('SIGKILL');
  await running;
  for (const text of load.wrong(subject.text())) trial.fail(`${where}: ${text}`);
  load.resume(subject.text());
  disk.fill(0);
  const outcome = await subject.start().then(
    () => 'starts',
    () => 'refuses',
  );
  trial.count(`${outcome} on a full disk`);
  const isSaid = subject.service.stderr().includes('disk is full');
  trial.check(outcome === 'starts' || isSaid, `${where}: it does not say why it refuses`);
  await subject.kill('SIGKILL');
  for (const text of load.wrong(subject.text())) trial.fail(`${where}, while full: ${text}`);
  disk.free();
  await subject.start();
  await comesBack(trial, subject, load, where);
}

async function comesBack(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  where: string,
): Promise<void> {
  for (const text of load.wrong(subject.text())) trial.fail(`${where}: ${text}`);
  await subject.verify(trial, where);
  const status = await load.step(subject.send);
  trial.check(status === 200, `${where}: then an edit answers ${status}`);
}

async function readable(trial: Trial, subject: ProductSubject, where: string): Promise<void> {
  const started = performance.now();
  let status = 0;
  while (status !== 200 && performance.now() - started < patienceFor(READABLE_WITHIN_MS)) {
    const answer = await subject.client.fetch(subject.path);
    await answer.arrayBuffer();
    status = answer.status;
  }
  trial.check(status === 200, `${where}: then a read answers ${status}`);
}
