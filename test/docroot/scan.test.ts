import { expect, spyOn, test } from 'bun:test';
import { symlinkSync, writeFileSync } from 'node:fs';
import { statFile } from '../../src/base/files/file-stamp.ts';
import { DocumentRoot } from '../../src/docroot/document-root.ts';
import { createKindTable } from '../../src/docroot/registry/kind-table.ts';
import { scan } from '../../src/docroot/registry/scan.ts';
import { testKinds } from '../support/kinds.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts';

async function scanOf(folder: TemporaryFolder, rel = '', stateDir = '.svc') {
  const root = new DocumentRoot(folder.path, folder.at(stateDir));
  const { files, problems } = await scan(rel, { root, kindOf: createKindTable(testKinds) });
  return { files, problems, rels: files.map((file) => file.rel).sort() };
}

test('finds files that have a kind, at any depth, in any case (DS-23)', async () => {
  using folder = temporaryFolder({ 'a.csv': '1', 'b/c/D.MP4': '2', 'e.exe': '3', f: '4' });
  const { files, rels, problems } = await scanOf(folder);
  expect([rels, problems]).toEqual([['a.csv', 'b/c/D.MP4'], []]);
  const found = files.find(({ rel }) => rel === 'a.csv');
  expect(found?.stamp).toEqual(statFile(folder.at('a.csv')) as never);
  expect([found?.kind.type, found?.isSymlink]).toEqual(['csv', false]);
});

test('ignores hidden, temporary and tool folders, the state directory and _svc (DS-24)', async () => {
  const ignored = ['.git', '.x', '~$lock', 'venv', '__pycache__', 'node_modules', 'state', '_svc'];
  using folder = temporaryFolder({
    ...Object.fromEntries(ignored.map((name) => [`${name}/a.csv`, ''])),
    '~$a.csv': '',
    '.a.csv': '',
    'deep/venv/a.csv': '',
    'deep/_svc/a.csv': 'only the top one is reserved',
    'deep/state/a.csv': '',
    'venvs/a.csv': '',
  });
  const { rels } = await scanOf(folder, '', 'state');
  expect(rels).toEqual(['deep/_svc/a.csv', 'deep/state/a.csv', 'venvs/a.csv']);
});

test('lists file symlinks that end inside, and enters no folder symlink (DS-24)', async () => {
  using folder = temporaryFolder({
    'root/a.csv': '',
    'root/sub/b.csv': '',
    'out.csv': '',
    'o/c.csv': '',
  });
  const link = (target: string, name: string) => symlinkSync(target, folder.at(`root/${name}`));
  link('a.csv', 'good.csv');
  link('../out.csv', 'bad.csv');
  link('gone.csv', 'dangling.csv');
  link('loop.csv', 'loop.csv');
  link('.svc/x.csv', 'state.csv');
  link('sub', 'in');
  link('../o', 'out');
  link('sub', 'folder.csv');
  link('.', 'self');
  folder.write('root/.svc/x.csv', '');
  const root = new DocumentRoot(folder.at('root'), folder.at('root/.svc'));
  const { files, problems } = await scan('', { root, kindOf: createKindTable(testKinds) });
  const rels = files.map(({ rel, isSymlink }) => `${rel} ${isSymlink}`).sort();
  expect(rels).toEqual(['a.csv false', 'good.csv true', 'sub/b.csv false']);
  expect(problems).toEqual([]);
});

test('passes over folders, pipes and devices that are called like files', async () => {
  using folder = temporaryFolder({ 'dir.csv/a.csv': '' });
  Bun.spawnSync(['mkfifo', folder.at('pipe.csv')]);
  symlinkSync('/dev/null', folder.at('null.csv'));
  expect((await scanOf(folder)).rels).toEqual(['dir.csv/a.csv']);
});

test('reports names that are not UTF-8, and keeps those that hold U+FFFD themselves', async () => {
  using folder = temporaryFolder({ 'sub/x\ufffd.csv': '' });
  const bad = Buffer.from(folder.at('sub/y?.csv'));
  bad[bad.indexOf('?')] = 0xff;
  writeFileSync(bad, '');
  const { rels, problems } = await scanOf(folder);
  expect(rels).toEqual(['sub/x\ufffd.csv']);
  expect(problems).toEqual([{ rel: 'sub/y\ufffd.csv', text: 'the file name is not valid UTF-8' }]);
});

test('looks at one path when asked to: a file, a folder, something gone', async () => {
  using folder = temporaryFolder({ 'a.csv': '', 'b/c.csv': '', 'b/d/e.csv': '', 'bc/f.csv': '' });
  expect((await scanOf(folder, 'a.csv')).rels).toEqual(['a.csv']);
  expect((await scanOf(folder, 'b')).rels).toEqual(['b/c.csv', 'b/d/e.csv']);
  for (const rel of ['gone', 'gone/x.csv', 'a.csv/x', '../x', '.svc', 'b/../a.csv']) {
    expect((await scanOf(folder, rel)).rels).toEqual([]);
  }
});

test('a path below a folder symlink is not found when asked for either', async () => {
  using folder = temporaryFolder({ 'sub/b.csv': '' });
  symlinkSync('sub', folder.at('in'));
  expect((await scanOf(folder, 'in/b.csv')).rels).toEqual([]);
  expect((await scanOf(folder, 'in')).rels).toEqual([]);
});

test('thousands of files do not hold up other work', async () => {
  using folder = temporaryFolder();
  for (let f = 0; f < 2_000; f++) writeFileSync(folder.at(`f${f}.csv`), '');
  let turn = 0;
  let next = setImmediate(function begin() {
    turn++;
    next = setImmediate(begin);
  });
  // A millisecond for each look at the clock, on machines of any speed.
  let now = performance.now();
  using _ = spyOn(performance, 'now').mockImplementation(() => now++);
  const kindOf = createKindTable(testKinds);
  const filesByTurn = new Map<number, number>();
  await scan('', {
    root: new DocumentRoot(folder.path, folder.at('.svc')),
    kindOf: (rel) => {
      filesByTurn.set(turn, (filesByTurn.get(turn) ?? 0) + 1);
      return kindOf(rel);
    },
  });
  clearImmediate(next);
  // Slices of 8 ms, and two looks at each file.
  expect(Math.max(...filesByTurn.values())).toBeLessThan(40);
});
