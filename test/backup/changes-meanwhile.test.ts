/** A backup while rows are changed: every row in it has its id. */
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, test } from 'bun:test';
import { makeBackup } from '../../src/backup/make-backup.ts';
import { restoreBackup } from '../../src/backup/restore-backup.ts';
import { type DocrootInPlace, docrootInPlace } from '../support/docroot-in-place.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts';

/** So much that it is written while the rest still waits. */
function unshrinkable(): Uint8Array {
  return randomBytes(4 << 20);
}

async function restore(archive: string, { path, at }: TemporaryFolder): Promise<void> {
  await restoreBackup({
    source: () => createReadStream(archive),
    docroot: path,
    stateDir: at('.svc'),
    replaces: false,
    newestSchema: 1,
  });
}

/** A backup of the folder, during which something happens once its first files are in the archive. */
async function backupDuring(
  { folder, docroot }: DocrootInPlace,
  archive: string,
  happening: () => Promise<unknown>,
): Promise<void> {
  const file = createWriteStream(archive);
  let isFirst = true;
  const target = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => {
      const happened = isFirst ? happening() : Promise.resolve();
      isFirst = false;
      happened.then(() => file.write(chunk, done), done);
    },
    final: (done) => file.end(done),
  });
  const { root } = docroot;
  const stateDir = folder.at('.svc');
  await makeBackup({ root, stateDir, target, withDocroot: true, schema: 1, now: Date.now() });
  await finished(file);
}

test('rows that are deleted during a backup, and before, leave the others their ids in it (DS-48)', async () => {
  using elsewhere = temporaryFolder();
  const archive = elsewhere.at('backup.tar.gz');
  {
    await using place = await docrootInPlace({
      'a.txt': unshrinkable(),
      'b.csv': 'n\n1\n2\n3\n4\n5\n',
      'c.csv': 'n\n1\n2\n3\n',
    });
    for (const name of ['b', 'c']) {
      await place.change(name, { action: 'delete', data: { _row_id: 1 } });
    }
    await backupDuring(place, archive, () =>
      place.change('b', { action: 'delete', data: { _row_id: 3 } }),
    );
  }
  const folder = temporaryFolder({ '.svc/there': '' });
  await restore(archive, folder);
  await using restored = await docrootInPlace({}, folder);
  expect(await restored.ids('b')).toEqual([2, 4, 5]);
  expect(await restored.ids('c')).toEqual([2, 3]);
});
