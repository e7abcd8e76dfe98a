/**
 * Restores that do not come to their end: one that fails leaves everything as it was, and after one that was killed no server
 * starts without accounts.
 */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import {
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeBackup } from '../../src/backup/make-backup.ts';
import { restoreBackup } from '../../src/backup/restore-backup.ts';
import { DocumentRoot } from '../../src/docroot/document-root.ts';
import { findDatabase } from '../../src/store/state-check.ts';
import { createDatabase, readSecret } from '../../src/store/state-files.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { newestVersion } from '../../src/store/migrate.ts';
import { temporaryDirectory, until } from '../support/database.ts';

const schema = newestVersion(migrations);

/** A document root with a state, and the archive of another one whose files lie in the folder `shop`. */
async function folders() {
  const directory = temporaryDirectory();
  const made: Record<'from' | 'to', string> = { from: '', to: '' };
  for (const name of ['from', 'to'] as const) {
    const docroot = (made[name] = join(directory.path, name));
    const stateDir = join(docroot, '.svc');
    mkdirSync(join(stateDir, 'tables'), { recursive: true });
    await createDatabase(stateDir, migrations);
    readSecret(stateDir);
    writeFileSync(join(stateDir, 'tables/ids.sqlite'), 'the only place where ids stand');
  }
  mkdirSync(join(made.from, 'shop'));
  writeFileSync(join(made.from, 'a.csv'), 'n\n1\n');
  writeFileSync(join(made.from, 'shop/p.csv'), 'n\n2\n');
  writeFileSync(join(made.to, 'a.csv'), 'mine\n');
  const archive = join(directory.path, 'backup.tar.gz');
  const stateDir = join(made.from, '.svc');
  const root = new DocumentRoot(made.from, stateDir);
  await makeBackup({ root, stateDir, target: archive, withDocroot: true, schema, now: 0 });
  const docroot = made.to;
  const order = {
    source: () => createReadStream(archive),
    docroot,
    stateDir: join(docroot, '.svc'),
    replaces: true,
    newestSchema: schema,
  };
  return { order, archive, docroot, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

/** Every file with its content. */
function contents(folder: string): Map<string, string> {
  const files = [...new Bun.Glob('**').scanSync({ cwd: folder, dot: true })].sort();
  return new Map(files.map((rel) => [rel, readFileSync(join(folder, rel), 'latin1')]));
}

test('a file or a broken link where a folder is needed is in the way, and moved aside like all else', async () => {
  for (const isLink of [false, true]) {
    using at = await folders();
    const shop = join(at.docroot, 'shop');
    if (isLink) symlinkSync('nowhere', shop);
    else writeFileSync(shop, 'a file\n');
    rmSync(join(at.docroot, 'a.csv'));
    for (const name of ['svc.db', 'secret.key']) rmSync(join(at.order.stateDir, name));
    const before = contents(at.docroot);
    await expect(restoreBackup({ ...at.order, replaces: false })).rejects.toMatchObject({
      code: 'conflict',
      message: "'shop' is no folder and in the way of 'shop/p.csv': use --force to move it aside",
    });
    expect(contents(at.docroot)).toEqual(before);
    const { movedAside } = await restoreBackup(at.order);
    expect(readFileSync(join(shop, 'p.csv'), 'utf8')).toBe('n\n2\n');
    expect(lstatSync(join(movedAside.at(-1)!, 'shop')).isSymbolicLink()).toBe(isLink);
  }
});

test('a restore that the disk refuses half way puts back accounts, secret, ids and files', async () => {
  using at = await folders();
  // Nothing can be made there.
  symlinkSync('/proc', join(at.docroot, 'shop'));
  const before = contents(at.docroot);
  await expect(restoreBackup(at.order)).rejects.toThrow();
  expect(contents(at.docroot)).toEqual(before);
  expect(findDatabase(at.order.stateDir)).toBe(true);
});

test('what was there is moved aside, but for what is made anew', async () => {
  using at = await folders();
  const { stateDir } = at.order;
  const [secret, accounts] = ['secret.key', 'svc.db'].map((name) =>
    readFileSync(join(stateDir, name), 'latin1'),
  );
  const { movedAside } = await restoreBackup(at.order);
  const [aside] = movedAside;
  expect(movedAside.length).toBeGreaterThan(0);
  expect(readFileSync(join(aside!, 'secret.key'), 'latin1')).toBe(secret!);
  expect(readFileSync(join(aside!, 'svc.db'), 'latin1')).toBe(accounts!);
  expect(readFileSync(join(stateDir, 'secret.key'), 'latin1')).not.toBe(secret!);
  expect(existsSync(join(aside!, 'tables'))).toBe(false);
  expect(readFileSync(join(at.docroot, 'shop/p.csv'), 'utf8')).toBe('n\n2\n');
  new Database(join(stateDir, 'svc.db'), { readonly: true }).close();
});

test('companions in folders that are named like those of the state stay, whether they are in the archive or not', async () => {
  using at = await folders();
  const { stateDir } = at.order;
  const mine = [
    'tables/own',
    'tables/2024/own',
    'search/own',
    'run/own',
    'tmp/tables-1/own',
    'events/own',
    'svc.db-files/own',
  ];
  for (const name of mine) {
    mkdirSync(join(stateDir, name, '..'), { recursive: true });
    writeFileSync(join(stateDir, `${name}.csv.schema.json`), name);
  }
  const options = join(stateDir, 'tables/ids.csv.options.json');
  writeFileSync(options, 'mine');
  mkdirSync(join(at.docroot, '../from/.svc/tables/deep'));
  for (const name of ['ids.csv', 'deep/ids.csv'])
    writeFileSync(join(at.docroot, '../from/.svc/tables', `${name}.options.json`), 'theirs');
  const from = join(at.docroot, '../from');
  const root = new DocumentRoot(from, join(from, '.svc'));
  const order = { root, stateDir: join(from, '.svc'), target: at.archive, withDocroot: true };
  await makeBackup({ ...order, schema, now: 0 });
  const before = contents(at.docroot);
  const { movedAside } = await restoreBackup(at.order);
  for (const name of mine)
    expect(readFileSync(join(stateDir, `${name}.csv.schema.json`), 'utf8')).toBe(name);
  expect(readFileSync(options, 'utf8')).toBe('theirs');
  expect(readFileSync(join(stateDir, 'tables/deep/ids.csv.options.json'), 'utf8')).toBe('theirs');
  const aside = movedAside.map((folder) => join(folder, 'tables/ids.csv.options.json'));
  expect(aside.filter(existsSync).map((path) => readFileSync(path, 'utf8'))).toEqual(['mine']);
  expect(existsSync(join(stateDir, 'tables/ids.sqlite'))).toBe(false);
  expect(before.has('.svc/tables/ids.sqlite')).toBe(true);
});

test('after a restore that was killed the server refuses to start without accounts', async () => {
  using at = await folders();
  const elsewhere = mkdtempSync('/dev/shm/svc-test-');
  try {
    if (statSync(elsewhere).dev === statSync(at.docroot).dev) {
      console.log('left out: there is no second file system to get stuck at');
      return;
    }
    // Moving it aside means to read it, which never ends.
    expect(Bun.spawnSync(['mkfifo', join(elsewhere, 'p.csv')]).exitCode).toBe(0);
    symlinkSync(elsewhere, join(at.docroot, 'shop'));
    const { source: _, ...order } = at.order;
    const script = `
      import { createReadStream } from 'node:fs';
      import { restoreBackup } from ${JSON.stringify(join(import.meta.dir, '../../src/backup/restore-backup.ts'))};
      const order = ${JSON.stringify(order)};
      await restoreBackup({ ...order, source: () => createReadStream(${JSON.stringify(at.archive)}) });
    `;
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'inherit' });
    const restored = join(at.docroot, 'a.csv');
    await until(() => existsSync(restored) && readFileSync(restored, 'utf8') === 'n\n1\n');
    child.kill('SIGKILL');
    await child.exited;
    expect(() => findDatabase(at.order.stateDir)).toThrow(/is half restored/);
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
});
