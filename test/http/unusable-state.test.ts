/**
 * State that cannot be used (F14, F15, DS-92): the server refuses to start, names the file and the remedy, and never
 * falls back to a fresh one, whose setup would hand the files to the next comer.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Database } from 'bun:sqlite';
import {
  chmodSync,
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
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { PASSWORD } from '../support/password.ts';

let service: Service;
let good = '';
beforeAll(async () => {
  service = await startService({ files: { 'a.csv': 'n\n1\n' } });
  await service.createSuperuser('root');
  await service.kill('SIGTERM');
  await service.accounts.close();
  good = `${service.stateDir}-good`;
  cpSync(service.stateDir, good, { recursive: true });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

/** The state as it was, then damaged; answers how a start on it ends. */
async function startWith(damage: (stateDir: string) => void, args: readonly string[] = []) {
  rmSync(service.stateDir, { recursive: true });
  cpSync(good, service.stateDir, { recursive: true });
  damage(service.stateDir);
  const result = await service.command(['serve', service.docroot, '--port', '0', ...args]);
  return { ...result, stateDir: service.stateDir };
}

const dbOf = (stateDir: string) => join(stateDir, 'svc.db');

function overwrite(path: string, at: number, bytes: Uint8Array): void {
  const content = readFileSync(path);
  content.set(bytes, at);
  writeFileSync(path, content);
}

const DAMAGES: readonly (readonly [string, (stateDir: string) => void, RegExp])[] = [
  [
    'truncated to nothing',
    (dir) => truncateSync(dbOf(dir), 0),
    /svc\.db in .* is empty.*: restore/,
  ],
  ['truncated to half a page', (dir) => truncateSync(dbOf(dir), 2_000), /svc\.db in .*: restore/],
  [
    'truncated to one page',
    (dir) => truncateSync(dbOf(dir), 4_096),
    /svc\.db in .* is damaged.*: restore/,
  ],
  [
    'truncated at its end',
    (dir) => truncateSync(dbOf(dir), statSync(dbOf(dir)).size - 4_096),
    /svc\.db in .* is damaged.*: restore/,
  ],
  [
    'another file',
    (dir) => writeFileSync(dbOf(dir), 'not a database at all '.repeat(500)),
    /svc\.db in .* is not a database.*: restore/,
  ],
  [
    'zeroed in its first page',
    (dir) => overwrite(dbOf(dir), 100, new Uint8Array(3_000)),
    /svc\.db in .* is damaged.*: restore/,
  ],
  [
    'with a flipped schema',
    (dir) => overwrite(dbOf(dir), 4_096, new Uint8Array(4_096).fill(0xff)),
    /svc\.db in .* is damaged.*: restore/,
  ],
  ['missing while the secret is there', (dir) => rmSync(dbOf(dir)), /svc\.db/],
  [
    'of another program',
    (dir) => onDatabase(dir, 'PRAGMA application_id = 12345'),
    /svc\.db in .* is a database of another program/,
  ],
  [
    'of a newer version',
    (dir) => onDatabase(dir, 'PRAGMA user_version = 999'),
    /svc\.db in .* was written by a newer svc.*: use that version/,
  ],
  [
    'a folder',
    (dir) => {
      rmSync(dbOf(dir));
      mkdirSync(dbOf(dir));
    },
    /svc\.db in .* is no file.*: restore/,
  ],
  [
    'with a cut secret',
    (dir) => truncateSync(join(dir, 'secret.key'), 7),
    /secret\.key in .* is damaged.*: restore/,
  ],
];

function onDatabase(stateDir: string, sql: string): void {
  const db = new Database(dbOf(stateDir));
  db.run(sql);
  db.close();
}

describe('a state database that is', () => {
  test.each(DAMAGES)('%s: no start, exit 1, one clear line', async (_, damage, message) => {
    const { exitCode, stdout, stderr } = await startWith(damage);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^\s+at |SQLiteError|node:|bun:/m);
    expect(
      stderr
        .trimEnd()
        .split('\n')
        .filter((line) => !line.startsWith('{')).length,
    ).toBe(1);
  });

  test('damaged: nothing about it is repaired, replaced or made anew (F15)', async () => {
    const { stateDir } = await startWith((dir) => truncateSync(dbOf(dir), 4_096));
    expect(statSync(dbOf(stateDir)).size).toBe(4_096);
    const { stateDir: emptied } = await startWith((dir) => rmSync(dbOf(dir)));
    expect(existsSync(dbOf(emptied))).toBe(false);
  });

  test('damaged: a server that others can reach is refused just so, without any setup (F15)', async () => {
    const { exitCode, stdout } = await startWith(
      (dir) => truncateSync(dbOf(dir), 0),
      ['--host', '0.0.0.0'],
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  });

  test('whole again: the same account signs in', async () => {
    rmSync(service.stateDir, { recursive: true });
    cpSync(good, service.stateDir, { recursive: true });
    await service.start();
    const body = JSON.stringify({ username: 'root', password: PASSWORD });
    expect((await service.fetch('/auth/login', { method: 'POST', body })).status).toBe(200);
    await service.kill('SIGTERM');
  });

  test('readable for everybody: closed to them again, with a word about it', async () => {
    rmSync(service.stateDir, { recursive: true });
    cpSync(good, service.stateDir, { recursive: true });
    chmodSync(dbOf(service.stateDir), 0o644);
    chmodSync(join(service.stateDir, 'secret.key'), 0o666);
    await service.start();
    for (const name of ['svc.db', 'secret.key']) {
      expect(statSync(join(service.stateDir, name)).mode & 0o777).toBe(0o600);
    }
    await eventually(() => expect(service.stderr()).toMatch(/"level":"warning".*"svc\.db"/));
    await service.kill('SIGTERM');
  });

  const canMount = (() => {
    const result = Bun.spawnSync(['unshare', '-m', 'true'], { stderr: 'ignore', stdout: 'ignore' });
    return result.exitCode === 0;
  })();

  test.skipIf(!canMount)(
    'on a read-only file system: no start, exit 1, the remedy is named',
    async () => {
      rmSync(service.stateDir, { recursive: true });
      cpSync(good, service.stateDir, { recursive: true });
      const mount = (...args: string[]) =>
        Bun.spawnSync(['mount', ...args], { stderr: 'ignore' }).exitCode;
      expect(mount('--bind', service.stateDir, service.stateDir)).toBe(0);
      try {
        expect(mount('-o', 'remount,bind,ro', service.stateDir)).toBe(0);
        const { exitCode, stdout, stderr } = await service.command([
          'serve',
          service.docroot,
          '--port',
          '0',
        ]);
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
        expect(stderr).toMatch(/svc\.db in .* or its directory cannot be written: /);
      } finally {
        Bun.spawnSync(['umount', service.stateDir]);
      }
    },
  );
});

describe('a state directory that another server holds (DS-92, F14)', () => {
  test('a second one exits 1 and names the first, which goes on', async () => {
    await using first = await startService({ files: { 'a.csv': 'n\n1\n' } });
    const starts = await Promise.all(
      Array.from({ length: 3 }, () => first.command(['serve', first.docroot, '--port', '0'])),
    );
    for (const { exitCode, stdout, stderr } of starts) {
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr.trim()).toBe(`State directory is in use by process ${first.pid}`);
    }
    expect((await first.fetch('/health')).status).toBe(200);
  });

  test('that was killed frees it at once: the next start works (F14)', async () => {
    await using first = await startService();
    for (let round = 0; round < 3; round++) {
      await first.kill('SIGKILL');
      await first.start();
      expect((await first.fetch('/health')).status).toBe(200);
    }
  });

  test('account commands work beside it (DS-200)', async () => {
    await using first = await startService();
    await first.createSuperuser('root');
    const body = JSON.stringify({ username: 'root', password: PASSWORD });
    expect((await first.fetch('/auth/login', { method: 'POST', body })).status).toBe(200);
  });
});

test('commands that only read the state say so too when it is damaged', async () => {
  await startWith((dir) => writeFileSync(dbOf(dir), 'x'.repeat(5_000)));
  const commands = [
    ['addsuperuser', service.docroot, '--username', 'x', '--password-stdin'],
    ['check', service.docroot],
    ['list-endpoints', service.docroot],
  ];
  for (const command of commands) {
    const { exitCode, stderr } = await service.command(command, `${PASSWORD}\n`);
    expect({ command: command[0], exitCode }).toEqual({ command: command[0], exitCode: 1 });
    expect(stderr).toMatch(/svc\.db in .* is not a database/);
  }
});
