import { expect, test } from 'bun:test';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { replaceFile } from '../../src/base/files/atomic-file.ts';
import { statFile, type FileStamp } from '../../src/base/files/file-stamp.ts';
import { createLog } from '../../src/base/log.ts';
import { ReplacedFiles } from '../../src/base/files/replaced-files.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts';

const TIME = Date.UTC(2026, 10, 20, 23, 29, 0, 715);
const CONFLICT = 'a.csv.conflict-2026-11-20T23-29-00.715Z';

function watchOf(folder: TemporaryFolder, graceMs = 60_000, maxBytes?: number) {
  const lines: string[] = [];
  const conflicts: [string, string][] = [];
  const conflicted = Promise.withResolvers<void>();
  const replaced = new ReplacedFiles({
    directory: folder.at('state/replaced'),
    clock: { now: () => TIME, monotonic: () => 0 },
    log: createLog({ level: 'info', format: 'text', write: (line) => void lines.push(line) }),
    graceMs,
    maxBytes,
    onConflict: (path, copy) => {
      conflicts.push([path, copy]);
      conflicted.resolve();
    },
  });
  const kept = () =>
    existsSync(folder.at('state')) ? readdirSync(folder.at('state/replaced')) : [];
  return { replaced, lines, conflicts, conflicted: conflicted.promise, kept };
}

function stampOf(path: string): FileStamp {
  const stamp = statFile(path);
  if (stamp === null) throw new Error(`no file at ${path}`);
  return stamp;
}

test('a replaced version nobody touches is deleted at the end', async () => {
  using folder = temporaryFolder({ old: 'one' });
  const { replaced, kept, lines } = watchOf(folder);
  await replaced.take(folder.at('old'), folder.at('a.csv'), stampOf(folder.at('old')));
  expect([existsSync(folder.at('old')), kept().length, replaced.size]).toEqual([false, 1, 1]);
  await replaced.close();
  expect([kept(), replaced.size, lines]).toEqual([[], 0, []]);
});

test('a replaced version is deleted when its time is over', async () => {
  using folder = temporaryFolder({ old: 'one' });
  const { replaced, kept } = watchOf(folder, 1);
  await replaced.take(folder.at('old'), folder.at('a.csv'), stampOf(folder.at('old')));
  while (replaced.size > 0) await Bun.sleep(1);
  await replaced.close();
  expect(kept()).toEqual([]);
});

test('the oldest are let go when there are too many, in number or in bytes', async () => {
  using folder = temporaryFolder();
  const take = async (replaced: ReplacedFiles, content: string) => {
    const file = folder.write('old', content);
    await replaced.take(file, folder.at('a.csv'), stampOf(file));
  };
  const small = watchOf(folder, undefined, 10);
  const sizes: number[] = [];
  for (const content of ['1234', '1234', '1234', '12345678901', '1234', '1234']) {
    await take(small.replaced, content);
    sizes.push(small.replaced.size);
  }
  // The newest is held whatever its size.
  expect(sizes).toEqual([1, 2, 2, 1, 1, 2]);
  await small.replaced.close();

  const large = watchOf(folder);
  for (let i = 0; i < 310; i++) await take(large.replaced, 'x');
  expect(large.replaced.size).toBe(300);
  await large.replaced.close();
  expect(large.kept()).toEqual([]);
});

test('a program that writes on after its file was replaced leaves a conflict copy (F10)', async () => {
  using folder = temporaryFolder({ 'a.csv': 'id\n1\n' });
  const path = folder.at('a.csv');
  const { replaced, kept, conflicts, conflicted, lines } = watchOf(folder, 50);
  const late = openSync(path, 'a');
  const pieces = [new TextEncoder().encode('id\n2\n')];
  await replaceFile({ path, rel: 'a.csv', base: stampOf(path), pieces, replaced });
  writeSync(late, 'late\n');
  closeSync(late);
  await conflicted;
  expect(conflicts).toEqual([[path, CONFLICT]]);
  expect(kept()).toEqual([CONFLICT]);
  expect(readFileSync(folder.at(`state/replaced/${CONFLICT}`), 'utf8')).toBe('id\n1\nlate\n');
  expect(readFileSync(path, 'utf8')).toBe('id\n2\n');
  expect(lines.join('')).toContain(`kept=${CONFLICT}`);
  await replaced.close();
});

test('every version of a file is watched, so nothing late is lost under load', async () => {
  using folder = temporaryFolder({ 'a.csv': 'one' });
  const path = folder.at('a.csv');
  const { replaced, conflicts } = watchOf(folder);
  const late = openSync(path, 'r+');
  const replace = (text: string) =>
    replaceFile({
      path,
      rel: 'a.csv',
      base: stampOf(path),
      pieces: [new TextEncoder().encode(text)],
      replaced,
    });
  await replace('two');
  await replace('three');
  writeSync(late, 'ONE', 0);
  await replaced.close();
  closeSync(late);
  expect(conflicts).toHaveLength(1);
});

test('a change before the file could be taken is noticed too, even with its mtime put back', async () => {
  using folder = temporaryFolder({ old: 'one' });
  const { replaced, conflicts } = watchOf(folder);
  const stamp = stampOf(folder.at('old'));
  folder.write('old', 'longer');
  utimesSync(folder.at('old'), 0, Number(stamp.mtimeNs) / 1e9);
  await replaced.take(folder.at('old'), folder.at('a.csv'), stamp);
  expect(conflicts).toHaveLength(1);
  await replaced.close();
});

test('two conflicts of one file in one millisecond are both kept', async () => {
  using folder = temporaryFolder({ x: 'one', y: 'two' });
  const { replaced, kept } = watchOf(folder);
  await replaced.keepConflict(folder.at('x'), folder.at('a.csv'));
  await replaced.keepConflict(folder.at('y'), folder.at('a.csv'));
  expect(kept().filter((name) => name.startsWith(CONFLICT))).toHaveLength(2);
});

test('leftovers of a killed process go at the start; conflict copies and other files stay', async () => {
  using folder = temporaryFolder({
    'state/replaced/a.csv.0123456789abcdef': 'leftover',
    [`state/replaced/${CONFLICT}`]: 'conflict',
    'state/replaced/a.csv.schema.json': 'companion of a folder called replaced',
  });
  const { replaced, kept } = watchOf(folder);
  await replaced.removeLeftovers();
  expect(kept().sort()).toEqual([CONFLICT, 'a.csv.schema.json']);
});

test('a directory that cannot be used costs the late check, not the write', async () => {
  using folder = temporaryFolder({ old: 'one', state: 'a file where the folder should be' });
  const { replaced } = watchOf(folder);
  await replaced.take(folder.at('old'), folder.at('a.csv'), stampOf(folder.at('old')));
  expect([existsSync(folder.at('old')), replaced.size]).toEqual([false, 0]);
});
