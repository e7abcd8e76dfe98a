import { describe, expect, test } from 'bun:test';
import { appendFileSync, existsSync, renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { statFile } from '../../src/base/files/file-stamp.ts';
import { createLog } from '../../src/base/log.ts';
import { DocumentRoot } from '../../src/docroot/document-root.ts';
import { createKindTable } from '../../src/docroot/registry/kind-table.ts';
import { Registry, type RegistryChange } from '../../src/docroot/registry/registry.ts';
import { testKinds } from '../support/kinds.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts';

const SOURCE = join(import.meta.dir, '../../src');

async function registryOf(folder: TemporaryFolder, startedAtMs: number | null = Date.now()) {
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'text', write: (line) => void lines.push(line) });
  const root = new DocumentRoot(folder.path, folder.at('.svc'));
  const kindOf = createKindTable(testKinds);
  const registry = new Registry({ root, kindOf, log, startedAtMs });
  const first = await registry.rescan();
  return { registry, lines, first };
}

const rels = (resources: readonly { rel: string }[]) => resources.map(({ rel }) => rel);
const summary = ({ added, changed, removed }: RegistryChange) => [
  rels(added),
  rels(changed),
  rels(removed),
];

describe('what is published', () => {
  test('is listed by rel in byte order with both names', async () => {
    using folder = temporaryFolder({ 'b.csv': '', 'a/z.md': '', 'b.txt': '', 'Z.mp4': '' });
    const { registry, first } = await registryOf(folder);
    expect(
      registry
        .list()
        .map(({ rel, canonical, extensionForm, type }) =>
          [rel, canonical, extensionForm, type].join(' '),
        ),
    ).toEqual([
      'Z.mp4 Z Z.mp4 media',
      'a/z.md a/z a/z.md markdown',
      'b.csv b b.csv csv',
      'b.txt b.txt b.txt file',
    ]);
    expect(summary(first)).toEqual([['Z.mp4', 'a/z.md', 'b.csv', 'b.txt'], [], []]);
  });

  test('is found by name and by segments, per area', async () => {
    using folder = temporaryFolder({
      'notes.csv': '',
      'notes.txt': '',
      'a/index.html': '',
      'h.ts': '',
    });
    const { registry } = await registryOf(folder);
    expect(registry.lookup('dataset', 'notes')?.rel).toBe('notes.csv');
    expect(registry.lookup('content', ['notes'])?.rel).toBe('notes.txt');
    expect(registry.lookup('content', ['a'])?.rel).toBe('a/index.html');
    expect(registry.lookup('media', 'notes')).toBeNull();
    expect(registry.lookup('content', [])).toBeNull();
    expect(registry.lookupHandler(['h', 'x', 'y'])).toMatchObject({ rest: ['x', 'y'] });
    expect(registry.lookupHandler(['notes', 'x'])).toBeNull();
    expect(registry.get('notes.csv')).toBe(registry.lookup('dataset', 'notes.csv'));
    expect(registry.stampOf({ rel: 'h.ts' })).toEqual(statFile(folder.at('h.ts')) as never);
  });

  test('names shared with others are reported', async () => {
    using folder = temporaryFolder({ 'a.csv': '', 'a.md': '' });
    const { registry } = await registryOf(folder);
    expect(registry.sharedNames()).toMatchObject([
      { table: { rel: 'a.md' }, name: 'a', holder: { rel: 'a.csv' } },
    ]);
  });

  test('twins in Unicode normalisation are reported once in the log', async () => {
    using folder = temporaryFolder({ 'é.csv': '', 'e\u0301.csv': '' });
    const { registry, lines } = await registryOf(folder);
    await registry.rescan();
    expect(registry.list()).toHaveLength(1);
    expect(registry.scanProblems()).toMatchObject([{ rel: 'é.csv' }]);
    expect(lines).toHaveLength(1);
  });

  test('leftovers of a killed process are deleted by the first scan only', async () => {
    const leftover = '.a.csv.svc-0123456789abcdef.tmp';
    using folder = temporaryFolder({ 'a.csv': '', [leftover]: '', [`sub/${leftover}`]: '' });
    const { registry } = await registryOf(folder, Date.now() + 1000);
    expect([folder.at(leftover), folder.at(`sub/${leftover}`)].some(existsSync)).toBe(false);
    folder.write(leftover, '');
    await registry.rescan();
    expect(existsSync(folder.at(leftover))).toBe(true);
  });
});

test('a process that is not the only one deletes no temporary files: they may be in use', async () => {
  const temporary = '.a.csv.svc-0123456789abcdef.tmp';
  using folder = temporaryFolder({ [temporary]: '' });
  await registryOf(folder, null);
  expect(existsSync(folder.at(temporary))).toBe(true);
});

describe('companion files', () => {
  test('are looked for under the stem by the owner of the name only (DS-70)', async () => {
    using folder = temporaryFolder({ 'a.csv': '', 'a.txt': '' });
    const { registry } = await registryOf(folder);
    const schemaOf = (rel: string) => {
      const resource = registry.get(rel);
      return resource && registry.companionsOf(resource).schema;
    };
    expect(schemaOf('a.csv')).toEqual(['.svc/a.csv.schema.json', '.svc/a.schema.json']);
    expect(schemaOf('a.txt')).toEqual(['.svc/a.txt.schema.json']);
  });

  test('change their resource when they change', async () => {
    using folder = temporaryFolder({ 'a.csv': '', 'b.csv': '' });
    const { registry } = await registryOf(folder);
    registry.setProblem({ rel: 'a.csv', sheet: null }, 'bad companion');
    const change = await registry.refresh([
      '.svc/a.schema.json',
      '.svc/svc.db',
      '.svc/x.options.json',
    ]);
    expect(summary(change)).toEqual([[], ['a.csv'], []]);
    expect(registry.get('a.csv')?.problem).toBeNull();
  });
});

describe('problems (DS-34)', () => {
  test('stay while the file stays as it is, and go with a change', async () => {
    using folder = temporaryFolder({ 'a.csv': 'x', 'b.csv': 'y' });
    const { registry, lines } = await registryOf(folder);
    registry.setProblem({ rel: 'a.csv', sheet: null }, 'invalid UTF-8 at byte offset 17');
    registry.setProblem({ rel: 'a.csv', sheet: null }, 'invalid UTF-8 at byte offset 17');
    registry.setProblem({ rel: 'gone.csv', sheet: null }, 'no matter');
    await registry.rescan();
    folder.write('b.csv', 'changed');
    await registry.refresh(['b.csv', 'a.csv']);
    expect(registry.list().map(({ problem }) => problem)).toEqual([
      'invalid UTF-8 at byte offset 17',
      null,
    ]);
    expect(lines.filter((line) => line.includes('offset 17'))).toHaveLength(1);
    folder.write('a.csv', 'repaired');
    await registry.refresh(['a.csv']);
    expect(registry.get('a.csv')?.problem).toBeNull();
  });

  test('stay with the file when it takes the name of another one', async () => {
    using folder = temporaryFolder({ 'a.csv': '', 'a.txt': 'x' });
    const { registry } = await registryOf(folder);
    expect(registry.get('a.txt')).toMatchObject({ canonical: 'a.txt' });
    registry.setProblem({ rel: 'a.txt', sheet: null }, 'broken');
    unlinkSync(folder.at('a.csv'));
    const change = await registry.refresh(['a.csv']);
    expect(summary(change)).toEqual([[], ['a.txt'], ['a.csv']]);
    expect(registry.get('a.txt')).toMatchObject({ canonical: 'a', problem: 'broken' });
  });
});

describe('following the files (DS-33)', () => {
  test('a refresh sees new, changed, renamed and deleted files and folders', async () => {
    using folder = temporaryFolder({
      'a.csv': '1',
      'd/b.csv': '2',
      'd/e/c.csv': '3',
      'dd/x.csv': '4',
    });
    const { registry } = await registryOf(folder);
    folder.write('a.csv', 'longer');
    folder.write('new/deep/n.csv', '');
    renameSync(folder.at('d'), folder.at('moved'));
    const change = await registry.refresh([
      'a.csv',
      'new',
      'd',
      'moved',
      'nothing',
      '../a.csv',
      '',
    ]);
    expect(summary(change)).toEqual([
      ['moved/b.csv', 'moved/e/c.csv', 'new/deep/n.csv'],
      ['a.csv'],
      ['d/b.csv', 'd/e/c.csv'],
    ]);
    expect(registry.lookup('dataset', 'd/b')).toBeNull();
    expect(registry.lookup('dataset', 'moved/b')?.rel).toBe('moved/b.csv');
  });

  test('a same-size rewrite with its mtime put back is a change (F10)', async () => {
    using folder = temporaryFolder({ 'a.csv': 'one' });
    Bun.spawnSync(['touch', '-d', '2020-01-01', folder.at('a.csv')]);
    const { registry } = await registryOf(folder);
    folder.write('a.csv', 'two');
    Bun.spawnSync(['touch', '-d', '2020-01-01', folder.at('a.csv')]);
    expect(summary(await registry.rescan())).toEqual([[], ['a.csv'], []]);
  });

  test('a symlinked file changes with its target', async () => {
    using folder = temporaryFolder({ 'data.bin': '1' });
    symlinkSync('data.bin', folder.at('a.csv'));
    const { registry } = await registryOf(folder);
    appendFileSync(folder.at('data.bin'), '2');
    expect(summary(await registry.refresh(['data.bin']))).toEqual([[], ['a.csv'], []]);
  });

  test('a file that becomes a folder, and back', async () => {
    using folder = temporaryFolder({ 'a.csv': '1' });
    const { registry } = await registryOf(folder);
    unlinkSync(folder.at('a.csv'));
    folder.write('a.csv/b.csv', '');
    expect(summary(await registry.refresh(['a.csv']))).toEqual([['a.csv/b.csv'], [], ['a.csv']]);
    rmSync(folder.at('a.csv'), { recursive: true });
    folder.write('a.csv', '1');
    expect(summary(await registry.refresh(['a.csv']))).toEqual([['a.csv'], [], ['a.csv/b.csv']]);
  });

  test('a root that is gone publishes nothing until it is back', async () => {
    using folder = temporaryFolder({ 'root/a.csv': '1' });
    const log = createLog({ level: 'error', format: 'text', write: () => undefined });
    const root = new DocumentRoot(folder.at('root'), folder.at('state'));
    const kindOf = createKindTable(testKinds);
    const registry = new Registry({ root, kindOf, log, startedAtMs: 0 });
    await registry.rescan();
    renameSync(folder.at('root'), folder.at('away'));
    expect(summary(await registry.rescan())).toEqual([[], [], ['a.csv']]);
    expect(registry.scanProblems()).toMatchObject([{ rel: '.' }]);
    expect([registry.isAway('a.csv'), registry.isOutOfSight('a.csv')]).toEqual([true, false]);
    renameSync(folder.at('away'), folder.at('root'));
    expect(summary(await registry.rescan())).toEqual([['a.csv'], [], []]);
    expect(registry.scanProblems()).toEqual([]);
    unlinkSync(folder.at('root/a.csv'));
    await registry.rescan();
    expect(registry.isAway('a.csv')).toBe(false);
  });

  test('a rescan without changes says nothing and keeps the objects', async () => {
    using folder = temporaryFolder({ 'a.csv': '1' });
    const { registry } = await registryOf(folder);
    const heard: RegistryChange[] = [];
    registry.onChange((change) => void heard.push(change));
    const before = registry.get('a.csv');
    await registry.rescan();
    expect([heard, registry.get('a.csv') === before]).toEqual([[], true]);
  });

  test('listeners are waited for, heard in order, and do not break each other', async () => {
    using folder = temporaryFolder();
    const { registry, lines } = await registryOf(folder);
    const heard: string[] = [];
    registry.onChange(() => Promise.reject(new Error('listener failed')));
    const stop = registry.onChange(async ({ added }) => {
      heard.push(`start ${rels(added)}`);
      await Bun.sleep(1);
      heard.push(`end ${rels(added)}`);
    });
    folder.write('a.csv', '');
    await registry.refresh(['a.csv']);
    expect(heard).toEqual(['start a.csv', 'end a.csv']);
    expect(lines.join('')).toContain('listener failed');
    stop();
    folder.write('b.csv', '');
    await registry.refresh(['b.csv']);
    expect(heard).toHaveLength(2);
  });

  test('any sequence of changes, refreshed path by path, ends like a fresh scan', async () => {
    const name = fc.constantFrom('a', 'b', 'a.csv', 'b.md', 'c.txt');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    const action = fc.oneof(
      fc.record({ kind: fc.constant('write' as const), path }),
      fc.record({ kind: fc.constant('remove' as const), path }),
      fc.record({ kind: fc.constant('rename' as const), path, to: path }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 15 }), async (actions) => {
        using folder = temporaryFolder({ 'a/b.md': '', 'c.txt': '' });
        const { registry } = await registryOf(folder);
        for (const change of actions) {
          const touched = [change.path, ...('to' in change ? [change.to] : [])];
          if (!apply(folder, change)) continue;
          // A watcher names the entry itself; parents that were made on the way come as entries of their own.
          await registry.refresh(touched.flatMap(withParents));
        }
        const { registry: fresh } = await registryOf(folder);
        expect(registry.list()).toEqual(fresh.list());
      }),
      { numRuns: 60 },
    );
  });
});

describe('without a free descriptor', () => {
  /** Runs in a process of its own, whose limit on open files is low. */
  const SCRIPT = `
    import { closeSync, openSync } from 'node:fs';
    import { createLog } from '${SOURCE}/base/log.ts';
    import { DocumentRoot } from '${SOURCE}/docroot/document-root.ts';
    import { createKindTable } from '${SOURCE}/docroot/registry/kind-table.ts';
    import { Registry } from '${SOURCE}/docroot/registry/registry.ts';
    import { testKinds } from '${SOURCE}/../test/support/kinds.ts';
    const folder = process.env.FOLDER;
    const registry = new Registry({
      root: new DocumentRoot(folder, folder + '/.svc'),
      kindOf: createKindTable(testKinds),
      log: createLog({ level: 'error', format: 'text', write: () => {} }),
      startedAtMs: null,
    });
    await registry.rescan();
    const before = registry.list();
    const taken = [];
    try { for (;;) taken.push(openSync('/dev/null')); } catch {}
    const codeOf = (promise) => promise.then(() => 'done', (error) => error.code);
    const codes = [await codeOf(registry.rescan()), await codeOf(registry.refresh(['a']))];
    const same = () => registry.list().length === 3 && registry.list().every((one, i) => one === before[i]);
    const isKept = same();
    for (const fd of taken) closeSync(fd);
    const { added, changed, removed } = await registry.rescan();
    console.log(JSON.stringify({ codes, isKept, changes: added.length + changed.length + removed.length, isSame: same() }));
  `;

  test('what is known stays known, and nothing of it is new afterwards (DS-48)', async () => {
    using folder = temporaryFolder({ 'a/b.csv': '', 'a/c.md': '', 'd.csv': '' });
    const command = ['prlimit', '--nofile=64', process.execPath, '-e', SCRIPT];
    const child = Bun.spawnSync(command, { env: { ...process.env, FOLDER: folder.path } });
    expect(child.stderr.toString()).toBe('');
    expect(JSON.parse(child.stdout.toString())).toEqual({
      codes: ['unavailable', 'unavailable'],
      isKept: true,
      changes: 0,
      isSame: true,
    });
  });
});

type Action = { kind: 'write' | 'remove' | 'rename'; path: string; to?: string };

/** False when the file system refuses, e.g. because a parent is a file. */
function apply(folder: TemporaryFolder, { kind, path, to }: Action): boolean {
  try {
    if (kind === 'write') folder.write(path, 'x');
    else if (kind === 'remove') rmSync(folder.at(path), { recursive: true });
    else renameSync(folder.at(path), folder.at(to ?? path));
    return true;
  } catch {
    // `write` may have made folders before it failed; their events come all the same.
    return kind === 'write';
  }
}

function withParents(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}
