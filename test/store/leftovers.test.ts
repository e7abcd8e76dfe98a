/** Copies that a killed command left in the state directory do not fill the disk for ever. */
import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeLeftovers } from '../../src/store/leftovers.ts';
import { temporaryDirectory } from '../support/database.ts';

const HOUR_MS = 60 * 60 * 1000;

test('those of two days ago are deleted, and nothing else', async () => {
  using directory = temporaryDirectory();
  await removeLeftovers(directory.path, Date.now());
  const now = Date.now();
  const tmp = join(directory.path, 'tmp');
  mkdirSync(tmp);
  const old = ['backup-0123456789abcdef', 'tables-4711'];
  // A server that runs loses nothing: its own have no name any more.
  writeFileSync(join(tmp, 'nameless-0123456789abcdef'), '');
  const kept = ['backup-fedcba9876543210', 'tables-12', 'spilled', 'backup-of-mine'];
  for (const name of [...old, ...kept]) {
    mkdirSync(join(tmp, name), { recursive: true });
    writeFileSync(join(tmp, name, 'svc.db'), 'a copy');
  }
  for (const name of [...old, 'spilled', 'backup-of-mine']) {
    const at = new Date(now - 49 * HOUR_MS);
    utimesSync(join(tmp, name), at, at);
  }
  // The companion of a file `tmp/tables-4711/a.csv` of a document root whose state folder this is.
  const companion = join(tmp, 'tables-4711', 'a.csv.schema.json');
  writeFileSync(companion, '{}');
  utimesSync(join(tmp, 'tables-4711'), 0, 0);
  await removeLeftovers(directory.path, now);
  expect(readdirSync(join(tmp, 'tables-4711'))).toEqual(['a.csv.schema.json']);
  rmSync(join(tmp, 'tables-4711'), { recursive: true });
  expect(readdirSync(tmp).sort()).toEqual(kept.toSorted());
});
