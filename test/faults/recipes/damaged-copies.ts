/**
 * F17 for what the server derived: typed copies in the state directory are deleted, cut, exchanged or changed by some
 * bits, while the server is stopped and while it runs.
 *
 * The file is the truth. A read gives its rows, or an error for a while; never other rows. An edit is right or refused.
 */
import { Database } from 'bun:sqlite';
import {
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { tableId } from '../../../src/tables/copy/copy-folder.ts';
import { patienceFor } from '../../support/patience.ts';
import { EditLoad, smallLoad } from '../edit-load.ts';
import { type ProductSubject, startProduct } from '../product-subject.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

/** Changes the copy at `path`; `kept` is an older copy of the same table. */
type Damage = (path: string, trial: Trial, kept: string) => void;

const DAMAGES: Record<string, Damage> = {
  deleted: (path) => rmSync(path),
  'deleted with its log': (path) => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  },
  'without its log': (path) => rmSync(`${path}-wal`, { force: true }),
  emptied: (path) => truncateSync(path, 0),
  'cut in half': (path) => truncateSync(path, statSync(path).size / 2),
  'cut by a page': (path) => truncateSync(path, statSync(path).size - 16_384),
  'cut by a byte': (path) => truncateSync(path, statSync(path).size - 1),
  'full of noise': (path, trial) => {
    const noise = Buffer.alloc(statSync(path).size);
    for (let at = 0; at < noise.length; at++) noise[at] = trial.integer(0, 255);
    writeFileSync(path, noise);
  },
  'exchanged for an older one': (path, _trial, kept) => copyFileSync(kept, path),
  'renamed over by an older one': (path, _trial, kept) => {
    copyFileSync(kept, `${path}.other`);
    renameSync(`${path}.other`, path);
  },
};

/** Several, because single ones often hit bytes nobody reads. */
const FLIPS = 'with some bits changed';
/** In the server itself, forwards and backwards; a pattern is always looked for in a child process. */
const READS = ['', '?sort=-_row_id', '?filter={"key":{"$regex":"^k"}}'];
const HEALED_WITHIN_MS = 5_000;

export const damagedCopies: Recipe = {
  id: 'F17b',
  faults: 'F17',
  title:
    'damaged copies of a table are built again or reported; no other rows than those of the file are served',
  needs: [],
  run: async (trial) => {
    const damages: Record<string, Damage> = { ...DAMAGES, [FLIPS]: flipBits };
    for (const moment of ['stopped', 'killed', 'running'] as const) {
      const load = new EditLoad(smallLoad);
      await using subject = await startProduct(load);
      await using older = await keepCopy(subject, load);
      for (const [name, damage] of Object.entries(damages)) {
        const times = name === FLIPS ? trial.times(4, 100) : trial.times(1, 5);
        for (let time = 1; time <= times; time++) {
          // A short run leaves out half of them while stopped by force or running.
          if (moment !== 'stopped' && trial.random() > trial.times(0.5, 1)) continue;
          const where = `${moment}, ${name}`;
          if (moment !== 'running')
            await subject.kill(moment === 'stopped' ? 'SIGTERM' : 'SIGKILL');
          const copy = copyOf(subject);
          trial.check(copy !== null, `${where}: there is no copy any more`);
          if (copy !== null) damage(copy, trial, older.path);
          if (moment !== 'running') await subject.start();
          trial.count(`damages while ${moment}`);
          await tell(trial, subject, load, where);
        }
      }
    }
  },
  control: {
    title: 'SQLite itself gives changed rows from a copy with changed bits, without a word',
    run: async (trial) => {
      const load = new EditLoad(smallLoad);
      await using subject = await startProduct(load);
      await subject.kill('SIGTERM');
      const path = copyOf(subject)!;
      const before = rowsIn(path);
      for (let time = 0; time < 40; time++) {
        const content = readFileSync(path);
        flipBits(path, trial);
        const after = rowsIn(path);
        if (after !== null && after !== before) trial.fail('other rows');
        writeFileSync(path, content);
      }
    },
  },
};

/** Reads in every way, waits for the table to heal, and edits. */
async function tell(
  trial: Trial,
  subject: ProductSubject,
  load: EditLoad,
  where: string,
): Promise<void> {
  await subject.noticeNumbering();
  let isReported = false;
  for (const query of READS) {
    const { status, difference } = await subject.readRows(query);
    if (difference !== null) trial.fail(`${where}: ${query || 'all rows'}: ${difference}`);
    if (status !== 200) isReported = true;
  }
  if (isReported) trial.count('reported first');
  const wound = await lastingWound(subject);
  if (wound !== null) {
    trial.fail(`${where}: not healed after ${HEALED_WITHIN_MS} ms: ${wound}`);
    // So that one finding does not make all that follow it.
    await subject.kill('SIGTERM');
    subject.forgetCopies();
    await subject.start();
  }
  const before = subject.text();
  const status = await load.step(subject.send);
  trial.check(status === 200, `${where}: an edit answers ${status}`);
  const wrong = load.wrong(subject.text());
  for (const text of wrong) trial.fail(`${where}: an edit is answered ${status}, but ${text}`);
  if (wrong.length > 0) {
    writeFileSync(subject.file, before);
    load.resume(before);
  }
}

/** What is still wrong when a damage should have been healed; null once nothing is. */
async function lastingWound(subject: ProductSubject): Promise<string | null> {
  const started = performance.now();
  let wounds: string[] = [];
  do {
    if (wounds.length > 0) await Bun.sleep(50);
    wounds = [];
    await subject.noticeNumbering();
    for (const query of READS) {
      const { status, difference } = await subject.readRows(query);
      if (status !== 200 || difference !== null)
        wounds.push(`${query || 'all rows'}: ${difference ?? status}`);
    }
  } while (wounds.length > 0 && performance.now() - started < patienceFor(HEALED_WITHIN_MS));
  return wounds.length === 0 ? null : wounds.join(', ');
}

/** A copy of the table's copy, older by some edits. */
async function keepCopy(
  subject: ProductSubject,
  load: EditLoad,
): Promise<{ path: string } & AsyncDisposable> {
  const path = join(subject.service.docroot, '..', 'older.sqlite');
  await subject.kill('SIGTERM');
  copyFileSync(copyOf(subject)!, path);
  await subject.start();
  for (let edit = 0; edit < 3; edit++) await load.step(subject.send);
  return { path, [Symbol.asyncDispose]: async () => rmSync(path) };
}

/** The present copy of the load's table; null when there is none. */
function copyOf({ service }: ProductSubject): string | null {
  const folder = join(service.stateDir, 'tables');
  const id = tableId({ rel: 't.csv', sheet: null });
  const isCopy = (name: string): boolean => name.startsWith(id) && name.endsWith('.sqlite');
  const name = readdirSync(folder).find(isCopy);
  return name === undefined ? null : join(folder, name);
}

/** One to three bits, in place, anywhere but in bytes that are zero, which are mostly unused. */
function flipBits(path: string, trial: Trial): void {
  const content = readFileSync(path);
  const file = openSync(path, 'r+');
  for (let count = trial.integer(1, 3); count > 0;) {
    const at = trial.integer(0, content.length - 1);
    if (content[at] === 0) continue;
    writeSync(file, Buffer.from([content[at]! ^ (1 << trial.integer(0, 7))]), 0, 1, at);
    count--;
  }
  closeSync(file);
}

/** All rows as SQLite gives them; null when it finds something wrong. */
function rowsIn(path: string): string | null {
  try {
    const db = new Database(path, { readonly: true });
    try {
      return JSON.stringify(db.query('SELECT * FROM rows').values());
    } finally {
      db.close();
    }
  } catch {
    // Noticed, which is what a reader may hope for.
    return null;
  }
}
