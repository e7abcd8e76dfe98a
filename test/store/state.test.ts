import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../src/base/errors.ts';
import type { Migration } from '../../src/store/migrate.ts';
import { schemaVersion, newestVersion } from '../../src/store/migrate.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import type { State } from '../../src/store/state.ts';
import { openState } from '../../src/store/state.ts';
import { createDatabase } from '../../src/store/state-files.ts';
import { lockStateDirectory, trySqliteLock } from '../../src/store/state-lock.ts';
import { temporaryDirectory, testLog } from '../support/database.ts';

const { log } = testLog();

function open(stateDir: string, more: { exclusive?: boolean; steps?: readonly Migration[] } = {}) {
  const { exclusive = true, steps = migrations } = more;
  return openState({ stateDir, migrations: steps, log, exclusive });
}

/** A state directory that was used and closed, with one user in it. */
async function usedDirectory(): Promise<
  { path: string; dir: string; secret: string } & Disposable
> {
  const directory = temporaryDirectory();
  const dir = join(directory.path, '.svc');
  const state = await open(dir);
  await state.db.run("INSERT INTO users (username, created_at) VALUES ('ada', '')");
  // Enough pages for damage in the middle to be noticed.
  await state.db.run(
    `INSERT INTO audit (timestamp, action, details) WITH RECURSIVE n(i) AS
     (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT '', 'x', hex(randomblob(20)) FROM n`,
  );
  await state.close();
  const secret = readFileSync(join(dir, 'secret.key'), 'hex');
  return { ...directory, dir, secret, [Symbol.dispose]: directory[Symbol.dispose] };
}

async function refusalOf(opening: Promise<State>): Promise<string> {
  try {
    await (await opening).close();
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'state-unusable' });
    return (error as AppError).message;
  }
  throw new Error('The state opened');
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('a new state directory', () => {
  test('is made for its owner only, with database and secret', async () => {
    using directory = temporaryDirectory();
    const dir = join(directory.path, 'deep', '.svc');
    const state = await open(dir);
    expect(mode(dir)).toBe('700');
    for (const name of readdirSync(dir))
      expect([name, mode(join(dir, name))]).toEqual([name, '600']);
    expect(state.serverSecret.length).toBe(32);
    expect(await schemaVersion(state.db)).toBe(newestVersion(migrations));
    await state.close();
    expect(readdirSync(dir).toSorted()).toEqual(['lock', 'secret.key', 'svc.db']);
  });

  test('may already hold a configuration file', async () => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, 'config.yaml'), 'port: 8001\n');
    await (await open(directory.path)).close();
    expect(existsSync(join(directory.path, 'config.yaml'))).toBe(true);
  });

  test('opened by many at once has one database and one secret', async () => {
    using directory = temporaryDirectory();
    const states = await Promise.all(
      Array.from({ length: 6 }, () => open(directory.path, { exclusive: false })),
    );
    const secrets = new Set(states.map((state) => hexOf(state.serverSecret)));
    expect(secrets.size).toBe(1);
    await states[0]?.db.run("INSERT INTO users (username, created_at) VALUES ('ada', '')");
    for (const state of states) {
      expect(await state.db.all('SELECT username FROM users')).toEqual([{ username: 'ada' }]);
    }
    await Promise.all(states.map((state) => state.close()));
    expect(readdirSync(directory.path).toSorted()).toEqual(['secret.key', 'svc.db']);
  });

  test('made a second time keeps what the first maker has written', async () => {
    using used = await usedDirectory();
    await createDatabase(used.dir, migrations);
    const state = await open(used.dir);
    expect(await state.db.all('SELECT username FROM users')).toHaveLength(1);
    await state.close();
  });

  test('is cleared of drafts that a killed process left', async () => {
    using used = await usedDirectory();
    for (const name of ['svc.db.new-1', 'svc.db.new-1-wal', 'secret.key.new-2']) {
      writeFileSync(join(used.dir, name), 'x');
    }
    await (await open(used.dir)).close();
    expect(readdirSync(used.dir).toSorted()).toEqual(['lock', 'secret.key', 'svc.db']);
  });
});

describe('a used state directory', () => {
  test('opens again with its rows and its secret', async () => {
    using used = await usedDirectory();
    const state = await open(used.dir);
    expect(await state.db.all('SELECT username FROM users')).toEqual([{ username: 'ada' }]);
    expect(hexOf(state.serverSecret)).toBe(used.secret);
    await state.close();
  });

  test('that became readable for others is closed to them again', async () => {
    using used = await usedDirectory();
    chmodSync(join(used.dir, 'svc.db'), 0o644);
    await (await open(used.dir)).close();
    expect(mode(join(used.dir, 'svc.db'))).toBe('600');
  });

  test('without its secret gets a new one and keeps its accounts', async () => {
    using used = await usedDirectory();
    rmSync(join(used.dir, 'secret.key'));
    const state = await open(used.dir);
    expect(await state.db.all('SELECT username FROM users')).toHaveLength(1);
    expect(hexOf(state.serverSecret)).not.toBe(used.secret);
    await state.close();
  });
});

describe('a state that is not whole is refused with the file and the remedy, and left as it is', () => {
  const damages: [string, (dir: string) => void, RegExp][] = [
    [
      'database gone',
      (dir) => rmSync(join(dir, 'svc.db')),
      /svc\.db .*missing .*secret\.key.*restore/,
    ],
    ['database emptied', (dir) => truncateSync(join(dir, 'svc.db'), 0), /svc\.db .*empty.*restore/],
    [
      'database emptied and secret gone',
      (dir) => {
        truncateSync(join(dir, 'svc.db'), 0);
        rmSync(join(dir, 'secret.key'));
      },
      /svc\.db .*empty/,
    ],
    [
      'database cut to 10 bytes',
      (dir) => truncateSync(join(dir, 'svc.db'), 10),
      /not a database.*restore/,
    ],
    [
      'database cut to one page',
      (dir) => truncateSync(join(dir, 'svc.db'), 4096),
      /damaged.*restore/,
    ],
    [
      'database cut in the middle',
      (dir) => truncateSync(join(dir, 'svc.db'), statSync(join(dir, 'svc.db')).size - 5000),
      /damaged.*restore/,
    ],
    [
      'database replaced by text',
      (dir) => writeFileSync(join(dir, 'svc.db'), 'hello '.repeat(900)),
      /not a database/,
    ],
    [
      'bytes flipped in the middle',
      (dir) => {
        const bytes = readFileSync(join(dir, 'svc.db'));
        // From the head of a page on: what is behind may be free.
        const middle = Math.floor(bytes.length / 2 / 4096) * 4096;
        bytes.fill(0xff, middle, middle + 2000);
        writeFileSync(join(dir, 'svc.db'), bytes);
      },
      /damaged.*restore/,
    ],
    [
      'first page overwritten after its header',
      (dir) => {
        const bytes = readFileSync(join(dir, 'svc.db'));
        bytes.fill(0xff, 100, 3000);
        writeFileSync(join(dir, 'svc.db'), bytes);
      },
      /damaged.*restore/,
    ],
    [
      'another program’s database',
      (dir) => {
        rmSync(join(dir, 'svc.db'));
        const other = new Sqlite(join(dir, 'svc.db'));
        other.run('CREATE TABLE theirs (a)');
        other.close();
      },
      /another program/,
    ],
    [
      'newer schema',
      (dir) => {
        const newer = new Sqlite(join(dir, 'svc.db'));
        newer.run('PRAGMA user_version = 999');
        newer.close();
      },
      /newer svc \(schema 999.*use that version/,
    ],
    [
      'a directory in its place',
      (dir) => {
        rmSync(join(dir, 'svc.db'));
        mkdirSync(join(dir, 'svc.db'));
      },
      /no file/,
    ],
    [
      'secret cut',
      (dir) => truncateSync(join(dir, 'secret.key'), 31),
      /secret\.key .*damaged.*restore/,
    ],
  ];
  test.each(damages)('%s', async (_what, damage, message) => {
    using used = await usedDirectory();
    damage(used.dir);
    const before = contents(used.dir);
    expect(await refusalOf(open(used.dir))).toMatch(message);
    expect(await refusalOf(open(used.dir, { exclusive: false }))).toMatch(message);
    expect(contents(used.dir)).toEqual(before);
  });

  function contents(dir: string): Record<string, string> {
    const entries = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isFile());
    const kept = entries
      .map((entry) => entry.name)
      .filter((name) => /^(svc\.db|secret\.key)$/.test(name));
    return Object.fromEntries(
      kept.map((name) => [name, Bun.hash(readFileSync(join(dir, name))).toString()]),
    );
  }

  test('a write-ahead log without its database', async () => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, 'svc.db-wal'), 'x'.repeat(4096));
    expect(await refusalOf(open(directory.path))).toMatch(/missing although svc\.db-wal is there/);
  });

  test('a file where the directory should be', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'state');
    writeFileSync(path, '');
    expect(await refusalOf(open(path))).toMatch(/no directory/);
    expect(await refusalOf(open(join(path, 'below')))).toMatch(/no directory/);
  });
});

describe('a state that cannot be written is refused', () => {
  // The superuser may write everything, so the refusal is asked for as somebody else.
  const attempt = `
    const { openState } = await import(${JSON.stringify(join(import.meta.dir, '../../src/store/state.ts'))});
    const { migrations } = await import(${JSON.stringify(join(import.meta.dir, '../../src/store/migrations/index.ts'))});
    const log = { info() {}, warning() {} };
    try {
      const state = await openState({ stateDir: process.env.DIR, migrations, log, exclusive: process.env.EXCLUSIVE === '1' });
      await state.close();
      console.log('opened');
    } catch (error) { console.log(error.code, error.message); }`;
  const isRoot = process.getuid?.() === 0;
  const setpriv = Bun.which('setpriv');

  async function openAsOther(dir: string, exclusive: boolean): Promise<string> {
    const command = [process.execPath, '-e', attempt];
    const prefix = isRoot ? [setpriv ?? '', '--reuid=65534', '--clear-groups'] : [];
    const env = { ...process.env, DIR: dir, EXCLUSIVE: exclusive ? '1' : '0', HOME: '/' };
    const child = Bun.spawn([...prefix, ...command], { env, stdout: 'pipe', stderr: 'inherit' });
    return (await child.stdout.text()).trim();
  }

  test.skipIf(isRoot && setpriv === null)('read-only file, read-only directory', async () => {
    using used = await usedDirectory();
    // The way there must be open to the other user; the files are the matter.
    chmodSync(used.path, 0o755);
    chmodSync(used.dir, 0o777);
    for (const name of ['svc.db', 'secret.key', 'lock']) chmodSync(join(used.dir, name), 0o666);
    const state = await open(used.dir, { exclusive: false });
    await state.close();
    chmodSync(join(used.dir, 'svc.db'), 0o444);
    chmodSync(join(used.dir, 'secret.key'), 0o444);
    expect(await openAsOther(used.dir, false)).toMatch(
      /^state-unusable .*svc\.db.*cannot be written: check/,
    );
    chmodSync(join(used.dir, 'svc.db'), 0o666);
    chmodSync(used.dir, 0o555);
    for (const exclusive of [true, false]) {
      expect(await openAsOther(used.dir, exclusive)).toMatch(
        /^state-unusable .*svc\.db.*cannot be written: check/,
      );
    }
    chmodSync(used.dir, 0o755);
  });
});

describe('the lock of the directory', () => {
  test('lets one server in and names its process to the second (DS-92)', async () => {
    using used = await usedDirectory();
    const first = await open(used.dir);
    expect(await refusalOf(open(used.dir))).toBe(
      `State directory is in use by process ${process.pid}`,
    );
    const command = await open(used.dir, { exclusive: false });
    await command.db.run("INSERT INTO users (username, created_at) VALUES ('bob', '')");
    expect(await first.db.all('SELECT username FROM users')).toHaveLength(2);
    await command.close();
    await first.close();
    await (await open(used.dir)).close();
  });

  test('is free again after a refused start', async () => {
    using used = await usedDirectory();
    truncateSync(join(used.dir, 'svc.db'), 0);
    await refusalOf(open(used.dir));
    lockStateDirectory(used.dir).release();
  });

  test.each([
    ['kernel', ''],
    ['SQLite', ', trySqliteLock'],
  ])(
    'is dropped when its process is killed, though a child lives on (%s)',
    async (_kind, extra) => {
      using directory = temporaryDirectory();
      const source = `
      const { lockStateDirectory, trySqliteLock } = await import(${JSON.stringify(join(import.meta.dir, '../../src/store/state-lock.ts'))});
      const lock = lockStateDirectory(process.env.DIR${extra});
      const child = Bun.spawn(['sleep', '20']);
      console.log(child.pid);
      setInterval(() => lock, 1000);`;
      const holder = Bun.spawn([process.execPath, '-e', source], {
        env: { ...process.env, DIR: directory.path },
        stdout: 'pipe',
      });
      const { value } = await holder.stdout.getReader().read();
      const childPid = Number(new TextDecoder().decode(value));
      const lockAgain = () =>
        extra === ''
          ? lockStateDirectory(directory.path)
          : lockStateDirectory(directory.path, trySqliteLock);
      try {
        expect(lockAgain).toThrow(`State directory is in use by process ${holder.pid}`);
        holder.kill('SIGKILL');
        await holder.exited;
        const lock = lockAgain();
        expect(lockAgain).toThrow(`State directory is in use by process ${process.pid}`);
        lock.release();
        lock.release();
        lockAgain().release();
      } finally {
        process.kill(childPid, 'SIGKILL');
      }
    },
  );
});

describe('migrations', () => {
  const step = (version: number, ...statements: string[]): Migration => ({
    version,
    name: `000${version}-test`,
    statements,
  });
  const newer = [...migrations, step(newestVersion(migrations) + 1, 'CREATE TABLE extra (a)')];

  test('bring an older state up to date and keep its rows', async () => {
    using used = await usedDirectory();
    const state = await open(used.dir, { steps: newer });
    expect(await schemaVersion(state.db)).toBe(newestVersion(newer));
    expect(await state.db.all('SELECT * FROM extra')).toEqual([]);
    expect(await state.db.all('SELECT username FROM users')).toHaveLength(1);
    await state.close();
    expect(await refusalOf(open(used.dir))).toMatch(/newer svc/);
  });

  test('that fail change nothing', async () => {
    using used = await usedDirectory();
    const broken = step(
      newestVersion(migrations) + 1,
      'CREATE TABLE extra (a)',
      'CREATE TABLE extra (a)',
    );
    await expect(open(used.dir, { steps: [...migrations, broken] })).rejects.toThrow();
    const state = await open(used.dir);
    expect(await schemaVersion(state.db)).toBe(newestVersion(migrations));
    await state.close();
  });

  test('ascend and are named like their files', async () => {
    const files = readdirSync(join(import.meta.dir, '../../src/store/migrations'))
      .filter((name) => name !== 'index.ts')
      .toSorted();
    expect(migrations.map(({ name }) => `${name}.ts`)).toEqual(files);
    for (const { version, name } of migrations) expect(Number(name.slice(0, 4))).toBe(version);
  });
});
