import { expect, test } from 'bun:test';
import { readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import {
  createTemporary,
  isTemporaryName,
  removeStaleTemporaries,
} from '../../src/base/files/temporary-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a temporary file stands beside its target, hidden and private (H-11)', async () => {
  using folder = temporaryFolder();
  const { path, handle } = await createTemporary(folder.at('a.csv'));
  await handle.close();
  expect(basename(path)).toMatch(/^\.a\.csv\.svc-[0-9a-f]{16}\.tmp$/);
  expect(isTemporaryName(basename(path))).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('only own names from before the start are deleted', async () => {
  using folder = temporaryFolder({
    '.a.csv.svc-0123456789abcdef.tmp': 'ours',
    '..a.csv.svc-0123456789abcdef.tmp': 'ours, second name',
    'a.csv.svc-0123456789abcdef.tmp': 'not hidden',
    '.a.csv.0123456789abcdef.tmp': 'of another program',
    '.a.csv.svc-0123.tmp': 'another form',
  });
  const started = Date.now() + 60_000;
  const names = readdirSync(folder.path);
  expect(await removeStaleTemporaries(folder.path, names, started - 120_000)).toEqual([]);
  expect((await removeStaleTemporaries(folder.path, names, started)).sort()).toEqual([
    '..a.csv.svc-0123456789abcdef.tmp',
    '.a.csv.svc-0123456789abcdef.tmp',
  ]);
  expect(readdirSync(folder.path)).toHaveLength(3);
});

test('what vanished meanwhile is no trouble', async () => {
  using folder = temporaryFolder();
  const names = ['.gone.svc-0123456789abcdef.tmp'];
  expect(await removeStaleTemporaries(folder.path, names, Date.now())).toEqual([]);
});
