import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createLog } from '../../src/base/log.ts';
import { DocumentRoot } from '../../src/docroot/document-root.ts';
import { createKindTable } from '../../src/docroot/registry/kind-table.ts';
import { Registry } from '../../src/docroot/registry/registry.ts';
import { DocrootWatch } from '../../src/docroot/registry/watch.ts';
import { testKinds } from '../support/kinds.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts';
import { onSharedCores, patienceFor } from '../support/patience.ts';

/** A watched root whose registry follows; `until` waits for a condition and tells how long it took. */
async function watched(folder: TemporaryFolder, at = '') {
  const log = createLog({ level: 'error', format: 'text', write: () => undefined });
  const root = new DocumentRoot(folder.at(at), folder.at(`${at}/state`));
  const kindOf = createKindTable(testKinds);
  const registry = new Registry({ root, kindOf, log, startedAtMs: 0 });
  const calls: (ReadonlySet<string> | 'everything')[] = [];
  const watch = new DocrootWatch({
    root,
    log,
    verifyMs: 50,
    onPaths: async (rels) => {
      calls.push(rels);
      await (rels === 'everything' ? registry.rescan() : registry.refresh(rels));
    },
  });
  await registry.rescan();
  const rels = () => registry.list().map(({ rel }) => rel);
  return { calls, registry, rels, [Symbol.asyncDispose]: () => watch.close() };
}

async function until(condition: () => boolean): Promise<number> {
  const started = performance.now();
  const giveUpAt = started + patienceFor(5_000);
  while (!condition()) {
    if (performance.now() > giveUpAt) throw new Error('it did not happen');
    await Bun.sleep(3);
  }
  return performance.now() - started;
}

test('files that come, change, move and go are followed within a second (DS-33)', async () => {
  using folder = temporaryFolder({ 'a.csv': '1' });
  await using site = await watched(folder);
  const took: number[] = [];
  const step = async (act: () => void, condition: () => boolean) => {
    act();
    took.push(await until(condition));
  };
  const stamp = () => site.registry.stampOf({ rel: 'a.csv' })?.size;
  await step(
    () => appendFileSync(folder.at('a.csv'), '2'),
    () => stamp() === 2,
  );
  await step(
    () => folder.write('x/y/z.csv', ''),
    () => site.rels().includes('x/y/z.csv'),
  );
  await step(
    () => renameSync(folder.at('x'), folder.at('w')),
    () => site.rels().join() === 'a.csv,w/y/z.csv',
  );
  await step(
    () => folder.write('w/y/late.csv', ''),
    () => site.rels().includes('w/y/late.csv'),
  );
  await step(
    () => unlinkSync(folder.at('a.csv')),
    () => !site.rels().includes('a.csv'),
  );
  await step(
    () => folder.write('a.csv', '123'),
    () => stamp() === 3,
  );
  await step(
    () => rmSync(folder.at('w'), { recursive: true }),
    () => site.rels().join() === 'a.csv',
  );
  const usual = took.toSorted((a, b) => a - b)[3]!;
  expect(usual).toBeLessThan(onSharedCores(1_000));
});

test('a burst of 5,000 renames is taken in as a few sets', async () => {
  using folder = temporaryFolder();
  for (let i = 0; i < 5_000; i++) {
    if (i % 250 === 0) mkdirSync(folder.at(`d${i / 250}`));
    writeFileSync(folder.at(`d${Math.floor(i / 250)}/f${i}.csv`), '');
  }
  await using site = await watched(folder);
  expect(site.rels()).toHaveLength(5_000);
  for (let i = 0; i < 5_000; i++) {
    const name = folder.at(`d${Math.floor(i / 250)}/`);
    renameSync(`${name}f${i}.csv`, `${name}g${i}.md`);
  }
  await until(() => site.registry.list().every(({ type }) => type === 'markdown'));
  expect(site.rels()).toHaveLength(5_000);
  expect(site.calls.length).toBeLessThan(30);
});

test('many writes of one file are one path', async () => {
  using folder = temporaryFolder({ 'a.csv': '' });
  await using site = await watched(folder);
  for (let i = 0; i < 200; i++) appendFileSync(folder.at('a.csv'), 'x');
  await until(() => site.registry.stampOf({ rel: 'a.csv' })?.size === 200);
  for (const call of site.calls) expect(call).toEqual(new Set(['a.csv']));
});

test('only what may be published, and companions, is reported', async () => {
  using folder = temporaryFolder({ 'a.csv': '' });
  for (const name of ['.svc', '.git', 'state', 'node_modules']) mkdirSync(folder.at(name));
  await using site = await watched(folder);
  for (const rel of ['.svc/svc.db', '.git/x.csv', 'state/x.csv', 'node_modules/x.csv', '.a.tmp']) {
    folder.write(rel, '');
  }
  folder.write('.svc/a.schema.json', '{}');
  folder.write('b.csv', '');
  await until(() => site.rels().includes('b.csv'));
  const seen = site.calls.flatMap((call) => (call === 'everything' ? [call] : [...call]));
  expect([...new Set(seen)].sort()).toEqual(['.svc/a.schema.json', 'b.csv']);
});

test('a root that is moved away and made anew is watched again', async () => {
  using folder = temporaryFolder({ 'root/a.csv': '' });
  await using site = await watched(folder, 'root');
  renameSync(folder.at('root'), folder.at('away'));
  await until(() => site.rels().length === 0);
  folder.write('root/b.csv', '');
  await until(() => site.rels().join() === 'b.csv');
  folder.write('root/c.csv', '');
  await until(() => site.rels().join() === 'b.csv,c.csv');
});

test('a root that is a symlink is followed when it changes its target', async () => {
  using folder = temporaryFolder({ 'one/a.csv': '', 'two/b.csv': '' });
  symlinkSync('one', folder.at('root'));
  await using site = await watched(folder, 'root');
  symlinkSync('two', folder.at('next'));
  renameSync(folder.at('next'), folder.at('root'));
  await until(() => site.rels().join() === 'b.csv');
  folder.write('two/c.csv', '');
  await until(() => site.rels().join() === 'b.csv,c.csv');
});

test('closing waits for the call that is running and makes no other', async () => {
  using folder = temporaryFolder({ 'a.csv': '' });
  const log = createLog({ level: 'error', format: 'text', write: () => undefined });
  const root = new DocumentRoot(folder.path, folder.at('state'));
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let calls = 0;
  const onPaths = async () => {
    calls++;
    entered.resolve();
    await release.promise;
  };
  const watch = new DocrootWatch({ root, log, onPaths });
  folder.write('b.csv', '');
  await entered.promise;
  folder.write('c.csv', '');
  const closed = watch.close();
  release.resolve();
  await closed;
  expect(calls).toBe(1);
});

test('an update that fails is logged, and all is looked at until that works', async () => {
  using folder = temporaryFolder({ 'a.csv': '' });
  const lines: string[] = [];
  const log = createLog({ level: 'error', format: 'text', write: (line) => void lines.push(line) });
  const root = new DocumentRoot(folder.path, folder.at('state'));
  const calls: (readonly string[] | 'everything')[] = [];
  const onPaths = async (rels: ReadonlySet<string> | 'everything') => {
    calls.push(rels === 'everything' ? rels : [...rels]);
    if (calls.length <= 3) throw new Error('it failed');
  };
  const watch = new DocrootWatch({ root, log, onPaths, verifyMs: 20 });
  folder.write('b.csv', '');
  await until(() => calls.length === 4);
  folder.write('c.csv', '');
  await until(() => calls.length === 5);
  await watch.close();
  expect(calls.slice(0, 4)).toEqual([['b.csv'], 'everything', 'everything', 'everything']);
  expect(calls[4]).toContain('c.csv');
  expect(lines.join('').match(/not followed/g)).toHaveLength(1);
});

test('a file system mounted over a watched folder shows within a second, and so does its end (DS-33)', async () => {
  using folder = temporaryFolder({ 'a.csv': '1' });
  mkdirSync(folder.at('disk'));
  await using site = await watched(folder);
  await until(() => site.rels().join() === 'a.csv');
  // The folder is watched by now: what is mounted over it sends no events to who watches what lies below.
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder.at('disk')]);
  if (mounted.status !== 0) {
    console.log('left out: mounting a small file system is not allowed here');
    return;
  }
  try {
    folder.write('disk/there.csv', '');
    await until(() => site.rels().join() === 'a.csv,disk/there.csv');
    folder.write('disk/late.csv', '');
    await until(() => site.rels().join() === 'a.csv,disk/late.csv,disk/there.csv');
  } finally {
    spawnSync('umount', ['-l', folder.at('disk')]);
  }
  await until(() => site.rels().join() === 'a.csv');
});
