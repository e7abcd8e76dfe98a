/** Backups of folders in which others work meanwhile. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import {
  appendFileSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Transform, type Writable } from 'node:stream';
import { listDocroot } from '../../src/backup/backup-contents.ts';
import { makeBackup } from '../../src/backup/make-backup.ts';
import { restoreBackup } from '../../src/backup/restore-backup.ts';
import { DocumentRoot } from '../../src/docroot/document-root.ts';
import { newestVersion } from '../../src/store/migrate.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { createDatabase } from '../../src/store/state-files.ts';
import { temporaryDirectory } from '../support/database.ts';

const schema = newestVersion(migrations);
/** Bytes of the archive: behind what stands before the first file, and far before the end of that. */
const AMID = 1_000_000;

/** What a backup of `docroot` holds, restored, when `change` is made while its first file is read. */
async function restoredAfter(docroot: string, change: () => void): Promise<string> {
  const stateDir = join(docroot, '.svc');
  const archive = `${docroot}.tar.gz`;
  const file = createWriteStream(archive);
  let isChanged = false;
  let bytes = 0;
  const target: Writable = new Transform({
    transform(chunk: Uint8Array, _, done) {
      bytes += chunk.length;
      if (!isChanged && bytes > AMID) {
        isChanged = true;
        change();
      }
      done(null, chunk);
    },
  });
  target.pipe(file);
  const written = Promise.withResolvers<void>();
  file.on('close', written.resolve);
  const root = new DocumentRoot(docroot, stateDir);
  await makeBackup({ root, stateDir, target, withDocroot: true, schema, now: 0 });
  await written.promise;
  expect(isChanged).toBe(true);
  const restored = `${docroot}-restored`;
  mkdirSync(join(restored, '.svc'), { recursive: true });
  await restoreBackup({
    source: () => createReadStream(archive),
    docroot: restored,
    stateDir: join(restored, '.svc'),
    replaces: false,
    newestSchema: schema,
  });
  return restored;
}

/** A document root with a state and a file that takes a while. */
async function folder(directory: string): Promise<string> {
  const docroot = join(directory, 'docroot');
  mkdirSync(join(docroot, '.svc'), { recursive: true });
  await createDatabase(join(docroot, '.svc'), migrations);
  const pieces = Array.from({ length: 128 }, () => crypto.getRandomValues(Buffer.alloc(65_536)));
  writeFileSync(join(docroot, 'large.txt'), Buffer.concat(pieces));
  return docroot;
}

test('files and folders that are deleted while they are listed are left out', async () => {
  using directory = temporaryDirectory();
  const names = Array.from({ length: 200 }, (_, n) => String(n).padStart(3, '0'));
  for (const name of names) {
    mkdirSync(join(directory.path, `${name}-folder`));
    writeFileSync(join(directory.path, `${name}.csv`), 'n\n1\n');
  }
  const root = new DocumentRoot(directory.path, join(directory.path, 'state'));
  const listing = listDocroot(root, true);
  // From the end, while it looks at them from the beginning.
  for (const name of names.toReversed()) {
    await new Promise(setImmediate);
    rmSync(join(directory.path, `${name}-folder`), { recursive: true });
    rmSync(join(directory.path, `${name}.csv`));
  }
  expect((await listing).map(({ part }) => part)).not.toContain('state');
});

test('what a backup that was killed left goes with a later one', async () => {
  using directory = temporaryDirectory();
  const docroot = await folder(directory.path);
  const left = join(docroot, '.svc/tmp/backup-0123456789abcdef');
  mkdirSync(left, { recursive: true });
  utimesSync(left, 0, 0);
  await restoredAfter(docroot, () => undefined);
  expect(readdirSync(join(docroot, '.svc/tmp'))).toEqual([]);
});

test('a file that is changed and then deleted while it is read is whole', async () => {
  using directory = temporaryDirectory();
  const docroot = await folder(directory.path);
  const large = join(docroot, 'large.txt');
  const whole = Buffer.concat([readFileSync(large), Buffer.from('the end')]);
  const restored = await restoredAfter(docroot, () => {
    appendFileSync(large, 'the end');
    rmSync(large);
  });
  expect(readFileSync(join(restored, 'large.txt')).equals(whole)).toBe(true);
});

test('a change of a file that is in it is in its audit too', async () => {
  using directory = temporaryDirectory();
  const docroot = await folder(directory.path);
  writeFileSync(join(docroot, 'rows.csv'), 'n\n1\n');
  const restored = await restoredAfter(docroot, () => {
    writeFileSync(join(docroot, 'rows.csv'), 'n\n2\n');
    using db = new Database(join(docroot, '.svc/svc.db'));
    db.run("INSERT INTO audit (timestamp, action) VALUES ('', 'update_dataset_row')");
  });
  expect(readFileSync(join(restored, 'rows.csv'), 'utf8')).toBe('n\n2\n');
  using db = new Database(join(restored, '.svc/svc.db'));
  const { n } = db.query('SELECT count(*) AS n FROM audit').get() as { n: number };
  expect(n).toBe(1);
});
