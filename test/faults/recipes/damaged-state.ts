/**
 * F15: the state database is damaged, missing, newer or unwritable. The server refuses to start and names the file and
 * the remedy. It never starts as if it were new: whoever came first would be its administrator.
 *
 * Bytes inside of a record are not guarded by SQLite, so a random flip may go unnoticed. It must never make the server
 * offer to set up anew; what it does to a key, which is then refused or works, is counted.
 */
import { Database } from 'bun:sqlite';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Service } from '../../support/service.ts';
import type { Recipe } from '../recipe.ts';
import { SmallDisk } from '../small-disk.ts';
import type { Trial } from '../trial.ts';

type Damage = (stateDir: string, trial: Trial) => void;

const database = (stateDir: string): string => join(stateDir, 'svc.db');
const cutTo = (bytes: (size: number) => number): Damage => {
  return (stateDir) => {
    const path = database(stateDir);
    truncateSync(path, bytes(statSync(path).size));
  };
};
const rewrite = (change: (content: Buffer, trial: Trial) => Buffer): Damage => {
  return (stateDir, trial) => {
    const path = database(stateDir);
    writeFileSync(path, change(readFileSync(path), trial));
  };
};
const execute = (sql: string): Damage => {
  return (stateDir) => {
    const db = new Database(database(stateDir));
    db.run(sql);
    db.close();
  };
};

/** What must be refused, the file the message names, and a word of the remedy. */
const DAMAGES: Record<string, [damage: Damage, file: string, remedy: RegExp]> = {
  emptied: [cutTo(() => 0), 'svc.db', /backup/],
  'cut within its header': [cutTo(() => 50), 'svc.db', /backup/],
  'cut to a page': [cutTo(() => 4096), 'svc.db', /backup/],
  'cut in half': [cutTo((size) => size / 2), 'svc.db', /backup/],
  'cut by its last page': [cutTo((size) => size - 4096), 'svc.db', /backup/],
  'cut by a byte': [cutTo((size) => size - 1), 'svc.db', /backup/],
  'without its magic bytes': [rewrite((content) => content.fill('x', 0, 16)), 'svc.db', /backup/],
  'with a broken schema': [rewrite((content) => content.fill(0xee, 100, 4096)), 'svc.db', /backup/],
  'with pages of noise': [
    rewrite((content, trial) => {
      for (let at = 4096; at < content.length; at++) content[at] = trial.integer(0, 255);
      return content;
    }),
    'svc.db',
    /backup/,
  ],
  'a text': [rewrite(() => Buffer.from('a text '.repeat(2000))), 'svc.db', /backup/],
  'of a newer version': [execute('PRAGMA user_version = 999'), 'svc.db', /newer.*use that version/],
  'of another program': [execute('PRAGMA application_id = 7'), 'svc.db', /another program.*choose/],
  missing: [(stateDir) => rmSync(database(stateDir)), 'svc.db', /backup/],
  'a folder': [
    (stateDir) => {
      rmSync(database(stateDir));
      mkdirSync(database(stateDir));
    },
    'svc.db',
    /backup/,
  ],
  'beside a secret of the wrong length': [
    (stateDir) => truncateSync(join(stateDir, 'secret.key'), 31),
    'secret.key',
    /backup/,
  ],
};

const SETUP = /\/auth\/setup\?token=/;

export const damagedState: Recipe = {
  id: 'F15',
  faults: 'F15',
  title:
    'a damaged, missing, newer or unwritable state is refused with file and remedy, never begun anew',
  needs: ['root'],
  run: async (trial) => {
    await using state = await SavedState.make();
    for (let round = 0; round < trial.times(1, 5); round++) {
      for (const [name, [damage, file, remedy]] of Object.entries(DAMAGES)) {
        state.restore();
        damage(state.dir, trial);
        await refused(trial, state, name, file, remedy);
      }
    }
    await readOnly(trial, state);
    for (let time = 1; time <= trial.times(2, 20); time++) await loseLog(trial, `lost log ${time}`);
    for (let flip = 1; flip <= trial.times(12, 200); flip++) {
      state.restore();
      flipBits(database(state.dir), trial);
      await refusedOrServed(trial, state, `flip ${flip}`);
    }
  },
  control: {
    title: 'without database and secret the server does begin anew, and the check notices',
    run: async (trial) => {
      await using state = await SavedState.make();
      for (const name of ['svc.db', 'secret.key']) rmSync(join(state.dir, name));
      await refused(trial, state, 'control', 'svc.db', /backup/);
    },
  },
};

/** A service with a superuser, stopped in order, whose state can be brought back. */
class SavedState implements AsyncDisposable {
  readonly service: Service;
  readonly dir: string;
  readonly #saved: string;
  #key = '';

  private constructor(service: Service) {
    this.service = service;
    this.dir = service.stateDir;
    this.#saved = join(service.docroot, '..', 'saved-state');
  }

  static async make(): Promise<SavedState> {
    const service = new Service({ files: { 'a.csv': 'a\n1\n' } });
    const state = new SavedState(service);
    await service.start();
    await service.accounts.user('root', { superuser: true });
    state.#key = await service.accounts.apiKey('root');
    await service.accounts.close();
    await service.kill('SIGTERM');
    cpSync(state.dir, state.#saved, { recursive: true });
    return state;
  }

  restore(): void {
    for (const name of ['svc.db', 'svc.db-wal', 'svc.db-shm', 'secret.key']) {
      rmSync(join(this.dir, name), { recursive: true, force: true });
      const saved = join(this.#saved, name);
      if (existsSync(saved)) copyFileSync(saved, join(this.dir, name));
    }
  }

  /** Tries to start; what it printed, and the exit code, null when it serves. */
  async start(): Promise<{ exitCode: number | null; out: string; err: string }> {
    const out = this.service.stdout().length;
    const err = this.service.stderr().length;
    const isServing = await this.service.start().then(
      () => true,
      () => false,
    );
    const exitCode = isServing ? null : await this.service.kill('SIGKILL');
    return {
      exitCode,
      out: this.service.stdout().slice(out),
      err: this.service.stderr().slice(err),
    };
  }

  /** Status of a request with the superuser's key. */
  async ask(): Promise<number> {
    const answer = await this.service.fetch('/api/a/', { headers: { 'X-API-Key': this.#key } });
    await answer.text();
    return answer.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]();
  }
}

async function refused(
  trial: Trial,
  state: SavedState,
  name: string,
  file: string,
  remedy: RegExp,
): Promise<void> {
  const before = fingerprint(state.dir);
  const { exitCode, out, err } = await state.start();
  trial.count('damages');
  trial.check(exitCode === 1, `${name}: ended with ${exitCode}`);
  trial.check(!SETUP.test(out), `${name}: offers to set up`);
  trial.check(err.includes(file) && remedy.test(err), `${name}: says only ${err.trim()}`);
  trial.check(!/\n\s+at /.test(err), `${name}: shows a stack`);
  trial.check(fingerprint(state.dir) === before, `${name}: the database was changed or replaced`);
  if (exitCode === null) await state.service.kill('SIGKILL');
}

async function readOnly(trial: Trial, state: SavedState): Promise<void> {
  state.restore();
  const copies = ['svc.db', 'secret.key'].map((name) => [
    name,
    readFileSync(join(state.dir, name)),
  ]);
  using disk = new SmallDisk(state.dir, 8 << 20);
  for (const [name, content] of copies) {
    writeFileSync(join(state.dir, name as string), content as Buffer, { mode: 0o600 });
  }
  disk.remount('ro');
  await refused(trial, state, 'on a read-only file system', 'svc.db', /read-only/);
}

/** Accounts that an earlier start has seen are in the database itself: no later kill and loss of its log undoes them. */
async function loseLog(trial: Trial, where: string): Promise<void> {
  await using service = new Service({ files: { 'a.csv': 'a\n1\n' } });
  await service.start();
  await service.createSuperuser('root');
  await service.kill('SIGKILL');
  await service.start();
  await service.kill('SIGKILL');
  for (const end of ['-wal', '-shm'])
    rmSync(join(service.stateDir, `svc.db${end}`), { force: true });
  const before = service.stdout().length;
  await service.start();
  trial.count('lost logs');
  trial.check(!SETUP.test(service.stdout().slice(before)), `${where}: offers to set up`);
}

async function refusedOrServed(trial: Trial, state: SavedState, where: string): Promise<void> {
  const { exitCode, out, err } = await state.start();
  trial.check(!SETUP.test(out), `${where}: offers to set up`);
  if (exitCode !== null) {
    trial.count('flips refused');
    trial.check(exitCode === 1 && err.includes('svc.db'), `${where}: ${exitCode} ${err}`);
    return;
  }
  const status = await state.ask();
  trial.count(status === 200 ? 'flips without effect' : `flips after which a key gets ${status}`);
  await state.service.kill('SIGKILL');
}

/** One to three bits anywhere but in bytes that are zero, which are mostly unused. */
function flipBits(path: string, trial: Trial): void {
  const content = readFileSync(path);
  for (let count = trial.integer(1, 3); count > 0;) {
    const at = trial.integer(0, content.length - 1);
    if (content[at] === 0) continue;
    content[at]! ^= 1 << trial.integer(0, 7);
    count--;
  }
  writeFileSync(path, content);
}

function fingerprint(stateDir: string): string {
  const path = database(stateDir);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'missing';
  return found.isFile() ? `${found.ino} ${Bun.hash(readFileSync(path))}` : 'no file';
}
