import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { createLog } from '../../src/base/log.ts';
import { UnmountedFolders } from '../../src/docroot/registry/unmounted.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts';

const DAY_MS = 24 * 3_600_000;

async function lookedAt(folder: TemporaryFolder, memory: string | null, now = 0) {
  const log = createLog({ level: 'error', format: 'text', write: () => undefined });
  const mounts = new UnmountedFolders({ memory, now: () => now, log });
  await mounts.during(
    () => folder.path,
    () => Promise.resolve(),
  );
  return mounts;
}

test('what was remembered and is not mounted is away, for thirty days', async () => {
  using folder = temporaryFolder();
  const memory = folder.at('mounts.json');
  writeFileSync(memory, JSON.stringify({ points: [[folder.at('a disk'), 5 * DAY_MS]] }));
  const mounts = await lookedAt(folder, memory, 34 * DAY_MS);
  expect(mounts.isAway(folder.at('a disk/x.csv'))).toBe(true);
  expect(mounts.isAway(folder.at('a disk 2/x.csv'))).toBe(false);
  expect(mounts.isAway(folder.at('x.csv'))).toBe(false);
  expect(JSON.parse(readFileSync(memory, 'utf8'))).toEqual({
    points: [[folder.at('a disk'), 5 * DAY_MS]],
  });
  const later = await lookedAt(folder, memory, 36 * DAY_MS);
  expect(later.isAway(folder.at('a disk/x.csv'))).toBe(false);
});

test('what was mounted for longer than that, and went while nobody looked, is away all the same', async () => {
  using folder = temporaryFolder();
  const memory = folder.at('mounts.json');
  writeFileSync(memory, JSON.stringify({ points: [[folder.at('disk'), null]] }));
  const first = await lookedAt(folder, memory, 99 * DAY_MS);
  expect(first.isAway(folder.at('disk/x.csv'))).toBe(true);
  const points = [[folder.at('disk'), 99 * DAY_MS]];
  expect(JSON.parse(readFileSync(memory, 'utf8'))).toEqual({ points });
  const later = await lookedAt(folder, memory, 130 * DAY_MS);
  expect(later.isAway(folder.at('disk/x.csv'))).toBe(false);
});

test('a memory that is damaged, absent or not wanted is none', async () => {
  using folder = temporaryFolder({ 'mounts.json': '{"points": 1' });
  for (const memory of [folder.at('mounts.json'), folder.at('absent/mounts.json'), null]) {
    const mounts = await lookedAt(folder, memory);
    expect(mounts.isAway(folder.at('disk/x.csv'))).toBe(false);
  }
});
