/**
 * R6: the disk under the table, under the state directory, or under both, has no room; later it has, and the same
 * process goes on.
 *
 * 507 means that nothing changed, 200 that the edit is in the file; nothing else may be answered to an edit. Reads go on.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { careless } from '../careless-subject.ts';
import { EditLoad, type LoadShape } from '../edit-load.ts';
import { type ProductSubject, startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import { SmallDisk } from '../small-disk.ts';
import type { Subject } from '../subject.ts';
import type { Trial } from '../trial.ts';
import { PASSWORD } from '../../support/password.ts';

/** About 300 KB: a part of it can have room. */
const SHAPE: LoadShape = { writers: 4, rowsEach: 50, padBytes: 1_400 };
const DISK_BYTES = 24 << 20;
const EDITS = 8;
/** Some two seconds after an edit the server confirms the file's content, and writes so to the copy. */
const CONFIRMED_MS = 2_600;

/** Nothing, nearly all of the file, a page, a part of the file. */
const LITTLE = [0, 272 << 10, 4_096, 128 << 10];
/** Enough for some edits in the state's databases, but not for all. */
const SOME = [0, 1_300 << 10, 128 << 10, 1_100 << 10];

/** What of the service stands on the small disk, and what room is left there. */
const PLACES = {
  table: { folder: 'small', at: (docroot: string) => join(docroot, 'small'), room: LITTLE },
  state: { folder: '', at: (docroot: string) => join(docroot, '.svc'), room: SOME },
  everything: { folder: '', at: (docroot: string) => docroot, room: LITTLE },
} as const;
type Place = keyof typeof PLACES;

export const fullDisk: Recipe = {
  id: 'R6',
  faults: 'F4',
  title: 'a full disk refuses edits with 507, changes nothing, and is forgotten when there is room',
  needs: ['root'],
  run: async (trial) => {
    for (const place of ['table', 'state', 'everything'] as const) await fillUnder(trial, place);
  },
  control: {
    title: 'a writer in place that believes its writes leaves a cut file',
    run: async (trial) => {
      const disks: SmallDisk[] = [];
      const load = new EditLoad(SHAPE);
      await using subject = await careless('in-place', (folder) => {
        disks.push(new SmallDisk(folder, DISK_BYTES));
      })(load);
      using disk = disks[0]!;
      disk.fill(0);
      // Room for the file as it is: only growth fails.
      for (let edit = 0; edit < 60; edit++) await editOnce(trial, subject, load, `edit ${edit}`);
    },
  },
};

async function fillUnder(trial: Trial, place: Place): Promise<void> {
  const disks: SmallDisk[] = [];
  const load = new EditLoad(SHAPE);
  const { folder, at, room } = PLACES[place];
  await using subject = await startProduct(load, {
    folder,
    prepare: (docroot) => {
      mkdirSync(at(docroot), { recursive: true, mode: 0o700 });
      disks.push(new SmallDisk(at(docroot), DISK_BYTES));
    },
  });
  using disk = disks[0]!;
  await subject.service.accounts.user('anna', { password: PASSWORD });
  await subject.service.accounts.close();
  for (let round = 1; round <= trial.times(2, 20); round++) {
    const left = room[(round - 1) % room.length]!;
    const where = `${place}, round ${round}, ${left} bytes left`;
    await subject.verifyRows(trial, `${where}, before`);
    disk.fill(left);
    await whileFull(trial, subject, load, place, where, left <= 4_096);
    disk.free();
    await afterwards(trial, subject, load, where);
  }
}

async function whileFull(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  place: Place,
  where: string,
  isPatient: boolean,
): Promise<void> {
  const statuses: number[] = [];
  for (let edit = 0; edit < EDITS; edit++)
    statuses.push(await editOnce(trial, subject, load, where));
  trial.count(`edits refused (${place})`, statuses.filter((status) => status === 507).length);
  trial.count(`edits that found room (${place})`, statuses.filter((one) => one === 200).length);
  // The small disk holds the file already; a second one does not fit.
  const mustRefuse = place !== 'state';
  if (mustRefuse) trial.check(!statuses.includes(200), `${where}: edits answered ${statuses}`);
  if (isPatient) await Bun.sleep(CONFIRMED_MS);
  await subject.verifyRows(trial, `${where}, while full`);
  const filtered = await subject.client.fetch(
    `${subject.path}?filter={"key":{"$ne":"k1"}}&sort=-pad`,
  );
  trial.check(filtered.status === 200, `${where}: a query answers ${filtered.status}`);
  await filtered.arrayBuffer();
  const login = await signIn(subject);
  trial.check([200, 507].includes(login), `${where}: signing in answers ${login}`);
  trial.count(`sign-ins refused (${place})`, login === 507 ? 1 : 0);
}

async function afterwards(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  where: string,
): Promise<void> {
  const pid = subject.pid;
  const status = await editOnce(trial, subject, load, where);
  trial.check(status === 200, `${where}: with room again an edit answers ${status}`);
  const login = await signIn(subject);
  trial.check(login === 200, `${where}: with room again signing in answers ${login}`);
  await subject.verifyRows(trial, `${where}, with room again`);
  const health = await subject.client.fetch('/health');
  trial.check(health.status === 200, `${where}: /health answers ${health.status}`);
  trial.check(process.kill(pid, 0), `${where}: the process is another one`);
  trial.count('recoveries');
}

/** One edit, and whether the file fits its answer. */
async function editOnce(
  trial: Trial,
  subject: Subject,
  load: EditLoad,
  where: string,
): Promise<number> {
  const before = subject.text();
  const status = await load.step(subject.send);
  trial.check([200, 507].includes(status), `${where}: an edit is answered ${status}`);
  const after = subject.text();
  if (status !== 200) trial.check(after === before, `${where}: ${status}, but the file changed`);
  for (const text of load.wrong(after)) trial.fail(`${where}: ${status}, but ${text}`);
  return status;
}

async function signIn({ service }: ProductSubject): Promise<number> {
  const body = JSON.stringify({ username: 'anna', password: PASSWORD });
  const headers = { 'Content-Type': 'application/json' };
  const answer = await service.fetch('/auth/login', { method: 'POST', body, headers });
  await answer.text();
  return answer.status;
}
