/**
 * F17: another program cuts, corrupts, removes or replaces a published file while it is served.
 *
 * The resource tells what is wrong with it, or gives the rows that now stand there; nothing else is affected, reading
 * never changes the file, and it is itself again when the file is.
 */
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { patienceFor } from '../../support/patience.ts';
import { EditLoad, smallLoad } from '../edit-load.ts';
import { type ProductSubject, startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

interface Damage {
  readonly make: (path: string, trial: Trial) => void;
  /** What a read may answer; `rows`: 200 with exactly the rows that stand there. */
  readonly answers: readonly (number | 'rows')[];
}

const change = (edit: (content: Buffer, trial: Trial) => Buffer): Damage['make'] => {
  return (path, trial) => writeFileSync(path, edit(readFileSync(path), trial));
};
/** Puts a byte somewhere behind the header. */
const put = (byte: number): Damage['make'] =>
  change((content, trial) => {
    content[trial.integer(20, content.length - 2)] = byte;
    return content;
  });

const DAMAGES: Record<string, Damage> = {
  emptied: { make: change(() => Buffer.alloc(0)), answers: [200] },
  'cut within a row': {
    make: change((content, trial) => content.subarray(0, trial.integer(200, content.length - 9))),
    answers: [200],
  },
  'cut within its header': { make: change((content) => content.subarray(0, 5)), answers: [200] },
  'with a byte that is no UTF-8': { make: put(0xff), answers: [422] },
  'with a NUL byte': { make: put(0), answers: [422] },
  'with an open quote': {
    make: change((content) => Buffer.concat([content, Buffer.from('a,"open\n')])),
    answers: [422],
  },
  'with other letters': {
    make: change((content, trial) => {
      for (let count = 50; count > 0; count--) {
        const at = trial.integer(20, content.length - 2);
        if (content[at] === 0x70) content[at] = trial.integer(0x71, 0x7a);
      }
      return content;
    }),
    answers: ['rows'],
  },
  'full of noise': {
    make: change((content, trial) => {
      for (let at = 0; at < content.length; at++) content[at] = trial.integer(0, 255);
      return content;
    }),
    answers: [422],
  },
  'with some bits changed': {
    make: change((content, trial) => {
      for (let count = trial.integer(1, 8); count > 0; count--) {
        content[trial.integer(0, content.length - 1)]! ^= 1 << trial.integer(0, 7);
      }
      return content;
    }),
    answers: [200, 422],
  },
  deleted: { make: (path) => rmSync(path), answers: [404] },
  'moved away': { make: (path) => renameSync(path, `${path}.away`), answers: [404] },
  'a folder': {
    make: (path) => {
      rmSync(path);
      mkdirSync(path);
    },
    answers: [404],
  },
  'a link out of the folder': {
    make: (path) => {
      rmSync(path);
      symlinkSync('/etc/passwd', path);
    },
    answers: [404],
  },
};
/** External changes are followed within a second (DS-33); a read checks the content at once. */
const FOLLOWED_WITHIN_MS = 2_000;

export const damagedFiles: Recipe = {
  id: 'F17',
  faults: 'F17',
  title:
    'a file damaged while it is served says so, harms nothing else, and recovers with its bytes',
  needs: [],
  run: async (trial) => {
    const load = new EditLoad(smallLoad);
    await using subject = await startProduct(load);
    const good = readFileSync(subject.file);
    for (let round = 1; round <= trial.times(2, 40); round++) {
      for (const [name, damage] of Object.entries(DAMAGES)) {
        damage.make(subject.file, trial);
        trial.count('damages');
        await whileDamaged(trial, subject, damage, name);
        restore(subject, good);
        await recovered(trial, subject, load, name, good);
      }
    }
  },
  control: {
    title: 'rows read before a change of the file are noticed as not those of the file',
    run: async (trial) => {
      const load = new EditLoad(smallLoad);
      await using subject = await startProduct(load);
      const { difference } = await subject.readRows('', () =>
        DAMAGES['with other letters']!.make(subject.file, trial),
      );
      if (difference !== null) trial.fail(difference);
    },
  },
};

async function whileDamaged(
  trial: Trial,
  subject: ProductSubject,
  { answers }: Damage,
  name: string,
): Promise<void> {
  await subject.noticeNumbering();
  const before = stateOf(subject.file);
  const allowed = answers.map((answer) => (answer === 'rows' ? 200 : answer));
  const { status, difference } = await subject.readRows();
  trial.count(`answered ${status}`);
  trial.check(allowed.includes(status), `${name}: a read answers ${status}`);
  if (answers.includes('rows') && difference !== null) trial.fail(`${name}: ${difference}`);
  if (status === 422) {
    const edit = await subject.send(1, 'v1');
    trial.check(edit === 422, `${name}: an edit answers ${edit}`);
    trial.check(await isListed(subject), `${name}: the listing shows no problem`);
  }
  trial.check(stateOf(subject.file) === before, `${name}: reading changed the file`);
  const canary = await subject.client.fetch('/api/canary/');
  trial.check(canary.status === 200, `${name}: the canary answers ${canary.status}`);
}

/** Whether the listing shows a problem; the watcher may be about to forget and find it again. */
async function isListed({ client }: ProductSubject): Promise<boolean> {
  const started = performance.now();
  while (performance.now() - started < patienceFor(FOLLOWED_WITHIN_MS)) {
    const listing = await (await client.fetch('/')).text();
    if (/"problem":"[^"]+"/.test(listing)) return true;
    await Bun.sleep(10);
  }
  return false;
}

function restore({ file }: ProductSubject, good: Buffer): void {
  rmSync(file, { recursive: true, force: true });
  rmSync(`${file}.away`, { force: true });
  writeFileSync(file, good);
}

async function recovered(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  name: string,
  good: Buffer,
): Promise<void> {
  const started = performance.now();
  let status = 0;
  while (status !== 200 && performance.now() - started < patienceFor(FOLLOWED_WITHIN_MS)) {
    status = (await subject.readRows()).status;
  }
  trial.countMost('slowest recovery, ms', Math.round(performance.now() - started));
  trial.check(status === 200, `${name}: with its bytes back it answers ${status}`);
  await subject.noticeNumbering();
  await subject.verifyRows(trial, `${name}, recovered`);
  load.resume(subject.text());
  const edit = await load.step(subject.send);
  trial.check(edit === 200, `${name}, recovered: an edit answers ${edit}`);
  for (const text of load.wrong(subject.text())) trial.fail(`${name}, recovered: ${text}`);
  writeFileSync(subject.file, good);
  load.resume(subject.text());
  await subject.noticeNumbering();
}

function stateOf(path: string): string {
  const { ino, size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return `${ino} ${size} ${mtimeMs}`;
}
